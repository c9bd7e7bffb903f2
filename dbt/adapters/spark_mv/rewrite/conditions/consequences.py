"""What follows from a conjunct of a WHERE beside what it says: a simpler one, columns that are not
NULL, years as ranges of days, beginnings of texts as ranges of texts."""

from __future__ import annotations

import re

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import is_of_its_type
from dbt.adapters.spark_mv.rewrite.conditions.day_ranges import (
    range_of_days,
    range_of_list,
    range_since,
)
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from dbt.adapters.spark_mv.rewrite.conditions.time_units import is_day
from dbt.adapters.spark_mv.rewrite.terms import (
    ColumnOf,
    Term,
    binary,
    is_list,
    is_not_null,
    is_null,
    made,
    negated,
)

_CONNECTED = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.RegexpLike, exp.In),
    *(exp.StartsWith, exp.EndsWith, exp.Contains),
)
# NULL if one of their arguments is; not what is made of them, such as CONCAT_WS.
_STRICT = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Year, exp.Quarter, exp.Month, exp.DayOfMonth),
    *(exp.DayOfWeek, exp.DayOfYear, exp.WeekOfYear, exp.Upper, exp.Lower, exp.Length, exp.Abs),
    *(exp.TimestampTrunc, exp.DateTrunc, exp.TsOrDsAdd, exp.DateDiff, exp.LastDay, exp.Hour),
    *(exp.Minute, exp.Second, exp.Div, exp.Mod, exp.Round, exp.Ceil, exp.Floor, exp.Sqrt, exp.Cast),
    *(exp.TryCast, exp.Substring, exp.Trim, exp.Left, exp.Right, exp.Initcap, exp.Concat),
)
# What ends the beginning of a pattern, and a pattern that is nothing else.
_WILD = re.compile(r"[%_\\]")
_BEGINNING = re.compile(r"([^%_\\]+)%", re.DOTALL)
# Letters that have a next one, in every order of texts.
_WITH_NEXT = re.compile(r"[ -}]")


def simple_conjunct(term: Term) -> Term:
    """A conjunct that leaves the same rows: comparisons of two constants and with TRUE or FALSE
    are what they come to.

    A row counts where a conjunct is true, so NULL and FALSE are the same here.
    """
    if isinstance(term.node, (exp.NullSafeEQ, exp.NullSafeNEQ)):
        return _null_safe(term)
    if is_list(term.node):
        return _without_null(term)
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


def _without_null(term: Term) -> Term:
    """IN without the NULL in its list, which no value equals."""
    pairs = list(zip(term.args, term.slots, strict=True))
    kept = pairs[:1] + [pair for pair in pairs[1:] if not isinstance(pair[0].node, exp.Null)]
    if len(kept) == len(pairs):
        return term
    if len(kept) == 1:
        return made(exp.false())
    return made(term.node, [arg for arg, _ in kept], [slot for _, slot in kept])


def _null_safe(term: Term) -> Term:
    """A comparison in which NULL is a value, without that if one side is a constant."""
    is_same = isinstance(term.node, exp.NullSafeEQ)
    for one, other in (term.args, term.args[::-1]):
        if isinstance(one.node, exp.Null):
            return is_null(other) if is_same else is_not_null(other)
        if is_same and other.column is not None and is_of_its_type(one, other.column):
            return simple_conjunct(binary(exp.EQ, *term.args))
    return term


def _is_value(term: Term) -> bool:
    return isinstance(term.node, (exp.Literal, exp.Boolean))


def tested_for_null(condition: Term) -> Term | None:
    """What a condition says is NULL, or is not; None if it says something else."""
    test = condition.args[0] if isinstance(condition.node, exp.Not) else condition
    is_test = isinstance(test.node, exp.Is) and isinstance(test.args[1].node, exp.Null)
    return test.args[0] if is_test else None


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
    if type(term.node) not in _STRICT and not is_day(term):
        return set()
    return set().union(*map(_strict_columns, term.args))


def range_in_words(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column and the range that a conjunct is, which is no comparison of a column."""
    if isinstance(term.node, exp.Like):
        pattern = _BEGINNING.fullmatch(_pattern(term))
        return None if pattern is None else _beginning(term, pattern[1])
    return range_of_days(term, zone)


def range_besides(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column and a range in which its values lie where a conjunct is true, which may say
    more."""
    if isinstance(term.node, exp.StartsWith):
        return _beginning(term, _pattern(term))
    if isinstance(term.node, exp.Like):
        return _beginning(term, _WILD.split(_pattern(term))[0])
    if is_list(term.node):
        return range_of_list(term, zone)
    return range_in_words(term, zone) or range_since(term, zone)


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
