-- Sums and counts of the rows that came are added to what is stored.

SELECT a, COUNT(*) AS n, SUM(v) AS total FROM mv_table_0 GROUP BY a;

-- Changed: mv_table_0 (inserts only)
-- Kept: changes are added to its groups

-- mv_change_0
SELECT
  `mv_rows`.`mv_input_0` AS mv_key_0,
  SUM(`mv_rows`.`mv_weight`) AS mv_rows_0,
  SUM(CAST(`mv_rows`.`mv_input_1` AS BIGINT) * `mv_rows`.`mv_weight`) AS mv_sum_1,
  SUM(CASE WHEN `mv_rows`.`mv_input_1` IS NULL THEN 0 ELSE `mv_rows`.`mv_weight` END) AS mv_count_2
FROM (
  SELECT
    `mv_table_0`.`a` AS mv_input_0,
    `mv_table_0`.`v` AS mv_input_1,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_rows
GROUP BY
  `mv_rows`.`mv_input_0`;

-- Stored rows after it
SELECT
  `mv_merged`.`mv_key_0` AS `c0`,
  `mv_merged`.`mv_rows_0` AS `c1`,
  `mv_merged`.`mv_sum_1` AS `c2`,
  `mv_merged`.`mv_count_2` AS `mv_count_2`
FROM (
  SELECT
    COALESCE(`mv_change`.`mv_key_0`, `mv_stored`.`c0`) AS mv_key_0,
    CASE
      WHEN (
        COALESCE(`mv_stored`.`c1`, 0) + COALESCE(`mv_change`.`mv_rows_0`, 0)
      ) < 0
      THEN RAISE_ERROR('mv: more rows went than there were')
      ELSE COALESCE(`mv_stored`.`c1`, 0) + COALESCE(`mv_change`.`mv_rows_0`, 0)
    END AS mv_rows_0,
    CASE
      WHEN `mv_change`.`mv_rows_0` IS NULL
      THEN `mv_stored`.`c2`
      WHEN (
        COALESCE(`mv_stored`.`mv_count_2`, 0) + COALESCE(`mv_change`.`mv_count_2`, 0)
      ) = 0
      THEN NULL
      WHEN (
        CAST(COALESCE(`mv_stored`.`c2`, 0) + COALESCE(`mv_change`.`mv_sum_1`, 0) AS BIGINT)
      ) IS NULL
      THEN RAISE_ERROR('mv: a sum does not fit its type')
      ELSE CAST(COALESCE(`mv_stored`.`c2`, 0) + COALESCE(`mv_change`.`mv_sum_1`, 0) AS BIGINT)
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
) AS mv_merged
WHERE
  `mv_merged`.`mv_rows_0` > 0;
