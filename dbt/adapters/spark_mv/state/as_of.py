"""Refreshing as of an earlier time: which versions its base tables had then, and whether the stored
rows may be brought to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from dbt.adapters.spark_mv.catalog import iceberg, table_heads
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.catalog.versions import MISSING, Version, Versions
from dbt.adapters.spark_mv.config.time_zones import zone_of
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.errors import InvalidArgument
from dbt.adapters.spark_mv.core.reasons import moment_of
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.state.observation import Observation, Observer
from dbt.adapters.spark_mv.state.pinned_versions import Heads, PinnedVersions
from dbt.adapters.spark_mv.views.clock import reads_clock
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.expansion import Expansion
from dbt.adapters.spark_mv.views.registry import load_view

_FIRST_YEAR = 1971
_ISO = "Expected a time such as '2026-03-01 12:30:00' or '2026-03-01T12:30:00+01:00'."


def parsed(text: str) -> datetime:
    """A time of ISO 8601, with or without an offset; raises `InvalidArgument` for another text."""
    try:
        return datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        raise InvalidArgument(f"as_of cannot be {text!r}.", _ISO) from None


def pinned_as_of(view: MaterializedView, text: str) -> PastVersions:
    """Pins of a refresh as of a time; without an offset it is one of the view's time zone.

    Raises `InvalidArgument` for a text that is no time, or one of the future.
    """
    moment = parsed(text)
    if moment.tzinfo is None:
        zone = view.definition.settings.get("spark.sql.session.timeZone", "")
        moment = moment.replace(tzinfo=zone_of(zone) or timezone.utc)
    if moment > datetime.fromtimestamp(clock.now(), timezone.utc):
        raise InvalidArgument(f"as_of cannot be {text!r}: it is in the future.", "Leave out as_of.")
    if moment.year < _FIRST_YEAR:
        raise InvalidArgument(f"as_of cannot be {text!r}: no table is so old.", "Leave out as_of.")
    return PastVersions(instant=moment.timestamp())


@dataclass
class PastVersions(PinnedVersions):
    """The versions that tables had at `instant`. Views that are read are refreshed as of it first,
    so that what is in them now is what is to be read."""

    @property
    def as_of(self) -> float | None:
        """As it was asked for."""
        return self.instant

    @property
    def committed_until(self) -> int:
        """The same time by the clock that commits have, in epoch milliseconds."""
        return int((self.instant - clock.offset()) * 1000)

    @property
    def shown(self) -> str:
        """The time, for messages."""
        return moment_of(round(self.instant * 1e6))

    def head(self, table: TableName) -> table_heads.Head | None:
        """None: that of now is to be compared with what the table was."""
        return None

    def read(
        self, expansion: Expansion, build: Label | None, versions: Versions, heads: Heads
    ) -> dict[TableName, Version]:
        """As `PinnedVersions.read`; raises `InvalidArgument` for a table that cannot be read as it
        was."""
        upstream = set(expansion.storages.values())
        with self.lock:
            missing = [table for table in expansion.tables if table not in self.versions]
            for name, now in versions.read(missing, heads, expansion.facts).items():
                stored = build.sources.get(name) if build is not None else None
                is_now = name in upstream or now.kind == MISSING or self._is_empty(now, stored)
                self.versions[name] = now if is_now else self._then(versions, name, now)
            return {table: self.versions[table] for table in expansion.tables}

    @staticmethod
    def _is_empty(now: Version, stored: Version | None) -> bool:
        """Whether a table has had no rows since before the stored rows were computed."""
        return now.kind == iceberg.FORMAT and now.snapshot_id is None and now == stored

    def _then(self, versions: Versions, name: TableName, now: Version) -> Version:
        if now.kind != iceberg.FORMAT:
            raise self._not_readable(name, "it is no Iceberg table, and has no history")
        history = versions.history(name)
        if not history or now.snapshot_id is None:
            raise self._not_readable(name, "it is empty now, and does not say since when")
        places = [place for place, one in enumerate(history) if one.at <= self.committed_until]
        if not places:
            oldest = moment_of(min(one.at for one in history) * 1000)
            raise self._not_readable(name, f"its oldest state that is kept is of {oldest}")
        found = history[places[-1]].snapshot_id
        self._refuse_replaced(name, history, places[-1] + 1)
        schema_id = versions.schema_of(name, found)
        if schema_id is None:
            raise self._not_readable(name, f"its snapshot {found} is expired")
        if schema_id != now.schema_id:
            raise self._not_readable(name, "its columns have changed since")
        return Version(iceberg.FORMAT, found, schema_id)

    def _refuse_replaced(
        self, name: TableName, history: Sequence[iceberg.HistoryEntry], following: int
    ) -> None:
        """A table that was replaced may have been empty from some time on, of which Iceberg keeps
        no entry. What comes next is then a snapshot that continues none."""
        if following == len(history) or history[following].has_parent:
            return
        if history[following].snapshot_id not in {one.snapshot_id for one in history[:following]}:
            raise self._not_readable(name, "it was replaced, and does not say since when")

    def _not_readable(self, name: TableName, why: str) -> InvalidArgument:
        return InvalidArgument(
            f"{name.shown} cannot be read as of {self.shown}: {why}.",
            "Give a later time, or leave out as_of.",
        )


def refuse_newer(observation: Observation, pinned: PinnedVersions, versions: Versions) -> None:
    """Raise `InvalidArgument` if the stored rows are those of a later time than is asked for."""
    label = (observation.below or observation).label
    if not isinstance(pinned, PastVersions) or label is None:
        return
    newer = [
        name.shown
        for name, version in observation.versions.items()
        if name not in observation.expansion.storages.values()
        and _is_newer(versions, name, label.sources.get(name), version, pinned.committed_until)
    ]
    if any(map(reads_clock, observation.current.texts)) and label.evaluated_at > pinned.instant:
        newer.append(f"the clock at {moment_of(label.evaluated_us)}")
    if newer:
        raise InvalidArgument(
            f"{observation.view.name} cannot be refreshed as of {pinned.shown}: its rows are "
            f"newer, by {', '.join(newer)}.",
            "Give a later time: a refresh does not go back.",
        )


def _is_newer(
    versions: Versions, name: TableName, stored: Version | None, then: Version, until_ms: int
) -> bool:
    if stored is None or not stored.can_pin or not then.can_pin or stored == then:
        return False
    # Read anew: the rows may have been refreshed, to what was written, since the pins were read.
    history = versions.history(name)
    made = [one.at for one in history if one.snapshot_id == stored.snapshot_id]
    return bool(made) and min(made) > until_ms


def refuse_upstream(
    observation: Observation, pinned: PinnedVersions, observer: Observer, resolver: Resolver
) -> None:
    """Raise `InvalidArgument` if a view that is read does not have the rows of the time that is
    asked for, as one that refreshes do not touch."""
    if not isinstance(pinned, PastVersions):
        return
    for name, storage in observation.expansion.storages.items():
        seen = observer.observe(load_view(resolver, name), pinned)
        read = observation.versions[storage].snapshot_id
        if not seen.verdict.is_fresh or seen.head is None or seen.head.snapshot_id != read:
            raise has_other_time(observation, pinned, name)


def has_other_time(
    observation: Observation, pinned: PastVersions, name: TableName
) -> InvalidArgument:
    """The error of a view that is read and does not have the rows of the time that is asked for."""
    return InvalidArgument(
        f"{observation.view.name} cannot be refreshed as of {pinned.shown}: {name}, which "
        "it reads, has rows of another time.",
        "Refresh that one as of the same time, or leave out as_of.",
    )
