"""When a time leaves a range: against looking at each instant, around changes of the clocks."""

from __future__ import annotations

import random
from datetime import date, datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from dbt.adapters.spark_mv.expiry import arithmetic
from dbt.adapters.spark_mv.expiry.arithmetic import (
    DAY,
    SECOND,
    Bounds,
    Line,
    Shift,
    day_of,
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
    # Until 2011 at one minute past midnight.
    "America/St_Johns": ("2006-10-29 02:31", "2006-04-02 03:31"),
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


TRUE_TIME, has = Line.at, Bounds.has


def watched(line: Line, bounds: Bounds, start: int, zone: ZoneInfo) -> int:
    """The first of the whole minutes, or the start, at which a time is out of its range."""
    instant = start
    while has(bounds, TRUE_TIME(line, instant, zone)):
        instant = (instant // _STEP + 1) * _STEP
        assert instant < start + 40 * DAY
    return instant


def wrong(line: Line, name: str) -> list[int]:
    """Instants that are found to be the first outside of a range, and are not."""
    zone, dice = ZoneInfo(name), random.Random(f"{line} {name}")
    found_wrong = []
    for change in CHANGES[name]:
        for _ in range(6):
            start = us(change) + dice.randrange(-2 * 86_400, 86_400) * SECOND
            now = TRUE_TIME(line, start, zone)
            low = now - dice.randrange(7200) * SECOND
            high = now + dice.randrange(2 * 86_400) * SECOND
            bounds = Bounds(low, high, dice.random() < 0.5, dice.random() < 0.5)
            found = arithmetic.first_outside(line, bounds, start, zone)
            seen = watched(line, bounds, start, zone)
            is_right = found is not None and seen - _STEP <= found <= seen
            at, before = (TRUE_TIME(line, (found or 1) - step, zone) for step in (0, 1))
            if not is_right or has(bounds, at) or (found != start and not has(bounds, before)):
                found_wrong.append(start)
    return found_wrong


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_first_outside(line: Line, name: str) -> None:
    """No instant before the one that is found is outside, and that is."""
    assert wrong(line, name) == []


def _elapsed(line: Line, us: int, zone: Any) -> int:
    ahead = sum(shift.days * DAY + shift.us for shift in line.shifts)
    return (arithmetic.wall(us, zone) if line.local else us) + ahead


MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "a day is 24 hours": (Line, "at", _elapsed),
    "times do not fall back": (Bounds, "has", lambda self, us: not self.is_passed(us)),
    "a boundary is late": (Bounds, "end", property(lambda self: self.high + 1)),
    "every time is even": (Line, "is_even", lambda self, zone: True),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out is found out."""
    monkeypatch.setattr(*MUTANTS[mutant])
    assert any(wrong(line, name) for line in LINES.values() for name in CHANGES)


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
