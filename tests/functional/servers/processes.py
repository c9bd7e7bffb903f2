"""Starts and ends the processes of these tests, each a process group of its own."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from dbt.adapters.spark_mv.spark.local.warehouse import CATALOG, embedded_conf, prepare_folder
from tests.conftest import JAVA

ROOT = Path(__file__).parents[3]
SPARK_HOME = Path(pyspark.__file__).parent
_JAVA_HOME = os.environ.get("JAVA_HOME")
JAVA_PROGRAM = os.path.join(_JAVA_HOME, "bin", "java") if _JAVA_HOME else "java"
THRIFT_SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
SECOND = "second"
STARTS_WITHIN = 120
ANSWERS_WITHIN = 300


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    command: list[str], log: Path, port: int | None = None
) -> Iterator[subprocess.Popen[Any]]:
    """The command runs inside the block, and is listening if `port` is given."""
    environment = {**os.environ, "SPARK_HOME": str(SPARK_HOME), "SPARK_NO_DAEMONIZE": "1"}
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=log.parent,
            start_new_session=True,
        )
    try:
        if port is not None:
            _wait(process, log, port)
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[Any]) -> None:
    """End a process and everything it has started."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
            process.wait(timeout=20)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue


def _wait(process: subprocess.Popen[bytes], log: Path, port: int) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"nothing listens on port {port}:\n{log.read_text()[-3000:]}")


def second_catalog(warehouse: Path) -> dict[str, str]:
    """Settings of a catalog that no session has used when it begins."""
    key = f"spark.sql.catalog.{SECOND}"
    return {
        key: "org.apache.iceberg.spark.SparkCatalog",
        f"{key}.type": "hadoop",
        f"{key}.warehouse": str(warehouse.with_name(SECOND)),
        f"{key}.cache-enabled": "false",
    }


@contextmanager
def spark_server(
    warehouse: Path, name: str, conf: Mapping[str, str], port: int
) -> Iterator[subprocess.Popen[Any]]:
    """A Spark server on the folder `warehouse`; `name` is its main class."""
    prepare_folder(str(warehouse))
    given = {
        "spark.master": "local[2]",
        # Less, or larger pages, and the collector takes more time than the statements.
        "spark.driver.memory": "2g",
        "spark.buffer.pageSize": "1m",
        # Plans of statements that have ended, for pages that nobody looks at.
        "spark.sql.ui.retainedExecutions": "20",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.sql.shuffle.partitions": "2",
        # No Derby database of a metastore that nobody asks.
        "spark.sql.catalogImplementation": "in-memory",
        # Where Thrift clients and Spark in the process start, Connect clients start too.
        f"spark.sql.catalog.{CATALOG}.default-namespace": "default",
        **second_catalog(warehouse),
        **conf,
    }
    short = name.rsplit(".", 1)[-1]
    file = warehouse.parent / f"{short}.conf"
    lines = embedded_conf(str(warehouse), given).items()
    file.write_text("".join(f"{key} {value}\n" for key, value in lines))
    submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--properties-file", str(file)]
    log = warehouse.parent / f"{short}.log"
    with running([*submit, "--class", name, "spark-internal"], log, port) as process:
        yield process


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[str]:
    """A master and one worker; gives the master's address."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    spark_class = [str(SPARK_HOME / "bin" / "spark-class")]
    deploy = "org.apache.spark.deploy"
    master = [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port)]
    worker_port = free_port()
    worker = [f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--port", str(worker_port)]
    sizes = ["--cores", "2", "--memory", "1g", "-d", str(folder / "work"), address]
    ui = "--webui-port"
    with (
        running([*spark_class, *master, ui, str(free_port())], folder / "master.log", port),
        running(
            [*spark_class, *worker, ui, str(free_port()), *sizes],
            folder / "worker.log",
            worker_port,
        ),
    ):
        yield address


class Client:
    """The test's side of a worker (worker.py)."""

    def __init__(self, target: str, given: dict[str, Any], environment: dict[str, str]) -> None:
        self.output = given
        self._errors = Path(environment["DBT_LOG_PATH"]) / f"{target}.err"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.functional.servers.worker", target, json.dumps(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(self._errors, "ab"),  # noqa: SIM115
            text=True,
            cwd=ROOT,
            env={**os.environ, **environment},
            start_new_session=True,
        )

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            if not ready.select(ANSWERS_WITHIN):
                raise AssertionError(f"no answer to {request}:\n{self._threads()}")
        line = self._process.stdout.readline()
        assert line, f"the worker ended at {request}"
        answer = json.loads(line)
        assert "failed" not in answer, answer
        return answer["answer"]

    def _threads(self) -> str:
        """What the threads of the worker do, which ends: its next answer would be a late one."""
        said = self._errors.stat().st_size
        self._process.send_signal(signal.SIGUSR1)
        time.sleep(2)
        self.close()
        with open(self._errors, "rb") as errors:
            errors.seek(said)
            return errors.read().decode()

    def try_dbt(self, *args: str) -> dict[str, Any]:
        """Run a dbt command; what it said, and whether it succeeded."""
        done: dict[str, Any] = self._ask({"dbt": args})
        return done

    def dbt(self, *args: str) -> dict[str, Any]:
        """Run a dbt command that has to succeed."""
        done = self.try_dbt(*args)
        assert done["success"], "\n".join([*done["lines"], str(done["error"])])
        return done

    def operation(self, name: str, **args: Any) -> str:
        """Run an operation; what it printed."""
        said = self.dbt("run-operation", name, "--args", json.dumps(args))
        return "\n".join(said["lines"])

    def rows(self, sql: str) -> list[Any]:
        """Rows of `dbt show`, in no order."""
        shown = self.dbt("show", "--inline", sql, "--limit", "-1")["rows"]
        return sorted(shown, key=repr)

    def sql(self, statement: str) -> list[Any]:
        """Run a statement that dbt does not see."""
        rows: list[Any] = self._ask({"sql": statement})
        return rows

    def collected_sessions(self) -> int:
        """How many sessions of the adapter's own the garbage collector takes, of two."""
        found: int = self._ask({"collected_sessions": self.output["spark_conf"]["spark.remote"]})
        return found

    def load(self, folder: Path) -> None:
        """Load the demo's tables with few rows."""
        self._ask({"load": str(folder)})

    def close(self) -> None:
        """End the worker and its Spark."""
        end(self._process)
