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

-- mv_groups_1
SELECT
  CASE
    WHEN SUM(`mv_sides`.`mv_rows_0`) < 0
    THEN RAISE_ERROR('mv: a change takes away more rows than there were')
    ELSE SUM(`mv_sides`.`mv_rows_0`)
  END AS mv_rows_0,
  MAX(`mv_sides`.`mv_max_1`) AS mv_max_1,
  CASE
    WHEN SUM(`mv_sides`.`mv_count_2`) < 0
    THEN RAISE_ERROR('mv: a change takes away more rows than there were')
    ELSE SUM(`mv_sides`.`mv_count_2`)
  END AS mv_count_2,
  MAX(`mv_sides`.`mv_max_1_stored`) AS mv_max_1_stored,
  MAX(`mv_sides`.`mv_max_1_gone`) AS mv_max_1_gone,
  MAX(`mv_sides`.`mv_changed`) = 0 AS mv_unchanged
FROM (
  SELECT
    `mv_stored`.`c0` AS mv_rows_0,
    `mv_stored`.`c1` AS mv_max_1,
    `mv_stored`.`mv_count_2` AS mv_count_2,
    `mv_stored`.`c1` AS mv_max_1_stored,
    NULL AS mv_max_1_gone,
    0 AS mv_changed
  FROM mv_stored
  UNION ALL
  SELECT
    `mv_change`.`mv_rows_0`,
    `mv_change`.`mv_max_1`,
    `mv_change`.`mv_count_2`,
    NULL AS mv_max_1_stored,
    `mv_change`.`mv_max_1_gone`,
    1 AS mv_changed
  FROM mv_change_0 AS mv_change
) AS mv_sides;

-- mv_lost_2
SELECT
  1
FROM mv_groups_1 AS mv_groups
WHERE
  (
    NOT `mv_groups`.`mv_max_1_gone` IS NULL
    AND (
      `mv_groups`.`mv_max_1_stored` IS NULL
      OR `mv_groups`.`mv_max_1_gone` >= `mv_groups`.`mv_max_1_stored`
    )
  );

-- mv_rescued_3
SELECT
  MAX(`mv_table_0`.`v`) AS mv_max_1
FROM `mv_table_0` AS `mv_table_0`
WHERE
  EXISTS(
    SELECT
      1
    FROM mv_lost_2 AS mv_lost
  );

-- Stored rows after it
SELECT
  `mv_merged`.`mv_rows_0` AS `c0`,
  `mv_merged`.`mv_max_1` AS `c1`,
  `mv_merged`.`mv_count_2`
FROM (
  SELECT
    `mv_groups`.`mv_rows_0`,
    CASE
      WHEN (
        NOT `mv_groups`.`mv_max_1_gone` IS NULL
        AND (
          `mv_groups`.`mv_max_1_stored` IS NULL
          OR `mv_groups`.`mv_max_1_gone` >= `mv_groups`.`mv_max_1_stored`
        )
      )
      THEN `mv_rescued`.`mv_max_1`
      ELSE `mv_groups`.`mv_max_1`
    END AS mv_max_1,
    `mv_groups`.`mv_count_2`,
    `mv_groups`.`mv_max_1_stored`,
    `mv_groups`.`mv_max_1_gone`,
    `mv_groups`.`mv_unchanged`
  FROM mv_groups_1 AS mv_groups
  LEFT JOIN mv_rescued_3 AS mv_rescued
    ON TRUE
) AS mv_merged;
