"""Cron texts: which are understood, and when they are due, minute by minute."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbt.adapters.spark_mv.config.cron import InvalidCron, five_fields, next_after

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
# Clocks that never change, change by one hour, half an hour, two hours, at midnight, or by a day.
ZONES = {
    "UTC": 2026,
    "Asia/Kolkata": 2026,
    "Europe/Berlin": 2026,
    "America/New_York": 2026,
    "Australia/Lord_Howe": 2026,
    "Antarctica/Troll": 2026,
    "Africa/Cairo": 2026,
    "Pacific/Apia": 2011,
}
DAYS = "SUN MON TUE WED THU FRI SAT".split()
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()


@dataclass(frozen=True)
class Field:
    """A field of a cron text, and the numbers that it stands for."""

    text: str
    numbers: frozenset[int]


def fields(low: int, high: int, names: list[str] | None = None) -> st.SearchStrategy[Field]:
    def shown(number: int) -> str:
        return names[number - low] if names and number - low < len(names) else str(number)

    def field(text: str, numbers: object) -> Field:
        return Field(text, frozenset(numbers))  # type: ignore[call-overload]

    number, step = st.integers(low, high), st.integers(1, high)
    pair = st.tuples(number, number).map(sorted)
    single = number.map(lambda n: field(shown(n), [n]))
    stretch = pair.map(lambda p: field(f"{shown(p[0])}-{shown(p[1])}", range(p[0], p[1] + 1)))
    steps = st.tuples(pair, step).filter(lambda p: p[0][0] < p[0][1])
    stepped = steps.map(
        lambda p: field(f"{p[0][0]}-{p[0][1]}/{p[1]}", range(p[0][0], p[0][1] + 1, p[1]))
    )
    listed = st.lists(st.one_of(single, stretch), min_size=2, max_size=3).map(
        lambda found: field(
            ",".join(one.text for one in found), frozenset().union(*(one.numbers for one in found))
        )
    )
    star = st.just(field("*", range(low, high + 1)))
    every = step.map(lambda n: field(f"*/{n}", range(low, high + 1, n)))
    return st.one_of(star, star, every, single, stretch, stepped, listed)


@dataclass(frozen=True)
class Crontab:
    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field

    @property
    def text(self) -> str:
        return " ".join(field.text for field in vars(self).values())

    def has(self, wall: datetime) -> bool:
        """Whether a clock that shows this time is named."""
        day = wall.day in self.day.numbers
        number = wall.isoweekday() % 7
        weekday = bool({number, number or 7} & self.weekday.numbers)
        either = not self.day.text.startswith("*") and not self.weekday.text.startswith("*")
        return (
            wall.minute in self.minute.numbers
            and wall.hour in self.hour.numbers
            and wall.month in self.month.numbers
            and (day or weekday if either else day and weekday)
        )

    @property
    def by_the_clock(self) -> bool:
        return self.minute.text.startswith("*") or self.hour.text.startswith("*")


CRONTABS = st.builds(
    Crontab,
    fields(0, 59),
    fields(0, 23),
    fields(1, 31),
    fields(1, 12, MONTHS),
    fields(0, 7, DAYS),
)


@cache
def changes(name: str) -> list[datetime]:
    """Hours of a year of a zone in which its clocks change; its first one, if there are none."""
    first = datetime(ZONES[name], 1, 1, tzinfo=timezone.utc)
    hours = [first + timedelta(hours=n) for n in range(366 * 24)]
    offsets = [hour.astimezone(ZoneInfo(name)).utcoffset() for hour in hours]
    return [h for h, a, b in zip(hours[1:], offsets, offsets[1:], strict=False) if a != b] or [
        first
    ]


@st.composite
def moments(draw: st.DrawFn) -> tuple[ZoneInfo, datetime]:
    name = draw(st.sampled_from(sorted(ZONES)))
    change = draw(st.sampled_from(changes(name)))
    away = draw(st.one_of(st.integers(-150, 150), st.integers(-36 * 60, 6 * 60))) * MINUTE
    odd = draw(st.sampled_from((0, 1, 500_000, 59_999_999)))
    return ZoneInfo(name), change + away + timedelta(microseconds=odd)


def is_due(crontab: Crontab, zone: ZoneInfo, minute: datetime) -> bool:
    """Whether a minute of the world is one of them, said without any arithmetic."""
    clock = minute.astimezone(zone)
    wall = clock.replace(tzinfo=None, fold=0)
    if crontab.by_the_clock:
        return crontab.has(wall)
    if clock.fold:
        return False
    left_out = (minute - MINUTE).astimezone(zone).replace(tzinfo=None, fold=0) + MINUTE
    while left_out < wall:
        if crontab.has(left_out):
            return True
        left_out += MINUTE
    return crontab.has(wall)


@pytest.mark.behaviour("D20")
@settings(max_examples=300, deadline=None)
@given(CRONTABS, moments())
def test_every_minute(crontab: Crontab, moment: tuple[ZoneInfo, datetime]) -> None:
    """The first minute that is due, and none before it."""
    zone, after = moment
    try:
        text = five_fields(crontab.text)
    except InvalidCron:
        assume(False)
    due = next_after(text, zone, after)
    assert due > after
    minute = after.replace(second=0, microsecond=0) + MINUTE
    while minute < min(due, after + 4 * DAY):
        assert not is_due(crontab, zone, minute), f"{text}: {minute}"
        minute += MINUTE
    assert is_due(crontab, zone, due), f"{text}: {due}"


@settings(deadline=None)
@given(CRONTABS, moments(), st.integers(0, 3 * 24 * 60))
def test_missed_times_are_one(
    crontab: Crontab, moment: tuple[ZoneInfo, datetime], late: int
) -> None:
    """However late a refresh is, the next one is due once after it."""
    zone, after = moment
    try:
        text = five_fields(crontab.text)
    except InvalidCron:
        assume(False)
    ended = after + late * MINUTE
    due, then = next_after(text, zone, after), next_after(text, zone, ended)
    assert then > ended and then >= due
    if due > ended:
        assert then == due


@pytest.mark.parametrize(
    ("text", "zone", "after", "due"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-03-28 12:00+00:00", "2026-03-29 01:00+00:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-03-29 01:00+00:00", "2026-03-30 00:30+00:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-24 12:00+00:00", "2026-10-25 00:30+00:00"),
        # Clocks show ten past two again: half past two is over.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25 01:10+00:00", "2026-10-26 01:30+00:00"),
        ("30 * * * *", "Europe/Berlin", "2026-10-25 00:30+00:00", "2026-10-25 01:30+00:00"),
        ("*/10 2 * * *", "Europe/Berlin", "2026-03-28 12:00+00:00", "2026-03-30 00:00+00:00"),
        ("0 0 * * *", "Africa/Cairo", "2026-04-23 12:00+00:00", "2026-04-23 22:00+00:00"),
        ("*/10 5 * * *", "Australia/Lord_Howe", "2026-10-03 14:00+00:00", "2026-10-03 18:00+00:00"),
        ("0 6 29 2 *", "UTC", "2096-03-01 00:00+00:00", "2104-02-29 06:00+00:00"),
        ("0 6 L * *", "UTC", "2026-02-01 00:00+00:00", "2026-02-28 06:00+00:00"),
        ("0 6 * * MON#1", "UTC", "2026-02-03 00:00+00:00", "2026-03-02 06:00+00:00"),
        ("0 6 * * FRIL", "UTC", "2026-02-01 00:00+00:00", "2026-02-27 06:00+00:00"),
        ("0 6 13 * FRI", "UTC", "2026-02-07 00:00+00:00", "2026-02-13 06:00+00:00"),
        ("0 6 14 * FRI", "UTC", "2026-02-07 00:00+00:00", "2026-02-13 06:00+00:00"),
    ],
)
def test_due(text: str, zone: str, after: str, due: str) -> None:
    found = next_after(five_fields(text), ZoneInfo(zone), datetime.fromisoformat(after))
    assert found == datetime.fromisoformat(due)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("  0   6 * *  mon ", "0 6 * * MON"),
        ("0 6 ? * MON", "0 6 * * MON"),
        ("0 0 6 * * ?", "0 6 * * *"),
        ("0 0 6 ? * MON-FRI", "0 6 * * MON-FRI"),
        ("0 0 * * * ? *", "0 * * * *"),
        ("00 0/15 6-18 ? * MON,WED *", "0/15 6-18 * * MON,WED"),
        ("0 0 6 L * ?", "0 6 L * *"),
        ("0 0 6 ? * FRI#2", "0 6 * * FRI#2"),
        ("0 0 6 ? * FRIL", "0 6 * * 5L"),
    ],
)
def test_understood(text: str, fields: str) -> None:
    assert five_fields(text) == fields and five_fields(fields) == fields


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "0 fields"),
        ("6", "1 fields"),
        ("@daily", "1 fields"),
        ("0 6 * *", "4 fields"),
        ("0 0 6 ? * MON * *", "8 fields"),
        ("61 * * * *", "minute"),
        ("0 24 * * *", "hour"),
        ("0 6 0 * *", "day of month"),
        ("0 6 * 13 *", "month"),
        ("0 6 * * 8", "day of week"),
        ("0 6 * ? *", "month"),
        ("0 6 ? * ?", "more than one '?'"),
        ("0 0 6 ? * ?", "more than one '?'"),
        ("0 6 L-3 * *", "day of month is not understood"),
        ("0 6 30 2 *", "day of month"),
        ("0 6 * * FRI-MON", "day of week is not understood"),
        ("0 6 15W * *", "day of month"),
        ("*/0 * * * *", "minute"),
        ("- * * * *", "minute"),
        # Cron with seconds, cron with a year, or Quartz.
        ("0 0 6 * * MON", "'?'"),
        ("0 6 * * MON 2027", "'?'"),
        ("30 0 6 * * ?", "second"),
        ("* * 6 * * ?", "second"),
        ("0 0 6 * * ? 2027", "years"),
        # Monday for Quartz, Tuesday for cron.
        ("0 0 6 ? * 2", "Quartz counts"),
        ("0 0 6 ? * 6L", "Quartz counts"),
        # With its year at the end, of AWS.
        ("0 6 ? * MON *", "'?'"),
    ],
)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidCron) as refused:
        five_fields(text)
    assert why in refused.value.why and refused.value.way_out
