"""Selections without grouping: filters, projections, inner joins, EXISTS and NOT EXISTS.

The parts of such a selection, relations and [NOT] EXISTS alike, are factors of a product. Its
change is the sum over the factors of the change of one, with the factors before it as they were
and those after it as they are (the telescoping rule).

>>> from sqlglot import parse_one
>>> from dbt.adapters.spark_mv.ivm.algebra.terms import Context
>>> from dbt.adapters.spark_mv.ivm.delta.rules import Delta
>>> query = parse_one('''
...     SELECT o.id, c.name FROM mv_table_0 AS o JOIN mv_table_1 AS c ON c.id = o.customer
... ''')
>>> context = Context(frozenset({"mv_table_0", "mv_table_1"}))
>>> print(delta(query, Delta(context)).sql("spark"))
SELECT o.id, c.name, `o`.`mv_weight` AS mv_weight
FROM mv_changes_0 AS o JOIN mv_table_1 AS c ON c.id = o.customer
UNION ALL
SELECT o.id, c.name, `c`.`mv_weight` AS mv_weight
FROM mv_old_0 AS o JOIN mv_changes_1 AS c ON c.id = o.customer
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import (
    WEIGHT,
    Rule,
    all_of,
    both,
    column,
    conjuncts,
    exists,
    no,
)
from dbt.adapters.spark_mv.ivm.delta import single_row

Version = Callable[[exp.Expr], exp.Expr]


def delta(query: exp.Select, rule: Rule) -> exp.Query | None:
    """Rows that come and go when any of the relations changes."""
    product = _Product(query, rule)
    single_row.refuse_alone(product.relations)
    terms: list[exp.Query] = []
    for number, relation in enumerate(product.relations):
        changes = rule.relation(relation)
        if changes is not None:
            terms.append(product.with_relation(number, changes))
    for number, condition in enumerate(product.conditions):
        if rule.context.touches(condition) and _quantified(condition) is not None:
            terms += product.with_condition(number)
    return all_of(terms)


class _Product:
    def __init__(self, query: exp.Select, rule: Rule) -> None:
        self._query, self._rule = query, rule
        start = query.args.get("from_")
        joins = query.args.get("joins") or []
        self.relations = [start.this, *(join.this for join in joins)] if start else []
        self.conditions = conjuncts(query.args.get("where"))

    def with_relation(self, number: int, changes: exp.Expr) -> exp.Query:
        """The term of one relation."""
        old = self._rule.context.old
        relations = [old(relation) for relation in self.relations[:number]]
        relations += [changes, *(relation.copy() for relation in self.relations[number + 1 :])]
        weight = column(self.relations[number].alias_or_name, WEIGHT)
        return self._term(relations, list(self.conditions), weight)

    def with_condition(self, number: int) -> list[exp.Query]:
        """The terms of one [NOT] EXISTS: rows for which it begins, and ceases, to hold."""
        quantified = _quantified(self.conditions[number])
        assert quantified is not None
        positive, relation, condition = quantified
        changes = self._rule.relation(relation)
        if changes is None:
            return []
        self._rule.context.subtracts |= not positive
        old = self._rule.context.old
        touched = exists(changes, condition)
        had, has = exists(old(relation), condition), exists(relation, condition)
        begins, ceases = [touched, no(had), has], [touched.copy(), had.copy(), no(has.copy())]
        relations = [old(relation) for relation in self.relations]
        terms = []
        for parts, weight in ((begins, 1), (ceases, -1)):
            conditions = [old(item) for item in self.conditions[:number]]
            conditions += [*parts, *self.conditions[number + 1 :]]
            signed = weight if positive else -weight
            terms.append(self._term(relations, conditions, exp.Literal.number(signed)))
        return terms

    def _term(
        self,
        relations: list[exp.Expr],
        conditions: list[exp.Expr],
        weight: exp.Expr,
    ) -> exp.Query:
        term = self._query.copy()
        term.args["from_"].set("this", relations[0].copy())
        for join, relation in zip(term.args.get("joins") or [], relations[1:], strict=True):
            join.set("this", relation.copy())
        where = both(condition.copy() for condition in conditions)
        term.set("where", exp.Where(this=where) if where is not None else None)
        term.append("expressions", exp.alias_(weight.copy(), WEIGHT))
        return term


def _quantified(
    condition: exp.Expr,
) -> tuple[bool, exp.Expr, exp.Expr | None] | None:
    """Whether it is EXISTS or NOT EXISTS, over which relation, on which condition."""
    positive, inner = True, condition.unnest()
    while isinstance(inner, exp.Not):
        positive, inner = not positive, inner.this.unnest()
    if not isinstance(inner, exp.Exists):
        return None
    where = inner.this.args.get("where")
    return positive, inner.this.args["from_"].this, where.this if where else None
