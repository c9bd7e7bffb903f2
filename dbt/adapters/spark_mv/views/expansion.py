"""What a query reads, through any number of views."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from dbt.adapters.spark_mv.sql.names import TableName

TABLE, VIEW, MATERIALIZED_VIEW = "TABLE", "VIEW", "MATERIALIZED_VIEW"
# Ends the names of views of Spark's own, which have the settings that they were made with.
OF_SPARK = ", evaluated by Spark"


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
    to their texts, `declared` to the types of their columns.
    """

    sources: list[Source] = field(default_factory=list)
    tables: list[TableName] = field(default_factory=list)
    storages: dict[TableName, TableName] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)

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
