-- The group of all rows is always there.

SELECT COUNT(*) AS n, MAX(v) AS most FROM mv_table_0;

-- Changed: mv_table_0
-- Kept: changes are added to its groups

-- mv_change_0
SELECT
  SUM(`mv_rows`.`mv_weight`) AS mv_rows_0,
  MAX(CASE WHEN `mv_rows`.`mv_weight` > 0 THEN `mv_rows`.`mv_input_0` END) AS mv_max_1,
  MAX(CASE WHEN `mv_rows`.`mv_weight` < 0 THEN `mv_rows`.`mv_input_0` END) AS mv_max_1_gone,
  SUM(CASE WHEN `mv_rows`.`mv_input_0` IS NULL THEN 0 ELSE `mv_rows`.`mv_weight` END) AS mv_count_2
FROM (
  SELECT
    `mv_table_0`.`v` AS mv_input_0,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_rows;

-- mv_lost_1
SELECT
  1
FROM mv_change_0 AS mv_change
LEFT JOIN mv_stored
  ON TRUE
WHERE
  (
    NOT `mv_change`.`mv_max_1_gone` IS NULL
    AND (
      `mv_stored`.`c1` IS NULL OR `mv_change`.`mv_max_1_gone` >= `mv_stored`.`c1`
    )
  );

-- mv_rescued_2
SELECT
  MAX(`mv_table_0`.`v`) AS mv_max_1
FROM `mv_table_0` AS `mv_table_0`
WHERE
  EXISTS(
    SELECT
      1
    FROM mv_lost_1 AS mv_lost
  );

-- Stored rows after it
SELECT
  `mv_merged`.`mv_rows_0` AS `c0`,
  `mv_merged`.`mv_max_1` AS `c1`,
  `mv_merged`.`mv_count_2` AS `mv_count_2`
FROM (
  SELECT
    CASE
      WHEN (
        COALESCE(`mv_stored`.`c0`, 0) + COALESCE(`mv_change`.`mv_rows_0`, 0)
      ) < 0
      THEN RAISE_ERROR('mv: more rows went than there were')
      ELSE COALESCE(`mv_stored`.`c0`, 0) + COALESCE(`mv_change`.`mv_rows_0`, 0)
    END AS mv_rows_0,
    CASE
      WHEN (
        NOT `mv_change`.`mv_max_1_gone` IS NULL
        AND (
          `mv_stored`.`c1` IS NULL OR `mv_change`.`mv_max_1_gone` >= `mv_stored`.`c1`
        )
      )
      THEN `mv_rescued`.`mv_max_1`
      ELSE GREATEST(`mv_stored`.`c1`, `mv_change`.`mv_max_1`)
    END AS mv_max_1,
    CASE
      WHEN (
        COALESCE(`mv_stored`.`mv_count_2`, 0) + COALESCE(`mv_change`.`mv_count_2`, 0)
      ) < 0
      THEN RAISE_ERROR('mv: more rows went than there were')
      ELSE COALESCE(`mv_stored`.`mv_count_2`, 0) + COALESCE(`mv_change`.`mv_count_2`, 0)
    END AS mv_count_2,
    `mv_change`.`mv_rows_0` IS NULL AS mv_unchanged
  FROM mv_stored
  LEFT JOIN mv_change_0 AS mv_change
    ON TRUE
  LEFT JOIN mv_rescued_2 AS mv_rescued
    ON NOT `mv_change`.`mv_rows_0` IS NULL
) AS mv_merged;
