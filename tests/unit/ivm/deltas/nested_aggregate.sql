-- Below, groups of changed rows as they were and as they are; above, their difference is
-- added.

SELECT n, COUNT(*) AS times FROM (SELECT a, COUNT(*) AS n FROM mv_table_0 GROUP BY a) d GROUP BY n;

-- Changed: mv_table_0
-- Kept: changes are added to its groups

-- mv_keys_0
SELECT
  `mv_changed`.`mv_key_0`
FROM (
  SELECT
    `mv_table_0`.`a` AS mv_key_0,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_changed
GROUP BY
  `mv_changed`.`mv_key_0`;

-- mv_change_1
SELECT
  `mv_rows`.`mv_input_0` AS mv_key_0,
  SUM(`mv_rows`.`mv_weight`) AS mv_rows_0
FROM (
  SELECT
    `mv_groups`.`mv_input_0` AS `mv_input_0`,
    -1 AS mv_weight
  FROM (
    SELECT
      `d`.`n` AS mv_input_0
    FROM (
      SELECT
        `mv_table_0`.`a` AS `a`,
        COUNT(*) AS `n`
      FROM mv_old_0 AS `mv_table_0`
      GROUP BY
        `mv_table_0`.`a`
    ) AS `d`
    WHERE
      EXISTS(
        SELECT
          1
        FROM mv_keys_0 AS mv_keys
        WHERE
          `d`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
      )
  ) AS mv_groups
  UNION ALL
  SELECT
    `mv_groups`.`mv_input_0` AS `mv_input_0`,
    1 AS mv_weight
  FROM (
    SELECT
      `d`.`n` AS mv_input_0
    FROM (
      SELECT
        `mv_table_0`.`a` AS `a`,
        COUNT(*) AS `n`
      FROM `mv_table_0` AS `mv_table_0`
      GROUP BY
        `mv_table_0`.`a`
    ) AS `d`
    WHERE
      EXISTS(
        SELECT
          1
        FROM mv_keys_0 AS mv_keys
        WHERE
          `d`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
      )
  ) AS mv_groups
) AS mv_rows
GROUP BY
  `mv_rows`.`mv_input_0`;

-- Stored rows after it
SELECT
  `mv_merged`.`mv_key_0` AS `c0`,
  `mv_merged`.`mv_rows_0` AS `c1`
FROM (
  SELECT
    `mv_sides`.`mv_key_0`,
    CASE
      WHEN SUM(`mv_sides`.`mv_rows_0`) < 0
      THEN RAISE_ERROR('mv: a change takes away more rows than there were')
      ELSE SUM(`mv_sides`.`mv_rows_0`)
    END AS mv_rows_0,
    MAX(`mv_sides`.`mv_changed`) = 0 AS mv_unchanged
  FROM (
    SELECT
      `mv_stored`.`c0` AS mv_key_0,
      `mv_stored`.`c1` AS mv_rows_0,
      0 AS mv_changed
    FROM mv_stored
    UNION ALL
    SELECT
      `mv_change`.`mv_key_0`,
      `mv_change`.`mv_rows_0`,
      1 AS mv_changed
    FROM mv_change_1 AS mv_change
  ) AS mv_sides
  GROUP BY
    `mv_sides`.`mv_key_0`
) AS mv_merged
WHERE
  `mv_merged`.`mv_rows_0` > 0;
