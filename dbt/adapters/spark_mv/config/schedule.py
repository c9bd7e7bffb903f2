"""When a materialized view is due for a scheduled refresh. Pure; times are epoch microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dbt.adapters.spark_mv.config.options import Options

_MINUTE = 60_000_000
_LAST = int(datetime.max.replace(tzinfo=timezone.utc).timestamp() * 1_000_000)


@dataclass(frozen=True)
class Schedule:
    """Slots `interval_us` apart, counted from `start_us`, or from the creation if that is None."""

    start_us: int | None
    interval_us: int

    def next_due(self, created_us: int, last_us: int | None) -> int:
        """The first slot after the last scheduled refresh; missed slots are not caught up.

        Only scheduled refreshes move it, so `last_us` is when the last of those ended. A start in
        the future is the first slot; without a start the first is one interval after creation.
        """
        start = created_us if self.start_us is None else self.start_us
        after = created_us if last_us is None else last_us
        if after < start:
            return start
        return start + ((after - start) // self.interval_us + 1) * self.interval_us


def schedule_of(options: Options, time_zone: str) -> Schedule:
    """The schedule of a view; a `refresh_start` without an offset is in `time_zone`."""
    start = None
    if options.refresh_start is not None:
        moment = datetime.fromisoformat(options.refresh_start)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=_zone(time_zone))
        start = int(moment.timestamp() * 1_000_000)
    return Schedule(start, options.refresh_interval_minutes * _MINUTE)


def schedule_json(schedule: Schedule) -> dict[str, Any]:
    """The schedule as an event keeps it."""
    return {"start_us": schedule.start_us, "interval_us": schedule.interval_us}


def schedule_from_json(stored: Mapping[str, Any]) -> Schedule | None:
    """The schedule that `schedule_json` wrote; None if there is none that a clock knows."""
    try:
        start = None if stored["start_us"] is None else int(stored["start_us"])
        interval = int(stored["interval_us"])
    except (KeyError, TypeError, ValueError):
        return None
    if not 0 <= (start or 0) <= _LAST or not 0 < interval <= _LAST:
        return None
    return Schedule(start, interval)


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return _offset(name)


def _offset(name: str) -> tzinfo:
    """Spark's other spellings: `+01:00`, `UTC+1`, `GMT-03:30`."""
    text = name.upper().removeprefix("UTC").removeprefix("GMT")
    sign, digits = text[:1], text[1:]
    if sign not in ("+", "-") or not digits:
        return timezone.utc
    hours, _, minutes = digits.partition(":")
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    return timezone(offset if sign == "+" else -offset)
