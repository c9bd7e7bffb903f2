"""How a value of the clock moves: with it, by seconds, by days, by hours, or in no known way. Pure.

>>> from sqlglot import parse_one
>>> kind_of(parse_one("mv_clock_now - INTERVAL 7 DAYS", dialect="spark"))
Line(local=False, shifts=(Shift(months=0, days=-7, us=0),))
>>> kind_of(parse_one("year(mv_clock_now)", dialect="spark"))
Steps(by='day')
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.expiry.arithmetic import DAY, SECOND, Line, Shift
from dbt.adapters.spark_mv.expiry.terms import is_clock, is_constant, reads
from dbt.adapters.spark_mv.views.clock import LOCAL, NOW, TODAY, UNIX

_US = {
    "DAY": DAY,
    "HOUR": 3600 * SECOND,
    "MINUTE": 60 * SECOND,
    "SECOND": SECOND,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
    "WEEK": 7 * DAY,
}
_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_DAY_TO_SECOND = re.compile(r"\s*(?:(\d+) )?(\d{1,2}):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,6})?))?\s*")
_YEAR_TO_MONTH = re.compile(r"\s*(\d+)-(\d{1,2})\s*")
# Functions whose value depends on the date alone.
_OF_DATE = (
    exp.Year,
    exp.Quarter,
    exp.Month,
    exp.Week,
    exp.Day,
    exp.DayOfWeek,
    exp.DayOfMonth,
    exp.DayOfYear,
    exp.WeekOfYear,
    exp.LastDay,
    exp.TsOrDsToDate,
)
# Formats, as sqlglot writes them, that show the date alone.
_DATE_FORMAT = re.compile(r"(?:%[YymdjbBaA](?:strict)?|[^%A-Za-z])+")
_DATE_UNITS = frozenset({"WEEK", "MONTH", "MON", "MM", "QUARTER", "YEAR", "YYYY", "YY"})
# DATE_TRUNC to a day keeps the offset of the zone: where clocks go back over midnight, a day has
# one beginning before, and another one after that. To longer units it is made of the date.
_DAYS = frozenset({"DAY", "DD"})
_DATE_PARTS = _DATE_UNITS | _DAYS | {"DOW", "DOY", "DAYOFWEEK", "ISOWEEK"}


@dataclass(frozen=True)
class Steps:
    """A value that stays for a `day`, or for an `hour`, of the calendar."""

    by: str


@dataclass(frozen=True)
class Seconds:
    """A whole number of seconds since 1970, `ahead` of the clock."""

    ahead: int


Kind = Line | Seconds | Steps


def kind_of(clock: exp.Expr) -> Kind | None:
    """How the value of an expression of the clock moves; None if that is not known."""
    line = _line(clock)
    if line is not None:
        return line
    seconds = _seconds(clock)
    if seconds is not None:
        return seconds
    dated = reads(by_date(clock))
    if dated <= {TODAY}:
        return Steps("day")
    return Steps("hour") if _is_hourly(clock) else None


def by_date(clock: exp.Expr) -> exp.Expr:
    """A copy of an expression in which functions of the date of the clock have today as their
    argument, and not the time."""

    def dated(node: exp.Expr) -> exp.Expr:
        inner = _dated_argument(node)
        if inner is None:
            return node
        today: exp.Expr = exp.column(TODAY)
        if isinstance(node, exp.TimestampTrunc):
            today = exp.cast(today, "timestamp", dialect="spark")
        inner.replace(today)
        return node

    return clock.copy().transform(dated)


def _dated_argument(node: exp.Expr) -> exp.Expr | None:
    """The time of the clock that a function of its date alone has as its argument."""
    if isinstance(node, exp.Cast):
        is_of_date = node.to.this == exp.DType.DATE
    elif isinstance(node, (exp.TimestampTrunc, exp.DateTrunc)):
        is_of_date = _unit(node) in _DATE_UNITS
    elif isinstance(node, exp.TimeToStr):
        given = node.args["format"]
        is_of_date = isinstance(given, exp.Literal) and bool(_DATE_FORMAT.fullmatch(given.name))
    elif isinstance(node, exp.Extract):
        is_of_date = node.name.upper() in _DATE_PARTS
        inner = node.expression
        return inner if is_of_date and is_clock(inner) and inner.name in (NOW, LOCAL) else None
    else:
        is_of_date = isinstance(node, _OF_DATE)
    inner = node.this if is_of_date else None
    inner = inner.this if isinstance(inner, exp.TimeStrToTime) else inner
    return inner if inner is not None and is_clock(inner) and inner.name in (NOW, LOCAL) else None


def _is_hourly(clock: exp.Expr) -> bool:
    """Whether the time is only asked for its hour, or its date."""

    def stays(column: exp.Expr) -> bool:
        parent = column.parent
        if isinstance(parent, exp.TimestampTrunc):
            return _unit(parent) in {"HOUR", *_DAYS}
        return isinstance(parent, exp.Hour) or column.name == TODAY

    return all(stays(found) for found in by_date(clock).find_all(exp.Column) if is_clock(found))


def _unit(node: exp.Expr) -> str:
    unit = node.args.get("unit")
    return str(unit.name).upper() if isinstance(unit, exp.Expr) else ""


def _line(node: exp.Expr) -> Line | None:
    if isinstance(node, exp.Paren):
        return _line(node.this)
    if is_clock(node):
        return Line(node.name == LOCAL) if node.name in (NOW, LOCAL) else None
    if isinstance(node, (exp.Add, exp.Sub)):
        first, second = cast(exp.Expr, node.this), cast(exp.Expr, node.expression)
        if isinstance(node, exp.Add) and is_constant(first):
            first, second = second, first
        sign = -1 if isinstance(node, exp.Sub) else 1
        return _shifted(_line(first), interval_of(second), sign)
    if isinstance(node, exp.TimestampAdd):
        return _added(_line(node.this), _whole_number(node.expression), _unit(node))
    is_same = isinstance(node, exp.Cast) and node.to.this in (
        exp.DType.TIMESTAMP,
        exp.DType.TIMESTAMPLTZ,
        exp.DType.TIMESTAMPTZ,
    )
    inner = _line(node.this) if is_same else None
    return inner if inner is not None and not inner.local else None


def _added(line: Line | None, amount: int | None, unit: str) -> Line | None:
    """A time to which timestampadd has added a number of units: hours are elapsed time to it, also
    if they are whole days."""
    by = None if amount is None else _of_unit(amount, unit)
    if line is None or by is None:
        return None
    months, us = by
    is_calendar = unit.upper().removesuffix("S") in ("DAY", "WEEK")
    shift = Shift(months=months) if months else Shift(us=us)
    return replace(line, shifts=(*line.shifts, Shift.of_us(us) if is_calendar else shift))


def _shifted(line: Line | None, by: tuple[int, int] | None, sign: int) -> Line | None:
    if line is None or by is None:
        return None
    months, us = by
    shift = Shift(months=sign * months) if months else Shift.of_us(sign * us)
    return replace(line, shifts=(*line.shifts, shift))


def interval_of(node: exp.Expr) -> tuple[int, int] | None:
    """Months and microseconds of an interval in a text; None if it is no such interval, or one of
    both, which Spark counts in another way."""
    if isinstance(node, (exp.Paren, exp.Neg)):
        inner = interval_of(node.this)
        if inner is None or isinstance(node, exp.Paren):
            return inner
        return -inner[0], -inner[1]
    if isinstance(node, (exp.Add, exp.Sub)):
        one, two = interval_of(node.this), interval_of(node.expression)
        if one is None or two is None:
            return None
        sign = -1 if isinstance(node, exp.Sub) else 1
        months, us = one[0] + sign * two[0], one[1] + sign * two[1]
        return None if months and us or bool(one[0]) != bool(two[0]) else (months, us)
    return _literal_interval(node) if isinstance(node, exp.Interval) else None


def _literal_interval(node: exp.Interval) -> tuple[int, int] | None:
    value, unit = node.this, node.args.get("unit")
    negated = isinstance(value, exp.Neg)
    value = value.this if negated else value
    if not isinstance(value, exp.Literal) or unit is None:
        return None
    text = str(value.this).strip()
    negated, text = negated != text.startswith("-"), text.lstrip("+-")
    if isinstance(unit, exp.IntervalSpan):
        found = _spanned(text, f"{unit.this.name} TO {unit.expression.name}".upper())
    else:
        found = _of_text(text, str(unit.name).upper())
    return None if found is None else (-found[0], -found[1]) if negated else found


def _of_text(text: str, unit: str) -> tuple[int, int] | None:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    unit = unit.removesuffix("S")
    if amount == amount.to_integral_value():
        return _of_unit(int(amount), unit)
    # Of parts of numbers Spark takes those of seconds only.
    exact = amount * SECOND if unit == "SECOND" else Decimal("0.5")
    return (0, int(exact)) if exact == exact.to_integral_value() else None


def _of_unit(amount: int, unit: str) -> tuple[int, int] | None:
    unit = unit.upper().removesuffix("S")
    if unit in _MONTHS:
        return amount * _MONTHS[unit], 0
    return (0, amount * _US[unit]) if unit in _US else None


def _spanned(text: str, span: str) -> tuple[int, int] | None:
    if span == "YEAR TO MONTH" and (found := _YEAR_TO_MONTH.fullmatch(text)):
        return int(found[1]) * 12 + int(found[2]), 0
    found = _DAY_TO_SECOND.fullmatch(text)
    if found is None or span not in ("DAY TO SECOND", "HOUR TO SECOND") or found[4] is None:
        return None
    days, hours, minutes = (int(part or 0) for part in found.groups()[:3])
    seconds = int(Decimal(found[4]) * SECOND)
    return 0, days * DAY + hours * _US["HOUR"] + minutes * _US["MINUTE"] + seconds


def _seconds(node: exp.Expr) -> Seconds | None:
    if isinstance(node, exp.Paren):
        return _seconds(node.this)
    if is_clock(node):
        return Seconds(0) if node.name == UNIX else None
    if isinstance(node, (exp.Add, exp.Sub)):
        inner, amount = _seconds(node.this), _whole_number(node.expression)
        if inner is None and isinstance(node, exp.Add):
            inner, amount = _seconds(node.expression), _whole_number(node.this)
        if inner is None or amount is None:
            return None
        return Seconds(inner.ahead + (amount if isinstance(node, exp.Add) else -amount))
    return None


def _whole_number(node: exp.Expr) -> int | None:
    """The value of a constant of whole numbers, such as `7 * 86400`."""
    if isinstance(node, exp.Paren):
        return _whole_number(node.this)
    if isinstance(node, exp.Neg):
        inner = _whole_number(node.this)
        return None if inner is None else -inner
    if isinstance(node, (exp.Mul, exp.Add, exp.Sub)):
        one, two = _whole_number(node.this), _whole_number(node.expression)
        if one is None or two is None:
            return None
        if isinstance(node, exp.Mul):
            return one * two
        return one + two if isinstance(node, exp.Add) else one - two
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        return int(node.this)
    return None
