"""The one place where statements are looked at: MV verbs, reads of views, writes to base tables.

`before` either answers a statement or lets it through, after everything that it reads is fresh;
`after` marks the dependents of what it wrote. The order of the steps is drawn in
docs/architecture.md.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dbt.adapters.spark_mv.answers import Answer, MaterializedViewVerbs
from dbt.adapters.spark_mv.errors import ImmutableView
from dbt.adapters.spark_mv.information_schema import rewrite_information_schema
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.gate import Gate
from dbt.adapters.spark_mv.sql.dialect import DropView, parse_view_statement
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, Namespace, TableName
from dbt.adapters.spark_mv.sql.statement import Kind, Statement, classify
from dbt.adapters.spark_mv.table_functions import CALLED, rewrite_table_functions

_USE = re.compile(r"\s*(?:/\*.*?\*/\s*)*use\b", re.IGNORECASE | re.DOTALL)
_LISTING = re.compile(r"information_schema\W+materialized_views", re.IGNORECASE)


class StatementContext(Protocol):
    """What the pipeline asks of the connection that a statement comes from."""

    trigger: str
    gates_reads: bool
    is_reduced: bool
    rebuilds: bool
    replaces: TableName | None

    def namespace(self) -> Namespace:
        """Where unqualified names are looked up."""
        ...

    def settings(self) -> Mapping[str, str]:
        """Session settings that change what a query returns."""
        ...

    def declared_reads(self) -> Sequence[tuple[str, ...]]:
        """What dbt's manifest says the node reads, for statements that cannot be parsed."""
        ...


@dataclass(frozen=True)
class Passage:
    """A statement that goes to Spark: its text, and the relations that it writes."""

    sql: str
    verb: str = ""
    writes: tuple[TableName, ...] = ()
    dropped_schema: tuple[str, ...] = ()


class StatementPipeline:
    """Looks at statements of all threads of one command."""

    def __init__(self, engine: Engine, gate: Gate, verbs: MaterializedViewVerbs) -> None:
        self._engine = engine
        self._gate = gate
        self._verbs = verbs
        self._inside = threading.local()

    def before(self, sql: str, context: StatementContext) -> Answer | Passage:
        """Answer the statement, or make ready what it reads and let it through."""
        if getattr(self._inside, "active", False):
            return Passage(sql)
        self._inside.active = True
        try:
            return self._before(sql, context)
        finally:
            self._inside.active = False

    def _before(self, sql: str, context: StatementContext) -> Answer | Passage:
        view_statement = parse_view_statement(sql)
        if view_statement is not None:
            return self._verbs.answer(view_statement, context)
        if _LISTING.search(sql):
            self._engine.memory.flush()
            sql = rewrite_information_schema(self._engine, sql, context.namespace())
        if CALLED.search(sql):
            sql = rewrite_table_functions(self._engine, sql, context.namespace())
        if _USE.match(sql):
            return Passage(sql, "USE")
        if not self._gate.has_views():
            return Passage(sql)
        statement = classify(sql)
        if statement.kind in (Kind.OTHER, Kind.USE):
            return Passage(sql)
        writes = self._writes(statement, context)
        answer = self._refuse_or_drop(statement, writes, context)
        if answer is not None:
            return answer
        if statement.reads_relations and context.gates_reads:
            sql = self._gate.make_readable(sql, context.namespace, context.declared_reads)
        schema = statement.targets[0] if statement.kind is Kind.DROP_SCHEMA else ()
        return Passage(sql, statement.verb, writes, schema)

    def after(self, passage: Passage) -> None:
        """Mark the dependents of everything that was written, also if the statement failed."""
        memory = self._engine.memory
        for name in passage.writes:
            self._gate.forget(name)
            memory.mark_dependents(name, passage.verb)
        if passage.dropped_schema:
            self._gate.forget_all()
            sources = {s for v in list(memory.state().views.values()) for s in v.sources}
            for source in sources:
                if source.namespace[-1:] == passage.dropped_schema[-1:]:
                    memory.mark_dependents(source, passage.verb)

    def _writes(self, statement: Statement, context: StatementContext) -> tuple[TableName, ...]:
        if not statement.targets or statement.kind is Kind.DROP_SCHEMA:
            return ()
        home = context.namespace()
        return tuple(self._engine.relations.resolve(parts, home) for parts in statement.targets)

    def _refuse_or_drop(
        self, statement: Statement, writes: tuple[TableName, ...], context: StatementContext
    ) -> Answer | None:
        for name in writes:
            stored = STORAGE_NAME.match(name.name)
            owner = name.sibling(stored["view"]) if stored else None
            if owner is not None and statement.verb != "CALL" and self._gate.is_view(owner):
                raise _immutable(owner, f"{name.name} is its storage table")
            if not self._gate.is_view(name):
                continue
            if statement.kind is Kind.DROP:
                return self._verbs.answer(DropView(name.parts, if_exists=True), context)
            raise _immutable(name, "it changes only by refresh")
        return None


def _immutable(view: TableName, why: str) -> ImmutableView:
    return ImmutableView(
        f"{view} is a materialized view: {why}.",
        "Write to its base tables; to replace it, DROP MATERIALIZED VIEW first.",
    )
