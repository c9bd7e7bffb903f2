"""dbt's connections: dbt-spark's own for servers, ours for Spark in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import (
    AdapterResponse,
    Connection,
    ConnectionState,
    Identifier,
)
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import (
    PyhiveConnectionWrapper,
    PyodbcConnectionWrapper,
    SparkConnectionManager,
)
from dbt_common.exceptions import DbtBaseException, DbtDatabaseError

from dbt.adapters.spark_mv.credentials import IN_PROCESS
from dbt.adapters.spark_mv.glue.container import Container
from dbt.adapters.spark_mv.glue.dbt_errors import dbt_errors
from dbt.adapters.spark_mv.glue.invocation import is_data_test
from dbt.adapters.spark_mv.glue.result_cursor import ResultCursor
from dbt.adapters.spark_mv.glue.table_commands import table_command
from dbt.adapters.spark_mv.spark import session
from dbt.adapters.spark_mv.spark.error_messages import may_run_again, spark_message
from dbt.adapters.spark_mv.sql.beginning import touches_no_rows
from dbt.adapters.spark_mv.statements.pipeline import Passage
from dbt.adapters.spark_mv.statements.results import StatementResult
from dbt.adapters.spark_mv.statements.rewriting.tested import Tested

if TYPE_CHECKING:
    import agate

logger = AdapterLogger("SparkMV")


class _Fetching:
    """The fetch methods that dbt-spark's wrappers lack."""

    _cursor: Any

    def fetchone(self) -> Any:
        """The next row, or None."""
        return self._cursor.fetchone()

    def fetchmany(self, size: int = 1) -> list[Any]:
        """The next rows, at most `size`."""
        return list(self._cursor.fetchmany(size))


class HiveConnection(_Fetching, PyhiveConnectionWrapper):
    """A connection to a Thrift server."""


class OdbcConnection(_Fetching, PyodbcConnectionWrapper):
    """A connection through an ODBC driver."""


class SparkMVConnectionManager(SparkConnectionManager):
    """Opens connections and turns Spark's errors into short ones."""

    TYPE = "spark_mv"
    _materialized_views: Container | None = None

    @property
    def materialized_views(self) -> Container:
        """Everything about materialized views in this command; made at first use."""
        with self.lock:
            if self._materialized_views is None:
                self._materialized_views = Container(
                    self.profile, self._open_own, lambda: self.get_thread_connection().handle
                )
            return self._materialized_views

    @property
    def has_materialized_views(self) -> bool:
        """Whether anything about materialized views was made in this command."""
        return self._materialized_views is not None

    def cancel_open(self) -> list[str]:
        """Ctrl-C or `--fail-fast`: refreshes of this command end too."""
        if self._materialized_views is not None:
            self._materialized_views.interrupt()
        return list(super().cancel_open())

    def close_materialized_views(self) -> None:
        """Write what is left to write, if there were any materialized views at all."""
        if self._materialized_views is not None:
            self._materialized_views.close()

    @classmethod
    def _close_handle(cls, connection: Connection) -> None:
        """Close a connection; what a server that is gone says to that hides no other error."""
        try:
            super()._close_handle(connection)
        except Exception as error:
            logger.debug(f"{connection.name} could not be closed: {error}")

    def _open_own(self) -> Any:
        """A connection of our own beside dbt's, not known to dbt."""
        own = Connection(
            type=Identifier(self.TYPE),
            name="materialized_views",
            state=ConnectionState.INIT,
            transaction_open=False,
            handle=None,
            credentials=self.profile.credentials,
        )
        return self.open(own).handle

    def add_query(
        self,
        sql: str,
        auto_begin: bool = True,
        bindings: Any = None,
        abridge_sql_log: bool = False,
        **arguments: Any,
    ) -> tuple[Connection, Any]:
        """Every statement of dbt comes through here, and through the pipeline."""
        container = self.materialized_views if _may_matter(self.profile, sql) else None
        if container is None:
            with self._of_tables(sql):
                return super().add_query(sql, auto_begin, bindings, abridge_sql_log, **arguments)
        with dbt_errors():
            passage = container.before(sql)
        if isinstance(passage, StatementResult):
            return self.get_thread_connection(), ResultCursor(passage)
        try:
            return self._send(
                container, passage, auto_begin, bindings, abridge_sql_log, **arguments
            )
        finally:
            container.after(passage)

    @contextmanager
    def _of_tables(self, sql: str) -> Iterator[None]:
        """If a command about tables fails as it is about a materialized view, say that."""
        try:
            yield
        except DbtDatabaseError:
            command = table_command(sql)
            if command is not None:
                with dbt_errors():
                    self.materialized_views.refuse_for_views(command)
            raise

    def _send(self, container: Container, passage: Passage, *options: Any, **arguments: Any) -> Any:
        """Run a statement; the text that it stands for if it is a rewritten one and fails."""
        try:
            connection, cursor = super().add_query(passage.sql, *options, **arguments)
        except DbtDatabaseError as error:
            if not passage.original or not may_run_again(str(error), passage.writes_rows):
                raise
            found = super().add_query(passage.original, *options, **arguments)
            container.rewriting_failed(str(error))
            return found
        if passage.original and isinstance(cursor, session.SessionConnection):
            cursor.instead_of_failing(passage.original, container.rewriting_failed)
        return connection, cursor

    @classmethod
    def get_response(cls, cursor: Any) -> AdapterResponse:
        """What to tell of a finished statement."""
        if isinstance(cursor, ResultCursor):
            return cursor.response()
        return super().get_response(cursor)

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open by the method of the profile."""
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials: Any = connection.credentials
        if credentials.method in IN_PROCESS:
            spark = session.spark_session(credentials)
            connection.handle = session.SessionConnection(spark)
            connection.state = ConnectionState.OPEN
            return connection
        opened = super().open(connection)
        opened.handle = _with_fetching(opened.handle)
        return opened

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Keep Spark's own message, drop the Java stack and the wrappers around it."""
        try:
            yield
        except DbtDatabaseError as error:
            logger.debug(f"Error while running:\n{sql}")
            raise DbtDatabaseError(spark_message(error.msg)) from None
        except DbtBaseException:
            raise
        except Exception as error:
            logger.debug(f"Error while running:\n{sql}")
            raise DbtDatabaseError(spark_message(error)) from None

    def execute(
        self,
        sql: str,
        auto_begin: bool = False,
        fetch: bool = False,
        limit: int | None = None,
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run a statement; unlike Spark, run a query also if nobody asks for its rows."""
        from dbt_common.clients.agate_helper import empty_table

        tested = self._tested(sql) if fetch else None
        sql = self._add_query_comment(sql)
        _, cursor = self.add_query(sql, auto_begin)
        response = self.get_response(cursor)
        if fetch:
            table = self.get_result_from_cursor(cursor, limit)
            if tested is not None:
                self.materialized_views.pipeline.tested.end(tested, table.rows[0][0])
            return response, table
        if isinstance(cursor, session.SessionConnection):
            cursor.run_unfetched()
        return response, empty_table()

    def _tested(self, sql: str) -> Tested | None:
        """What a data test is about that is going to run."""
        if not is_data_test() or not _may_matter(self.profile, sql):
            return None
        container = self.materialized_views
        return container.pipeline.tested.begin(sql, container.context())


def _may_matter(profile: Any, sql: str) -> bool:
    """Whether the pipeline has to see it; `dbt debug` gives a profile without a command."""
    return not touches_no_rows(sql) and hasattr(profile, "credentials")


def _with_fetching(handle: Any) -> Any:
    if isinstance(handle, PyodbcConnectionWrapper):
        return OdbcConnection(handle.handle)
    return HiveConnection(
        handle.handle, handle.poll_interval, handle.query_timeout, handle.query_retries
    )
