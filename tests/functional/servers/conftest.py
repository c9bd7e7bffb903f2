"""The demo project over each connection method, all on one warehouse folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.register_assert_rewrite("tests.functional.servers.checks")

from dbt.adapters.spark_mv.spark.local import jars  # noqa: E402
from tests.conftest import JAVA  # noqa: E402
from tests.functional.servers import postgres_server  # noqa: E402
from tests.functional.servers.processes import (  # noqa: E402
    CONNECT_SERVER,
    THRIFT_SERVER,
    Client,
    free_port,
    spark_server,
    standalone_cluster,
)
from tests.functional.servers.small_data import DEMO  # noqa: E402

# One more view, over a table without a snapshot: its version is a digest of its columns.
EMPTY_BASE = """{{ config(materialized='bq_materialized_view') }}
select carrier, count(*) as days from raw.cancellations group by carrier
"""
SMALL = {
    "spark.buffer.pageSize": "1m",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.sql.shuffle.partitions": "2",
}


@dataclass(frozen=True)
class Place:
    """A copy of the demo project with its warehouse."""

    project: Path
    warehouse: Path

    @contextmanager
    def client(self, target: str, output: dict[str, Any], **variables: str) -> Iterator[Client]:
        """A worker for a target of the profile; `output` is the target with its values."""
        logs = self.project.parent / f"logs_{target}"
        logs.mkdir(exist_ok=True)
        places = {
            "DBT_PROJECT_DIR": str(self.project),
            "DBT_PROFILES_DIR": str(self.project),
            "DBT_TARGET_PATH": str(self.project.parent / f"target_{target}"),
            "DBT_LOG_PATH": str(logs),
            "DEMO_WAREHOUSE": str(self.warehouse),
        }
        client = Client(target, output, {**places, **variables})
        try:
            yield client
        finally:
            client.close()

    def outputs(self) -> dict[str, Any]:
        """The demo's targets with small Sparks, and one more for a cluster."""
        profile = yaml.safe_load((DEMO / "profiles.yml").read_text())
        outputs: dict[str, Any] = profile["flights_demo"]["outputs"]
        outputs["embedded"] |= {"spark_conf": {**SMALL, "spark.master": "local[2]"}}
        outputs["standalone"] = outputs["embedded"] | {
            "spark_conf": {
                **SMALL,
                "spark.master": "{{ env_var('TEST_MASTER', '') }}",
                "spark.executor.memory": "512m",
                "spark.executor.extraJavaOptions": JAVA,
                "spark.cores.max": "2",
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
            }
        }
        outputs["postgres"] = outputs["embedded"] | {
            "path": "{{ env_var('TEST_POSTGRES_WAREHOUSE', '') }}",
            "spark_conf": {
                **SMALL,
                "spark.master": "local[2]",
                **postgres_server.catalog_conf(
                    "{{ env_var('TEST_POSTGRES', '') }}", "{{ env_var('TEST_DRIVER', '') }}"
                ),
            },
        }
        return outputs


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


@pytest.fixture(scope="session")
def postgres(place: Place) -> Iterator[Client]:
    """Spark in a process of its own, with a folder whose catalog is a PostgreSQL server."""
    with postgres_server.running_server() as address:
        warehouse = str(place.warehouse.with_name("warehouse_of_postgres"))
        driver = str(jars.jar_path(postgres_server.DRIVER))
        variables = {
            "TEST_POSTGRES": address,
            "TEST_POSTGRES_WAREHOUSE": warehouse,
            "TEST_DRIVER": driver,
        }
        output = place.outputs()["postgres"] | {"path": warehouse}
        output["spark_conf"] |= postgres_server.catalog_conf(address, driver)
        with place.client("postgres", output, **variables) as client:
            client.load(place.project.parent / "data_of_postgres")
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
