"""Rows that are stored one by one: those that went are taken away, those that came are added.

Nothing tells copies of a row apart, so they are counted: the copies that there were, and the net
change, make the copies that there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import measures
from dbt.adapters.spark_mv.ivm.algebra.stored import Replaced
from dbt.adapters.spark_mv.ivm.algebra.terms import WEIGHT, column, derived
from dbt.adapters.spark_mv.sql.columns import Columns
from dbt.adapters.spark_mv.views.definition import STORED

_DELTA = "mv_delta"


def net(delta: exp.Query, columns: Columns) -> exp.Select:
    """A delta query in which each row stands once, with the sum of its weights, unless it is 0."""
    rows = [column(_DELTA, name) for name in columns.names]
    texts = [exp.cast(column(_DELTA, name), "string") for name in sorted(columns.floating)]
    kept = [
        exp.alias_(exp.AnyValue(this=item.copy()), item.name, quoted=True)
        if item.name in columns.floating
        else item
        for item in rows
    ]
    total = exp.Sum(this=column(_DELTA, WEIGHT))
    outputs = [*kept, exp.alias_(total, WEIGHT)]
    found = exp.Select(expressions=outputs).from_(derived(delta, _DELTA))
    nothing = exp.NEQ(this=total.copy(), expression=exp.Literal.number(0))
    return found.group_by(*(item.copy() for item in rows), *texts).having(nothing)


def recounted(rows: Columns, replaced: Replaced) -> str:
    """The copies that there are of the rows that a net change lists, which replaces those that
    there were; both have these columns."""
    columns = rows.listed
    touched = replaced.condition().sql("spark")
    total = f"SUM({WEIGHT})"
    wrong = measures.too_many_went().sql("spark")
    return f"""SELECT {columns} FROM (
  SELECT {rows.kept}, CASE WHEN {total} < 0 THEN {wrong} ELSE {total} END AS {WEIGHT}
  FROM (
    SELECT {columns}, 1 AS {WEIGHT} FROM {STORED} WHERE {touched}
    UNION ALL SELECT {columns}, {WEIGHT} FROM {replaced.by}
  ) GROUP BY {rows.keys} HAVING {total} <> 0
) LATERAL VIEW EXPLODE(ARRAY_REPEAT(0, CAST({WEIGHT} AS INT))) mv_copies AS mv_copy"""


def listed(names: Sequence[str]) -> str:
    """These columns as SQL lists them."""
    return ", ".join(exp.column(name, quoted=True).sql("spark") for name in names)
