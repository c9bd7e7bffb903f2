"""Comparisons of a column with constants, as ranges of its values."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import (
    Moment,
    family_of,
    following,
    value_of,
)
from dbt.adapters.spark_mv.rewrite.conditions.days import midnight_text
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range, comparison
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, is_list

_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.EQ: exp.EQ}

# What compares so with a moment compares so with the next one.
_BESIDE: dict[type[exp.Expr], type[exp.Expr]] = {exp.LTE: exp.LT, exp.GT: exp.GTE}


def range_in(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column and the range of a comparison with a constant, or of several values of one."""
    kind = type(term.node)
    if kind in _MIRRORED:
        left, right = term.args
        if left.column is not None:
            return _compared(kind, left.column, right, zone)
        return _compared(_MIRRORED[kind], right.column, left, zone) if right.column else None
    if is_list(term.node) and term.args[0].column is not None:
        column = term.args[0].column
        # IN compares moments with texts as texts.
        texts = [value.node for value in term.args[1:] if isinstance(value.node, exp.Literal)]
        if column.type.startswith("timestamp") and texts:
            return None
        # And days with moments as moments, or as texts if there is one.
        if column.type == "date" and any(midnight_text(value) for value in term.args[1:]):
            return None
        return _any_of([_compared(exp.EQ, column, value, zone) for value in term.args[1:]])
    if kind is exp.Or:
        return _any_of([range_in(arg, zone) for arg in term.args])
    return None


def _compared(
    kind: type[exp.Expr], column: ColumnOf, value: Term, zone: str
) -> tuple[ColumnOf, Range] | None:
    constant = value_of(value, column.type, zone)
    if constant is None:
        return None
    if isinstance(constant, Moment) and kind in _BESIDE:
        later = following(constant, "UTC" if column.type == "timestamp_ntz" else zone)
        kind, constant = (kind, constant) if later is None else (_BESIDE[kind], later)
    return column, comparison(kind, family_of(column.type), constant)


def _any_of(
    found: list[tuple[ColumnOf, Range] | None],
) -> tuple[ColumnOf, Range] | None:
    """One of several values; NULL among them is never false, and so is no value."""
    values: set[object] = set()
    columns = set()
    for one in found:
        if one is None or one[1].among is None:
            return None
        columns.add(one[0])
        values |= one[1].among
    if len(columns) != 1:
        return None
    return columns.pop(), Range(among=frozenset(values))
