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
    """A delta query in which each row stands once, with the sum of its weights, unless it is 0.

    >>> from sqlglot import parse_one
    >>> delta = parse_one("SELECT id, mv_weight FROM mv_changes_0")
    >>> print(net(delta, Columns(("id",))).sql("spark"))
    SELECT `mv_delta`.`id`, SUM(`mv_delta`.`mv_weight`) AS mv_weight
    FROM (SELECT id, mv_weight FROM mv_changes_0) AS mv_delta
    GROUP BY `mv_delta`.`id` HAVING SUM(`mv_delta`.`mv_weight`) <> 0
    """
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
    keys = [*(item.copy() for item in rows), *texts]
    return found.group_by(*keys, copy=False).having(nothing, copy=False)


def recounted(rows: Columns, replaced: Replaced) -> str:
    """The copies that there are of the rows that a net change lists, which replaces those that
    there were; both have these columns.

    >>> print(recounted(Columns(("id",)), Replaced("mv_net_0", {"id": "id"})))
    SELECT `id` FROM (
      SELECT `id`, CASE WHEN SUM(mv_weight) < 0
        THEN RAISE_ERROR('mv: a change takes away more rows than there were')
        ELSE SUM(mv_weight) END AS mv_weight
      FROM (
        SELECT `id`, 1 AS mv_weight FROM mv_stored WHERE EXISTS(SELECT 1 FROM mv_net_0 AS
          mv_replaced WHERE `mv_stored`.`id` IS NOT DISTINCT FROM `mv_replaced`.`id`)
        UNION ALL SELECT `id`, mv_weight FROM mv_net_0
      ) GROUP BY `id` HAVING SUM(mv_weight) <> 0
    ) LATERAL VIEW EXPLODE(ARRAY_REPEAT(0, CAST(mv_weight AS INT))) mv_copies AS mv_copy
    """
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
