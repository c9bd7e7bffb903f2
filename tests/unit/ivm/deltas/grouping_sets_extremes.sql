-- The least value of a set is that of rows that agree in the keys which the set has.

SELECT a, b, MIN(v) AS least FROM mv_table_0 GROUP BY GROUPING SETS ((a, b), (a));

-- Changed: mv_table_0
-- Kept: changes are added to its groups

-- mv_change_0
SELECT
  `mv_rows`.`mv_input_0` AS mv_key_0,
  `mv_rows`.`mv_input_1` AS mv_key_1,
  GROUPING_ID(`mv_rows`.`mv_input_0`, `mv_rows`.`mv_input_1`) AS mv_key_2,
  SUM(`mv_rows`.`mv_weight`) AS mv_rows_0,
  MIN(CASE WHEN `mv_rows`.`mv_weight` > 0 THEN `mv_rows`.`mv_input_2` END) AS mv_min_1,
  MIN(CASE WHEN `mv_rows`.`mv_weight` < 0 THEN `mv_rows`.`mv_input_2` END) AS mv_min_1_gone,
  SUM(CASE WHEN `mv_rows`.`mv_input_2` IS NULL THEN 0 ELSE `mv_rows`.`mv_weight` END) AS mv_count_2
FROM (
  SELECT
    `mv_table_0`.`a` AS mv_input_0,
    `mv_table_0`.`b` AS mv_input_1,
    `mv_table_0`.`v` AS mv_input_2,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_rows
GROUP BY
  GROUPING SETS (
    (`mv_rows`.`mv_input_0`, `mv_rows`.`mv_input_1`),
    (`mv_rows`.`mv_input_0`)
  );

-- mv_groups_1
SELECT
  `mv_sides`.`mv_key_0` AS mv_key_0,
  `mv_sides`.`mv_key_1` AS mv_key_1,
  `mv_sides`.`mv_key_2` AS mv_key_2,
  CASE
    WHEN SUM(`mv_sides`.`mv_rows_0`) < 0
    THEN RAISE_ERROR('mv: a change takes away more rows than there were')
    ELSE SUM(`mv_sides`.`mv_rows_0`)
  END AS mv_rows_0,
  MIN(`mv_sides`.`mv_min_1`) AS mv_min_1,
  CASE
    WHEN SUM(`mv_sides`.`mv_count_2`) < 0
    THEN RAISE_ERROR('mv: a change takes away more rows than there were')
    ELSE SUM(`mv_sides`.`mv_count_2`)
  END AS mv_count_2,
  MIN(`mv_sides`.`mv_min_1_stored`) AS mv_min_1_stored,
  MIN(`mv_sides`.`mv_min_1_gone`) AS mv_min_1_gone,
  MAX(`mv_sides`.`mv_changed`) = 0 AS mv_unchanged
FROM (
  SELECT
    `mv_stored`.`c0` AS mv_key_0,
    `mv_stored`.`c1` AS mv_key_1,
    `mv_stored`.`mv_key_2` AS mv_key_2,
    `mv_stored`.`mv_rows_0` AS mv_rows_0,
    `mv_stored`.`c2` AS mv_min_1,
    `mv_stored`.`mv_count_2` AS mv_count_2,
    `mv_stored`.`c2` AS mv_min_1_stored,
    NULL AS mv_min_1_gone,
    0 AS mv_changed
  FROM mv_stored
  UNION ALL
  SELECT
    `mv_change`.`mv_key_0`,
    `mv_change`.`mv_key_1`,
    `mv_change`.`mv_key_2`,
    `mv_change`.`mv_rows_0`,
    `mv_change`.`mv_min_1`,
    `mv_change`.`mv_count_2`,
    NULL AS mv_min_1_stored,
    `mv_change`.`mv_min_1_gone`,
    1 AS mv_changed
  FROM mv_change_0 AS mv_change
) AS mv_sides
GROUP BY
  `mv_sides`.`mv_key_0`,
  `mv_sides`.`mv_key_1`,
  `mv_sides`.`mv_key_2`;

-- mv_lost_2
SELECT
  `mv_groups`.`mv_key_0`,
  `mv_groups`.`mv_key_1`,
  `mv_groups`.`mv_key_2`
FROM mv_groups_1 AS mv_groups
WHERE
  (
    NOT `mv_groups`.`mv_min_1_gone` IS NULL
    AND (
      `mv_groups`.`mv_min_1_stored` IS NULL
      OR `mv_groups`.`mv_min_1_gone` <= `mv_groups`.`mv_min_1_stored`
    )
  );

-- mv_rescued_3
SELECT
  `mv_table_0`.`a` AS mv_key_0,
  `mv_table_0`.`b` AS mv_key_1,
  GROUPING_ID(`mv_table_0`.`a`, `mv_table_0`.`b`) AS mv_key_2,
  MIN(`mv_table_0`.`v`) AS mv_min_1
FROM `mv_table_0` AS `mv_table_0`
WHERE
  EXISTS(
    SELECT
      1
    FROM mv_lost_2 AS mv_lost
    WHERE
      (
        (
          (
            SHIFTRIGHT(`mv_lost`.`mv_key_2`, 1)
          ) & 1
        ) = 1
        OR `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_lost`.`mv_key_0`
      )
      AND (
        (
          (
            SHIFTRIGHT(`mv_lost`.`mv_key_2`, 0)
          ) & 1
        ) = 1
        OR `mv_table_0`.`b` IS NOT DISTINCT FROM `mv_lost`.`mv_key_1`
      )
  )
GROUP BY
  GROUPING SETS (
    (`mv_table_0`.`a`, `mv_table_0`.`b`),
    (`mv_table_0`.`a`)
  );

-- Stored rows after it
SELECT
  `mv_merged`.`mv_key_0` AS `c0`,
  `mv_merged`.`mv_key_1` AS `c1`,
  `mv_merged`.`mv_min_1` AS `c2`,
  `mv_merged`.`mv_key_2`,
  `mv_merged`.`mv_rows_0`,
  `mv_merged`.`mv_count_2`
FROM (
  SELECT
    `mv_groups`.`mv_key_0`,
    `mv_groups`.`mv_key_1`,
    `mv_groups`.`mv_key_2`,
    `mv_groups`.`mv_rows_0`,
    CASE
      WHEN (
        NOT `mv_groups`.`mv_min_1_gone` IS NULL
        AND (
          `mv_groups`.`mv_min_1_stored` IS NULL
          OR `mv_groups`.`mv_min_1_gone` <= `mv_groups`.`mv_min_1_stored`
        )
      )
      THEN `mv_rescued`.`mv_min_1`
      ELSE `mv_groups`.`mv_min_1`
    END AS mv_min_1,
    `mv_groups`.`mv_count_2`,
    `mv_groups`.`mv_min_1_stored`,
    `mv_groups`.`mv_min_1_gone`,
    `mv_groups`.`mv_unchanged`
  FROM mv_groups_1 AS mv_groups
  LEFT JOIN mv_rescued_3 AS mv_rescued
    ON (
      `mv_groups`.`mv_key_0` IS NOT DISTINCT FROM `mv_rescued`.`mv_key_0`
      AND `mv_groups`.`mv_key_1` IS NOT DISTINCT FROM `mv_rescued`.`mv_key_1`
    )
    AND `mv_groups`.`mv_key_2` IS NOT DISTINCT FROM `mv_rescued`.`mv_key_2`
) AS mv_merged
WHERE
  `mv_merged`.`mv_rows_0` > 0;
