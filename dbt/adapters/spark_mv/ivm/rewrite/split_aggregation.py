"""Selections in which something stands above an aggregation, split in two: the aggregation, the
rest."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.scopes import outside
from dbt.adapters.spark_mv.ivm.algebra.terms import GENERATORS, column, derived, not_fast
from dbt.adapters.spark_mv.ivm.algebra.written import standing_for
from dbt.adapters.spark_mv.ivm.rewrite import grouping_sets

_GROUPED, _DISTINCT = "mv_grouped", "mv_distinct"


def split_aggregation(query: exp.Select) -> exp.Select:
    """The selection, or one over its groups if it has windows, subqueries or generators above
    aggregates.

    >>> from sqlglot import parse_one
    >>> query = "SELECT city, RANK() OVER (ORDER BY SUM(total)) AS place FROM orders GROUP BY city"
    >>> print(split_aggregation(parse_one(query, dialect="spark")).sql("spark"))
    SELECT `mv_grouped`.`mv_group_0` AS `city`,
      RANK() OVER (ORDER BY `mv_grouped`.`mv_group_1`) AS `place`
    FROM (SELECT city AS mv_group_0, SUM(total) AS mv_group_1
      FROM orders GROUP BY city) AS mv_grouped
    """
    if not aggregates.is_grouped(query):
        return query
    keys = grouping_sets.keys_of(query)
    parts = [*query.expressions, query.args.get("having")]
    over = _has_more(query) or any(part and _has_subquery(part, keys) for part in parts)
    return _Apart(query, keys).above() if over else query


def _has_more(query: exp.Select) -> bool:
    """Whether it returns windows, or makes several rows of one."""
    return any(item.find(exp.Window, *GENERATORS) for item in query.expressions)


def _has_subquery(tree: exp.Expr, keys: tuple[exp.Expr, ...]) -> bool:
    """Whether there is a subquery that is not in a key or the argument of an aggregate."""
    if aggregates.is_call(tree) or tree in keys:
        return False
    if isinstance(tree, exp.Query):
        return True
    return any(_has_subquery(part, keys) for part in tree.iter_expressions())


class _Apart:
    def __init__(self, query: exp.Select, keys: tuple[exp.Expr, ...]) -> None:
        self._query = query
        self._keys = keys
        self._outputs: dict[exp.Expr, str] = {}

    def above(self) -> exp.Select:
        """The selection over the groups; HAVING stays with them unless it has a subquery."""
        query = self._query
        outputs = [
            exp.alias_(self._over_groups(item.unalias()), item.alias_or_name, quoted=True)
            for item in query.expressions
        ]
        found = exp.Select(expressions=outputs)
        windows = [self._over_groups(window) for window in query.args.get("windows") or []]
        found.set("windows", windows or None)
        found.set("distinct", query.args.get("distinct"))
        having = query.args.get("having")
        if having is not None and _has_subquery(having, self._keys):
            found.set("where", exp.Where(this=self._over_groups(having.this)))
            query.set("having", None)
        query.set("windows", None)
        query.set("distinct", None)
        inner = [exp.alias_(item, name) for item, name in self._outputs.items()]
        query.set("expressions", inner or [exp.alias_(exp.Literal.number(1), "mv_one")])
        return found.from_(derived(query, _GROUPED))

    def _over_groups(self, item: exp.Expr) -> exp.Expr:
        """An expression over the columns that the groups then have to return."""
        copied = item.copy()
        calls = {id(call) for call in aggregates.calls(copied)}

        def replaced(node: exp.Expr) -> exp.Expr:
            if node in self._keys or id(node) in calls:
                name = self._outputs.setdefault(node.copy(), f"mv_group_{len(self._outputs)}")
                return standing_for(column(_GROUPED, name), node)
            return node.copy() if isinstance(node, exp.Query) else node

        found = copied.transform(replaced, copy=False)
        if outside(found, frozenset({_GROUPED})):
            text = (
                "a subquery, or something else, beside aggregates names a column that is no key; "
            )
            raise not_fast("CORRELATED", text + "aggregate in a subquery of FROM first", item)
        return found


def split_distinct(query: exp.Select) -> exp.Select:
    """DISTINCT over groups, windows or generators as a selection of its own.

    >>> from sqlglot import parse_one
    >>> query = "SELECT DISTINCT COUNT(*) AS n FROM orders GROUP BY city"
    >>> print(split_distinct(parse_one(query)).sql("spark"))
    SELECT DISTINCT `mv_distinct`.`n` AS `n`
    FROM (SELECT COUNT(*) AS n FROM orders GROUP BY city) AS mv_distinct
    """
    if not query.args.get("distinct"):
        return query
    if query.args["distinct"].args.get("on"):
        raise not_fast("DISTINCT_ON", "DISTINCT ON keeps rows by their order; use MIN or MAX")
    if not (aggregates.is_grouped(query) or _has_more(query)):
        return query
    query.set("distinct", None)
    outputs = [
        exp.alias_(column(_DISTINCT, name), name, quoted=True) for name in query.named_selects
    ]
    return exp.Select(expressions=outputs).from_(derived(query, _DISTINCT)).distinct()
