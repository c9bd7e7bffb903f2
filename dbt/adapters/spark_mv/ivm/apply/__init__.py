"""Apply forms: how changed rows are brought into those that are stored.

`additive` keeps state of aggregates, `merge` adds to it, `top_n` moves spare rows up.
It knows the columns of a storage table; it does not know how changes are derived.

How changed rows are added to the count of their group:

>>> from sqlglot import parse_one
>>> from dbt.adapters.spark_mv.ivm.algebra.terms import Context
>>> from dbt.adapters.spark_mv.ivm.apply import additive, merge
>>> from dbt.adapters.spark_mv.ivm.delta.grouping import groups_of
>>> from dbt.adapters.spark_mv.ivm.delta.rules import Delta
>>> query = parse_one("SELECT o.day, COUNT(*) AS n FROM mv_table_0 AS o GROUP BY o.day")
>>> made = additive.additive_of(groups_of(query), types={}, float_additive=False)
>>> context = Context(frozenset({"mv_table_0"}))
>>> rows, _ = merge.merged_rows(made, Delta(context))
>>> print(context.named["mv_change_0"].sql("spark"))
SELECT `mv_rows`.`mv_input_0` AS mv_key_0, SUM(`mv_rows`.`mv_weight`) AS mv_rows_0
FROM (SELECT o.day AS mv_input_0, `o`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS o) AS mv_rows
GROUP BY `mv_rows`.`mv_input_0`
>>> print(rows.sql("spark"))
SELECT `mv_merged`.`mv_key_0` AS `day`, `mv_merged`.`mv_rows_0` AS `n`
FROM (SELECT `mv_sides`.`mv_key_0` AS mv_key_0,
  CASE WHEN SUM(`mv_sides`.`mv_rows_0`) < 0
    THEN RAISE_ERROR('mv: a change takes away more rows than there were')
    ELSE SUM(`mv_sides`.`mv_rows_0`) END AS mv_rows_0,
  MAX(`mv_sides`.`mv_changed`) = 0 AS mv_unchanged
  FROM (SELECT `mv_stored`.`day` AS mv_key_0, `mv_stored`.`n` AS mv_rows_0, 0 AS mv_changed
    FROM mv_stored
    UNION ALL
    SELECT `mv_change`.`mv_key_0`, `mv_change`.`mv_rows_0`, 1 AS mv_changed
    FROM mv_change_0 AS mv_change) AS mv_sides
  GROUP BY `mv_sides`.`mv_key_0`) AS mv_merged
WHERE `mv_merged`.`mv_rows_0` > 0
"""
