"""What the tests of this folder stand on: dbt commands without a project, and other programs.

In every statement `@meta.` stands for the metadata schema of the module and `@.` for its schema.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

from pyspark.errors import AnalysisException

from dbt.adapters.spark_mv.connections import SparkMVConnectionManager
from dbt.adapters.spark_mv.credentials import SparkMVCredentials
from dbt.adapters.spark_mv.spark.clients import sessions_beside
from dbt.adapters.spark_mv.spark.session import spark_session

Rows = list[tuple[Any, ...]]
# A handful of rows: compiling a query and shuffling it take longer than running it.
QUICK = {"spark.sql.shuffle.partitions": "1", "spark.sql.codegen.wholeStage": "false"}


class Command:
    """One dbt command as the pipeline sees it: a connection manager, and a command's name."""

    def __init__(self, warehouse: Warehouse, which: str, threads: int = 1, **flags: Any) -> None:
        self._warehouse = warehouse
        arguments = SimpleNamespace(which=which, **flags)
        profile = SimpleNamespace(
            credentials=warehouse.credentials, args=arguments, threads=threads
        )
        self.connections = SparkMVConnectionManager(profile, get_context("spawn"))

    @property
    def core(self) -> Any:
        """The materialized views of this command."""
        return self.connections.materialized_views

    def sql(self, text: str) -> Rows:
        """Run one statement through the pipeline, as dbt would; returns its rows."""
        self.connections.set_connection_name(f"test_{threading.get_ident()}")
        _, cursor = self.connections.add_query(self._warehouse.text(text), auto_begin=False)
        rows = cursor.fetchall() or []
        return [tuple(row) for row in rows]

    def flush(self) -> None:
        """Wait for the metadata to be written, as at the end of a node."""
        self.core.services.log.flush()


class Warehouse:
    """A schema of its own, a metadata schema of its own."""

    def __init__(self, target: dict[str, Any], schema: str) -> None:
        self.schema, self.metadata_schema = schema, f"{schema}_meta"
        self.target = {**target, "schema": schema, "metadata_schema": self.metadata_schema}
        self.credentials = SparkMVCredentials.from_dict(
            {key: value for key, value in self.target.items() if key not in ("type", "threads")}
        )
        self._outside = sessions_beside(spark_session(self.credentials))()
        for key, value in QUICK.items():
            self._outside.conf.set(key, value)
        self.spark(f"create schema if not exists {schema}")
        self._run = self.command()

    def text(self, statement: str) -> str:
        """A statement with the schemas filled in."""
        statement = statement.replace("@meta.", f"{self.metadata_schema}.")
        return statement.replace("@.", f"{self.schema}.")

    def spark(self, text: str) -> Rows:
        """Run a statement as another program on the same catalog would."""
        return [tuple(row) for row in self._outside.sql(self.text(text)).collect()]

    def keep(self, view: str, query: str, columns: Sequence[str]) -> None:
        """Make a temporary view of the rows of a query, which Spark cannot see into: it would push
        conditions through groups to rows that are not stored."""
        rows = self._outside.sql(self.text(query)).toDF(*columns)
        rows.localCheckpoint(True).createOrReplaceTempView(view)

    def loaded(self, table: str) -> Any:
        """A table of the schema as Iceberg's catalog loads it, for what no statement does."""
        load = self._outside._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable
        return load(self._outside._jsparkSession, f"local.{self.schema}.{table}")

    @property
    def jvm(self) -> Any:
        """The classes of the JVM, over py4j."""
        return self._outside._jvm

    def ints(self, *values: int) -> Any:
        """A Java array."""
        made = self._outside.sparkContext._gateway.new_array(self.jvm.int, len(values))
        for at, value in enumerate(values):
            made[at] = value
        return made

    def value(self, text: str) -> Any:
        """The one value of a query by another program."""
        ((found,),) = self.spark(text)
        return found

    def command(self, which: str = "run", **flags: Any) -> Command:
        """A new command, which knows nothing of earlier ones."""
        return Command(self, which, **flags)

    def sql(self, text: str) -> Rows:
        """Run a statement in the `dbt run` that is always open, then write its metadata."""
        try:
            return self._run.sql(text)
        finally:
            self._run.flush()

    def restart(self) -> None:
        """End the open command and begin another, as a new process would."""
        self._run.flush()
        self._run = self.command()

    def change(self) -> None:
        """Another program adds an order; what comes next is in a command that begins after it."""
        self.spark("insert into @.orders values (200, 'sam', 1)")
        self.restart()

    def apart(self, text: str, which: str = "run") -> Rows:
        """Run a statement in a command of its own, to the command's end."""
        command = self.command(which)
        try:
            return command.sql(text)
        finally:
            command.flush()

    def operation(self, name: str, /, threads: int = 1, **arguments: Any) -> Any:
        """Run an operation in a command of its own, on this schema; returns its report."""
        command = self.command("run-operation", threads=threads)
        command.core.choice.target_schema = self.schema
        report = command.core.operation(name)(**arguments)
        command.flush()
        return report

    def storage(self, view: str) -> str:
        """The storage table of a view, by the view's own properties."""
        ((_, name),) = self.spark(f"show tblproperties @.{view} ('mv.storage_table')")
        return f"{self.schema}.{name}"

    def snapshot(self, table: str) -> int:
        """The main snapshot of a table."""
        return int(self.value(f"select snapshot_id from {table}.refs where name = 'main'"))

    def build_of(self, view: str) -> int:
        """The snapshot that a reader of a view sees; moves with every publish."""
        return self.snapshot(self.storage(view))

    def flag(self, view: str) -> bool:
        """The stale flag, as the metadata's newest event about it says."""
        found = self.value(
            "select max_by(coalesce(get_json_object(payload, '$.stale'), 'false'), at) "
            "from @meta.mv_events where kind in ('MARKED_STALE', 'REFRESH_SUCCEEDED', "
            f"'REFRESH_SKIPPED') and view_name = 'local.{self.schema}.{view}'"
        )
        return bool(found == "true")

    def history(self, view: str, columns: str = "state") -> Rows:
        """Refreshes of a view, oldest first."""
        return self.spark(
            f"select {columns} from @meta.mv_refresh_history where table_name = '{view}' "
            f"and table_schema = '{self.schema}' order by started_at"
        )

    def methods(self) -> dict[str, list[tuple[str, str]]]:
        """Method and state of the refreshes of every view of the schema, oldest first."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, method, state in self.spark(
            "select table_name, method, state from @meta.mv_refresh_history "
            f"where table_schema = '{self.schema}' order by started_at"
        ):
            found.setdefault(name, []).append((method, state))
        return found

    def builds(self, view: str) -> int:
        """How often a view was computed."""
        return int(
            self.value(
                "select count(distinct event_id) from @meta.mv_events where kind = "
                f"'REFRESH_SUCCEEDED' and view_name = 'local.{self.schema}.{view}'"
            )
        )

    def freshness(self, view: str) -> str:
        """FRESH, STALE, UNKNOWN or NEVER_BUILT, by versions and nothing else."""
        from dbt.adapters.spark_mv.sql.names import TableName
        from dbt.adapters.spark_mv.views.registry import load_view

        services = self.command().core.services
        found = load_view(services.resolver, TableName("local", (self.schema,), view))
        return str(services.observer.observe(found).verdict.freshness.value)

    def relations(self) -> Rows:
        """Every table and view of the schema."""
        tables = self.spark(f"show tables in {self.schema}")
        views = self.spark(f"show views in {self.schema}")
        return sorted(
            {(kind, row[1]) for kind, rows in (("t", tables), ("v", views)) for row in rows}
        )

    def events(self) -> int | None:
        """The snapshot of the metadata: moves with everything that is recorded."""
        try:
            return self.snapshot(f"{self.metadata_schema}.mv_events")
        except AnalysisException:
            return None

    def state(self) -> tuple[Rows, int | None]:
        """Relations and metadata, to be compared before and after what must change nothing."""
        return self.relations(), self.events()


def difference(warehouse: Warehouse, left: str, right: str) -> tuple[Rows, Rows]:
    """Rows of each query that the other lacks, duplicates counted; read by another program."""

    def lacking(first: str, second: str) -> Rows:
        return warehouse.spark(
            f"select * from ({first}) as l except all select * from ({second}) as r"
        )

    return lacking(left, right), lacking(right, left)


def is_right(warehouse: Warehouse, view: str, query: str) -> bool:
    """Whether a view has the rows of its query."""
    return difference(warehouse, f"select * from @.{view}", query) == ([], [])


def assert_same(warehouse: Warehouse, left: str, right: str) -> None:
    """Both queries return the same rows as multisets."""
    assert difference(warehouse, left, right) == ([], [])
