-- The empty set is a total of all rows. (The one row is there for DuckDB, which has a total of no
-- rows where Spark has none.)

SELECT a, SUM(v) AS total FROM
(SELECT a, b, v FROM mv_table_0 UNION ALL SELECT 1, NULL, 2) x
GROUP BY ROLLUP (a);

-- Changed: mv_table_0
-- Kept: changes are added to its groups

-- mv_change_0
SELECT
  `mv_rows`.`mv_input_0` AS mv_key_0,
  GROUPING_ID(`mv_rows`.`mv_input_0`) AS mv_key_1,
  SUM(`mv_rows`.`mv_weight`) AS mv_rows_0,
  SUM(CAST(`mv_rows`.`mv_input_1` AS BIGINT) * `mv_rows`.`mv_weight`) AS mv_sum_1,
  SUM(CASE WHEN `mv_rows`.`mv_input_1` IS NULL THEN 0 ELSE `mv_rows`.`mv_weight` END) AS mv_count_2
FROM (
  SELECT
    `x`.`a` AS mv_input_0,
    `x`.`v` AS mv_input_1,
    `x`.`mv_weight` AS mv_weight
  FROM (
    SELECT
      `mv_side`.`a` AS `a`,
      `mv_side`.`b` AS `b`,
      `mv_side`.`v` AS `v`,
      `mv_side`.`mv_weight` AS `mv_weight`
    FROM (
      SELECT
        `mv_table_0`.`a` AS `a`,
        `mv_table_0`.`b` AS `b`,
        `mv_table_0`.`v` AS `v`,
        `mv_table_0`.`mv_weight` AS mv_weight
      FROM mv_changes_0 AS `mv_table_0`
    ) AS mv_side
  ) AS x
) AS mv_rows
GROUP BY
  GROUPING SETS (
    (`mv_rows`.`mv_input_0`),
    ()
  );

-- Stored rows after it
SELECT
  `mv_merged`.`mv_key_0` AS `c0`,
  `mv_merged`.`mv_sum_1` AS `c1`,
  `mv_merged`.`mv_key_1`,
  `mv_merged`.`mv_rows_0`,
  `mv_merged`.`mv_count_2`
FROM (
  SELECT
    `mv_sides`.`mv_key_0`,
    `mv_sides`.`mv_key_1`,
    CASE
      WHEN SUM(`mv_sides`.`mv_rows_0`) < 0
      THEN RAISE_ERROR('mv: a change takes away more rows than there were')
      ELSE SUM(`mv_sides`.`mv_rows_0`)
    END AS mv_rows_0,
    CASE
      WHEN MAX(`mv_sides`.`mv_changed`) = 0
      THEN CAST(SUM(`mv_sides`.`mv_sum_1`) AS BIGINT)
      WHEN SUM(`mv_sides`.`mv_count_2`) = 0
      THEN NULL
      WHEN CAST(SUM(`mv_sides`.`mv_sum_1`) AS BIGINT) IS NULL
      THEN RAISE_ERROR('mv: a sum does not fit its type')
      ELSE CAST(SUM(`mv_sides`.`mv_sum_1`) AS BIGINT)
    END AS mv_sum_1,
    CASE
      WHEN SUM(`mv_sides`.`mv_count_2`) < 0
      THEN RAISE_ERROR('mv: a change takes away more rows than there were')
      ELSE SUM(`mv_sides`.`mv_count_2`)
    END AS mv_count_2,
    MAX(`mv_sides`.`mv_changed`) = 0 AS mv_unchanged
  FROM (
    SELECT
      `mv_stored`.`c0` AS mv_key_0,
      `mv_stored`.`mv_key_1`,
      `mv_stored`.`mv_rows_0`,
      `mv_stored`.`c1` AS mv_sum_1,
      `mv_stored`.`mv_count_2`,
      0 AS mv_changed
    FROM mv_stored
    UNION ALL
    SELECT
      `mv_change`.`mv_key_0`,
      `mv_change`.`mv_key_1`,
      `mv_change`.`mv_rows_0`,
      `mv_change`.`mv_sum_1`,
      `mv_change`.`mv_count_2`,
      1 AS mv_changed
    FROM mv_change_0 AS mv_change
  ) AS mv_sides
  GROUP BY
    `mv_sides`.`mv_key_0`,
    `mv_sides`.`mv_key_1`
) AS mv_merged
WHERE
  `mv_merged`.`mv_rows_0` > 0;
