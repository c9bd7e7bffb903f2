"""Years, quarters and months of a column together with ranges of its days: each tells the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.comparisons import range_in
from dbt.adapters.spark_mv.rewrite.conditions.constants import Moment, day_of
from dbt.adapters.spark_mv.rewrite.conditions.day_ranges import of_days
from dbt.adapters.spark_mv.rewrite.conditions.days import next_start
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from dbt.adapters.spark_mv.rewrite.conditions.stand_ins import with_stand_ins
from dbt.adapters.spark_mv.rewrite.conditions.time_units import day_number, oddities, of_unit
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, is_list

_PARTS: dict[type[exp.Expr], Callable[[date], int]] = {
    exp.Year: lambda day: day.year,
    exp.Quarter: lambda day: (day.month + 2) // 3,
    exp.Month: lambda day: day.month,
    exp.DayOfMonth: lambda day: day.day,
    exp.Day: lambda day: day.day,
}
_UNITS = ((exp.Quarter, "QUARTER", 3), (exp.Month, "MONTH", 1))
_MOST_DAYS = 800


def months_of_years(terms: Iterable[Term], zone: str) -> Iterator[tuple[ColumnOf, Range]]:
    """The columns of which both the year and the month, or quarter, are said, and the days or
    moments of that month in a time zone."""
    said: dict[tuple[ColumnOf, type[exp.Expr]], int] = {}
    for term in terms:
        found = _part(term)
        number = _number(term) if found is not None and isinstance(term.node, exp.EQ) else None
        if found is not None and number is not None:
            said[found] = number
    for (column, kind), number in said.items():
        year = said.get((column, exp.Year), 0)
        for part, unit, months in _UNITS:
            if kind is not part or not 1 < year < 9998 or not 0 < number * months <= 12:
                continue
            first = day_number(date(year, (number - 1) * months + 1, 1))
            known = of_days(column, Range(first, False, next_start(first, unit), True), zone)
            if known is not None:
                yield known


def is_of_days(term: Term, ranges: Callable[[ColumnOf], list[Range]], zone: str) -> bool:
    """Whether a condition on the year, the month, .. of a column is true of all days that ranges
    leave of it."""
    found = _part(term)
    wanted = range_in(with_stand_ins(term, zone), zone) if found is not None else None
    if found is None or wanted is None:
        return False
    column, kind = found
    if column.type != "date" and oddities(zone).any:
        return False
    for known in ranges(column):
        days = _days(known)
        if days is not None and all(wanted[1].holds(_PARTS[kind](day)) for day in days):
            return True
    return False


def _part(term: Term) -> tuple[ColumnOf, type[exp.Expr]] | None:
    """The column and the function of it that a condition compares with constants."""
    if not isinstance(term.node, (exp.EQ, exp.LT, exp.LTE)) and not is_list(term.node):
        return None
    functions = [arg for arg in term.args if not arg.is_constant]
    function = functions[0] if len(functions) == 1 else None
    if function is None or type(function.node) not in _PARTS:
        return None
    known = of_unit(function)
    column = known.argument.column if known is not None else None
    return None if column is None else (column, type(function.node))


def _number(term: Term) -> int | None:
    values = [arg.node.name for arg in term.args if isinstance(arg.node, exp.Literal)]
    return int(values[0]) if len(values) == 1 and values[0].isdigit() else None


def _days(known: Range) -> list[date] | None:
    """The days of a range, if it has bounds and not too many."""
    if known.among is not None:
        return [day_of(value) for value in known.among]
    if known.low is None or known.high is None:
        return None
    first, last = day_of(known.low), day_of(known.high)
    is_midnight = not isinstance(known.high, Moment) or known.high.text.endswith(" 00:00:00")
    if known.high_open and is_midnight:
        last -= timedelta(days=1)
    count = (last - first).days + 1
    return [first + timedelta(days=n) for n in range(count)] if 0 < count < _MOST_DAYS else None
