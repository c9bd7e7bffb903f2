"""The clock in a query's tree: comparisons of rows with it, and values of it. Pure.

A query that reads the clock has the rows that it had while each comparison of a row with the clock
has the result that it had, for every row that it is made for, and each other value of the clock is
the same. Nothing else is asked of the query: this is so under joins, groups and windows.

Trees have columns of `views.clock.PLACEHOLDERS` where the query calls the clock.

>>> from sqlglot import parse_one
>>> tree = parse_one("SELECT * FROM t WHERE due < mv_clock_today - 7 AND mv_clock_now >= ts")
>>> [str(term) for term in terms_of(tree)]
['ts <= mv_clock_now', 'due < mv_clock_today - 7']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.rewrite.clock_columns import BEYOND_ROWS
from dbt.adapters.spark_mv.views.clock import LOCAL, NOW, PLACEHOLDERS, UNIX

_FLIPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "="}
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "=",
    exp.NullSafeEQ: "=",
    exp.NullSafeNEQ: "=",
}
# A value of the clock ends below these, however few columns they have.
_ENDS = (
    *BEYOND_ROWS,
    exp.Tuple,
    exp.Predicate,
    exp.Connector,
    exp.Not,
    exp.Case,
    exp.If,
)


@dataclass(frozen=True)
class Atom:
    """A comparison of values of rows with the clock; `op` stands between `row` and `clock`.

    `node` is where it stands in the tree. Of two values that are not equal it says `=`: both
    change when they become equal.
    """

    row: exp.Expr
    op: str
    clock: exp.Expr
    node: exp.Expr

    def __str__(self) -> str:
        return f"{self.row.sql('spark')} {self.op} {self.clock.sql('spark')}"


@dataclass(frozen=True)
class Value:
    """A value of the clock that is compared with no value of a row."""

    clock: exp.Expr

    def __str__(self) -> str:
        return self.clock.sql("spark")


Term = Atom | Value


def terms_of(tree: exp.Expr) -> list[Term]:
    """Every use of the clock in a tree, as a comparison or as a value."""
    found: list[Term] = []
    whole = {id(clock): clock for clock in map(_whole, filter(is_clock, tree.find_all(exp.Column)))}
    for clock in whole.values():
        found += _atoms(clock) or [Value(clock)]
    return found


def enclosed(tree: exp.Expr) -> exp.Expr:
    """A tree, changed in place, in which intervals of several units are in parentheses: without
    them sqlglot prints others."""
    for interval in list(tree.find_all(exp.Interval)):
        node: exp.Expr = interval
        while isinstance(node.parent, (exp.Add, exp.Sub)) and isinstance(
            node.parent.this, exp.Interval
        ):
            node = node.parent
        if isinstance(node, exp.Add) and isinstance(node.parent, (exp.Add, exp.Sub)):
            node.replace(exp.paren(node.copy(), copy=False))
    return tree


def is_clock(node: exp.Expr) -> bool:
    """Whether a node stands for a call that reads the clock."""
    return isinstance(node, exp.Column) and not node.table and node.name in PLACEHOLDERS


def reads(node: exp.Expr) -> set[str]:
    """The placeholders in an expression."""
    return {column.name for column in node.find_all(exp.Column) if is_clock(column)}


def is_constant(node: exp.Expr) -> bool:
    """Whether an expression has neither columns nor clock."""
    return not _has_rows(node) and not reads(node)


def _has_rows(node: exp.Expr) -> bool:
    return any(
        not (isinstance(part, exp.Column) and is_clock(part))
        for part in node.find_all(exp.Column, exp.Star, exp.Query, exp.AggFunc, exp.Window)
    )


def _whole(column: exp.Expr) -> exp.Expr:
    """The largest expression around a call of the clock that no column is part of."""
    node = column
    while node.parent is not None and not isinstance(node.parent, _ENDS):
        if _has_rows(node.parent):
            break
        node = node.parent
    return node


def _atoms(clock: exp.Expr) -> list[Term]:
    """The comparisons with rows that a whole value of the clock is a side of."""
    node = clock
    parent = node.parent
    if parent is None:
        return []
    if isinstance(parent, exp.Sub) and _has_rows(parent):
        return _of_difference(clock, parent)
    if isinstance(parent, exp.Between) and not parent.args.get("symmetric"):
        return _of_between(clock, parent)
    if isinstance(parent, exp.In) and not (parent.args.get("query") or parent.args.get("unnest")):
        others = parent.expressions if parent.this is clock else [parent.this]
        if any(reads(other) for other in others):
            return []
        return [Atom(other, "=", clock, parent) for other in others]
    operator = _OPERATORS.get(type(parent))
    if operator is None:
        return []
    left, right = cast(exp.Expr, parent.this), cast(exp.Expr, parent.expression)
    if left is clock:
        return [Atom(right, _FLIPPED[operator], clock, parent)] if not reads(right) else []
    return [Atom(left, operator, clock, parent)] if not reads(left) else []


def _of_between(clock: exp.Expr, between: exp.Between) -> list[Term]:
    value, low, high = (cast(exp.Expr, between.args[key]) for key in ("this", "low", "high"))
    if value is clock:
        if reads(low) or reads(high):
            return []
        return [Atom(low, "<=", clock, between), Atom(high, ">=", clock, between)]
    if reads(value):
        return []
    return [Atom(value, ">=" if clock is low else "<=", clock, between)]


def _of_difference(clock: exp.Expr, difference: exp.Sub) -> list[Term]:
    """A comparison of a difference of a row and the clock with a constant, as one of the row.

    Spark subtracts timestamps as clocks on the wall show them, so the row is compared with the
    wall, too. Differences of whole seconds are those of numbers.
    """
    row = cast(exp.Expr, difference.expression if difference.this is clock else difference.this)
    top: exp.Expr = difference
    while isinstance(top.parent, exp.Paren):
        top = top.parent
    node = top.parent
    operator = _OPERATORS.get(type(node)) if node is not None else None
    if node is None or operator is None or reads(row):
        return []
    other = cast(exp.Expr, node.expression if node.this is top else node.this)
    if not is_constant(other):
        return []
    if node.this is not top:
        operator = _FLIPPED[operator]
    which = reads(clock)
    if isinstance(clock, exp.Column) and which == {NOW}:
        row, clock_side = exp.cast(row.copy(), "timestamp_ntz", dialect="spark"), exp.column(LOCAL)
    elif which == {UNIX}:
        row, clock_side = row.copy(), cast(exp.Column, clock.copy())
    else:
        return []
    if difference.this is clock:
        # clock - row < other is row > clock - other
        moved = exp.Sub(this=clock_side, expression=exp.paren(other.copy()))
        return [Atom(row, _FLIPPED[operator], moved, node)]
    return [Atom(row, operator, exp.Add(this=clock_side, expression=exp.paren(other.copy())), node)]


def block_of(node: exp.Expr) -> exp.Select | None:
    """The selection that an expression stands in."""
    return node.find_ancestor(exp.Select)


def clause_of(node: exp.Expr, block: exp.Select) -> str:
    """The clause of a selection that an expression stands in: `where`, `joins`, `expressions` .."""
    below: exp.Expr = node
    while below.parent is not None and below.parent is not block:
        below = below.parent
    return str(below.arg_key)


def ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    """What an expression stands in, from the nearest on."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
