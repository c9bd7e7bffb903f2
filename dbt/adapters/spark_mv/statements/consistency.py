"""Groups of views that are read together: whether their rows are of one state of their base tables.

Each view is computed from one state by itself. A statement that reads two of them may still find
one before a change and the other after it: if one is served stale, or if somebody refreshes one
between the looks at both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import combinations

from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.registry import load_view

_NOW = 0.0


@dataclass(frozen=True)
class _Source:
    """What the rows of a view were made from: the version of each base table, and the instants in
    epoch seconds at which clocks were read, also below upstream views; `_NOW` for rows that are
    right now, whenever they were computed. `head` is the snapshot of its storage table."""

    view: TableName
    versions: dict[TableName, Version]
    instants: frozenset[float]
    head: str


@dataclass(frozen=True)
class GroupRows:
    """Rows of views of one group: why they are not of one state, None if they are; and the
    snapshots of the storage tables that have those that were looked at."""

    why_apart: str | None
    snapshots: dict[TableName, str] = field(default_factory=dict)


class ConsistencyGroups:
    """The groups of the views that are registered; changes nothing."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def of(self, names: Iterable[TableName]) -> dict[str, list[TableName]]:
        """The groups of which a statement that reads these views reads several members."""
        views = self._services.log.state().views
        found: dict[str, list[TableName]] = {}
        for name in dict.fromkeys(names):
            group = views[name].option("consistency_group") if name in views else None
            if group is not None:
                found.setdefault(group, []).append(name)
        return {group: members for group, members in found.items() if len(members) > 1}

    def members(self, group: str) -> list[TableName]:
        """The views of a group, in the order of their names."""
        views = list(self._services.log.state().views.values())
        return sorted(v.name for v in views if v.option("consistency_group") == group)

    def rows(self, members: Collection[TableName]) -> GroupRows:
        """What is stored of these views now."""
        found: list[_Source] = []
        for name in members:
            source = self._source(name)
            if source is None:
                return GroupRows(f"{name} was not computed from one state of its base tables")
            found.append(source)
        for one, two in combinations(found, 2):
            for table in one.versions.keys() & two.versions.keys():
                if not one.versions[table].is_same(two.versions[table]):
                    states = f"different versions of {table.shown}"
                    return GroupRows(f"{one.view} and {two.view} were computed from {states}")
            if len(one.instants | two.instants) > 1:
                return GroupRows(f"{one.view} and {two.view} were computed at different times")
        return GroupRows(None, {source.view: source.head for source in found})

    def _source(self, name: TableName) -> _Source | None:
        """None if there is no such state: of two upstream views one has moved on."""
        view = load_view(self._services.resolver, name)
        observation = self._services.observer.observe(view)
        label = observation.label
        if label is None or observation.head is None:
            return None
        is_fresh = observation.verdict.is_fresh
        versions: dict[TableName, Version] = {}
        instants = set[float]()
        if label.expiry is not None:
            instants.add(_NOW if is_fresh else label.evaluated_at)
        upstream = {storage: name for name, storage in observation.expansion.storages.items()}
        # Versions with the same rows, as after a compaction, are the same here.
        for table, version in (observation.versions if is_fresh else label.sources).items():
            below = {table: version}
            if table in upstream:
                has_moved = table in observation.verdict.changed
                inner = None if has_moved else self._source(upstream[table])
                if inner is None:
                    return None
                below = inner.versions
                instants |= inner.instants
            for base, found in below.items():
                if not versions.setdefault(base, found).is_same(found):
                    return None
        return _Source(name, versions, frozenset(instants), observation.head.snapshot_id)
