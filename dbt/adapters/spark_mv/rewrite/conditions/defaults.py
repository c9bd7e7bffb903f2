"""Conjuncts of values that stand for NULL, or that NULL stands for, without COALESCE and NULLIF."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.comparisons import range_in
from dbt.adapters.spark_mv.rewrite.conditions.consequences import tested_for_null
from dbt.adapters.spark_mv.rewrite.conditions.constants import (
    DISCRETE,
    family_of,
    is_of_its_type,
    value_of,
)
from dbt.adapters.spark_mv.rewrite.conditions.days import midnight_text
from dbt.adapters.spark_mv.rewrite.terms import (
    ColumnOf,
    Term,
    binary,
    connected,
    is_list,
    is_null,
    made,
    negated,
    replaced,
)

# Types that stay what they are beside a short whole number, which makes a DECIMAL a longer one.
_HOLD_WHOLE, _SHORT = ("int", "bigint", "double"), 10
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE)


def without_default(term: Term, zone: str) -> Term:
    """A conjunct that is true in the same rows and has no COALESCE or NULLIF around a column; the
    conjunct itself if none is known. Moments are of a time zone.

    `coalesce(status, '') <> 'void'` is true where `status IS NULL OR status <> 'void'` is.
    """
    nullif = _nullif(term)
    if nullif is not None:
        return nullif
    is_not = isinstance(term.node, exp.Not)
    inner = term.args[0] if is_not else term
    flag = _flag(inner, is_not)
    if flag is not None:
        return flag
    if is_list(inner.node) or (isinstance(inner.node, _COMPARED) and not is_not):
        return _compared(inner, is_not, zone) or term
    return term


def without_nulls(term: Term, is_never_null: Callable[[ColumnOf], bool]) -> Term:
    """A term of rows in which some columns are never NULL, so that these need no COALESCE."""

    def plain(part: Term) -> Term | None:
        if not _is_default(part):
            return None
        value, default = part.args
        is_kept = value.column is not None and is_never_null(value.column)
        return value if is_kept and _is_of_its_type(value, default) else None

    return replaced(term, plain)


def _is_of_its_type(value: Term, default: Term) -> bool:
    """Whether COALESCE of a column has the type of the column, or one in which all else comes out
    the same."""
    assert value.column is not None
    kind, node = value.column.type, default.node
    if default.column is not None:
        return default.column.type == kind
    if not isinstance(node, exp.Literal):
        return False
    is_whole = not node.is_string and node.name.isdigit() and len(node.name) < _SHORT
    return node.is_string if kind == "string" else is_whole and kind in _HOLD_WHOLE


def _flag(term: Term, is_not: bool) -> Term | None:
    """COALESCE of a condition with TRUE or FALSE."""
    if type(term.node) is not exp.Coalesce or len(term.args) != 2:
        return None
    value, default = term.args
    if not isinstance(default.node, exp.Boolean):
        return None
    met = negated(value) if is_not else value
    return connected(exp.Or, [is_null(value), met]) if default.node.this is not is_not else met


def _nullif(term: Term) -> Term | None:
    """NULLIF .. IS NULL, or IS NOT NULL."""
    found = tested_for_null(term)
    if found is None or type(found.node) is not exp.Nullif:
        return None
    value, other = found.args
    if value.column is None or not is_of_its_type(other, value.column):
        return None
    if isinstance(term.node, exp.Not):
        return binary(exp.NEQ, value, other)
    return connected(exp.Or, [is_null(value), binary(exp.EQ, value, other)])


def _compared(term: Term, is_not: bool, zone: str) -> Term | None:
    """A comparison of COALESCE(column, constant) with constants."""
    places = [n for n, one in enumerate(term.args) if _is_default(one)]
    if len(places) != 1 or (is_list(term.node) and places != [0]):
        return None
    value, default = term.args[places[0]].args
    args = [value if n == places[0] else one for n, one in enumerate(term.args)]
    plain = made(term.node, args, term.slots)
    has_default = _holds(plain, value, default, zone)
    if has_default is None:
        return None
    met = negated(plain) if is_not else plain
    return connected(exp.Or, [is_null(value), met]) if has_default is not is_not else met


def _is_default(term: Term) -> bool:
    is_call = type(term.node) is exp.Coalesce and len(term.args) == 2
    return is_call and term.args[0].column is not None


def _holds(plain: Term, value: Term, default: Term, zone: str) -> bool | None:
    """Whether a comparison of a column is true of its default; None if that is not known."""
    assert value.column is not None
    kind = value.column.type
    found = value_of(default, kind, zone)
    family = family_of(kind)
    # A text makes a text of a day, or a day of itself, and a moment makes a moment of it.
    is_converted = family.startswith(("date", "timestamp")) and isinstance(
        default.node, exp.Literal
    )
    is_converted = is_converted or (kind == "date" and midnight_text(default) is not None)
    if found is None or is_converted or (family in DISCRETE and found != int(found)):
        return None
    is_other = isinstance(plain.node, exp.NEQ)
    compared = range_in(binary(exp.EQ, *plain.args) if is_other else plain, zone)
    return None if compared is None else compared[1].holds(found) is not is_other
