"""ORDER BY .. LIMIT n: the first rows of a query, from those that are stored and what changed.

As long as none of them goes, the first rows are among those stored and those that came: whatever
was left out before has as many rows in front of it as it had. Once one goes, only the tables know
which row moves up; then the statement ends in an error, unless every row there was is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.bag import listed
from dbt.adapters.spark_mv.ivm.measures import raised, too_many_went
from dbt.adapters.spark_mv.ivm.stored import STORED
from dbt.adapters.spark_mv.ivm.tree import WEIGHT, column, derived, not_fast

_RETURNED = "ORDER BY sorts by something that it does not return; return it too"
_WITHOUT_ORDER = "which rows a LIMIT without ORDER BY leaves is not known; add ORDER BY"
_LOST_IF = f"SUM({WEIGHT}) < 0 AND SUM(mv_stored_copies) > 0"
_LOST = "one of the first rows went, and which row moves up is not stored"


@dataclass(frozen=True)
class First:
    """The first `count` rows; the terms of `order` are over columns of the query, by name."""

    count: int
    order: tuple[exp.Expr, ...]

    def cut(self, query: exp.Query) -> exp.Query:
        """The query of these rows of a query."""
        found = query.copy()
        found.set("order", exp.Order(expressions=[term.copy() for term in self.order]))
        found.set("limit", exp.Limit(expression=exp.Literal.number(self.count)))
        return found

    def of(self, rows: str, names: Sequence[str]) -> str:
        """The first of the rows of a query with these columns."""
        terms = ", ".join(term.sql("spark") for term in self.order)
        return f"SELECT {listed(names)} FROM (\n{rows}\n) ORDER BY {terms} LIMIT {self.count}"


def split(query: exp.Query, names: Sequence[str]) -> tuple[exp.Query, First] | None:
    """A parsed query without its last LIMIT, and what that was, where the columns have these
    names; None if it has none. Raises `NotFast` if it says not which rows are the first."""
    limit, order = query.args.get("limit"), query.args.get("order")
    if not isinstance(limit, exp.Limit) or query.args.get("offset"):
        return None
    count = limit.expression
    if not isinstance(count, exp.Literal) or not count.this.isdigit():
        return None
    if order is None:
        raise not_fast("LIMIT", _WITHOUT_ORDER, limit)
    columns = dict(zip((name.lower() for name in query.named_selects), names, strict=True))
    outputs = query.expressions if isinstance(query, exp.Select) else []
    values = {item.unalias(): columns[item.alias_or_name.lower()] for item in outputs}
    terms = tuple(_term(term, columns, values) for term in order.expressions)
    found = query.copy()
    for clause in ("limit", "order"):
        found.set(clause, None)
    return found, First(int(count.this), terms)


def _term(term: exp.Expr, columns: dict[str, str], values: dict[exp.Expr, str]) -> exp.Expr:
    """A term of ORDER BY over the columns by their names in the view."""

    def replaced(node: exp.Expr) -> exp.Expr:
        name = values.get(node)
        if name is None and isinstance(node, exp.Column) and not node.table:
            name = columns.get(node.name.lower())
        if name is not None:
            return exp.column(name, quoted=True)
        if isinstance(node, (exp.Column, exp.AggFunc, exp.Window, exp.Query)):
            raise not_fast("LIMIT", _RETURNED, term)
        return node

    return term.copy().transform(replaced)


def with_came(first: First, names: Sequence[str], delta: exp.Query) -> str:
    """The first rows after rows came, and none went; `delta` lists those that came."""
    came = exp.Select(expressions=[column("mv_delta", name) for name in names])
    came = came.from_(derived(delta, "mv_delta"))
    stored = f"SELECT {listed(names)} FROM {STORED}"
    return first.of(f"{stored}\nUNION ALL\n{came.sql('spark')}", names)


def with_net(first: First, names: Sequence[str], change: str) -> str:
    """The first rows after the net change `change`; ends in an error if that takes one of them
    away, unless every row there was is stored."""
    columns = listed(names)
    is_cut = f"(SELECT COUNT(*) FROM {STORED}) >= {first.count}"
    copies = f"""CASE
    WHEN {is_cut} AND {_LOST_IF} THEN {raised(_LOST).sql("spark")}
    WHEN NOT {is_cut} AND SUM({WEIGHT}) + SUM(mv_stored_copies) < 0
      THEN {too_many_went().sql("spark")}
    ELSE GREATEST(SUM({WEIGHT}) + SUM(mv_stored_copies), 0) END"""
    return first.of(
        f"""SELECT {columns} FROM (
  SELECT {columns}, {copies} AS {WEIGHT} FROM (
    SELECT {columns}, 0 AS {WEIGHT}, 1 AS mv_stored_copies FROM {STORED}
    UNION ALL SELECT {columns}, {WEIGHT}, 0 FROM {change}
  ) GROUP BY {columns}
) LATERAL VIEW EXPLODE(ARRAY_REPEAT(0, CAST({WEIGHT} AS INT))) mv_copies AS mv_copy""",
        names,
    )
