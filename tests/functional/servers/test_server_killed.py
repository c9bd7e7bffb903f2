"""The Spark server dies during a refresh that a dbt command has asked it for."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.failpoints import FAILPOINTS, TESTING
from tests.functional.servers.conftest import Place
from tests.functional.servers.processes import (
    CONNECT_SERVER,
    THRIFT_SERVER,
    Client,
    free_port,
    spark_server,
)
from tests.sampling import only_whole, sample

ASKED = {
    "operation": ("run-operation", "refresh", "--args", "{view: delays_by_carrier}"),
    "run": ("run", "-s", "delays_by_carrier"),
}


@dataclass(frozen=True)
class Server:
    """A server for one test: the target that reads it, its class and settings, its port, and what
    the target has of its own."""

    target: str
    main_class: str
    conf: dict[str, str]
    port: int
    output: dict[str, Any]


def _thrift() -> Server:
    port = free_port()
    conf = {
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    }
    return Server("thrift", THRIFT_SERVER, conf, port, {"port": port})


def _connect() -> Server:
    port = free_port()
    conf = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    remote = {"spark.remote": f"sc://127.0.0.1:{port}"}
    return Server("connect", CONNECT_SERVER, conf, port, {"spark_conf": remote})


@pytest.mark.parametrize(
    ("point", "how"),
    sample([("write.before", "run")], [("publish.before", "run"), ("write.before", "operation")]),
)
def test_thrift(place: Place, embedded: Client, point: str, how: str, tmp_path: Path) -> None:
    """62: the command fails and says why; rows stay; the next read, by another road, is right."""
    _assert_ends(place, embedded, _thrift(), point, how, tmp_path)


@only_whole
@pytest.mark.parametrize("how", ASKED)
def test_connect(place: Place, embedded: Client, how: str, tmp_path: Path) -> None:
    """PySpark would ask for ten minutes, for each statement that is left to a command."""
    said = _assert_ends(place, embedded, _connect(), "publish.before", how, tmp_path)
    assert "connection to the Spark server was lost" in said


def _assert_ends(
    place: Place, embedded: Client, killed: Server, point: str, how: str, tmp_path: Path
) -> str:
    """What a command says whose server is killed at a point of a refresh."""
    output = {**place.outputs()[killed.target], **killed.output}
    variables = {
        f"DEMO_{killed.target.upper()}_PORT": str(killed.port),
        FAILPOINTS: f"{point}=pause:{tmp_path}",
        TESTING: "1",
    }
    embedded.sql("update raw.flights set arr_delay = arr_delay + 1 where carrier = 'UA'")
    old = embedded.sql("select * from analytics.delays_by_carrier order by all")
    with (
        spark_server(place.warehouse, killed.main_class, killed.conf, killed.port) as server,
        place.client(killed.target, output, **variables) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        command = pool.submit(client.try_dbt, *ASKED[how])
        while not (tmp_path / "reached").exists():
            assert not command.done(), command.result()
            time.sleep(0.1)
        os.killpg(server.pid, signal.SIGKILL)
        (tmp_path / "go").touch()
        done = command.result()
    said = "\n".join([*done["lines"], str(done["error"])])
    assert not done["success"] and "delays_by_carrier" in said
    assert "\tat " not in said and "Traceback" not in said
    # The command comes to its end, whatever a connection that is gone says when it is closed.
    if how == "run":
        assert "Done. PASS=0 WARN=0 ERROR=1" in said and done["error"] is None
    assert embedded.sql("select * from analytics.delays_by_carrier order by all") == old
    embedded.rows("select * from {{ ref('delays_by_carrier') }}")
    assert embedded.sql("select * from analytics.delays_by_carrier order by all") != old
    assert " OK " in embedded.operation("verify", view="delays_by_carrier")
    return said
