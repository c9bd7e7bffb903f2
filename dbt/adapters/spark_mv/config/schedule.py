"""When a materialized view is due for a scheduled refresh. Pure; times are epoch microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from dbt.adapters.spark_mv.config.cron import next_after
from dbt.adapters.spark_mv.config.options import Options
from dbt.adapters.spark_mv.config.time_zones import zone_of
from dbt.adapters.spark_mv.core.errors import InvalidOption

_MINUTE = 60_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LAST = int(datetime.max.replace(tzinfo=timezone.utc).timestamp() * 1_000_000)


@dataclass(frozen=True)
class Slots:
    """Times `interval_us` apart, counted from `start_us`, or from the creation if that is None."""

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


@dataclass(frozen=True)
class CronTimes:
    """The times that a cron text of five fields names, in a time zone.

    No SQL view can count them, so the next one is written down with the events that move it: with
    the definition of the schedule, and with the end of each scheduled refresh.
    """

    cron: str
    time_zone: str

    def next_due(self, after_us: int) -> int:
        """The first of the times after this one."""
        after = _EPOCH + timedelta(microseconds=after_us)
        due = next_after(self.cron, zone_of(self.time_zone) or timezone.utc, after)
        return (due - _EPOCH) // timedelta(microseconds=1)


Schedule = Slots | CronTimes


def check_time_zone(view: str, options: Options, time_zone: str) -> None:
    """Raise `InvalidOption` if times of the options are in `time_zone`, and that is not known."""
    option, way_out = "schedule", "Write time_zone_value in the schedule."
    own = options.schedule is None or "time_zone_value" in options.schedule
    if options.refresh_start is not None:
        option, way_out = "refresh_start", "Write it with an offset, such as '+01:00'."
        own = datetime.fromisoformat(options.refresh_start).tzinfo is not None
    if not own and zone_of(time_zone) is None:
        raise InvalidOption(
            f"{view}: {option} is in the time zone of the session, {time_zone!r}, which is not "
            "known.",
            way_out,
        )


def schedule_of(options: Options, time_zone: str) -> Schedule:
    """The schedule of a view; what says nothing of a time zone is in `time_zone`.

    A stored view may have one that is not known: its times are in UTC.
    """
    if options.schedule is not None:
        zone = options.schedule.get("time_zone_value", time_zone)
        return CronTimes(options.schedule["cron"], zone)
    start = None
    if options.refresh_start is not None:
        moment = datetime.fromisoformat(options.refresh_start)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone_of(time_zone) or timezone.utc)
        start = int(moment.timestamp() * 1_000_000)
    return Slots(start, options.refresh_interval_minutes * _MINUTE)


def schedule_json(schedule: Schedule, at_us: int, due_us: int | None = None) -> dict[str, Any]:
    """The schedule as an event of `at_us` keeps it.

    Cron times with the next of them: `due_us`, or the first after the event if that is None.
    """
    if isinstance(schedule, Slots):
        return {"start_us": schedule.start_us, "interval_us": schedule.interval_us}
    due = schedule.next_due(at_us) if due_us is None else due_us
    return {"cron": schedule.cron, "time_zone": schedule.time_zone, "due_us": due}


def schedule_from_json(stored: Any) -> Schedule | None:
    """The schedule that `schedule_json` wrote; None if there is none that a clock knows."""
    try:
        if "cron" in stored:
            return CronTimes(str(stored["cron"]), str(stored["time_zone"]))
        start = None if stored["start_us"] is None else int(stored["start_us"])
        interval = int(stored["interval_us"])
    except (KeyError, TypeError, ValueError):
        return None
    if abs(start or 0) > _LAST or not 0 < interval <= _LAST:
        return None
    return Slots(start, interval)


def due_from_json(defined: Any, refreshed: Any) -> int | None:
    """When cron times are due, as the events say: that of the definition, and that of the last
    scheduled refresh. One that was under way when the schedule changed moves nothing."""
    same = schedule_from_json(defined) == schedule_from_json(refreshed)
    moments = [_moment(defined), _moment(refreshed) if same else None]
    return max((moment for moment in moments if moment is not None), default=None)


def _moment(stored: Mapping[str, Any]) -> int | None:
    try:
        moment = int(stored["due_us"])
    except (KeyError, TypeError, ValueError):
        return None
    return moment if 0 <= moment <= _LAST else None
