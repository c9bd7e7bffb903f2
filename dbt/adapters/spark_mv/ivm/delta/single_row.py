"""Relations that always have exactly one row: aggregates of all rows, and what is made of them.

A change of theirs takes the row away and puts another in its place. It is computed from all rows,
so such a relation alone is not refreshed fast; beside others, it is a factor like them.

>>> from sqlglot import parse_one
>>> from dbt.adapters.spark_mv.ivm.algebra.terms import Context
>>> from dbt.adapters.spark_mv.ivm.delta.rules import Delta
>>> query = parse_one("SELECT MAX(o.total) AS most FROM mv_table_0 AS o")
>>> context = Context(frozenset({"mv_table_0"}))
>>> print(delta(query, Delta(context)).sql("spark"))
SELECT `mv_row`.`most`, `mv_row`.`mv_weight` FROM mv_row_0 AS mv_row
>>> print(context.named["mv_row_0"].sql("spark"))
SELECT ANY_VALUE(`mv_delta`.`most`) AS `most`, SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (SELECT `mv_groups`.`most` AS `most`, -1 AS mv_weight
  FROM (SELECT MAX(o.total) AS most FROM mv_old_0 AS o) AS mv_groups
  UNION ALL
  SELECT `mv_groups`.`most` AS `most`, 1 AS mv_weight
  FROM (SELECT MAX(o.total) AS most FROM mv_table_0 AS o) AS mv_groups) AS mv_delta
GROUP BY `mv_delta`.`most`, CAST(`mv_delta`.`most` AS STRING)
HAVING SUM(`mv_delta`.`mv_weight`) <> 0
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import multiset
from dbt.adapters.spark_mv.ivm.algebra.scopes import is_one_row
from dbt.adapters.spark_mv.ivm.algebra.terms import WEIGHT, Rule, all_of, column, named_columns
from dbt.adapters.spark_mv.ivm.delta import grouping
from dbt.adapters.spark_mv.sql.columns import Columns


def refuse_alone(relations: list[exp.Expr]) -> None:
    """Raise `NotFast` if each of the relations that are joined has one row."""
    if relations and all(is_one_row(relation) for relation in relations):
        raise grouping.one_group(relations[0])


def delta(query: exp.Query, rule: Rule) -> exp.Query | None:
    """The row as it was, away; as it is, in; nothing if it is the same."""
    if not rule.context.touches(query):
        return None
    grouping.refuse_order_dependent(query, rule)
    rule.context.subtracts = True
    names = named_columns(query)
    terms = [grouping.weighted(rule.context.old(query), -1), grouping.weighted(query.copy(), 1)]
    # Types are not known here: any of them may be of floating point numbers.
    row = Columns(tuple(names), frozenset(names))
    change = rule.context.define("row", multiset.net(cast(exp.Query, all_of(terms)), row))
    columns = [column("mv_row", name) for name in [*names, WEIGHT]]
    return exp.Select(expressions=columns).from_(exp.alias_(change, "mv_row", table=True))
