"""The one place that sees every statement: DDL of views, reads of views, writes to base tables.

`before` either carries out a statement or lets it through, after everything that it reads is fresh;
`after` marks the dependents of what it wrote. The order of the steps is drawn in
docs/architecture.md.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from dbt.adapters.spark_mv.core.errors import ImmutableView, StatementFailed
from dbt.adapters.spark_mv.metadata.events import REWRITTEN, new_event
from dbt.adapters.spark_mv.refresh.live.dependents import renew_dependents
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.dialect import DropView, parse_view_statement
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, TableName, table_of_branch
from dbt.adapters.spark_mv.sql.scan import calls_for_rows, executed
from dbt.adapters.spark_mv.sql.statement import Kind, Statement, classify
from dbt.adapters.spark_mv.statements.cached_plans import CachedPlans
from dbt.adapters.spark_mv.statements.computed_text import as_spark_reads, may_be_computed
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.statements.ddl import MaterializedViewStatements
from dbt.adapters.spark_mv.statements.inlining import inlined
from dbt.adapters.spark_mv.statements.listings.subqueries import with_listings
from dbt.adapters.spark_mv.statements.read_gate import ReadGate
from dbt.adapters.spark_mv.statements.results import StatementResult
from dbt.adapters.spark_mv.statements.rewriting.explain import (
    explained_query,
    not_rewritten,
    rewriting_rows,
)
from dbt.adapters.spark_mv.statements.rewriting.relations import CatalogRelations
from dbt.adapters.spark_mv.statements.rewriting.rewriter import Rewriter
from dbt.adapters.spark_mv.statements.rewriting.stale import Policy
from dbt.adapters.spark_mv.statements.rewriting.tested import TestedConstraints
from dbt.adapters.spark_mv.statements.rewriting.values import Rewriting
from dbt.adapters.spark_mv.statements.statement_reads import StatementReads


@dataclass(frozen=True)
class Passage:
    """A statement that goes to Spark: its text, the relations that it writes, whether it may make
    views again, and whether unqualified names may be looked up elsewhere after it; `original` is
    the text that means the same, if views answer a part of this one; `writes_rows` that it is
    more than a query."""

    sql: str
    verb: str = ""
    writes: tuple[TableName, ...] = ()
    dropped_schema: tuple[str, ...] = ()
    redefines: bool = False
    moves: bool = False
    original: str = ""
    writes_rows: bool = False


class StatementPipeline:
    """Sees the statements of all threads of one command."""

    def __init__(
        self,
        services: Services,
        gate: ReadGate,
        ddl: MaterializedViewStatements,
        rewriting: Policy,
    ) -> None:
        self._services = services
        self._gate = gate
        self._ddl = ddl
        self._reads = StatementReads(services, gate)
        self._rewriter = Rewriter(services, self._reads.is_temporary, rewriting)
        relations = CatalogRelations(services.resolver, self._reads.is_temporary)
        self.tested = TestedConstraints(services, relations)
        self._caches = CachedPlans(services.executor, services.resolver)
        self._inside = threading.local()

    def before(self, sql: str, context: StatementContext) -> StatementResult | Passage:
        """Carry out the statement, or make fresh what it reads and let it through."""
        if getattr(self._inside, "active", False):
            return Passage(sql)
        with self._entered():
            return self._before(sql, context)

    def make_ready(self, sql: str, context: StatementContext) -> None:
        """Make what a statement reads readable before it is sent, as far as that is refreshing."""
        if not (context.gates_reads and self._gate.has_views()):
            return
        with self._entered():
            sql = as_spark_reads(sql, context)
            statement = classify(sql)
            if statement.reads_relations:
                found = self._reads.find(sql, statement, context)
                self._gate.prepare(found.views, context.settings if found.places else None)

    def make_declared_ready(self, context: StatementContext) -> None:
        """The same for what dbt's manifest says the node reads, which is no SQL."""
        if not (context.gates_reads and self._gate.has_views()):
            return
        home = context.namespace()
        names = [self._services.resolver.resolve(parts, home) for parts in context.declared_reads()]
        views = [view for name in names for view in self._gate.views_behind(name) or ()]
        with self._entered():
            self._gate.prepare(views)

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """Statements of our own in the user's session pass."""
        self._inside.active = True
        try:
            with self._services.resolver.knows_catalogs():
                yield
        finally:
            self._inside.active = False

    def _before(self, sql: str, context: StatementContext) -> StatementResult | Passage:
        view_statement = parse_view_statement(sql)
        if view_statement is not None:
            return self._ddl.execute(view_statement, context)
        if query := explained_query(sql):
            return rewriting_rows(self.explain_rewrite(query, context))
        sql = with_listings(self._services, sql, context)
        if not (may_be_computed(sql) and self._gate.has_views()):
            return self._told(sql, context)
        told = as_spark_reads(sql, context)
        answer = self._told(told, context)
        if isinstance(answer, Passage) and answer.sql == told:
            return replace(answer, sql=sql)  # Spark is to refuse what it refuses
        return answer

    def _told(self, sql: str, context: StatementContext) -> StatementResult | Passage:
        """The same for a statement that is no DDL of views, as Spark reads it."""
        statement = classify(sql)
        if statement.kind is Kind.EXECUTE:
            return self._executed(sql, statement, context)
        if not self._gate.has_views():
            return Passage(sql, moves=statement.kind in (Kind.SCRIPT, Kind.USE))
        return self._passed(sql, sql, statement, context)

    def _executed(
        self, sql: str, statement: Statement, context: StatementContext
    ) -> StatementResult | Passage:
        """EXECUTE IMMEDIATE is treated as the statement that it runs.

        EXPLAIN would not do: Spark runs what it explains there, unless that is a query.
        """
        expression = executed(statement.words, sql)
        try:
            rows = context.ask(f"SELECT CAST(({expression}) AS STRING)") if expression else []
        except StatementFailed:
            rows = []
        text = str(rows[0][0]) if rows and rows[0][0] is not None else ""
        view_statement = parse_view_statement(text)
        if view_statement is not None:
            return self._ddl.execute(view_statement, context)
        if not self._gate.has_views():
            return Passage(sql, moves=True)
        text = as_spark_reads(text, context)
        inner = classify(text)
        if not text or inner.kind is Kind.EXECUTE:
            return self._passed(sql, sql, statement, context)
        # Values that are given to it may be names.
        inner = replace(inner, words=(*inner.words, *statement.words))
        return self._passed(sql, text, inner, context)

    def _passed(
        self, sql: str, text: str, statement: Statement, context: StatementContext
    ) -> StatementResult | Passage:
        """`sql`, which has Spark run `text`, after everything that it reads is readable."""
        if self._reads.drops_temporary(statement):
            return Passage(sql, statement.verb)
        writes = self._written(statement, context)
        answer = self._refuse_or_drop(statement, writes, context)
        if answer is not None:
            return answer
        if statement.reads_relations and context.gates_reads:
            found = self._reads.find(text, statement, context)
            may_inline = bool(found.places) and text is sql
            read = self._gate.prepare(found.views, context.settings if may_inline else None)
            self._caches.drop_outdated(found.views, context)
            if statement.kind is Kind.CACHE:
                self._caches.made(found.views)
            # A temporary view is to read what its views have later.
            may_pin = may_inline and statement.kind in (Kind.QUERY, Kind.WRITE)
            if read.inline or (read.snapshots and may_pin):
                sql = inlined(self._services, sql, found, context.namespace(), read)
        original, sql = sql, self._rewritten(sql, text is sql, statement, writes, context)
        is_script = statement.kind is Kind.SCRIPT
        return Passage(
            sql,
            statement.verb,
            writes,
            statement.targets[0] if statement.kind is Kind.DROP_SCHEMA else (),
            redefines=is_script or statement.redefines,
            moves=is_script or statement.kind is Kind.USE,
            original="" if original == sql else original,
            writes_rows=statement.kind is not Kind.QUERY,
        )

    def _written(self, statement: Statement, context: StatementContext) -> tuple[TableName, ...]:
        resolve = self._services.resolver.resolve
        return tuple(resolve(parts, context.namespace()) for parts in statement.writes)

    def _rewritten(
        self,
        sql: str,
        is_whole: bool,
        statement: Statement,
        writes: tuple[TableName, ...],
        context: StatementContext,
    ) -> str:
        """The statement with views in place of base tables, where they answer a part of it."""
        if not (is_whole and context.rewrites_reads and statement.reads_relations):
            return sql
        made = self._rewriter.rewritten(sql, statement, context, writes)
        if made.is_changed:
            self._services.info(f"{context.reader}{made.note}")
            self._record(made, context.reader)
        elif context.needs_rewriting and statement.kind is not Kind.QUERY:
            raise not_rewritten(context.reader, made)
        return made.sql

    def _record(self, made: Rewriting, reader: str) -> None:
        """For each view that answered a statement, that it did so."""
        log = self._services.log
        for name in made.views:
            known = log.state().views.get(name)
            if known is not None:
                payload = {
                    "reader": reader.removesuffix(": "),
                    "rows": made.rows,
                    "original_rows": made.original_rows,
                }
                by = log.invocation_id
                log.record(
                    new_event(REWRITTEN, known.id, name.full, invocation_id=by, payload=payload)
                )

    def explain_rewrite(self, sql: str, context: StatementContext) -> Rewriting:
        """How a statement would be rewritten; nothing is refreshed or run."""
        with self._entered():
            sql = as_spark_reads(sql, context)
            statement = classify(sql)
            writes = self._written(statement, context)
            return self._rewriter.rewritten(sql, statement, context, writes, thorough=True)

    def after(self, passage: Passage) -> None:
        """Mark the dependents of everything that was written, also if the statement failed."""
        log = self._services.log
        if passage.redefines:
            self._reads.forget_temporary()
            self._gate.forget_all()
        if passage.redefines or passage.dropped_schema:
            self._rewriter.forget_all()
        for name in passage.writes:
            self._gate.forget(name)
            self._rewriter.forget(name)
            log.mark_dependents(name, passage.verb)
            # Texts over a table that is dropped are right again once there is another one.
            if passage.redefines:
                renew_dependents(self._services, name)
        if passage.dropped_schema:
            self._gate.forget_all()
            sources = {s for v in list(log.state().views.values()) for s in v.sources}
            for source in sources:
                if source.namespace[-1:] == passage.dropped_schema[-1:]:
                    log.mark_dependents(source, passage.verb)

    def _refuse_or_drop(
        self, statement: Statement, writes: tuple[TableName, ...], context: StatementContext
    ) -> StatementResult | None:
        for name in writes:
            table = table_of_branch(name)
            stored = STORAGE_NAME.match(table.name)
            owner = table.sibling(stored["view"]) if stored else None
            is_kept = statement.verb == "CALL" and not calls_for_rows(statement.words)
            if owner is not None and not is_kept and self._gate.is_view(owner):
                raise _immutable(owner, f"{table.name} is its storage table")
            if not self._gate.is_view(name):
                continue
            if statement.kind is Kind.DROP:
                return self._ddl.execute(DropView(name.parts, if_exists=True), context)
            raise _immutable(name, "it changes only by refresh")
        return None


def _immutable(view: TableName, why: str) -> ImmutableView:
    return ImmutableView(
        f"{view} is a materialized view: {why}.",
        "Write to its base tables; to replace it, DROP MATERIALIZED VIEW first.",
    )
