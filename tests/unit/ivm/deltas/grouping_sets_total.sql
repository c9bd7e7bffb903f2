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
  `mv_merged`.`mv_key_1` AS `mv_key_1`,
  `mv_merged`.`mv_rows_0` AS `mv_rows_0`,
  `mv_merged`.`mv_count_2` AS `mv_count_2`
FROM (
  SELECT
    COALESCE(`mv_change`.`mv_key_0`, `mv_stored`.`c0`) AS mv_key_0,
    COALESCE(`mv_change`.`mv_key_1`, `mv_stored`.`mv_key_1`) AS mv_key_1,
    CASE
      WHEN (
        COALESCE(`mv_stored`.`mv_rows_0`, 0) + COALESCE(`mv_change`.`mv_rows_0`, 0)
      ) < 0
      THEN RAISE_ERROR('mv: more rows went than there were')
      ELSE COALESCE(`mv_stored`.`mv_rows_0`, 0) + COALESCE(`mv_change`.`mv_rows_0`, 0)
    END AS mv_rows_0,
    CASE
      WHEN `mv_change`.`mv_rows_0` IS NULL
      THEN `mv_stored`.`c1`
      WHEN (
        COALESCE(`mv_stored`.`mv_count_2`, 0) + COALESCE(`mv_change`.`mv_count_2`, 0)
      ) = 0
      THEN NULL
      WHEN (
        CAST(COALESCE(`mv_stored`.`c1`, 0) + COALESCE(`mv_change`.`mv_sum_1`, 0) AS BIGINT)
      ) IS NULL
      THEN RAISE_ERROR('mv: a sum does not fit its type')
      ELSE CAST(COALESCE(`mv_stored`.`c1`, 0) + COALESCE(`mv_change`.`mv_sum_1`, 0) AS BIGINT)
    END AS mv_sum_1,
    CASE
      WHEN (
        COALESCE(`mv_stored`.`mv_count_2`, 0) + COALESCE(`mv_change`.`mv_count_2`, 0)
      ) < 0
      THEN RAISE_ERROR('mv: more rows went than there were')
      ELSE COALESCE(`mv_stored`.`mv_count_2`, 0) + COALESCE(`mv_change`.`mv_count_2`, 0)
    END AS mv_count_2,
    `mv_change`.`mv_rows_0` IS NULL AS mv_unchanged
  FROM mv_stored
  FULL JOIN mv_change_0 AS mv_change
    ON `mv_stored`.`c0` IS NOT DISTINCT FROM `mv_change`.`mv_key_0`
    AND `mv_stored`.`mv_key_1` IS NOT DISTINCT FROM `mv_change`.`mv_key_1`
) AS mv_merged
WHERE
  `mv_merged`.`mv_rows_0` > 0;
