"""What follows from a conjunct of a WHERE beside what it says: a simpler one, columns that are not
NULL, years as ranges of days, beginnings of texts as ranges of texts."""

from __future__ import annotations

import re

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.days import first_day, first_year
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range, midnight, value_of
from dbt.adapters.spark_mv.rewrite.conditions.time_units import (
    first_of_year,
    is_day,
    oddities,
    unit_of,
)
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, binary, is_list, made, negated

_CONNECTED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.RegexpLike, exp.In)
# NULL if one of their arguments is.
_STRICT = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Year, exp.Quarter, exp.Month, exp.DayOfMonth),
    *(exp.DayOfWeek, exp.DayOfYear, exp.WeekOfYear, exp.Upper, exp.Lower, exp.Length, exp.Abs),
    *(exp.TimestampTrunc, exp.TsOrDsAdd),
)
# What ends the beginning of a pattern, and a pattern that is nothing else.
_WILD = re.compile(r"[%_\\]")
_BEGINNING = re.compile(r"([^%_\\]+)%", re.DOTALL)
# Letters that have a next one, in every order of texts.
_WITH_NEXT = re.compile(r"[ -}]")
_MOMENTS = ("timestamp", "timestamp_ntz")


def simple_conjunct(term: Term) -> Term:
    """A conjunct that leaves the same rows: comparisons of two constants and with TRUE or FALSE
    are what they come to.

    A row counts where a conjunct is true, so NULL and FALSE are the same here.
    """
    if isinstance(term.node, exp.NullSafeEQ) and any(_is_value(arg) for arg in term.args):
        return simple_conjunct(binary(exp.EQ, *term.args))
    if not isinstance(term.node, (exp.EQ, exp.Is)):
        return term
    left, right = term.args
    if _is_value(left) and left.key == right.key:
        return made(exp.true())
    for one, other in ((left, right), (right, left)):
        # Values of other types are converted before they are compared.
        is_boolean = other.column is not None and other.column.type == "boolean"
        if isinstance(one.node, exp.Boolean) and is_boolean:
            return other if one.node.this else negated(other)
    return term


def _is_value(term: Term) -> bool:
    return isinstance(term.node, (exp.Literal, exp.Boolean))


def rejected_nulls(term: Term) -> set[ColumnOf]:
    """Columns that are not NULL in a row where a conjunct is true."""
    if isinstance(term.node, exp.Not):
        term = term.args[0]
        if isinstance(term.node, exp.In) and not is_list(term.node):
            return set()  # NULL is not in a query without rows
    if term.column is not None:
        return {term.column}
    if not isinstance(term.node, _CONNECTED):
        return set()
    args = term.args[:1] if isinstance(term.node, exp.In) else term.args
    return set().union(*map(_strict_columns, args))


def _strict_columns(term: Term) -> set[ColumnOf]:
    if term.column is not None:
        return {term.column}
    if not isinstance(term.node, _STRICT) and not is_day(term):
        return set()
    return set().union(*map(_strict_columns, term.args))


def range_in_words(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column and the range that a conjunct is, which is no comparison of a column."""
    if isinstance(term.node, exp.Like):
        pattern = _BEGINNING.fullmatch(_pattern(term))
        return None if pattern is None else _beginning(term, pattern[1])
    found = _days(term)
    return None if found is None else _of_days(*found, zone)


def range_besides(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column and a range in which its values lie where a conjunct is true, which may say
    more."""
    if isinstance(term.node, exp.StartsWith):
        return _beginning(term, _pattern(term))
    if isinstance(term.node, exp.Like):
        return _beginning(term, _WILD.split(_pattern(term))[0])
    if is_list(term.node):
        return _of_list(term, zone)
    return range_in_words(term, zone) or _since(term, zone)


def _since(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column of what is not before a day or year of the clock, and the days from then on."""
    if not isinstance(term.node, (exp.EQ, exp.LT, exp.LTE)):
        return None
    sides = [term.args, term.args[::-1]] if isinstance(term.node, exp.EQ) else [term.args]
    for bound, value in sides:
        column, is_year = _not_before(value)
        year = first_year(bound) if is_year else None
        day = first_day(bound) if year is None else first_of_year(year)
        if column is not None and day is not None and (year is not None or not is_year):
            return _of_days(column, Range(low=day), zone)
    return None


def _not_before(value: Term) -> tuple[ColumnOf | None, bool]:
    """The column of days or moments that is not before a value, or of which that is the year."""
    is_year = isinstance(value.node, exp.Year)
    inner = value.args[0] if is_year else value
    while inner.args and (is_day(inner) or unit_of(inner)[1]):
        inner = inner.args[[name for name, _ in inner.slots].index("this")]
    column = inner.column
    return (column if column and column.type in ("date", *_MOMENTS) else None), is_year


def _pattern(term: Term) -> str:
    """The text that the values of a column are held against; empty if it is none."""
    node = term.args[1].node if len(term.args) == 2 else None
    return node.name if isinstance(node, exp.Literal) and node.is_string else ""


def _beginning(term: Term, begun: str) -> tuple[ColumnOf, Range] | None:
    """The texts that begin so: those up to the next text that does not."""
    column, last = term.args[0].column, begun[-1:]
    if column is None or column.type != "string" or not _WITH_NEXT.fullmatch(last):
        return None
    return column, Range(begun, False, begun[:-1] + chr(ord(last) + 1), True)


def _of_list(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """From the first day of a list of days or years to the last one."""
    first, *values = term.args
    found = [one for value in values if (one := _days(binary(exp.EQ, first, value))) is not None]
    if len(found) < len(values):
        return None
    (column, _), ranges = found[0], [one for _, one in found]
    low, high = min(one.low for one in ranges), max(one.high for one in ranges)
    return _of_days(column, Range(low, False, high, True), zone)


def _days(term: Term) -> tuple[ColumnOf, Range] | None:
    """The column of days or moments whose YEAR is compared with a number, or which is compared as a
    day with one; and the days in that range."""
    if not isinstance(term.node, (exp.EQ, exp.LT, exp.LTE)):
        return None
    left, right = term.args
    is_first = right.is_constant
    function, constant = (left, right) if is_first else (right, left)
    is_year = isinstance(function.node, exp.Year)
    days = function.args[0] if is_year else function
    column = (days.args[0] if is_day(days) else days).column
    if column is None or not (is_year or is_day(function)):
        return None
    bounds = _year(constant) if is_year else _day(constant)
    if bounds is None or column.type not in ("date", *_MOMENTS):
        return None
    if isinstance(term.node, exp.EQ):
        return column, Range(bounds[0], False, bounds[1], True)
    bound = bounds[isinstance(term.node, exp.LTE) == is_first]
    return column, Range(high=bound, high_open=True) if is_first else Range(low=bound)


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


def _of_days(column: ColumnOf, days: Range, zone: str) -> tuple[ColumnOf, Range] | None:
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
