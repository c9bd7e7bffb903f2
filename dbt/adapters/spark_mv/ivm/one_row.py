"""Relations that always have exactly one row: aggregates of all rows, and what is made of them.

A change of theirs takes the row away and puts another in its place. It is computed from all rows,
so such a relation alone is not refreshed fast; beside others, it is a factor like them.
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm import bag, keyed
from dbt.adapters.spark_mv.ivm.scopes import is_one_row
from dbt.adapters.spark_mv.ivm.tree import (
    WEIGHT,
    Rule,
    all_of,
    column,
    named_columns,
)
from dbt.adapters.spark_mv.sql.columns import Columns


def refuse_alone(relations: list[exp.Expr]) -> None:
    """Raise `NotFast` if each of the relations that are joined has one row."""
    if relations and all(is_one_row(relation) for relation in relations):
        raise keyed.one_group(relations[0])


def delta(query: exp.Query, rule: Rule) -> exp.Query | None:
    """The row as it was, away; as it is, in; nothing if it is the same."""
    if not rule.context.touches(query):
        return None
    keyed.refuse_order_dependent(query)
    rule.context.subtracts = True
    names = named_columns(query)
    terms = [keyed.weighted(rule.context.old(query), -1), keyed.weighted(query.copy(), 1)]
    # Types are not known here: any of them may be of floating point numbers.
    row = Columns(tuple(names), frozenset(names))
    change = rule.context.define("row", bag.net(cast(exp.Query, all_of(terms)), row))
    columns = [column("mv_row", name) for name in [*names, WEIGHT]]
    return exp.Select(expressions=columns).from_(exp.alias_(change, "mv_row", table=True))
