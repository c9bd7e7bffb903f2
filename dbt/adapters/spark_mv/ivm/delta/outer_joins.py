"""Outer joins: one of two relations per selection, and what a change of either does to it.

When the right side of a left join changes:

>>> from sqlglot import parse_one
>>> from dbt.adapters.spark_mv.ivm.algebra.terms import Context
>>> from dbt.adapters.spark_mv.ivm.delta.rules import Delta
>>> query = parse_one('''
...     SELECT o.id, c.name FROM mv_table_0 AS o LEFT JOIN mv_table_1 AS c ON c.id = o.customer
... ''')
>>> print(delta(query, Delta(Context(frozenset({"mv_table_1"})))).sql("spark"))
SELECT o.id, c.name, `c`.`mv_weight` AS mv_weight
FROM mv_table_0 AS o JOIN mv_changes_1 AS c ON c.id = o.customer
UNION ALL
SELECT o.id, c.name, 1 AS mv_weight FROM mv_table_0 AS o LEFT JOIN mv_table_1 AS c ON FALSE
WHERE (EXISTS(SELECT 1 FROM mv_changes_1 AS c WHERE c.id = o.customer)
  AND EXISTS(SELECT 1 FROM mv_old_1 AS c WHERE c.id = o.customer))
  AND NOT EXISTS(SELECT 1 FROM mv_table_1 AS c WHERE c.id = o.customer)
UNION ALL
SELECT o.id, c.name, -1 AS mv_weight FROM mv_table_0 AS o LEFT JOIN mv_table_1 AS c ON FALSE
WHERE (EXISTS(SELECT 1 FROM mv_changes_1 AS c WHERE c.id = o.customer)
  AND NOT EXISTS(SELECT 1 FROM mv_old_1 AS c WHERE c.id = o.customer))
  AND EXISTS(SELECT 1 FROM mv_table_1 AS c WHERE c.id = o.customer)
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import WEIGHT, Rule, all_of, both, column, exists, no
from dbt.adapters.spark_mv.ivm.delta import single_row


def delta(query: exp.Select, rule: Rule) -> exp.Query | None:
    """Rows that come and go when either side changes.

    A changed row of the left side stands with its partners of now, or with NULLs; a changed row
    of the right side meets the left side of before, whose rows gain or lose their NULLs with their
    first or last partner.
    """
    join = query.args["joins"][0]
    side = join.side.upper()
    sides = _Sides(query.expressions, join.args.get("on"), rule)
    left, right = query.args["from_"].this, join.this
    single_row.refuse_alone([left, right])
    if side == "RIGHT":
        left, right = right, left
    terms = [*sides.kept(left, right), *sides.partners(left, right), *sides.lonely(left, right)]
    if side == "FULL":
        terms += [*sides.alone(right, left), *sides.lonely(right, left)]
    return all_of(terms)


class _Sides:
    def __init__(self, outputs: list[exp.Expr], on: exp.Expr | None, rule: Rule) -> None:
        self._outputs, self._on, self._rule = outputs, on, rule

    def kept(self, left: exp.Expr, right: exp.Expr) -> list[exp.Query]:
        changes = self._rule.relation(left)
        if changes is None:
            return []
        weight = column(left.alias_or_name, WEIGHT)
        return [self._joined(changes, "LEFT", right, self._on, None, weight)]

    def partners(self, left: exp.Expr, right: exp.Expr) -> list[exp.Query]:
        changes = self._rule.relation(right)
        if changes is None:
            return []
        before = self._rule.context.old(left)
        weight = column(right.alias_or_name, WEIGHT)
        return [self._joined(before, "", changes, self._on, None, weight)]

    def lonely(self, left: exp.Expr, right: exp.Expr) -> list[exp.Query]:
        """Rows of `left` of before that lose their last, or get their first, partner."""
        changes = self._rule.relation(right)
        if changes is None or (self._rule.context.only_keys and not self._shows(right)):
            return []
        self._rule.context.subtracts = True
        old = self._rule.context.old
        had, has = exists(old(right), self._on), exists(right, self._on)
        touched = exists(changes, self._on)
        loses = both([touched, had, no(has)])
        gets = both([touched.copy(), no(had.copy()), has.copy()])
        return [
            self._joined(old(left), "LEFT", right, exp.false(), loses, exp.Literal.number(1)),
            self._joined(old(left), "LEFT", right, exp.false(), gets, exp.Literal.number(-1)),
        ]

    def _shows(self, relation: exp.Expr) -> bool:
        """Whether a column of the relation is returned: the rows with their changed partners have
        the same values of the others."""
        columns = (column for item in self._outputs for column in item.find_all(exp.Column))
        return any(column.table == relation.alias_or_name for column in columns)

    def alone(self, left: exp.Expr, right: exp.Expr) -> list[exp.Query]:
        """Changed rows of `left` that have no partner."""
        changes = self._rule.relation(left)
        if changes is None:
            return []
        weight = column(left.alias_or_name, WEIGHT)
        nobody = no(exists(right, self._on))
        return [self._joined(changes, "LEFT", right, exp.false(), nobody, weight)]

    def _joined(
        self,
        left: exp.Expr,
        side: str,
        right: exp.Expr,
        on: exp.Expr | None,
        where: exp.Expr | None,
        weight: exp.Expr,
    ) -> exp.Query:
        outputs = [*(item.copy() for item in self._outputs), exp.alias_(weight, WEIGHT)]
        join = exp.Join(this=right.copy(), side=side or None, on=on.copy() if on else None)
        found = exp.Select(expressions=outputs, from_=exp.From(this=left.copy()), joins=[join])
        return cast(exp.Query, found.where(where, copy=False) if where is not None else found)
