"""Gives windows an order without ties, so that what they return is a function of the rows.

Of rows that are equal in ORDER BY, Spark takes the first that it happens to read, and any of them
is right. But what went is computed again from the old rows, and has to come out as it was stored.
So the columns that are returned are added to ORDER BY: rows that are equal in these, too, can take
each other's place. Rows are stored in this order from the first build on.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.optimizer.pushdown_projections import pushdown_projections

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.annotations import Annotation
from dbt.adapters.spark_mv.ivm.algebra.scopes import names_in, outside
from dbt.adapters.spark_mv.ivm.algebra.terms import GENERATORS, derived, ungrouped

# The column of storage tables whose rows were computed in such an order.
ORDERED = "mv_ordered"
_IS_ORDERED: Annotation[bool] = Annotation("mv_is_ordered")
_BY_POSITION = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead)
_FIRST = (exp.First, exp.FirstValue)
_NULLS = (exp.IgnoreNulls, exp.RespectNulls)
_UNORDERED = ("map<", "variant", "collate", "geometry", "geography")


def without_ties(query: exp.Query, types_of: Callable[[exp.Query], list[str]]) -> exp.Query | None:
    """A copy of a parsed query whose windows have an order without ties, and which has the column
    `ORDERED`; None if no window gets one.

    Columns that nothing reads are gone from its subqueries, as they would be in ORDER BY.

    >>> from sqlglot import parse_one
    >>> query = parse_one('''
    ...     SELECT o.id, RANK() OVER (ORDER BY o.day) AS rank,
    ...     ROW_NUMBER() OVER (ORDER BY o.day) AS place FROM orders AS o
    ... ''', dialect="spark")
    >>> print(without_ties(query, types_of=lambda terms: ["date", "int"]).sql("spark"))
    SELECT o.id, RANK() OVER (ORDER BY o.day) AS rank,
      ROW_NUMBER() OVER (ORDER BY o.day, o.id) AS place, TRUE AS `mv_ordered` FROM orders AS o
    """
    if not isinstance(query, exp.Select) and query.args.get("limit"):
        return None
    found = query.copy()
    if found.find(*GENERATORS) is None:
        pushdown_projections(found)
    ordered = False
    for select in list(found.find_all(exp.Select)):
        windows = [window for window in _windows(select) if _is_of_rank(window)]
        terms = _terms(select, types_of) if windows else []
        if not terms or (select.args.get("group") is None and not _are_alike(windows)):
            continue
        for window in windows:
            _order(window, terms)
            ordered = True
    return _marked(found) if ordered else None


def _marked(query: exp.Query) -> exp.Query:
    if not isinstance(query, exp.Select):
        names = [exp.column(name, table="mv_all", quoted=True) for name in query.named_selects]
        query = exp.Select(expressions=names).from_(derived(query, "mv_all"))
    query.append("expressions", exp.alias_(exp.true(), ORDERED, quoted=True))
    return query


def is_in_order(node: exp.Expr) -> bool:
    """Whether a function, or the frame, of a window has one value only, whatever the order in
    which rows are read."""
    window = node.find_ancestor(exp.Window)
    if window is None or (node is not _function(window) and node is not window.args.get("spec")):
        return False
    by_value = isinstance(node, exp.WindowSpec) and not _is_by_rows(window)
    return by_value or bool(_IS_ORDERED.of(window))


def _windows(select: exp.Select) -> list[exp.Window]:
    """The windows of a selection, each with its own PARTITION BY, ORDER BY and frame."""
    if any(item.find(exp.Query) for item in select.expressions):
        return []
    named = {item.name.lower(): item for item in select.args.get("windows") or []}
    found = [window for item in select.expressions for window in item.find_all(exp.Window)]
    for window in found:
        known = named.get(window.alias.lower()) if window.args.get("alias") else None
        for part in ("partition_by", "order", "spec") if known else ():
            value = known and known.args.get(part)
            if value and not window.args.get(part):
                window.set(
                    part, [v.copy() for v in value] if part == "partition_by" else value.copy()
                )
        if known:
            window.set("alias", None)
    return found


def _function(window: exp.Window) -> exp.Expr:
    return window.this.this if isinstance(window.this, _NULLS) else window.this


def _is_by_rows(window: exp.Window) -> bool:
    spec = window.args.get("spec")
    return spec is not None and (spec.args.get("kind") or "").upper() == "ROWS"


def _is_of_rank(window: exp.Window) -> bool:
    """Whether any order of equal rows gives a right value, and they need one."""
    function = _function(window)
    if isinstance(function, exp.Anonymous):
        return False
    if isinstance(function, _BY_POSITION) or _is_by_rows(window):
        return True
    # The first of equal rows is one of them; the last, or all, are another set of rows then.
    alone = isinstance(window.this, _FIRST) and window.args.get("spec") is None
    return alone and window.args.get("order") is not None


def _are_alike(windows: list[exp.Window]) -> bool:
    """Whether they see rows in one order: two of two orders would meet in any way in rows that are
    equal in everything."""
    return len({(str(w.args.get("partition_by")), str(w.args.get("order"))) for w in windows}) == 1


def _terms(select: exp.Select, types_of: Callable[[exp.Query], list[str]]) -> list[exp.Expr]:
    """What equal rows of a selection are equal in; nothing if it cannot be put in order."""
    group = select.args.get("group")
    if group is None and any(aggregates.calls(item) for item in select.expressions):
        return []
    if group is None:
        columns = {c for item in select.expressions for c in item.find_all(exp.Column)}
        terms = sorted(columns, key=lambda column: column.sql())
    elif all(not value for key, value in group.args.items() if key != "expressions"):
        terms = list(group.expressions)
    else:
        return []
    if (
        not terms
        or outside(select)
        or not {c.table for t in terms for c in t.find_all(exp.Column)} <= names_in(select)
    ):
        return []
    types = types_of(ungrouped(select, terms, "mv_term"))
    return [] if any(word in kind for kind in types for word in _UNORDERED) else terms


def _order(window: exp.Window, terms: list[exp.Expr]) -> None:
    order = window.args.get("order") or exp.Order(expressions=[])
    there = [*(item.this for item in order.expressions), *(window.args.get("partition_by") or [])]
    more = [exp.Ordered(this=term.copy(), nulls_first=True) for term in terms if term not in there]
    window.set("order", exp.Order(expressions=[*order.expressions, *more]))
    _IS_ORDERED.put(window, True)
