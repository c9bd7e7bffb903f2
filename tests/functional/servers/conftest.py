"""The demo project over each connection method, all on one warehouse folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
import yaml

pytest.register_assert_rewrite("tests.functional.servers.checks")

from tests.functional.servers.places import EMPTY_BASE, Place  # noqa: E402
from tests.functional.servers.processes import (  # noqa: E402
    CONNECT_SERVER,
    THRIFT_SERVER,
    Client,
    free_port,
    spark_server,
    standalone_cluster,
)
from tests.functional.servers.small_data import DEMO  # noqa: E402


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("servers")
    ignored = shutil.ignore_patterns("target", "logs", ".data", "warehouse", "*.py")
    shutil.copytree(DEMO, folder / "project", ignore=ignored)
    (folder / "project/models/marts/empty_base.sql").write_text(EMPTY_BASE)
    found = Place(folder / "project", folder / "warehouse")
    profile = {"flights_demo": {"target": "embedded", "outputs": found.outputs()}}
    (found.project / "profiles.yml").write_text(yaml.safe_dump(profile))
    return found


@pytest.fixture(scope="session")
def embedded(place: Place) -> Iterator[Client]:
    """Spark in a process of its own, which has loaded the data and built the project."""
    output = {**place.outputs()["embedded"], "path": str(place.warehouse)}
    with place.client("embedded", output) as client:
        client.load(place.project.parent / "data")
        client.dbt("build")
        yield client


@pytest.fixture(scope="module")
def left_fresh(embedded: Client) -> None:
    """Every view was last refreshed by Spark in the process, without SQL for the catalog."""
    embedded.operation("refresh")


@pytest.fixture(scope="module")
def thrift(place: Place, left_fresh: None) -> Iterator[Client]:
    port = free_port()
    conf = {
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    }
    output = {**place.outputs()["thrift"], "port": port}
    with (
        spark_server(place.warehouse, THRIFT_SERVER, conf, port),
        place.client("thrift", output, DEMO_THRIFT_PORT=str(port)) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def connect(place: Place, left_fresh: None) -> Iterator[Client]:
    port = free_port()
    conf = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    output = place.outputs()["connect"]
    output = {**output, "spark_conf": {"spark.remote": f"sc://127.0.0.1:{port}"}}
    with (
        spark_server(place.warehouse, CONNECT_SERVER, conf, port),
        place.client("connect", output, DEMO_CONNECT_PORT=str(port)) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def standalone(place: Place, left_fresh: None) -> Iterator[Client]:
    with standalone_cluster(place.project.parent) as master:
        output = place.outputs()["standalone"] | {"path": str(place.warehouse)}
        output["spark_conf"]["spark.master"] = master
        with place.client("standalone", output, TEST_MASTER=master) as client:
            yield client
