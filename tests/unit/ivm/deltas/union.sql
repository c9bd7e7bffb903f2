-- The rows themselves are the keys of groups, whose rows of either side are counted.

SELECT a, b FROM mv_table_0 UNION SELECT b, v FROM mv_table_1;

-- Changed: mv_table_0
-- Kept: changes are added to its groups

-- mv_change_0
SELECT
  `mv_rows`.`mv_input_0` AS mv_key_0,
  `mv_rows`.`mv_input_1` AS mv_key_1,
  SUM(`mv_rows`.`mv_weight`) AS mv_rows_0
FROM (
  SELECT
    `mv_distinct_rows`.`a` AS mv_input_0,
    `mv_distinct_rows`.`b` AS mv_input_1,
    `mv_distinct_rows`.`mv_weight` AS mv_weight
  FROM (
    SELECT
      `mv_side`.`a` AS `a`,
      `mv_side`.`b` AS `b`,
      `mv_side`.`mv_weight` AS `mv_weight`
    FROM (
      SELECT
        `mv_table_0`.`a` AS `a`,
        `mv_table_0`.`b` AS `b`,
        `mv_table_0`.`mv_weight` AS mv_weight
      FROM mv_changes_0 AS `mv_table_0`
    ) AS mv_side
  ) AS mv_distinct_rows
) AS mv_rows
GROUP BY
  `mv_rows`.`mv_input_0`,
  `mv_rows`.`mv_input_1`;

-- Stored rows after it
SELECT
  `mv_merged`.`mv_key_0` AS `c0`,
  `mv_merged`.`mv_key_1` AS `c1`,
  `mv_merged`.`mv_rows_0`
FROM (
  SELECT
    `mv_sides`.`mv_key_0`,
    `mv_sides`.`mv_key_1`,
    CASE
      WHEN SUM(`mv_sides`.`mv_rows_0`) < 0
      THEN RAISE_ERROR('mv: a change takes away more rows than there were')
      ELSE SUM(`mv_sides`.`mv_rows_0`)
    END AS mv_rows_0,
    MAX(`mv_sides`.`mv_changed`) = 0 AS mv_unchanged
  FROM (
    SELECT
      `mv_stored`.`c0` AS mv_key_0,
      `mv_stored`.`c1` AS mv_key_1,
      `mv_stored`.`mv_rows_0`,
      0 AS mv_changed
    FROM mv_stored
    UNION ALL
    SELECT
      `mv_change`.`mv_key_0`,
      `mv_change`.`mv_key_1`,
      `mv_change`.`mv_rows_0`,
      1 AS mv_changed
    FROM mv_change_0 AS mv_change
  ) AS mv_sides
  GROUP BY
    `mv_sides`.`mv_key_0`,
    `mv_sides`.`mv_key_1`
) AS mv_merged
WHERE
  `mv_merged`.`mv_rows_0` > 0;
