"""What the names in a query stand for, as the catalog has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.rewrite.reading.scopes import Query, Table
from dbt.adapters.spark_mv.sql.literals import VARIABLE
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.live_sql import is_live_view
from dbt.adapters.spark_mv.views.table_parts import is_part_of_table

Parts = tuple[str, ...]


class CatalogRelations:
    """Tables, and logical views as their queries; a materialized view is a query of its storage
    table. `is_temporary` says which names are those of a session."""

    def __init__(
        self, resolver: Resolver, is_temporary: Callable[[Parts], bool] = lambda _: False
    ) -> None:
        self._resolver = resolver
        self._is_temporary = is_temporary

    def find(self, parts: Parts, home: Namespace) -> Table | Query | None:
        """The relation of a written name; None if it can stand in no block."""
        if is_part_of_table(parts) or self._is_temporary(parts):
            return None
        name = self._resolver.resolve(parts, home)
        facts = self._resolver.lookup(name)
        if facts is None:
            return None
        if not isinstance(facts, ViewFacts):
            return table_of(self._resolver, name) if facts.provider == "iceberg" else None
        is_own = facts.returned is not None  # of Spark's, with settings of its own
        is_odd = is_own or is_live_view(facts.properties) or VARIABLE in facts.text
        if is_odd or not Expander(self._resolver, str(name)).is_as_its_text(name, facts):
            return None  # a term of its text may have another type than the column of the view
        tree = parse(facts.text.rstrip().rstrip(";"))
        if tree is None:
            return None
        return Query(tree, Namespace(facts.catalog, facts.namespace), facts.columns)


class PlaceholderRelations:
    """The tables of an analysed definition, by the names that they have in its program."""

    def __init__(self, resolver: Resolver, tables: Mapping[str, TableName]) -> None:
        self._resolver = resolver
        self._tables = tables

    def find(self, parts: Parts, home: Namespace) -> Table | None:
        """The table of a placeholder."""
        name = self._tables.get(parts[-1]) if len(parts) == 1 else None
        return None if name is None else table_of(self._resolver, name)


def table_of(resolver: Resolver, name: TableName) -> Table:
    """A table with its columns."""
    return Table(name, tuple(resolver.columns(name, whole=True)))
