"""The Spark server dies during a refresh that a dbt command has asked it for."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.core.failpoints import FAILPOINTS, TESTING
from tests.functional.servers.conftest import Place
from tests.functional.servers.processes import THRIFT_SERVER, Client, free_port, spark_server
from tests.sampling import sample

ASKED = {
    "operation": ("run-operation", "refresh", "--args", "{view: delays_by_carrier}"),
    "run": ("run", "-s", "delays_by_carrier"),
}


@pytest.mark.parametrize(
    ("point", "how"),
    sample([("write.before", "run")], [("publish.before", "run"), ("write.before", "operation")]),
)
def test_thrift(place: Place, embedded: Client, point: str, how: str, tmp_path: Path) -> None:
    """62: the command fails and says why; rows stay; the next read, by another road, is right."""
    port = free_port()
    conf = {
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    }
    output = {**place.outputs()["thrift"], "port": port}
    variables = {
        "DEMO_THRIFT_PORT": str(port),
        FAILPOINTS: f"{point}=pause:{tmp_path}",
        TESTING: "1",
    }
    embedded.sql("update raw.flights set arr_delay = arr_delay + 1 where carrier = 'UA'")
    old = embedded.sql("select * from analytics.delays_by_carrier order by all")
    with (
        spark_server(place.warehouse, THRIFT_SERVER, conf, port) as server,
        place.client("thrift", output, **variables) as client,
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
