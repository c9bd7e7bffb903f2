-- Rows that went are subtracted; groups without rows go. The average is made of a hidden sum
-- and count.

SELECT a, SUM(v) AS total, AVG(b) AS mean FROM mv_table_0 GROUP BY a;

-- Changed: mv_table_0
-- Kept: changes are added to its groups

-- mv_change_0
SELECT
  `mv_rows`.`mv_input_0` AS mv_key_0,
  SUM(`mv_rows`.`mv_weight`) AS mv_rows_0,
  SUM(CAST(`mv_rows`.`mv_input_1` AS BIGINT) * `mv_rows`.`mv_weight`) AS mv_sum_1,
  SUM(CASE WHEN `mv_rows`.`mv_input_1` IS NULL THEN 0 ELSE `mv_rows`.`mv_weight` END) AS mv_count_2,
  SUM(CAST(`mv_rows`.`mv_input_2` AS BIGINT) * `mv_rows`.`mv_weight`) AS mv_sum_3,
  SUM(CASE WHEN `mv_rows`.`mv_input_2` IS NULL THEN 0 ELSE `mv_rows`.`mv_weight` END) AS mv_count_4,
  SUM(CAST(`mv_rows`.`mv_input_3` AS BIGINT) * `mv_rows`.`mv_weight`) AS mv_sum_5
FROM (
  SELECT
    `mv_table_0`.`a` AS mv_input_0,
    `mv_table_0`.`v` AS mv_input_1,
    `mv_table_0`.`b` AS mv_input_2,
    ABS(CAST(`mv_table_0`.`b` AS BIGINT)) AS mv_input_3,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_rows
GROUP BY
  `mv_rows`.`mv_input_0`;

-- Stored rows after it
SELECT
  `mv_merged`.`mv_key_0` AS `c0`,
  `mv_merged`.`mv_sum_1` AS `c1`,
  CASE
    WHEN `mv_merged`.`mv_unchanged`
    THEN `mv_merged`.`mv_kept_2`
    ELSE CASE
      WHEN `mv_merged`.`mv_sum_3` IS NULL
      THEN NULL
      WHEN `mv_merged`.`mv_sum_5` <= 9007199254740992
      THEN CAST(`mv_merged`.`mv_sum_3` AS DOUBLE) / `mv_merged`.`mv_count_4`
      ELSE RAISE_ERROR('mv: an average needs a sum beyond 2 to the power of 53')
    END
  END AS `c2`,
  `mv_merged`.`mv_rows_0`,
  `mv_merged`.`mv_count_2`,
  `mv_merged`.`mv_sum_3`,
  `mv_merged`.`mv_count_4`,
  `mv_merged`.`mv_sum_5`
FROM (
  SELECT
    `mv_sides`.`mv_key_0`,
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
    CASE
      WHEN MAX(`mv_sides`.`mv_changed`) = 0
      THEN CAST(SUM(`mv_sides`.`mv_sum_3`) AS BIGINT)
      WHEN SUM(`mv_sides`.`mv_count_4`) = 0
      THEN NULL
      WHEN CAST(SUM(`mv_sides`.`mv_sum_3`) AS BIGINT) IS NULL
      THEN RAISE_ERROR('mv: a sum does not fit its type')
      ELSE CAST(SUM(`mv_sides`.`mv_sum_3`) AS BIGINT)
    END AS mv_sum_3,
    CASE
      WHEN SUM(`mv_sides`.`mv_count_4`) < 0
      THEN RAISE_ERROR('mv: a change takes away more rows than there were')
      ELSE SUM(`mv_sides`.`mv_count_4`)
    END AS mv_count_4,
    CASE
      WHEN MAX(`mv_sides`.`mv_changed`) = 0
      THEN CAST(SUM(`mv_sides`.`mv_sum_5`) AS BIGINT)
      WHEN SUM(`mv_sides`.`mv_count_4`) = 0
      THEN NULL
      WHEN CAST(SUM(`mv_sides`.`mv_sum_5`) AS BIGINT) IS NULL
      THEN RAISE_ERROR('mv: a sum does not fit its type')
      ELSE CAST(SUM(`mv_sides`.`mv_sum_5`) AS BIGINT)
    END AS mv_sum_5,
    ANY_VALUE(`mv_sides`.`mv_kept_2`) IGNORE NULLS AS mv_kept_2,
    MAX(`mv_sides`.`mv_changed`) = 0 AS mv_unchanged
  FROM (
    SELECT
      `mv_stored`.`c0` AS mv_key_0,
      `mv_stored`.`mv_rows_0`,
      `mv_stored`.`c1` AS mv_sum_1,
      `mv_stored`.`mv_count_2`,
      `mv_stored`.`mv_sum_3`,
      `mv_stored`.`mv_count_4`,
      `mv_stored`.`mv_sum_5`,
      `mv_stored`.`c2` AS mv_kept_2,
      0 AS mv_changed
    FROM mv_stored
    UNION ALL
    SELECT
      `mv_change`.`mv_key_0`,
      `mv_change`.`mv_rows_0`,
      `mv_change`.`mv_sum_1`,
      `mv_change`.`mv_count_2`,
      `mv_change`.`mv_sum_3`,
      `mv_change`.`mv_count_4`,
      `mv_change`.`mv_sum_5`,
      NULL AS mv_kept_2,
      1 AS mv_changed
    FROM mv_change_0 AS mv_change
  ) AS mv_sides
  GROUP BY
    `mv_sides`.`mv_key_0`
) AS mv_merged
WHERE
  `mv_merged`.`mv_rows_0` > 0;
