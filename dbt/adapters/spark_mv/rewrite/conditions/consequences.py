"""What follows from a conjunct of a WHERE beside what it says: a simpler one, columns that are not
NULL, years as ranges of days, beginnings of texts as ranges of texts."""

from __future__ import annotations

import re

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range, first_of_year
from dbt.adapters.spark_mv.rewrite.conditions.time_units import is_day
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, binary, is_list, made, negated

_CONNECTED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.RegexpLike, exp.In)
# NULL if one of their arguments is.
_STRICT = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Year, exp.Quarter, exp.Month, exp.DayOfMonth),
    *(exp.DayOfWeek, exp.DayOfYear, exp.WeekOfYear, exp.Upper, exp.Lower, exp.Length, exp.Abs),
    *(exp.TimestampTrunc, exp.TsOrDsAdd),
)
# Without other wildcards and escapes, and with a last letter that has a next one.
_BEGINNING = re.compile(r"([^%_\\]*)([ !-$&-Z^`-}])%", re.DOTALL)


def simple_conjunct(term: Term) -> Term:
    """A conjunct that leaves the same rows: comparisons of two constants and with TRUE or FALSE
    are what they come to.

    A row counts where a conjunct is true, so NULL and FALSE are the same here.
    """
    if isinstance(term.node, exp.NullSafeEQ) and any(_is_value(arg) for arg in term.args):
        return simple_conjunct(binary(exp.EQ, *term.args))
    if not isinstance(term.node, exp.EQ):
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


def range_in_words(term: Term) -> tuple[ColumnOf, Range] | None:
    """The column and the range that a conjunct is, which is no comparison of a column."""
    return _range_of_beginning(term) if isinstance(term.node, exp.Like) else _range_of_year(term)


def _range_of_beginning(term: Term) -> tuple[ColumnOf, Range] | None:
    """The texts that begin as LIKE says: those from the beginning to the next text that has not
    got it."""
    column, pattern = term.args[0].column, term.args[1].node
    if column is None or column.type != "string" or not isinstance(pattern, exp.Literal):
        return None
    found = _BEGINNING.fullmatch(pattern.name) if pattern.is_string else None
    if found is None:
        return None
    begun, last = found.groups()
    return column, Range(begun + last, False, begun + chr(ord(last) + 1), True)


def _range_of_year(term: Term) -> tuple[ColumnOf, Range] | None:
    """The days of a column DATE whose YEAR is compared with a number."""
    if not isinstance(term.node, (exp.EQ, exp.LT, exp.LTE)):
        return None
    left, right = term.args
    is_first = isinstance(left.node, exp.Year)
    year, number = (left, right) if is_first else (right, left)
    if not isinstance(year.node, exp.Year):
        return None
    day = year.args[0]
    column = (day.args[0] if is_day(day) else day).column
    if column is None or column.type != "date" or not isinstance(number.node, exp.Literal):
        return None
    if number.node.is_string or not number.node.name.isdigit():
        return None
    found = int(number.node.name)
    if not 1 < found < 9998:
        return None
    if isinstance(term.node, exp.EQ):
        return column, Range(first_of_year(found), False, first_of_year(found + 1), True)
    after = found + (isinstance(term.node, exp.LTE) == is_first)
    bound = first_of_year(after)
    return column, Range(high=bound, high_open=True) if is_first else Range(low=bound)
