"""Spark's arithmetic of times, and when a time that moves with the clock leaves a range.

A day is a day of the calendar in the session's time zone, also if it is written as 24 hours; what
is left below a day is elapsed time. So a time such as `now() - INTERVAL 7 DAYS` jumps where clocks
are changed, one with months at the ends of months, and both may go back.

Source: `timestampAddDayTime` and `timestampAddMonths` of Spark's `DateTimeUtils`, and Java's
`ZonedDateTime.ofLocal`. The tests compare each form with Spark, instant by instant.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo

SECOND = 1_000_000
DAY = 86_400 * SECOND
# Clocks are changed, and days begin, at multiples of this: zones differ from UTC by such. In the
# past there were some that were changed at one minute past midnight.
QUARTER, _MINUTE = 900 * SECOND, 60 * SECOND
# Times from here on are never reached: they stand for no end at all.
_NEVER = 253_000_000_000 * SECOND
# How far clocks can be changed: a place may move to the other side of the date line.
_FARTHEST = 26 * 3600 * SECOND
_EPOCH = datetime(1970, 1, 1)
# A month on average, in days, from below and from above, and what single ones are off by.
_LEAST_MONTH, _MOST_MONTH, _OFF = 30.43, 30.44, 4


@dataclass(frozen=True)
class Shift:
    """What is added to a time: months or days of the calendar, then elapsed microseconds."""

    months: int = 0
    days: int = 0
    us: int = 0

    @classmethod
    def of_us(cls, us: int) -> Shift:
        """An interval of days to seconds, as Spark splits it: both parts have its sign."""
        days = abs(us) // DAY * (1 if us >= 0 else -1)
        return cls(days=days, us=us - days * DAY)


@dataclass(frozen=True)
class Line:
    """A time that moves with the clock: the instant, or what clocks on the wall show, shifted.

    Times are microseconds since 1970, those of the wall as if it were in UTC.
    """

    local: bool = False
    shifts: tuple[Shift, ...] = ()

    def at(self, us: int, zone: tzinfo) -> int:
        """The time at an instant."""
        if self.local:
            us = wall(us, zone)
        for shift in self.shifts:
            if shift.months or shift.days:
                us = _moved(us, shift) if self.local else _moved_instant(us, shift, zone)
            us += shift.us
        return us

    def is_even(self, zone: tzinfo) -> bool:
        """Whether it moves as fast as the clock at every instant."""
        is_fixed = zone.utcoffset(None) is not None
        calendars = any(s.months for s in self.shifts) or any(s.days for s in self.shifts)
        return not any(s.months for s in self.shifts) and (
            is_fixed or not (self.local or calendars)
        )

    def can_be_followed(self, zone: tzinfo) -> bool:
        """Whether it jumps at multiples of `QUARTER` only: behind elapsed time it need not."""
        behind = self.shifts[1:]
        return self.is_even(zone) or not any(s.months or s.days for s in behind)

    def range(self, zone: tzinfo) -> tuple[int, int]:
        """The least and most that it can be ahead of the instant."""
        least = most = 0 if zone.utcoffset(None) is not None else _FARTHEST
        least = -least
        if self.local:
            offset = wall(0, zone)
            least, most = (offset, offset) if least == 0 else (least, most)
        for shift in self.shifts:
            ends = sorted(shift.months * size for size in (_LEAST_MONTH, _MOST_MONTH))
            off = _OFF if shift.months else 0
            fixed = shift.days * DAY + shift.us
            least += fixed + int((ends[0] - off) * DAY)
            most += fixed + int((ends[1] + off) * DAY)
        return least, most


@dataclass(frozen=True)
class Bounds:
    """A range of times; None is no bound. Its ends belong to it if they are `_in`."""

    low: int | None = None
    high: int | None = None
    low_in: bool = False
    high_in: bool = False

    def has(self, us: int) -> bool:
        """Whether a time is in the range."""
        above = self.low is None or us > self.low or (self.low_in and us == self.low)
        return above and not self.is_passed(us)

    def is_passed(self, us: int) -> bool:
        """Whether a time is above the range."""
        return self.high is not None and (us > self.high or (us == self.high and not self.high_in))

    @property
    def end(self) -> int | None:
        """The first time above the range."""
        return None if self.high is None else self.high + (1 if self.high_in else 0)


def first_outside(line: Line, bounds: Bounds, start: int, zone: tzinfo) -> int | None:
    """The first instant from `start` on at which a time leaves its range; None if it never does."""
    if not bounds.has(line.at(start, zone)):
        return start
    end = bounds.end
    if end is not None and end > _NEVER:
        end = None
    if line.is_even(zone):
        return None if end is None else start + end - line.at(start, zone)
    for begin, until in _stretches(line, end, start, zone):
        at_begin = line.at(begin, zone)
        if not bounds.has(at_begin):
            return begin
        if end is not None and begin + end - at_begin < until:
            return begin + end - at_begin
    return None


def _stretches(line: Line, end: int | None, start: int, zone: tzinfo) -> Iterator[tuple[int, int]]:
    """Stretches in which a time moves as fast as the clock, and outside of which it leaves no
    range that ends at `end`: near `start`, where it may fall back, and near the end."""
    least, most = line.range(zone)
    ranges = [(start, start + most - least)]
    if end is not None:
        ranges.append((end - most, end - least + QUARTER))
    position = start
    for first, last in ranges:
        position = max(position, first)
        while position <= last:
            until = (position // QUARTER + 1) * QUARTER
            if line.at(until - 1, zone) - line.at(position, zone) != until - 1 - position:
                until = (position // _MINUTE + 1) * _MINUTE
            yield position, until
            position = until


def wall(us: int, zone: tzinfo) -> int:
    """What clocks on the wall show at an instant."""
    instant = (_EPOCH + timedelta(microseconds=us)).replace(tzinfo=timezone.utc)
    return _us(instant.astimezone(zone).replace(tzinfo=None))


def day_of(us: int, zone: tzinfo) -> date:
    """The date at an instant."""
    return (_EPOCH + timedelta(microseconds=wall(us, zone))).date()


def first_instant(day: date, zone: tzinfo) -> int:
    """The first instant of a day, or of the one after it if a zone leaves it out."""
    midnight = _us(datetime(day.year, day.month, day.day))
    instant = midnight - _FARTHEST
    while day_of(instant, zone) < day:
        instant += QUARTER
    return instant


def _moved(us: int, shift: Shift) -> int:
    moment = _EPOCH + timedelta(microseconds=us)
    month = moment.year * 12 + moment.month - 1 + shift.months
    year, month = divmod(month, 12)
    last = calendar.monthrange(year, month + 1)[1]
    moved = moment.replace(year=year, month=month + 1, day=min(moment.day, last))
    return _us(moved + timedelta(days=shift.days))


def _moved_instant(us: int, shift: Shift, zone: tzinfo) -> int:
    local = (_EPOCH + timedelta(microseconds=us)).replace(tzinfo=timezone.utc).astimezone(zone)
    moved = _EPOCH + timedelta(microseconds=_moved(_us(local.replace(tzinfo=None)), shift))
    earlier, later = (moved.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    assert earlier is not None and later is not None
    # Of the two instants of a time that a zone shows twice, that of the same offset.
    offset = later if earlier > later == local.utcoffset() else earlier
    return _us(moved) - offset // timedelta(microseconds=1)


def _us(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
