"""The read gate: which materialized views a name stands for, and making them readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import ViewFacts, client_for
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, Namespace, TableName, quote_parts
from dbt.adapters.spark_mv.sql.understood import understood
from dbt.adapters.spark_mv.state.pinned_versions import PinnedVersions
from dbt.adapters.spark_mv.statements.read_policy import Reader
from dbt.adapters.spark_mv.statements.serving import Readable, Session
from dbt.adapters.spark_mv.views.dependencies import MAX_DEPTH
from dbt.adapters.spark_mv.views.live_sql import is_live_view
from dbt.adapters.spark_mv.views.recognition import is_materialized_view

Views = tuple[TableName, ...]


@dataclass(frozen=True)
class _Behind:
    """Materialized views that a read of a relation reads, and whether views of Spark's own catalog
    are on the way to them: their texts do not tell the settings that they were made with."""

    views: Views = ()
    through_spark: bool = False


class ReadGate:
    """The read gate of one command. What a name stands for is remembered until it is written."""

    def __init__(self, services: Services, reader: Reader) -> None:
        self._services = services
        self._reader = reader
        self._known: dict[TableName, _Behind | None] = {}
        self._generation = 0
        self._found: dict[tuple[str, ...], bool] = {}

    def has_views(self) -> bool:
        """Whether there is any materialized view that a statement could read.

        If the metadata list none the catalog is asked once: views may have been made under other
        metadata, by somebody who died before they were registered, or the metadata were lost.
        """
        if self._services.log.state().views:
            return True
        schemas = self._services.schemas
        if schemas not in self._found:
            self._found[schemas] = self._has_storage_tables()
        return self._found[schemas]

    def _has_storage_tables(self) -> bool:
        services = self._services
        home = services.resolver.current_namespace()
        client = client_for(services.executor, home.catalog)
        if client is not None:
            return client.has_storage_tables(home.catalog)
        for schema in services.schemas:
            try:
                named = quote_parts(tuple(schema.split(".")))
                rows = services.executor.query(f"SHOW TABLES IN {named} LIKE '*__mv_*'")
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
        self._generation += 1
        known = dict(self._known)
        self._known = {
            other: behind
            for other, behind in known.items()
            if other != name and behind is not None and name not in behind.views
        }

    def forget_all(self) -> None:
        """Every relation may be another one now."""
        self._generation += 1
        self._known = {}

    def views_behind(self, name: TableName) -> Views | None:
        """Materialized views that a read of `name` reads, through any number of views; None if
        there is no such relation, or a view of which only Spark knows what it reads."""
        behind = self._behind(name)
        return None if behind is None else behind.views

    def only_spark_evaluates(self, name: TableName) -> bool:
        """Whether views of Spark's own catalog are between a relation and the materialized views
        behind it, so that no text can stand for it."""
        behind = self._behind(name)
        return behind is not None and behind.through_spark

    def _behind(self, name: TableName) -> _Behind | None:
        if name in self._known:
            return self._known[name]
        generation = self._generation
        found = self._walk(name, 0)
        if generation == self._generation:  # else it may be of before what was forgotten
            self._known[name] = found
        return found

    def _walk(self, name: TableName, depth: int) -> _Behind | None:
        resolver = self._services.resolver
        facts = resolver.lookup(name)
        if facts is None:
            return None
        if not isinstance(facts, ViewFacts):
            return _Behind()
        if is_materialized_view(facts):
            return _Behind((name,))
        if is_live_view(facts.properties):
            return _Behind()
        reads = understood(facts.text)
        if reads is None or depth > MAX_DEPTH:
            return None
        home = Namespace(facts.catalog, facts.namespace)
        found: dict[TableName, None] = {}
        through_spark = facts.returned is not None
        for parts in dict.fromkeys(reference.parts for reference in reads.references):
            behind = self._walk(resolver.resolve(parts, home), depth + 1)
            if behind is None:
                return None
            found.update(dict.fromkeys(behind.views))
            through_spark = through_spark or behind.through_spark
        return _Behind(tuple(found), through_spark)

    def prepare(self, views: Sequence[TableName], session: Session | None = None) -> Readable:
        """Make these views readable; a query may stand in place of one only in a `session`."""
        return self._reader.prepare(views, PinnedVersions(), session)
