"""dbt's connections: dbt-spark's own for servers, ours for Spark in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import (
    PyhiveConnectionWrapper,
    PyodbcConnectionWrapper,
    SparkConnectionManager,
)
from dbt_common.exceptions import DbtBaseException, DbtDatabaseError

from dbt.adapters.spark_mv import session
from dbt.adapters.spark_mv.credentials import IN_PROCESS
from dbt.adapters.spark_mv.errors_text import spark_message

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

        sql = self._add_query_comment(sql)
        _, cursor = self.add_query(sql, auto_begin)
        response = self.get_response(cursor)
        if fetch:
            return response, self.get_result_from_cursor(cursor, limit)
        if isinstance(cursor, session.SessionConnection):
            cursor.run_unfetched()
        return response, empty_table()


def _with_fetching(handle: Any) -> Any:
    if isinstance(handle, PyodbcConnectionWrapper):
        return OdbcConnection(handle.handle)
    return HiveConnection(
        handle.handle, handle.poll_interval, handle.query_timeout, handle.query_retries
    )
