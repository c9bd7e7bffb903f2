"""Spark in this process (or behind Spark Connect): one session, and dbt's cursors over it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionWrapper
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.spark_mv.core.creation import beside_others
from dbt.adapters.spark_mv.credentials import SparkMVConnectionMethod, SparkMVCredentials
from dbt.adapters.spark_mv.spark.connect_retries import RETRIES, ConnectRetries
from dbt.adapters.spark_mv.spark.error_messages import may_run_again, spark_message
from dbt.adapters.spark_mv.spark.local import cds_archive, java, warehouse
from dbt.adapters.spark_mv.spark.process import SESSIONS
from dbt.adapters.spark_mv.sql.literals import spark_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = AdapterLogger("SparkMV")
Description = Sequence[tuple[str, Any, int | None, int | None, int | None, int | None, bool]]

# They print each error that a caller may well handle, as JSON on stderr.
for _name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    logging.getLogger(_name).disabled = True


def spark_session(credentials: SparkMVCredentials) -> SparkSession:
    """The one session of this process for these credentials; made at the first call."""
    conf = dict(credentials.server_side_parameters)
    is_embedded = credentials.method == SparkMVConnectionMethod.EMBEDDED
    key = tuple(sorted({**conf, "path": credentials.warehouse_path if is_embedded else ""}.items()))
    start = _start_embedded if is_embedded else _start_plain
    session: SparkSession = SESSIONS.of_profile(key, lambda: start(credentials, conf))
    return session


def _start_plain(credentials: SparkMVCredentials, conf: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if "spark.remote" in conf:
        return _with_settings(_connected(builder, conf.pop("spark.remote")), conf)
    if "spark.sql.catalogImplementation" not in conf:
        builder = builder.enableHiveSupport()
    return builder.config(map=conf).getOrCreate()


def _connected(builder: Any, remote: str) -> SparkSession:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session: SparkSession = builder.remote(remote).getOrCreate()
    retries = ConnectRetries(DefaultPolicy(max_retries=RETRIES), logger.warning)
    SESSIONS.retries[remote] = retries
    session.client.set_retry_policies([retries])
    return session


def _start_embedded(credentials: SparkMVCredentials, given: dict[str, str]) -> SparkSession:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    java.check_runtime()
    own_catalog = warehouse.has_own_catalog(given)
    log = warehouse.prepare_folder(credentials.warehouse_path, own_catalog)
    conf = warehouse.embedded_conf(credentials.warehouse_path, given)
    if SparkContext._active_spark_context is not None:
        # Asking the builder with these settings would change the session of the other target.
        return _with_settings(SparkSession.builder.getOrCreate().newSession(), conf)
    if SparkContext._gateway is None:
        if cds_archive.is_wanted(credentials.class_data_archive, conf):
            cds_archive.use_class_archive(conf)
        start_java(conf, log)
    session = SparkSession.builder.config(map=conf).getOrCreate()
    if not own_catalog:
        # Every session starts in it; the file in the folder is made with it.
        create = beside_others(session.sql)
        create(f"CREATE SCHEMA IF NOT EXISTS {warehouse.CATALOG}.default")
    return session


def start_java(conf: dict[str, str], log: Path) -> None:
    """Start the JVM of this process; what it prints goes to the log."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    spark_conf = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    # The JVM would write to the user's terminal, and hold it open for a moment after dbt has ended;
    # nothing it says there is meant for the user.
    with open(log, "ab") as output:
        try:
            gateway = launch_gateway(spark_conf, {"stdout": output, "stderr": output})
        except Exception as error:
            raise DbtRuntimeError(
                f"Spark did not start: {spark_message(error)}\nIts log is in {log}."
            ) from None
    SparkContext._ensure_initialized(gateway=gateway, conf=spark_conf)


def _with_settings(session: SparkSession, conf: dict[str, str]) -> SparkSession:
    """Apply what can still be set; the rest belongs to the start of Spark, which is past."""
    for name, value in conf.items():
        if name.startswith("spark.sql.catalog.") or session.conf.isModifiable(name):
            session.conf.set(name, value)
    return session


class SessionConnection(SparkConnectionWrapper):
    """One dbt connection: a cursor on the shared session, with its own result."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._frame: DataFrame | None = None
        self._rows: list[Any] = []
        self._taken = 0
        self._complete = False
        self._instead: tuple[str, Callable[[str], None]] | None = None

    def cursor(self) -> SessionConnection:
        """A cursor of this connection, independent of its earlier ones."""
        return SessionConnection(self.session)

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        """Run one statement; a query runs when its rows are asked for."""
        sql = sql.strip().removesuffix(";")
        if bindings is not None:
            sql = sql % tuple(spark_literal(binding) for binding in bindings)
        self.close()
        self._frame = self._call(self.session.sql, sql)

    def instead_of_failing(self, sql: str, tell: Callable[[str], None]) -> None:
        """Run another query, and tell why, if the one that was executed fails as it is fetched."""
        self._instead = sql, tell

    def run_unfetched(self) -> None:
        """Run a query whose rows nobody wants, as a database would have done at once."""
        frame = self._frame
        if frame is not None and frame.columns and not self._complete and not _has_run(frame):
            self._fetched(lambda frame: frame.write.format("noop").mode("overwrite").save())

    def fetchall(self) -> list[Any]:
        """All rows that were not fetched yet."""
        if not self._complete and self._frame is not None:
            self._rows = self._fetched(lambda frame: frame.collect())
            self._complete = True
        rows = self._rows[self._taken :]
        self._taken = len(self._rows)
        return rows

    def fetchmany(self, size: int = 1) -> list[Any]:
        """The next rows, at most `size`."""
        end = self._taken + size
        if not self._complete and self._frame is not None and end > len(self._rows):
            self._rows = self._fetched(lambda frame: frame.take(end))
            self._complete = len(self._rows) < end
        rows = self._rows[self._taken : end]
        self._taken += len(rows)
        return rows

    def fetchone(self) -> Any:
        """The next row, or None."""
        return next(iter(self.fetchmany(1)), None)

    @property
    def description(self) -> Description:
        """Name and type of each column of the result."""
        if self._frame is None:
            return []
        fields = self._call(lambda: self._frame.schema.fields)
        return [
            (field.name, field.dataType.simpleString(), None, None, None, None, field.nullable)
            for field in fields
        ]

    def close(self) -> None:
        """Forget the result."""
        self._frame, self._rows, self._taken, self._complete = None, [], 0, False
        self._instead = None

    def cancel(self) -> None:
        """Interrupt what this session is running: dbt cancels all connections or none."""
        self.session.interruptAll()

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: Spark has no transactions."""

    def _fetched(self, function: Callable[[Any], Any]) -> Any:
        """What a function makes of the query, or of the one that stands in for it."""
        try:
            return self._call(function, self._frame)
        except DbtDatabaseError as error:
            # Rows of two texts are never put together.
            if self._instead is None or self._taken or not may_run_again(str(error), False):
                raise
            (sql, tell), self._instead = self._instead, None
            self._frame = self._call(self.session.sql, sql)
            found = self._call(function, self._frame)
            tell(str(error))
            return found

    @staticmethod
    def _call(function: Any, *args: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:
            raise DbtDatabaseError(spark_message(error)) from None


def _has_run(frame: DataFrame) -> bool:
    """Spark runs commands at once: what is left of them is rows that are already here."""
    java_frame = getattr(frame, "_jdf", None)
    if java_frame is None:
        return False
    plan = java_frame.queryExecution().commandExecuted()
    return bool(plan.getClass().getSimpleName() == "CommandResult")
