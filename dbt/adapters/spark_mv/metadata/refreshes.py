"""Folds events into the history of refreshes, as the view `mv_refresh_history` does. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dbt.adapters.spark_mv.metadata.events import REFRESH_STARTED, Event
from dbt.adapters.spark_mv.sql.names import TableName

_PREFIX = "REFRESH"
_RUNNING = "RUNNING"
_BY_READERS = ("READ", "REWRITE")


@dataclass(frozen=True)
class Refresh:
    """One refresh. `started_at` is in local time; None is what its events do not say."""

    table_catalog: str | None
    table_schema: str | None
    table_name: str | None
    trigger: str | None
    requested_method: str | None
    method: str | None
    state: str
    started_at: datetime | None
    seconds: float | None
    rows_inserted: int | None
    rows_deleted: int | None
    reason: str | None
    error: str | None

    @property
    def view(self) -> TableName:
        """The view that it was of."""
        schema = tuple((self.table_schema or "").split("."))
        return TableName(self.table_catalog or "", schema, self.table_name or "")


def refreshes(events: Iterable[Event]) -> list[Refresh]:
    """Every refresh of which there are events, given in order of time; the newest last."""
    found: dict[str, list[Event]] = {}
    for event in events:
        if event.refresh_id is not None and event.kind.startswith(_PREFIX):
            found.setdefault(event.refresh_id, []).append(event)
    return sorted(map(_refresh, found.values()), key=_start)


@dataclass(frozen=True)
class Cost:
    """What refreshes of one view by one trigger have taken, in seconds; readers waited for those
    that a read began."""

    table_schema: str | None
    table_name: str | None
    trigger: str | None
    refreshes: int
    failed: int
    seconds: float
    readers_waited: float


def costs(found: Iterable[Refresh]) -> list[Cost]:
    """The sum by view and trigger, of refreshes that computed something; the dearest first."""
    groups: dict[tuple[str | None, ...], list[Refresh]] = {}
    for refresh in found:
        if refresh.state != "SKIPPED":
            key = (refresh.table_schema, refresh.table_name, refresh.trigger)
            groups.setdefault(key, []).append(refresh)
    summed = []
    for (schema, name, trigger), of in groups.items():
        seconds = round(sum(refresh.seconds or 0.0 for refresh in of), 3)
        failed = sum(refresh.state == "FAILED" for refresh in of)
        waited = seconds if trigger in _BY_READERS else 0.0
        summed.append(Cost(schema, name, trigger, len(of), failed, seconds, waited))
    return sorted(summed, key=lambda cost: -cost.seconds)


def _start(refresh: Refresh) -> tuple[bool, datetime]:
    return refresh.started_at is not None, refresh.started_at or datetime.min


def _refresh(events: list[Event]) -> Refresh:
    first = events[0].payload
    ends = [event for event in events if event.kind != REFRESH_STARTED]
    last: Mapping[str, Any] = ends[-1].payload if ends else {}

    def newest(key: str) -> str | None:
        said = _text(last.get(key))
        return _text(first.get(key)) if said is None else said

    return Refresh(
        table_catalog=_text(first.get("table_catalog")),
        table_schema=_text(first.get("table_schema")),
        table_name=_text(first.get("table_name")),
        trigger=_text(first.get("trigger")),
        requested_method=_text(first.get("requested_method")),
        method=newest("method"),
        state=ends[-1].kind.removeprefix(_PREFIX + "_") if ends else _RUNNING,
        started_at=_moment(_whole(first.get("started_us"))),
        seconds=_number(last.get("seconds")),
        rows_inserted=_whole(last.get("rows_inserted")),
        rows_deleted=_whole(last.get("rows_deleted")),
        reason=newest("reason"),
        error=_text(last.get("error")),
    )


# A payload may be written by hand: what is not of its type is nothing.
def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    try:
        return int(value)
    except ValueError:
        return None


def _moment(microseconds: int | None) -> datetime | None:
    if microseconds is None:
        return None
    with suppress(OverflowError, ValueError, OSError):
        seconds, rest = divmod(microseconds, 1_000_000)
        return datetime.fromtimestamp(seconds).replace(microsecond=rest)
    return None
