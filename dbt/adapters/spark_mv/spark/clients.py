"""Executors: how statements reach Spark, by the connection method of the profile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import CatalogClient, Executor, Row
from dbt.adapters.spark_mv.spark.error_messages import short_message
from dbt.adapters.spark_mv.spark.iceberg_catalog import IcebergCatalog
from dbt.adapters.spark_mv.spark.process import SESSIONS
from dbt.adapters.spark_mv.spark.session_client import close_catalogs, settings_of
from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.views.settings import ALWAYS_KEPT, is_kept

# `${env:..}` in a definition or a comment is text; an overwrite replaces the whole table.
OWN_SETTINGS = {
    "spark.sql.variable.substitute": "false",
    "spark.sql.sources.partitionOverwriteMode": "STATIC",
}

# Goes around each statement, which it is given.
Told = Callable[[str], AbstractContextManager[None]]
_POLL_INTERVAL = 0.1
_CATALOGS = ("spark.sql.catalog.", "spark.sql.defaultCatalog")


def _untold(_: str) -> AbstractContextManager[None]:
    return nullcontext()


class SessionExecutor:
    """Statements on a SparkSession of this process, classic or Connect."""

    def __init__(
        self,
        session: Any,
        client: CatalogClient | None,
        new_session: Callable[[], Any],
        told: Told = _untold,
    ) -> None:
        self._session = session
        self._new_session = new_session
        self._told = told
        self.catalog = client

    def query(self, sql: str) -> list[Row]:
        """Run a statement and collect its rows."""
        try:
            with self._told(sql):
                return list(self._session.sql(sql).collect())
        except Exception as error:
            raise StatementFailed(short_message(error)) from None

    @contextmanager
    def isolated(self, settings: Mapping[str, str]) -> Iterator[Executor]:
        """A new session with these settings."""
        try:
            session = self._new_session()
            for key in self._foreign(session, settings):
                session.conf.unset(key)
            for key, value in {**OWN_SETTINGS, **settings}.items():
                session.conf.set(key, value)
        except Exception as error:
            raise StatementFailed(short_message(error)) from None
        try:
            yield SessionExecutor(session, self.catalog, self._new_session, self._told)
        except Exception:
            # Not a session of a server, which may be gone: it would be asked for ten minutes.
            if _is_in_process(session):
                _release(session)
            raise
        _release(session)

    @staticmethod
    def _foreign(session: Any, settings: Mapping[str, str]) -> list[str]:
        """Settings that a new session has from the start of Spark, and a definition has not."""
        if not any(key in settings for key in ALWAYS_KEPT):
            return []  # it is not for the query of a definition
        found = settings_of(session) if _is_in_process(session) else session.conf.getAll
        return [key for key in found if is_kept(key) and key not in settings]

    def interrupt(self) -> None:
        """End the operations of this session."""
        self._session.interruptAll()

    def close(self) -> None:
        """Close what this session holds open in this process; what comes yet has another one."""
        if _is_in_process(self._session):
            with suppress(Exception):  # of a Spark that has ended
                ended, self._session = self._session, _own_session(self._new_session)
                _release(ended)


def session_executor(session: Any, remote: str | None, told: Told = _untold) -> SessionExecutor:
    """The executor of our own statements beside the user's `session`."""
    if _is_in_process(session):
        client, new_session = IcebergCatalog(session), sessions_beside(session)
    else:
        client, new_session = None, _sessions_of_connect(session, remote)
    return SessionExecutor(_own_session(new_session), client, new_session, told)


def _own_session(new_session: Callable[[], Any]) -> Any:
    own = new_session()
    for key, value in OWN_SETTINGS.items():
        own.conf.set(key, value)
    return own


def _is_in_process(session: Any) -> bool:
    return hasattr(session, "_jsparkSession")


def sessions_beside(session: Any) -> Callable[[], Any]:
    """Makes new sessions of a Spark in this process that have the catalogs of `session`.

    Spark gives a new session the settings that it was started with: catalogs of another target,
    if this process began with that one.
    """
    # One question for each catalog: all that Spark was started with would be one for each entry.
    started_with = session._jsparkSession.sparkContext().conf()
    catalogs = {
        key: value
        for key, value in settings_of(session).items()
        if key.startswith(_CATALOGS) and started_with.get(key, None) != value
    }

    def new_session() -> Any:
        made = session.newSession()
        for key, value in catalogs.items():
            made.conf.set(key, value)
        return made

    return new_session


def _sessions_of_connect(session: Any, remote: str | None) -> Callable[[], Any]:
    def new_session() -> Any:
        # The builder would make it the session that Python models find active.
        made = type(session)(connection=remote)
        if remote in SESSIONS.retries:
            made.client.set_retry_policies([SESSIONS.retries[remote]])
        SESSIONS.keep(made)
        return made

    return new_session


def _release(session: Any) -> None:
    """End a session; a Connect server that is not told forgets it after an hour."""
    with suppress(Exception):
        if _is_in_process(session):
            close_catalogs(session)
        else:
            session.client.release_session()


class ConnectionExecutor:
    """Statements on server connections of our own: one a thread, and one for each isolation."""

    catalog: CatalogClient | None = None

    def __init__(self, connect: Callable[[], Any], told: Told = _untold) -> None:
        self._connect = connect
        self._told = told
        self._threads = threading.local()
        self._opened: list[Any] = []

    def query(self, sql: str) -> list[Row]:
        """Run a statement on this thread's connection."""
        handle = getattr(self._threads, "handle", None)
        if handle is None:
            handle = self._threads.handle = self._open({})
            self._opened.append(handle)
        with self._told(sql):
            return _rows(handle, sql)

    def isolated(self, settings: Mapping[str, str]) -> AbstractContextManager[Executor]:
        """A connection of its own, closed at the end."""
        return self._isolated(settings)

    @contextmanager
    def _isolated(self, settings: Mapping[str, str]) -> Iterator[Executor]:
        handle = self._open(settings)
        try:
            yield HandleExecutor(lambda: handle, self.isolated, self._told)
        finally:
            _end(handle)

    def _open(self, settings: Mapping[str, str]) -> Any:
        handle = self._connect()
        if hasattr(handle, "poll_interval"):
            # Our statements are short: the profile's interval of seconds would be most of the time.
            handle.poll_interval = _POLL_INTERVAL
        for key, value in {**OWN_SETTINGS, **settings}.items():
            _rows(handle, f"SET {quote(key)}={quote(value)}")
        return handle

    def interrupt(self) -> None:
        """End what this thread's connection is running."""
        handle = getattr(self._threads, "handle", None)
        if handle is not None:
            handle.cancel()

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._opened:
            _end(self._opened.pop())


class HandleExecutor:
    """Statements on one given connection, such as the user's."""

    catalog: CatalogClient | None = None

    def __init__(
        self,
        handle: Callable[[], Any],
        isolated: Callable[[Mapping[str, str]], AbstractContextManager[Executor]],
        told: Told = _untold,
    ) -> None:
        self._handle = handle
        self._told = told
        self.isolated = isolated

    def query(self, sql: str) -> list[Row]:
        """Run a statement and fetch its rows."""
        with self._told(sql):
            return _rows(self._handle(), sql)

    def interrupt(self) -> None:
        """End what the connection is running."""
        self._handle().cancel()


def _end(handle: Any) -> None:
    # A server that is gone cannot be told, and whatever it failed is the error to be seen.
    with suppress(Exception):
        handle.close()


def _rows(handle: Any, sql: str) -> list[Row]:
    try:
        cursor = handle.cursor()
        cursor.execute(sql)
        return list(cursor.fetchall() or []) if cursor.description else []
    except Exception as error:
        raise StatementFailed(short_message(error)) from None
