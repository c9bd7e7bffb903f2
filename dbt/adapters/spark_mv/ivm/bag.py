"""Rows that are stored one by one: those that went are taken away, those that came are added.

Nothing tells copies of a row apart, so they are counted: the copies that there were, and the net
change, make the copies that there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.spark_mv.ivm import measures
from dbt.adapters.spark_mv.ivm.additive import STORED
from dbt.adapters.spark_mv.ivm.tree import WEIGHT, column, derived, same

# No column has this name: inside EXISTS, a column goes before a relation outside of it.
_DELTA = "mv_delta"


def net(delta: exp.Query, names: Sequence[str]) -> exp.Select:
    """A delta query in which each row stands once, with the sum of its weights, unless it is 0."""
    columns = [column(_DELTA, name) for name in names]
    total = exp.Sum(this=column(_DELTA, WEIGHT))
    outputs = [*columns, exp.alias_(total, WEIGHT)]
    found = exp.Select(expressions=outputs).from_(derived(delta, _DELTA))
    nothing = exp.NEQ(this=total.copy(), expression=exp.Literal.number(0))
    return found.group_by(*(item.copy() for item in columns)).having(nothing)


def rows(names: Sequence[str], change: str) -> str:
    """The rows of mv_stored with the net change `change`, both with these columns."""
    columns = listed(names)
    equal = " AND ".join(_equal(name) for name in names)
    touched = f"EXISTS (SELECT 1 FROM {change} AS {_DELTA} WHERE {equal})"
    total = f"SUM({WEIGHT})"
    wrong = measures.too_many_went().sql("spark")
    return f"""SELECT {columns} FROM {STORED} WHERE NOT {touched}
UNION ALL
SELECT {columns} FROM (
  SELECT {columns}, CASE WHEN {total} < 0 THEN {wrong} ELSE {total} END AS {WEIGHT}
  FROM (
    SELECT {columns}, 1 AS {WEIGHT} FROM {STORED} WHERE {touched}
    UNION ALL SELECT {columns}, {WEIGHT} FROM {change}
  ) GROUP BY {columns} HAVING {total} <> 0
) LATERAL VIEW EXPLODE(ARRAY_REPEAT(0, CAST({WEIGHT} AS INT))) mv_copies AS mv_copy"""


def listed(names: Sequence[str]) -> str:
    """These columns as SQL lists them."""
    return ", ".join(exp.column(name, quoted=True).sql("spark") for name in names)


def _equal(name: str) -> str:
    return same(column(STORED, name), column(_DELTA, name)).sql("spark")
