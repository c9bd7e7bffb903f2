"""Relations: dbt-spark's, with materialized views told apart from the views they are stored as."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dbt.adapters.contracts.relation import ComponentName, RelationType
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.spark_mv.views.storage_sql import STORAGE_MARK

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STORAGE_TABLE = re.compile(r"^(?P<view>.+)__mv_[0-9a-f]{8}$", re.S)
_MARK = f"{STORAGE_MARK}="
# Spark 4.1 prints the properties of a v2 table as a list of characters.
_SPREAD_PROPERTIES = re.compile(r"^Table Properties: \[(\[, .*)\]$", re.M)


@dataclass(frozen=True, eq=False, repr=False)
class SparkMVRelation(SparkRelation):
    """A table, view or materialized view."""

    renameable_relations: frozenset[RelationType] = field(
        default_factory=lambda: frozenset({RelationType.Table, RelationType.View})
    )
    replaceable_relations: frozenset[RelationType] = field(
        default_factory=lambda: frozenset({RelationType.View})
    )

    @staticmethod
    def add_ephemeral_prefix(name: str) -> str:
        """The name of the CTE that an ephemeral model becomes, which dbt writes as it is."""
        return quote_if_needed(SparkRelation.add_ephemeral_prefix(name))

    def _render_iterator(self) -> Iterator[tuple[ComponentName | None, str | None]]:
        for key, part in super()._render_iterator():
            # A schema may be written with its catalog, or below another one.
            pieces = (part or "").split(".") if key == ComponentName.Schema else [part or ""]
            yield key, ".".join(map(quote_if_needed, pieces)) if part else part


def quote_if_needed(name: str) -> str:
    """A name in backticks, unless Spark reads it without them or it has some already.

    >>> quote_if_needed("orders"), quote_if_needed("umsätze"), quote_if_needed("2026_orders")
    ('orders', '`umsätze`', '`2026_orders`')
    """
    return name if _PLAIN.fullmatch(name) or "`" in name else f"`{name}`"


@dataclass(frozen=True)
class ListedRelation:
    """One row of Spark's listings of a schema."""

    schema: str
    name: str
    is_view: bool
    information: str

    def has_format(self, name: str) -> bool:
        """Whether the table is of this provider. Of Iceberg's in Spark's own catalog only their
        properties say it."""
        return f"Provider: {name}" in self.information or (
            name == "iceberg" and "table_type=ICEBERG," in self.information
        )


def view_of_storage_table(name: str) -> str | None:
    """The materialized view whose rows a table of this name holds."""
    found = _STORAGE_TABLE.match(name)
    return found["view"] if found else None


def relation_types(listed: list[ListedRelation]) -> dict[str, RelationType]:
    """Type by name, of what a user may see; storage tables are not for users.

    They have a mark or, if they are old, the view beside them; other tables are the user's,
    whatever they are called.
    """
    views = {row.name for row in listed if row.is_view}
    storages = {row.name for row in listed if _is_storage(row, views)}
    stored = {view_of_storage_table(name) for name in storages}
    types: dict[str, RelationType] = {}
    for row in listed:
        if row.is_view:
            is_mv = row.name in stored
            types[row.name] = RelationType.MaterializedView if is_mv else RelationType.View
        elif row.name not in storages:
            types[row.name] = RelationType.Table
    return types


def _is_storage(row: ListedRelation, views: set[str]) -> bool:
    view = view_of_storage_table(row.name)
    return not row.is_view and view is not None and (view in views or _MARK in row.information)


def readable_information(information: str) -> str:
    """Spark's description of a table with the properties put together again."""
    return _SPREAD_PROPERTIES.sub(lambda match: "Table Properties: " + match[1][::3], information)
