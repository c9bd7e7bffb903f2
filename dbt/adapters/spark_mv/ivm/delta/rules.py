"""The delta query of a query: which of its rows come and go with changes of its tables.

Rules and their proofs: Griffin and Libkin, Incremental maintenance of views with duplicates (1995);
Gupta and Mumick, Maintenance of materialized views (1995).

>>> from sqlglot import parse_one
>>> query = parse_one('''
...     SELECT o.id FROM mv_table_0 AS o WHERE o.total > 9
...     UNION ALL SELECT b.order_id FROM mv_table_1 AS b
... ''')
>>> print(Delta(Context(frozenset({"mv_table_0"}))).query(query).sql("spark"))
SELECT `mv_side`.`id` AS `id`, `mv_side`.`mv_weight` AS `mv_weight`
FROM (SELECT o.id, `o`.`mv_weight` AS mv_weight FROM mv_changes_0 AS o
  WHERE o.total > 9) AS mv_side
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.scopes import is_one_row
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    CHANGES,
    TABLE,
    WEIGHT,
    Context,
    all_of,
    column,
    derived,
    named_columns,
    not_fast,
)
from dbt.adapters.spark_mv.ivm.delta import grouping, joins, outer_joins, single_row
from dbt.adapters.spark_mv.ivm.rewrite import nested_joins

_MOST_NODES = 15_000


class Delta:
    """The delta rules, by the form of a canonical query."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def query(self, query: exp.Query) -> exp.Query | None:
        """The changes of a query's rows, with their weights; None if nothing it reads changed.

        Raises `NotFast` naming the part that has no rule, or is too large with its rules.
        """
        if not self.context.touches(query):
            return None
        changes = self._by_form(query)
        # Those of full joins have four times the size with each further one.
        if changes is not None and sum(1 for _ in changes.walk()) > _MOST_NODES:
            text = "the query that finds its changes would be too large; join some in another view"
            raise not_fast("TOO_LARGE", text)
        return changes

    def _by_form(self, query: exp.Query) -> exp.Query | None:
        groups = grouping.groups_of(query)
        if groups is not None:
            return grouping.delta(groups, self)
        if isinstance(query, exp.SetOperation):
            return self._union_all(query)
        assert isinstance(query, exp.Select)
        if nested_joins.has_outer_join(query):
            return outer_joins.delta(query, self)
        return joins.delta(query, self)

    def relation(self, relation: exp.Expr) -> exp.Expr | None:
        """The changes of a relation under the same alias; None if nothing it reads changed."""
        if not self.context.touches(relation):
            return None
        if isinstance(relation, exp.Table):
            found = relation.copy()
            found.set("this", exp.to_identifier(CHANGES + relation.name.removeprefix(TABLE)))
            return found
        query = cast(exp.Query, relation.this)
        changes = single_row.delta(query, self) if is_one_row(query) else self.query(query)
        return None if changes is None else derived(changes, relation.alias)

    def _union_all(self, query: exp.SetOperation) -> exp.Query | None:
        names = named_columns(query)
        sides = [self.query(cast(exp.Query, side)) for side in (query.this, query.expression)]
        return all_of([_named(side, names) for side in sides if side is not None])


def _named(query: exp.Query, names: list[str]) -> exp.Query:
    given = named_columns(query)
    outputs = [
        exp.alias_(column("mv_side", old), new, quoted=True)
        for old, new in zip(given, [*names, WEIGHT], strict=True)
    ]
    return exp.Select(expressions=outputs).from_(derived(query, "mv_side"))
