"""Finds the materialized views that a statement reads and has them made readable."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dbt.adapters.spark_mv.errors import StatementFailed
from dbt.adapters.spark_mv.executor import ViewFacts
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.look import Group
from dbt.adapters.spark_mv.refresh.read import Reader, Serving
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, Namespace, TableName, quote
from dbt.adapters.spark_mv.sql.reads import Reference, parse, reads_of
from dbt.adapters.spark_mv.sql.splice import splice, subquery
from dbt.adapters.spark_mv.views.definition import is_materialized_view
from dbt.adapters.spark_mv.views.dependencies import Expander, storage_of
from dbt.adapters.spark_mv.views.registry import load_view

Parts = tuple[str, ...]


class Gate:
    """The read gate of one command. What a name stands for is remembered until it is written."""

    def __init__(self, engine: Engine, reader: Reader) -> None:
        self._engine = engine
        self._reader = reader
        self._known: dict[TableName, tuple[TableName, ...]] = {}
        self._warned = False
        self._lost: bool | None = None

    def has_views(self) -> bool:
        """Whether there is any materialized view that a statement could read.

        Without metadata the catalog is asked once: lost metadata must not hide a stale view.
        """
        if self._engine.memory.state().views:
            return True
        if self._lost is None:
            self._lost = not self._engine.memory.exists and self._has_storage_tables()
        return self._lost

    def _has_storage_tables(self) -> bool:
        engine = self._engine
        home = engine.relations.current_namespace()
        if engine.executor.road is not None:
            return engine.executor.road.has_storage_tables(home.catalog)
        for schema in engine.schemas:
            try:
                rows = engine.executor.query(f"SHOW TABLES IN {quote(schema)} LIKE '*__mv_*'")
            except StatementFailed:
                continue
            if any(STORAGE_NAME.match(str(row[1])) for row in rows):
                return True
        return False

    def is_view(self, name: TableName) -> bool:
        """Whether the name is that of a materialized view."""
        return self.views_behind(name) == (name,)

    def forget(self, name: TableName) -> None:
        """The relation of this name may be another one now, and so may views over it."""
        known = dict(self._known)
        self._known = {
            other: views for other, views in known.items() if other != name and name not in views
        }

    def forget_all(self) -> None:
        """Every relation may be another one now."""
        self._known = {}

    def views_behind(self, name: TableName) -> tuple[TableName, ...]:
        """Materialized views that a read of `name` reads, through any number of views."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._find_views(name)
        return found

    def _find_views(self, name: TableName) -> tuple[TableName, ...]:
        facts = self._engine.relations.lookup(name)
        if not isinstance(facts, ViewFacts):
            return ()
        if is_materialized_view(facts.properties):
            return (name,)
        expander = Expander(self._engine.relations, str(name), tolerate_missing=True)
        home = Namespace(facts.catalog, facts.namespace)
        return tuple(expander.expand(facts.text, home).storages)

    def make_readable(
        self,
        sql: str,
        namespace: Callable[[], Namespace],
        declared: Callable[[], Sequence[Parts]],
    ) -> str:
        """Make every view that `sql` reads readable; returns the text to run.

        The text differs from `sql` only where a view's policy is to run its query instead.
        """
        home = namespace()
        references = self._references(sql, declared)
        read = [
            (reference, self.views_behind(self._engine.relations.resolve(reference.parts, home)))
            for reference in references
        ]
        views = dict.fromkeys(view for _, found in read for view in found)
        group = Group()
        inline = {view for view in views if self._reader.prepare(view, group) is Serving.INLINE}
        if not inline:
            return sql
        targets = [reference for reference, found in read if inline.intersection(found)]
        return splice(sql, targets, lambda reference: self._inlined(reference, home, inline))

    def _references(self, sql: str, declared: Callable[[], Sequence[Parts]]) -> list[Reference]:
        tree = parse(sql)
        if tree is not None:
            return [reference for reference in reads_of(tree).references if not reference.fixed]
        if not self._warned:
            self._warned = True
            self._engine.warn(
                "A statement could not be parsed; the refs of its dbt node tell what it reads."
            )
        return [Reference(parts, 0, 0, False, False) for parts in declared()]

    def _inlined(self, reference: Reference, home: Namespace, inline: set[TableName]) -> str | None:
        if reference.end == 0:
            return None
        name = self._engine.relations.resolve(reference.parts, home)
        expander = Expander(self._engine.relations, str(name), tolerate_missing=True)

        def replacement(inner: TableName, facts: object, found: Reference) -> str | None:
            if inner not in inline:
                return None
            view = load_view(self._engine.relations, inner)
            query = expander.inline(view.definition.query, view.definition.home, replacement)
            return subquery(query, found)

        facts = self._engine.relations.lookup(name)
        if facts is not None and storage_of(name, facts) is not None:
            return replacement(name, facts, reference)
        assert isinstance(facts, ViewFacts)
        inner_home = Namespace(facts.catalog, facts.namespace)
        return subquery(expander.inline(facts.text, inner_home, replacement), reference)
