"""Partition columns of a query over tables that are joined to the one that they are columns of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast, conjuncts
from dbt.adapters.spark_mv.ivm.partitions.lineage import behind, without_relation
from dbt.adapters.spark_mv.ivm.rewrite import nested_joins


def joined_tables(query: exp.Query, names: Sequence[str]) -> dict[str, list[list[exp.Expr]]]:
    """Tables of a canonical query of which a row meets only rows of one partition, as a condition
    of an inner join equates its columns with the partition columns `names`: for each place the
    partition columns as expressions over the table's columns.

    f.year = p.year: a row of p has to do with no other partition by f.year than its own.
    """
    if not isinstance(query, exp.Select) or nested_joins.has_outer_join(query):
        return {}
    try:
        values = behind(query, [exp.column(name, quoted=True) for name in names])
    except NotFast:
        return {}
    read = [table.name for table in query.find_all(exp.Table)]
    classes = _equal_columns(query)
    found: dict[str, list[list[exp.Expr]]] = {}
    for relation in _relations(query):
        over = [_over(value, relation.alias_or_name, classes) for value in values]
        if read.count(relation.name) == 1 and None not in over:
            found[relation.name] = [[without_relation(value) for value in over if value]]
    return found


def _relations(query: exp.Select) -> Iterator[exp.Table]:
    start = query.args.get("from_")
    joins = query.args.get("joins") or []
    for node in ([start.this] if start else []) + [join.this for join in joins]:
        if isinstance(node, exp.Table):
            yield node


def _equal_columns(query: exp.Select) -> list[set[exp.Expr]]:
    """Columns that are equal in every row of the product, in sets."""
    where = query.args.get("where")
    conditions = [where.this if where is not None else None]
    conditions += [join.args.get("on") for join in query.args.get("joins") or []]
    classes: list[set[exp.Expr]] = []
    for condition in (part for whole in conditions for part in conjuncts(whole)):
        if not isinstance(condition, exp.EQ):
            continue
        pair = {condition.this, condition.expression}
        if all(isinstance(side, exp.Column) for side in pair):
            touching = [found for found in classes if found & pair]
            classes = [found for found in classes if not found & pair]
            classes.append(pair.union(*touching))
    return classes


def _over(value: exp.Expr, alias: str, classes: Sequence[set[exp.Expr]]) -> exp.Expr | None:
    """A value over the columns of one relation; None if it is of others, too."""

    def of_relation(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table == alias:
            return node
        equal = next((found for found in classes if node in found), set())
        return next((c.copy() for c in equal if cast(exp.Column, c).table == alias), node)

    found = value.copy().transform(of_relation)
    columns = list(found.find_all(exp.Column))
    return found if columns and all(column.table == alias for column in columns) else None
