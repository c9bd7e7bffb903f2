"""ORDER BY .. LIMIT n: the first rows of a query, from those that are stored and what changed.

More rows are stored than are shown: whatever was left out comes after all of them. So those that
come before the last one stored, and what is left of those that were stored, are the first rows
still, as long as there are enough; then the statement ends in an error, since only the tables know
which rows move up. With fewer than n rows nothing was left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.measures import raised, too_many_went
from dbt.adapters.spark_mv.ivm.algebra.multiset import listed
from dbt.adapters.spark_mv.ivm.algebra.terms import WEIGHT, column, derived, named_columns, not_fast
from dbt.adapters.spark_mv.sql.columns import Columns
from dbt.adapters.spark_mv.views.definition import SPARE, STORED

_RETURNED = "ORDER BY sorts by something that it does not return; return it too"
_WITHOUT_ORDER = "which rows a LIMIT without ORDER BY leaves is not known; add ORDER BY"
_LOST = "more of the first rows were taken away than there are rows in reserve"
_LEAST_SPARE, _MOST_SPARE = 10, 1000
_ROWS, _COPIES, _STORED_COPIES = "mv_rows", "mv_copies", "mv_stored_copies"
_IS_CUT, _IS_KNOWN = "mv_is_cut", "mv_is_known"
_IS_UNKNOWN = f"{_IS_CUT} AND NOT {_IS_KNOWN}"
_FROM_HERE = "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"


@dataclass(frozen=True)
class First:
    """The first `count` rows, and the `spare` rows after them that are stored as well; the terms
    of `order` are over columns of the query, by name."""

    count: int
    spare: int
    order: tuple[exp.Expr, ...]

    @property
    def stored(self) -> int:
        """How many rows are stored at most."""
        return self.count + self.spare

    @property
    def hidden(self) -> dict[str, exp.Expr]:
        """The column that says of a stored row that the view does not show it."""
        number = exp.Window(this=exp.RowNumber(), order=self._order())
        return {f"{SPARE}{self.count}": number > self.count}

    def of(self, query: exp.Query) -> exp.Select:
        """What is stored of the rows of a query."""
        outputs = [column(_ROWS, name) for name in named_columns(query)]
        hidden = [exp.alias_(value, name) for name, value in self.hidden.items()]
        cut = derived(self._cut(query.copy()), _ROWS)
        return exp.Select(expressions=[*outputs, *hidden]).from_(cut)

    def _order(self) -> exp.Order:
        return exp.Order(expressions=[term.copy() for term in self.order])

    def _cut(self, query: exp.Query) -> exp.Query:
        query.set("order", self._order())
        query.set("limit", exp.Limit(expression=exp.Literal.number(self.stored)))
        return query


def split(query: exp.Query, names: Sequence[str]) -> tuple[exp.Query, First] | None:
    """A parsed query without its last LIMIT, and what that was, where the columns have these
    names; None if it has none. Raises `NotFast` if it says not which rows are the first.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT id, total FROM orders ORDER BY total LIMIT 3", dialect="spark")
    >>> rest, first = split(query, names=["id", "total"])
    >>> print(first.of(rest).sql("spark"))
    SELECT `mv_rows`.`id`, `mv_rows`.`total`,
      ROW_NUMBER() OVER (ORDER BY `total`) > 3 AS mv_spare_3
    FROM (SELECT id, total FROM orders ORDER BY `total` LIMIT 13) AS mv_rows
    """
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
    shown = int(count.this)
    return found, First(shown, min(max(shown, _LEAST_SPARE), _MOST_SPARE), terms)


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
    """What is stored after rows came, and none went; `delta` lists those that came."""
    return _after(first, names, _came(first, names, f"({delta.sql('spark')})"))


def with_net(first: First, rows: Columns, change: str) -> str:
    """What is stored after the net change `change`; ends in an error if that takes away so many
    rows that too few are left, unless every row there was is stored."""
    names, columns = rows.names, rows.listed
    gone = f"SELECT {columns}, {WEIGHT}, 0 FROM {change} WHERE {WEIGHT} < 0"
    sides = f"{_came(first, names, change)}\nUNION ALL {gone}"
    sums = f"SUM({WEIGHT}) AS {WEIGHT}, SUM({_STORED_COPIES}) AS {_STORED_COPIES}"
    together = f"SELECT {rows.kept}, {sums} FROM (\n{sides}\n) GROUP BY {rows.keys}"
    return _after(first, names, together)


def _came(first: First, names: Sequence[str], change: str) -> str:
    """The stored rows, and of those that came as many as can be among the first."""
    columns, order = listed(names), _listed_terms(first)
    return f"""SELECT {columns}, 0 AS {WEIGHT}, 1 AS {_STORED_COPIES} FROM {STORED}
UNION ALL (
  SELECT {columns}, {WEIGHT}, 0 FROM {change} WHERE {WEIGHT} > 0
  ORDER BY {order} LIMIT {first.stored}
)"""


def _after(first: First, names: Sequence[str], sides: str) -> str:
    """What is stored, from rows with their copies before and the change of these."""
    columns, order = listed(names), _listed_terms(first)
    copies = f"{WEIGHT} + {_STORED_COPIES}"
    ((hidden, is_spare),) = first.hidden.items()
    return f"""SELECT {columns}, {is_spare.sql("spark")} AS {hidden} FROM (
  SELECT {columns} FROM (
    SELECT {columns}, CASE
      WHEN {_is_short(first)} THEN {raised(_LOST).sql("spark")}
      ELSE {_COPIES} END AS {_COPIES}
    FROM (
      SELECT {columns}, {_IS_CUT}, CASE
        WHEN {_IS_UNKNOWN} THEN 0
        WHEN NOT {_IS_CUT} AND {copies} < 0 THEN {too_many_went().sql("spark")}
        ELSE GREATEST({copies}, 0) END AS {_COPIES}
      FROM (
        SELECT {columns}, {WEIGHT}, {_STORED_COPIES},
          (SELECT COUNT(*) FROM {STORED}) >= {first.count} AS {_IS_CUT},
          MAX({_STORED_COPIES}) OVER (ORDER BY {order} {_FROM_HERE}) > 0 AS {_IS_KNOWN}
        FROM (
{sides}
        )
      )
    )
  ) LATERAL VIEW EXPLODE(ARRAY_REPEAT(0, CAST({_COPIES} AS INT))) mv_repeated AS mv_copy
  ORDER BY {order} LIMIT {first.stored}
)"""


def _is_short(first: First) -> str:
    """Whether fewer rows are left than are shown, and others were left out."""
    return f"{_IS_CUT} AND SUM({_COPIES}) OVER () < {first.count}"


def _listed_terms(first: First) -> str:
    return ", ".join(term.sql("spark") for term in first.order)
