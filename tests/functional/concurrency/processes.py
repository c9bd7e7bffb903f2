"""Other processes: each a Python and a Spark of its own on the same warehouse."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from dbt.adapters.spark_mv.core.failpoints import FAILPOINTS, TESTING
from dbt.adapters.spark_mv.planning import incremental
from dbt.adapters.spark_mv.spark.local import cds_archive, warehouse
from tests.conftest import JAVA as JAVA_OPTIONS
from tests.functional.materialized_view.warehouse import Warehouse

ROOT = Path(__file__).parents[3]
WATCH = "watch"
JAVA = {
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.driver.memory": "512m",
    "spark.master": "local[1]",
}


def main() -> None:
    """Run statements as a dbt command, after a start signal; prints the last one's rows, or the
    error, as JSON.

    Fast refreshes write in part, which are the most steps.
    """
    incremental.is_better_in_part = lambda *_: True
    target, schema, which, statement = json.loads(sys.argv[1])
    lake = Warehouse(target, schema)
    if which == WATCH:
        watch(lake, statement)
        return
    command = lake.command(which)
    command.sql("select 1")
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        rows = [command.sql(each) for each in statement.split(";")]
        answer: dict[str, Any] = {"rows": rows[-1]}
    except Exception as error:
        answer = {"error": str(error)}
    command.flush()
    print(json.dumps(answer, default=str), flush=True)


def watch(lake: Warehouse, statement: str) -> None:
    """Read with plain Spark, again and again, until the start signal; prints what was seen."""
    over, seen, errors = threading.Event(), dict[str, None](), list[str]()

    def read() -> None:
        while not over.is_set():
            try:
                seen[json.dumps(sorted(lake.spark(statement)), default=str)] = None
            except Exception as error:
                errors.append(str(error))
            print("ready", flush=True)

    reader = threading.Thread(target=read)
    reader.start()
    sys.stdin.readline()
    over.set()
    reader.join()
    print(json.dumps({"seen": [json.loads(rows) for rows in seen], "errors": errors}), flush=True)


@functools.cache
def write_class_archive(path: str) -> None:
    """Write the classes that all these processes load to one file, unless it is there.

    Whoever is killed does not come to it.
    """
    # Not as a program of its own, which gives way to all others: it is waited for.
    code = "import json, sys; from dbt.adapters.spark_mv.spark.local import cds_writer as writer"
    subprocess.run(
        [sys.executable, "-c", f"{code}; writer.write_archive(json.load(sys.stdin))"],
        input=json.dumps(warehouse.embedded_conf(path, JAVA)).encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )


class Process:
    """A process that is ready to run its statement, or several with `;` between them."""

    def __init__(
        self, lake: Warehouse, statement: str, which: str = "run", failpoints: str = ""
    ) -> None:
        write_class_archive(lake.target["path"])
        small = {**lake.target["spark_conf"], **JAVA}
        given = json.dumps([{**lake.target, "spark_conf": small}, lake.schema, which, statement])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.functional.concurrency.processes", given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            start_new_session=True,
            env={**os.environ, FAILPOINTS: failpoints, TESTING: "1", cds_archive.SWITCH: "1"},
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ready(self) -> Process:
        """Wait until Spark has started."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() == "ready":
                return self
        raise AssertionError("the process ended before it was ready")

    def go(self) -> None:
        """Let the statement start."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def paused(self, folder: Path) -> None:
        """Wait until a failpoint has stopped it, which leaves its mark in this folder."""
        while not (folder / "reached").exists():
            assert self._process.poll() is None, "the process ended before the failpoint"
            time.sleep(0.05)

    def ended(self) -> int:
        """Wait for its end; returns the exit code, negative after a signal."""
        return self._process.wait(300)

    def jvm(self) -> int:
        """The process of its Spark."""
        found = subprocess.run(
            ["pgrep", "-P", str(self._process.pid), "java"], capture_output=True, text=True
        )
        return int(found.stdout.split()[0])

    def kill(self) -> None:
        """End the process and its Spark as a power cut would."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def answer(self) -> dict[str, Any]:
        """Rows or error of the statement."""
        out, _ = self._process.communicate(timeout=300)
        answer: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
        return answer


class Watcher:
    """Another program, without dbt, that reads in a process of its own while the block runs.

    Afterwards `seen` has the different answers in order, rows sorted, and `errors` what failed.
    """

    def __init__(self, lake: Warehouse, statement: str) -> None:
        self._process = Process(lake, statement, WATCH)
        self.seen: list[Any] = []
        self.errors: list[str] = []

    def __enter__(self) -> Watcher:
        self._process.ready()
        return self

    def __exit__(self, *what: Any) -> None:
        self._process.go()
        answer = self._process.answer()
        self.seen, self.errors = answer["seen"], answer["errors"]


if __name__ == "__main__":
    main()
