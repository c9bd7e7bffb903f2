"""Versions that a group of views is refreshed at, whatever is committed meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from dbt.adapters.spark_mv.catalog import table_heads
from dbt.adapters.spark_mv.catalog.versions import Version, Versions
from dbt.adapters.spark_mv.core import clock
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

    @property
    def as_of(self) -> float | None:
        """The time that was asked for, in epoch seconds; None is now."""
        return None

    def forget(self, tables: Iterable[TableName]) -> None:
        """Pin these anew when they are next observed: they have been written by the group."""
        with self.lock:
            for table in tables:
                self.versions.pop(table, None)

    def read(
        self, expansion: Expansion, build: Label | None, versions: Versions, heads: Heads
    ) -> dict[TableName, Version]:
        """The versions of the tables that a view reads, which are pinned from now on."""
        tables = expansion.tables
        with self.lock:
            if build is not None and build.is_committed_since(self.started_at):
                # Somebody else refreshed after the pins were read: going back would lose it.
                self.versions.update(versions.read(tables, heads))
            missing = [table for table in tables if table not in self.versions]
            self.versions.update(versions.read(missing, heads))
            return {table: self.versions[table] for table in tables}
