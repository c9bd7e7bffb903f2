"""Conditions on the year, the month, the day, .. of a column as ranges of its days or moments."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import day_in, midnight, value_of
from dbt.adapters.spark_mv.rewrite.conditions.days import (
    first_day,
    first_written,
    first_year,
    midnight_text,
    next_start,
    start_of,
)
from dbt.adapters.spark_mv.rewrite.conditions.ranges import CLOCK_UNITS, Range
from dbt.adapters.spark_mv.rewrite.conditions.time_units import (
    first_of_year,
    is_day,
    oddities,
    of_unit,
    unit_of,
)
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, binary

_MOMENTS = ("timestamp", "timestamp_ntz")


def range_of_days(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column and the range that a comparison of its year, month, day, .. is; None if it is
    none. Moments are of a time zone."""
    found = _days(term, zone)
    return None if found is None else of_days(*found, zone)


def range_of_list(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """From the first day of a list of days or years to the last one."""
    first, *values = term.args
    equalities = [binary(exp.EQ, first, value) for value in values]
    found = [one for term in equalities if (one := _days(term, zone)) is not None]
    if len(found) < len(values):
        return None
    (column, _), ranges = found[0], [one for _, one in found]
    low, high = min(one.low for one in ranges), max(one.high for one in ranges)
    return of_days(column, Range(low, False, high, True), zone)


def range_since(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column of what is not before a day or year of the clock, and the days from then on."""
    if not isinstance(term.node, (exp.EQ, exp.LT, exp.LTE)):
        return None
    sides = [term.args, term.args[::-1]] if isinstance(term.node, exp.EQ) else [term.args]
    for bound, value in sides:
        column, is_year = _not_before(value)
        year = first_year(bound) if is_year else None
        day = first_day(bound) if year is None else first_of_year(year)
        if column is not None and day is not None and (year is not None or not is_year):
            return of_days(column, Range(low=day), zone)
    return None


def _not_before(value: Term) -> tuple[ColumnOf | None, bool]:
    """The column of days or moments that is not before a value, or of which that is the year."""
    is_year = isinstance(value.node, exp.Year)
    inner = value.args[0] if is_year else value
    while inner.args and (is_day(inner) or unit_of(inner)[1]):
        inner = inner.args[[name for name, _ in inner.slots].index("this")]
    column = inner.column
    return (column if column and column.type in ("date", *_MOMENTS) else None), is_year


def _days(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column of days or moments whose YEAR is compared with a number, or which is compared as a
    day, or by its month, with one; and the days in that range."""
    if not isinstance(term.node, (exp.EQ, exp.LT, exp.LTE)):
        return None
    left, right = term.args
    is_first = right.is_constant
    function, constant = (left, right) if is_first else (right, left)
    is_year = isinstance(function.node, exp.Year)
    days = function.args[0] if is_year else function
    column = (days.args[0] if is_day(days) else days).column
    if column is None or not (is_year or is_day(function)):
        return _units(type(term.node), function, constant, is_first, zone)
    bounds = _year(constant) if is_year else _day(constant)
    if bounds is None or column.type not in ("date", *_MOMENTS):
        return None
    if isinstance(term.node, exp.EQ):
        return column, Range(bounds[0], False, bounds[1], True)
    bound = bounds[isinstance(term.node, exp.LTE) == is_first]
    return column, Range(high=bound, high_open=True) if is_first else Range(low=bound)


def _units(
    kind: type[exp.Expr], function: Term, constant: Term, is_first: bool, zone: str
) -> tuple[ColumnOf, Range] | None:
    """The same of the beginning of a month, or of another unit of days, that is compared with a
    day."""
    if isinstance(function.node, exp.TimeToStr):
        return _written(kind, function, constant, zone)
    found, day = of_unit(function), _begun(constant)
    is_known = found is not None and found.is_start and found.unit not in CLOCK_UNITS
    if found is None or not is_known or day is None or oddities(zone).any:
        return None
    column, following = found.argument.column, next_start(day, found.unit)
    assert column is not None
    is_start = start_of(day, found.unit) == day
    if kind is exp.EQ:
        return (column, Range(day, False, following, True)) if is_start else None
    is_with_day = (kind is exp.LTE) == is_first
    bound = following if is_with_day or not is_start else day
    return column, Range(high=bound, high_open=True) if is_first else Range(low=bound)


def _written(
    kind: type[exp.Expr], function: Term, constant: Term, zone: str
) -> tuple[ColumnOf, Range] | None:
    """The same of a month, or another unit, that is written as a text."""
    found, text = of_unit(function), constant.node
    is_text = isinstance(text, exp.Literal) and text.is_string
    day = first_written(text.name, function.node.sql("spark").rsplit("'", 2)[1]) if is_text else ""
    if found is None or not day or kind is not exp.EQ or oddities(zone).any:
        return None
    first, column = day_in(day), found.argument.column
    if first is None or column is None:
        return None
    return column, Range(first, False, next_start(first, found.unit), True)


def _begun(constant: Term) -> int | None:
    """The day at whose beginning a constant is, which may be a moment."""
    text = midnight_text(constant)
    found: int | None = value_of(constant, "date", "") if text is None else day_in(text)
    return found


def _year(constant: Term) -> tuple[int, int] | None:
    """The first day of a year, and that of the next one."""
    node = constant.node
    if not isinstance(node, exp.Literal) or node.is_string or not node.name.isdigit():
        return None
    found = int(node.name)
    return (first_of_year(found), first_of_year(found + 1)) if 1 < found < 9998 else None


def _day(constant: Term) -> tuple[int, int] | None:
    """A day, and the next one."""
    found = value_of(constant, "date", "")
    return None if found is None else (found, found + 1)


def of_days(column: ColumnOf, days: Range, zone: str) -> tuple[ColumnOf, Range] | None:
    """A range of days as one of the values of a column, which may be moments."""
    if column.type == "date":
        return column, days
    where = zone if column.type == "timestamp" else "UTC"
    if oddities(where).any:
        return None
    low, high = (None if day is None else midnight(day, where) for day in (days.low, days.high))
    if (low is None) != (days.low is None) or (high is None) != (days.high is None):
        return None
    return column, Range(low, False, high, days.high_open)
