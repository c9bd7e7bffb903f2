-- The least value is computed anew for groups that may have lost theirs.

SELECT a, MIN(v) AS least FROM mv_table_0 GROUP BY a;

-- Changed: mv_table_0
-- Kept: changes are added to its groups

-- mv_change_0
SELECT
  `mv_rows`.`mv_input_0` AS mv_key_0,
  SUM(`mv_rows`.`mv_weight`) AS mv_rows_0,
  MIN(CASE WHEN `mv_rows`.`mv_weight` > 0 THEN `mv_rows`.`mv_input_1` END) AS mv_min_1,
  MIN(CASE WHEN `mv_rows`.`mv_weight` < 0 THEN `mv_rows`.`mv_input_1` END) AS mv_min_1_gone,
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

-- mv_lost_1
SELECT
  `mv_change`.`mv_key_0`
FROM mv_change_0 AS mv_change
LEFT JOIN mv_stored
  ON `mv_stored`.`c0` IS NOT DISTINCT FROM `mv_change`.`mv_key_0`
WHERE
  (
    NOT `mv_change`.`mv_min_1_gone` IS NULL
    AND (
      `mv_stored`.`c1` IS NULL OR `mv_change`.`mv_min_1_gone` <= `mv_stored`.`c1`
    )
  );

-- mv_rescued_2
SELECT
  `mv_table_0`.`a` AS mv_key_0,
  MIN(`mv_table_0`.`v`) AS mv_min_1
FROM `mv_table_0` AS `mv_table_0`
WHERE
  EXISTS(
    SELECT
      1
    FROM mv_lost_1 AS mv_lost
    WHERE
      `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_lost`.`mv_key_0`
  )
GROUP BY
  `mv_table_0`.`a`;

-- Stored rows after it
SELECT
  `mv_merged`.`mv_key_0` AS `c0`,
  `mv_merged`.`mv_min_1` AS `c1`,
  `mv_merged`.`mv_rows_0` AS `mv_rows_0`,
  `mv_merged`.`mv_count_2` AS `mv_count_2`
FROM (
  SELECT
    COALESCE(`mv_change`.`mv_key_0`, `mv_stored`.`c0`) AS mv_key_0,
    CASE
      WHEN (
        COALESCE(`mv_stored`.`mv_rows_0`, 0) + COALESCE(`mv_change`.`mv_rows_0`, 0)
      ) < 0
      THEN RAISE_ERROR('mv: more rows went than there were')
      ELSE COALESCE(`mv_stored`.`mv_rows_0`, 0) + COALESCE(`mv_change`.`mv_rows_0`, 0)
    END AS mv_rows_0,
    CASE
      WHEN (
        NOT `mv_change`.`mv_min_1_gone` IS NULL
        AND (
          `mv_stored`.`c1` IS NULL OR `mv_change`.`mv_min_1_gone` <= `mv_stored`.`c1`
        )
      )
      THEN `mv_rescued`.`mv_min_1`
      ELSE LEAST(`mv_stored`.`c1`, `mv_change`.`mv_min_1`)
    END AS mv_min_1,
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
  LEFT JOIN mv_rescued_2 AS mv_rescued
    ON `mv_rescued`.`mv_key_0` IS NOT DISTINCT FROM `mv_change`.`mv_key_0`
    AND NOT `mv_change`.`mv_rows_0` IS NULL
) AS mv_merged
WHERE
  `mv_merged`.`mv_rows_0` > 0;
