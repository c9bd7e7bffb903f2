"""Cron texts: five fields, and Quartz's six or seven where they can mean only one thing. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo

from cronsim import CronSim, CronSimError

_FIVE = "Write five fields: minute, hour, day of the month, month, day of the week: '0 6 * * MON'."
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_LAST_OF_MONTH = re.compile(rf"\b({'|'.join(_DAYS)})L\b")
_NTH = re.compile(r"#\d+")


class InvalidCron(ValueError):
    """Why a text is no schedule, and the way out."""

    def __init__(self, why: str, way_out: str = _FIVE) -> None:
        self.why, self.way_out = why, way_out
        super().__init__(why)


def five_fields(text: str) -> str:
    """The text as five fields, in one spelling of all that mean the same.

    Raises `InvalidCron` if it is none, can be understood in two ways, or never comes.

    >>> five_fields("0 30 6 ? * mon-fri")
    '30 6 * * MON-FRI'
    """
    fields = text.upper().split()
    if len(fields) in (6, 7):
        fields = _of_quartz(fields)
    if len(fields) != 5:
        raise InvalidCron(f"it has {len(fields)} fields")
    minute, hour, *days = fields
    if days.count("?") > 1:
        raise InvalidCron("it has more than one '?'", "Write * for the day of the week.")
    days = ["*" if field == "?" and n != 1 else field for n, field in enumerate(days)]
    found = _LAST_OF_MONTH.sub(_numbered, " ".join((minute, hour, *days)))
    try:
        next(CronSim(found, datetime(2000, 1, 1)))
    except CronSimError as error:
        what = str(error).removeprefix("Bad ").replace("-", " ")
        raise InvalidCron(f"its {what} is not understood, or never comes") from None
    except StopIteration:
        raise InvalidCron("no day is ever like that") from None
    return found


def _numbered(found: re.Match[str]) -> str:
    return f"{_DAYS.index(found[1])}L"


def _of_quartz(fields: list[str]) -> list[str]:
    second, minute, hour, day, month, weekday, *year = fields
    if "?" not in (day, weekday):
        raise InvalidCron(
            f"{len(fields)} fields are Quartz's with a '?' for one of the days, and no cron's",
        )
    if second.strip("0"):
        raise InvalidCron("no refresh starts at a second", "Write 0 for the seconds.")
    if year not in ([], ["*"]):
        raise InvalidCron("a schedule has no years", "Leave the year out.")
    if any(letter.isdigit() for letter in _NTH.sub("", weekday)):
        raise InvalidCron(
            "Quartz counts the days of the week from 1 for Sunday, cron from 0",
            f"Write their names: {', '.join(_DAYS)}.",
        )
    return [minute, hour, day, month, weekday]


def next_after(text: str, zone: tzinfo, after: datetime) -> datetime:
    """The first moment after one, both with a time zone, at which five fields are met in `zone`.

    Where clocks change the rules are those of Debian's cron. A time of day that is left out is
    due when clocks go forward, one that comes twice is due once; but if the minutes or the hours
    begin with `*`, it is what clocks show that counts.
    """
    here = after.astimezone(zone)
    wall = here.replace(tzinfo=None, fold=0)
    minute, hour, *_ = text.split()
    if not minute.startswith("*") and not hour.startswith("*"):
        return _first(text, wall, after, lambda time: _once(time, zone))
    # What clocks show a second time is behind what they show the first time.
    back = (here.utcoffset() or timedelta()) - (
        (after + timedelta(days=1)).astimezone(zone).utcoffset() or timedelta()
    )
    again = wall - max(back, timedelta())
    return min(
        _first(text, wall, after, lambda time: _real(time, zone, fold=0)),
        _first(text, again, after, lambda time: _real(time, zone, fold=1)),
    )


def _first(
    text: str, wall: datetime, after: datetime, when: Callable[[datetime], datetime | None]
) -> datetime:
    moments = (when(time) for time in CronSim(text, wall))
    return next(moment for moment in moments if moment is not None and moment > after)


def _real(wall: datetime, zone: tzinfo, fold: int) -> datetime | None:
    """When clocks show this time, for the first or the second time; None if they never do."""
    moment = wall.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc)
    return moment if moment.astimezone(zone).replace(tzinfo=None, fold=0) == wall else None


def _once(wall: datetime, zone: tzinfo) -> datetime:
    while (moment := _real(wall, zone, fold=0)) is None:
        wall += timedelta(minutes=1)
    return moment
