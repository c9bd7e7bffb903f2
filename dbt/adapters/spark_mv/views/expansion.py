"""What a query reads, through any number of views."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from dbt.adapters.spark_mv.catalog.resolver import Facts
from dbt.adapters.spark_mv.sql.names import TableName

TABLE, VIEW, MATERIALIZED_VIEW = "TABLE", "VIEW", "MATERIALIZED_VIEW"
_OF_SPARK = ", evaluated by Spark"


@dataclass(frozen=True)
class Source:
    """A relation that a definition reads: `depth` 1 directly, more through views."""

    name: TableName
    kind: str
    depth: int


@dataclass
class Expansion:
    """What a query reads.

    `tables` are the physical base tables (a materialized view counts by its storage table),
    `storages` maps the materialized views among the sources to theirs, `views` the logical views
    to their texts, `declared` to the types of their columns. `facts` has what was seen of each
    source that exists.
    """

    sources: list[Source] = field(default_factory=list)
    tables: list[TableName] = field(default_factory=list)
    storages: dict[TableName, TableName] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    facts: dict[TableName, Facts] = field(default_factory=dict)

    @property
    def declared_types(self) -> str | None:
        """The declared types of all logical views, as a short text; None if there are none."""
        if not self.declared:
            return None
        listed = json.dumps(self.declared, sort_keys=True)
        return hashlib.sha256(listed.encode()).hexdigest()[:16]

    def add(self, name: TableName, kind: str, depth: int) -> None:
        """Add a source once, at the depth where it was met first."""
        if all(source.name != name for source in self.sources):
            self.sources.append(Source(name, kind, depth))


def known_as(name: TableName, is_own: bool) -> str:
    """What a logical view is called among the `views` of an expansion and of a definition; one of
    Spark's own is marked, as it has settings that its text does not tell."""
    return f"{name.full}{_OF_SPARK}" if is_own else str(name)


def views_of_spark(views: Iterable[str]) -> list[str]:
    """The names of those views that are Spark's own."""
    return [view.removesuffix(_OF_SPARK) for view in views if view.endswith(_OF_SPARK)]
