"""A process that runs dbt commands, and SQL that dbt does not see, one JSON line each.

Spark in one process is either classic or Connect, so each connection method needs its own.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import signal
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner
from dbt_common.events.base_types import EventMsg

Query = Callable[[str], list[list[Any]]]


class Worker:
    """Answers requests for one target of the profile."""

    def __init__(self, target: str, given: dict[str, Any]) -> None:
        self._given = given
        self._options = ["--target", target]
        self._lines: list[str] = []
        self._runner = dbtRunner(callbacks=[self._hear])
        self._query: Query | None = None

    def _hear(self, event: EventMsg) -> None:
        info: Any = event.info
        if info.level in ("info", "warn", "error"):
            self._lines.append(info.msg)

    def dbt(self, args: list[str]) -> dict[str, Any]:
        """Run a dbt command: what it said, how its nodes ended, the rows of `dbt show`."""
        self._lines.clear()
        done = self._runner.invoke(["--no-use-colors", *args, *self._options])
        results = getattr(done.result, "results", None) or []
        table = getattr(results[0], "agate_table", None) if results else None
        nodes = {
            r.node.unique_id: str(r.status) for r in results if getattr(r, "node", None) is not None
        }
        return {
            "success": done.success,
            "error": str(done.exception) if done.exception else None,
            "lines": self._lines,
            "nodes": nodes,
            "rows": [list(row) for row in table.rows] if table is not None else [],
        }

    def sql(self, statement: str) -> list[list[Any]]:
        """Run a statement as any other program would."""
        if self._query is None:
            self._query = _outside(self._given)
        return self._query(statement)

    def collected_sessions(self, remote: str) -> int:
        """See the test's side."""
        from pyspark.sql.connect.session import SparkSession

        from dbt.adapters.spark_mv.spark.clients import session_executor

        made = []
        executor = session_executor(SparkSession.builder.remote(remote).getOrCreate(), remote)
        made.append(weakref.ref(executor._session))
        with executor.isolated({}) as isolated:
            isolated.query("select 1")
            made.append(weakref.ref(isolated._session))
        del executor, isolated
        gc.collect()
        return sum(session() is None for session in made)

    def load(self, folder: str) -> None:
        """Load the demo's tables with few rows."""
        from tests.functional.servers.small_data import load_small

        load_small(_embedded(self._given), Path(folder))


def _embedded(given: dict[str, Any]) -> Any:
    from dbt.adapters.spark_mv.credentials import SparkMVCredentials
    from dbt.adapters.spark_mv.spark.session import spark_session

    return spark_session(SparkMVCredentials.from_dict({**given, "schema": "raw"}))


def _outside(given: dict[str, Any]) -> Query:
    """A connection of this target's kind without anything of dbt's."""
    if given["method"] == "thrift":
        from pyhive import hive

        connection = hive.connect(host=given["host"], port=int(given["port"]))

        def over_thrift(statement: str) -> list[list[Any]]:
            cursor = connection.cursor()
            cursor.execute(statement)
            return [list(row) for row in cursor.fetchall()] if cursor.description else []

        return over_thrift
    if given["method"] == "session":
        from pyspark.sql import SparkSession

        remote = given["spark_conf"]["spark.remote"]
        session: Any = SparkSession.builder.remote(remote).create()
    else:
        session = _embedded(given).newSession()
    return lambda statement: [list(row) for row in session.sql(statement).collect()]


def main() -> None:
    """Answer until the input ends; SIGUSR1 writes what each thread does to standard error."""
    faulthandler.register(signal.SIGUSR1)
    # The answers have a channel of their own: dbt and Java write to standard output.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        worker = Worker(sys.argv[1], json.loads(sys.argv[2]))
        for line in sys.stdin:
            ((kind, argument),) = json.loads(line).items()
            try:
                answer: Any = {"answer": getattr(worker, kind)(argument)}
            except Exception as error:
                answer = {"failed": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer, default=str), file=answers, flush=True)


if __name__ == "__main__":
    main()
