"""Puts the parts together for one dbt command and one connection manager."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.invocation import get_invocation_id

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.config import profile
from dbt.adapters.spark_mv.core import clock, failpoints
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.credentials import IN_PROCESS, SparkMVCredentials
from dbt.adapters.spark_mv.glue.invocation import Invocation, NodeContext, selected_relations
from dbt.adapters.spark_mv.glue.statement_log import logged
from dbt.adapters.spark_mv.glue.table_commands import TableCommand
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.store import MetadataStore
from dbt.adapters.spark_mv.metadata.tables import EVENTS
from dbt.adapters.spark_mv.operations.arguments import checked
from dbt.adapters.spark_mv.operations.choice import Choice
from dbt.adapters.spark_mv.operations.partitions import Partitions
from dbt.adapters.spark_mv.operations.questions import Questions
from dbt.adapters.spark_mv.operations.refreshing import Refreshing
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.operations.rewrites import Rewrites
from dbt.adapters.spark_mv.operations.upkeep import Upkeep
from dbt.adapters.spark_mv.refresh.refresher import Refresher
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.spark.clients import (
    ConnectionExecutor,
    HandleExecutor,
    SessionExecutor,
    session_executor,
)
from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.ddl import MaterializedViewStatements
from dbt.adapters.spark_mv.statements.lifecycle import Lifecycle
from dbt.adapters.spark_mv.statements.pipeline import Passage, StatementPipeline
from dbt.adapters.spark_mv.statements.read_gate import ReadGate
from dbt.adapters.spark_mv.statements.read_policy import Reader
from dbt.adapters.spark_mv.statements.results import StatementResult
from dbt.adapters.spark_mv.statements.rewriting.stale import Policy, StaleViews
from dbt.adapters.spark_mv.statements.write_refresh import WriteRefresher
from dbt.adapters.spark_mv.views.registry import load_view

logger = AdapterLogger("SparkMV")


class Container:
    """Everything about materialized views that a connection manager holds."""

    def __init__(
        self, config: Any, connect: Callable[[], Any], user_handle: Callable[[], Any]
    ) -> None:
        self._credentials: SparkMVCredentials = config.credentials
        self._user_handle = user_handle
        self._memo = threading.local()
        self.invocation = Invocation(config)
        self.manifest: Any = None
        self._own = self._executor(connect)
        self._home_catalog: str | None = None
        log = MetadataLog(self._store, logger.warning, get_invocation_id())
        failpoints.arm(logger.warning)
        clock.announce(_alert)
        self.services = Services(
            self._own,
            log,
            logger.warning,
            logger.info,
            _alert,
            self._credentials.refresh_timeout,
            (self._credentials.schema,),
            self._credentials.allow_unsafe_sql,
            int(getattr(config, "threads", None) or 1),
        )
        refresher = Refresher(self.services)
        reader = Reader(self.services, refresher)
        self.gate = ReadGate(self.services, reader)
        self._write_refresher = WriteRefresher(self.services, reader)
        self.lifecycle = Lifecycle(self.services, refresher, reader)
        self.ddl = MaterializedViewStatements(self.services, reader, self.lifecycle, self.gate)
        self.pipeline = self._pipeline(reader)
        self.choice = Choice(log)
        self._questions = Questions(self.services, self.choice)
        self._refreshing = Refreshing(self.services, self.ddl, self.choice)
        self._partitions = Partitions(self.services.lineage, self.choice)
        self._upkeep = Upkeep(self.services, self.ddl, self.choice)
        self._rewrites = Rewrites(self.pipeline, self.context)

    def _pipeline(self, reader: Reader) -> StatementPipeline:
        stale = self._credentials.query_rewrite_stale
        policy = Policy(
            self._credentials.query_rewrite_min_rows,
            StaleViews(self.services, reader) if stale == profile.REWRITE_REFRESHES else None,
            merges=stale == profile.REWRITE_MERGES,
        )
        return StatementPipeline(self.services, self.gate, self.ddl, policy)

    def _executor(self, connect: Callable[[], Any]) -> SessionExecutor | ConnectionExecutor:
        if self._credentials.method in IN_PROCESS:
            remote = self._credentials.server_side_parameters.get("spark.remote")
            return session_executor(spark_session(self._credentials), remote, logged)
        return ConnectionExecutor(connect, logged)

    @contextmanager
    def _store(self) -> Iterator[MetadataStore]:
        resolver = Resolver(self._own)
        if self._home_catalog is None:
            self._home_catalog = resolver.current_namespace().catalog
        events = TableName(self._home_catalog, (self._credentials.metadata_schema,), EVENTS)
        yield MetadataStore(self._own, resolver, events)

    def operation(self, name: str) -> Callable[..., Report]:
        """The operation of this name; it refuses arguments of a wrong type, and ends when what it
        has to tell other processes is written."""
        owners = (
            *(self._questions, self._refreshing, self._partitions, self._upkeep),
            self._rewrites,
        )
        found: Callable[..., Report] = next(
            getattr(owner, name) for owner in owners if hasattr(owner, name)
        )

        def run(**arguments: Any) -> Report:
            report = found(**checked(name, arguments))
            self.services.log.flush_asked()
            return report

        return run

    def statistics(self, name: TableName) -> dict[str, tuple[str, str | int]]:
        """What the docs show of a view: label and text of each figure."""
        return self._questions.statistics(name)

    def context(self) -> NodeContext:
        """The context of a statement of the calling thread."""
        user: Executor = (
            HandleExecutor(self._user_handle, self._own.isolated, logged)
            if self._own.catalog is None
            else _UserSession(self._user_handle, self._own)
        )
        return NodeContext(
            self.invocation, user, self._memo, self.manifest, self._credentials.query_rewrite
        )

    def before(self, sql: str) -> StatementResult | Passage:
        """See `StatementPipeline.before`."""
        found = self.pipeline.before(sql, self.context())
        if isinstance(found, StatementResult) and found.outcome is not None:
            self._remember_written([found.outcome.view])
        return found

    def after(self, passage: Passage) -> None:
        """See `StatementPipeline.after`."""
        self.pipeline.after(passage)
        self._remember_written(passage.writes)
        if passage.moves:
            self.forget_namespace()

    def refuse_for_views(self, command: TableCommand) -> None:
        """Raise `InvalidStatement` if a command about a table names a materialized view."""
        name = self.services.resolver.resolve(command.parts, self.context().namespace())
        if self.gate.is_view(name):
            raise command.refused(load_view(self.services.resolver, name))

    def rewriting_failed(self, error: str) -> None:
        """A rewritten statement failed, and runs as it was written."""
        logger.warning(f"A statement runs as it was written, without materialized views: {error}")

    def _remember_written(self, names: Iterable[TableName]) -> None:
        self._memo.written = {*getattr(self._memo, "written", ()), *names}

    def forget_namespace(self) -> None:
        """The connection said USE, or is another one now."""
        self._memo.namespace = None

    def start_node(self, rebuilds: bool) -> None:
        """A node begins on this thread; `rebuilds` says that dbt wants a full refresh."""
        self._memo.namespace = None
        self._memo.rebuilds = rebuilds
        self._memo.replaces = None
        self._memo.written = set()
        self.gate.forget_all()
        self.services.log.reload_if_moved()

    def allow_replacing(self, name: TableName) -> None:
        """This thread's node may make a materialized view of the table or view of this name."""
        self._memo.replaces = name

    def restored(self, is_so: bool) -> None:
        """Remember whether this thread's node has restored the backup that an earlier run left."""
        self._memo.restored = is_so

    def was_restored(self) -> bool:
        """Whether it has."""
        return bool(getattr(self._memo, "restored", False))

    def end_node(self) -> None:
        """A node has ended: what it did to the views is to be in the metadata before dbt says so.

        Refreshes are there soon after, at the latest when the command ends.
        """
        self._memo.rebuilds = False
        self._memo.replaces = None
        written: set[TableName] = getattr(self._memo, "written", set())
        self._memo.written = set()
        if written and not (self.invocation.is_reduced or self.invocation.defers):
            selected = selected_relations(self.manifest)

            def is_selected(view: TableName) -> bool:
                name = view.name.lower()
                return any((schema.lower(), name) in selected for schema in view.schemas)

            self._write_refresher.refresh(written, is_selected)
        self.services.log.flush_unless_routine()

    def interrupt(self) -> None:
        """Somebody ends the command: refreshes under way give up, and release their locks."""
        self.services.watch.interrupt()

    def close(self) -> None:
        """The command ends."""
        self.services.workers.close()
        self.services.log.flush()
        self._own.close()


def _alert(text: str) -> None:
    # At this level it is printed also if dbt is told to be quiet.
    logger.error(f"Warning: {text}")


class _UserSession(HandleExecutor):
    """The user's session of this process, with the catalog client of our own executor."""

    def __init__(self, handle: Callable[[], Any], own: Any) -> None:
        super().__init__(handle, own.isolated, logged)
        self.catalog = own.catalog
