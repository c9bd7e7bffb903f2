"""When a time leaves a range: against looking at each instant, around changes of the clocks."""

from __future__ import annotations

import random
from datetime import date, datetime, timezone
from zoneinfo import ZoneInfo

import pytest

from dbt.adapters.spark_mv.expiry.arithmetic import (
    DAY,
    SECOND,
    Bounds,
    Line,
    Shift,
    day_of,
    falls_back,
    first_instant,
    first_outside,
)

# Clocks change by an hour, by half an hour, at midnight, and by a whole day.
CHANGES = {
    "America/New_York": ("2026-03-08 07:00", "2026-11-01 06:00", "2026-03-31 04:00"),
    "Asia/Beirut": ("2026-03-28 22:00", "2026-10-24 21:00"),
    "Australia/Lord_Howe": ("2026-04-04 15:00", "2026-10-03 15:30"),
    "Pacific/Apia": ("2011-12-30 10:00",),
    "America/Sao_Paulo": ("2018-11-04 03:00", "2018-02-18 02:00"),
    "UTC": ("2024-02-29 00:00", "2026-03-01 00:00"),
}
LINES = {
    "now": Line(),
    "days": Line(False, (Shift(days=-7),)),
    "days and an hour": Line(False, (Shift(days=-1, us=-3600 * SECOND),)),
    "a month": Line(False, (Shift(months=-1),)),
    "a month ahead, and a second": Line(False, (Shift(months=1), Shift(us=SECOND))),
    "the wall": Line(True),
    "the wall in a week": Line(True, (Shift(days=7),)),
}
_STEP = 60 * SECOND


def us(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()) * SECOND


def watched(line: Line, bounds: Bounds, start: int, zone: ZoneInfo) -> int:
    """The first of the whole minutes, or the start, at which a time is out of its range."""
    instant = start
    while bounds.has(line.at(instant, zone)):
        instant = (instant // _STEP + 1) * _STEP
        assert instant < start + 40 * DAY
    return instant


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_first_outside(line: Line, name: str) -> None:
    """No instant before the one that is found is outside, and that is."""
    zone, dice = ZoneInfo(name), random.Random(f"{line} {name}")
    for change in CHANGES[name]:
        for _ in range(6):
            start = us(change) + dice.randrange(-2 * 86_400, 86_400) * SECOND
            now = line.at(start, zone)
            low = now - dice.randrange(7200) * SECOND
            high = now + dice.randrange(2 * 86_400) * SECOND
            bounds = Bounds(low, high, dice.random() < 0.5, dice.random() < 0.5)
            found = first_outside(line, bounds, start, zone)
            seen = watched(line, bounds, start, zone)
            assert found is not None
            assert seen - _STEP <= found <= seen
            assert not bounds.has(line.at(found, zone))
            assert found == start or bounds.has(line.at(found - 1, zone))


def test_a_range_without_an_end() -> None:
    zone = ZoneInfo("America/New_York")
    assert first_outside(Line(), Bounds(low=0), us("2026-01-01 00:00"), zone) is None
    # In spring a week ago is seven times 24 hours and one, so the time falls back by that hour.
    week = Line(False, (Shift(days=-7),))
    start = us("2026-03-15 06:59")
    bounds = Bounds(low=week.at(start, zone), low_in=True)
    assert first_outside(week, bounds, start, zone) == us("2026-03-15 07:00")


@pytest.mark.parametrize(
    ("name", "day", "begins"),
    [
        ("America/Sao_Paulo", date(2018, 11, 4), "2018-11-04 03:00"),  # it has no midnight
        ("Pacific/Apia", date(2011, 12, 30), "2011-12-30 10:00"),  # there was no such day
        ("UTC", date(2026, 3, 1), "2026-03-01 00:00"),
    ],
)
def test_first_instant(name: str, day: date, begins: str) -> None:
    zone = ZoneInfo(name)
    found = first_instant(day, zone)
    assert found == us(begins)
    assert day_of(found, zone) >= day > day_of(found - 1, zone)


def test_a_date_that_comes_again() -> None:
    """In Sao Paulo summer ended at midnight: the day before had its last hour twice."""
    zone = ZoneInfo("America/Sao_Paulo")
    assert falls_back(us("2018-02-18 01:59"), zone) is None
    # Until 2011 it changed at one minute past midnight there.
    zone = ZoneInfo("America/St_Johns")
    before = us("2006-10-29 02:30")
    assert day_of(before, zone) == date(2006, 10, 29)
    assert falls_back(before, zone) == us("2006-10-29 02:45")
