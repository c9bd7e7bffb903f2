"""The tables that a name stands for, through any number of logical views."""

from __future__ import annotations

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.executor import TableFacts, ViewFacts
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, Namespace, TableName
from dbt.adapters.spark_mv.sql.understood import understood
from dbt.adapters.spark_mv.views.dependencies import MAX_DEPTH
from dbt.adapters.spark_mv.views.recognition import storage_of

Tables = frozenset[TableName]


class TablesBehind:
    """Remembers what names stand for until they may stand for something else."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._known: dict[TableName, Tables | None] = {}

    def forget_all(self) -> None:
        """Every relation may be another one now."""
        self._known = {}

    def forget(self, name: TableName) -> None:
        """The relation of this name may be another one now, and so may views over it."""
        known = dict(self._known)
        self._known = {
            other: tables
            for other, tables in known.items()
            if other != name and tables is not None and name not in tables
        }

    def of(self, name: TableName) -> Tables | None:
        """The tables behind a relation; None if that cannot be told."""
        if name in self._known:
            return self._known[name]
        found = self._find(name, 0)
        # A refresh may give a materialized view another storage table at any time.
        if not any(STORAGE_NAME.match(table.name) for table in found or ()):
            self._known[name] = found
        return found

    def is_view(self, name: TableName) -> bool:
        """Whether a relation is a view."""
        return self.of(name) != frozenset([name])

    def _find(self, name: TableName, depth: int) -> Tables | None:
        facts = self._resolver.lookup(name)
        if isinstance(facts, TableFacts):
            return frozenset([name])
        if not isinstance(facts, ViewFacts) or depth > MAX_DEPTH:
            return None
        storage = storage_of(name, facts)
        if storage is not None:
            return frozenset([storage])
        reads = understood(facts.text)
        if reads is None:
            return None
        home = Namespace(facts.catalog, facts.namespace)
        found: set[TableName] = set()
        for reference in reads.references:
            behind = self._find(self._resolver.resolve(reference.parts, home), depth + 1)
            if behind is None:
                return None
            found |= behind
        return frozenset(found)
