"""Versions that a group of views is refreshed at, whatever is committed meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dbt.adapters.spark_mv.catalog import table_heads
from dbt.adapters.spark_mv.catalog.versions import Version, Versions
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.views.expansion import Expansion

Heads = dict[TableName, table_heads.Head]


@dataclass
class PinnedVersions:
    """Versions pinned for a group of views that are refreshed together, by one thread or more.

    `instant` is when their rows are to be right, by a clock that may be shifted; `started_at` is
    the time of the machine, to which commits are compared.
    """

    versions: dict[TableName, Version] = field(default_factory=dict)
    started_at: float = field(default_factory=time.time)
    instant: float = field(default_factory=clock.now)
    lock: threading.Lock = field(default_factory=threading.Lock)
    # What was seen of views while those that read them were looked at.
    _upstream: dict[TableName, ViewFacts] = field(default_factory=dict, init=False)

    @property
    def as_of(self) -> float | None:
        """The time that was asked for, in epoch seconds; None is now."""
        return None

    def forget(self, tables: Iterable[TableName]) -> None:
        """Pin these anew when they are next observed: they have been written by the group, and
        views may be others by now."""
        with self.lock:
            self._upstream.clear()
            for table in tables:
                self.versions.pop(table, None)

    def head(self, table: TableName) -> table_heads.Head | None:
        """The head at which an Iceberg table is pinned, if it is."""
        version = self.versions.get(table)
        if version is None or version.schema_id is None or version.snapshot_id is None:
            return None
        return version.snapshot_id, version.schema_id

    def take_view(self, name: TableName) -> ViewFacts | None:
        """What was seen of a view when one that reads it was looked at, None if that was taken
        before: it is of then."""
        return self._upstream.pop(name, None)

    def has_left(self, seen: Mapping[TableName, Version], tables: Iterable[TableName]) -> bool:
        """Whether one of these tables is no longer pinned at the version that was seen of it."""
        return any(self.versions.get(table) != seen[table] for table in tables)

    def read(
        self, expansion: Expansion, build: Label | None, versions: Versions, heads: Heads
    ) -> dict[TableName, Version]:
        """The versions of the tables that a view reads, which are pinned from now on."""
        tables, facts = expansion.tables, expansion.facts
        for name in expansion.storages:
            seen = facts.get(name)
            if isinstance(seen, ViewFacts):
                self._upstream[name] = seen
        with self.lock:
            if build is not None and build.is_committed_since(self.started_at):
                # Somebody else refreshed after the pins were read: going back would lose it.
                self.versions.update(versions.read(tables, heads, facts))
            missing = [table for table in tables if table not in self.versions]
            self.versions.update(versions.read(missing, heads, facts))
            return {table: self.versions[table] for table in tables}
