-- One GROUP BY for each set.

SELECT a, b, COUNT(DISTINCT v) AS n FROM mv_table_0 GROUP BY GROUPING SETS ((a, b), (b));

-- Changed: mv_table_0
-- Kept: row by row

-- mv_keys_0
SELECT
  `mv_changed`.`mv_key_0`,
  `mv_changed`.`mv_key_1`
FROM (
  SELECT
    `mv_table_0`.`a` AS mv_key_0,
    `mv_table_0`.`b` AS mv_key_1,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_changed
GROUP BY
  `mv_changed`.`mv_key_0`,
  `mv_changed`.`mv_key_1`;

-- mv_keys_1
SELECT
  `mv_changed`.`mv_key_0`
FROM (
  SELECT
    `mv_table_0`.`b` AS mv_key_0,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_changed
GROUP BY
  `mv_changed`.`mv_key_0`;

-- mv_net_2
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  `mv_delta`.`c2`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_side`.`c0` AS `c0`,
    `mv_side`.`c1` AS `c1`,
    `mv_side`.`c2` AS `c2`,
    `mv_side`.`mv_weight` AS `mv_weight`
  FROM (
    SELECT
      `mv_groups`.`c0` AS `c0`,
      `mv_groups`.`c1` AS `c1`,
      `mv_groups`.`c2` AS `c2`,
      -1 AS mv_weight
    FROM (
      SELECT
        `mv_table_0`.`a` AS `c0`,
        `mv_table_0`.`b` AS `c1`,
        COUNT(DISTINCT `mv_table_0`.`v`) AS `c2`
      FROM mv_old_0 AS `mv_table_0`
      WHERE
        EXISTS(
          SELECT
            1
          FROM mv_keys_0 AS mv_keys
          WHERE
            `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
            AND `mv_table_0`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_1`
        )
      GROUP BY
        `mv_table_0`.`a`,
        `mv_table_0`.`b`
    ) AS mv_groups
    UNION ALL
    SELECT
      `mv_groups`.`c0` AS `c0`,
      `mv_groups`.`c1` AS `c1`,
      `mv_groups`.`c2` AS `c2`,
      1 AS mv_weight
    FROM (
      SELECT
        `mv_table_0`.`a` AS `c0`,
        `mv_table_0`.`b` AS `c1`,
        COUNT(DISTINCT `mv_table_0`.`v`) AS `c2`
      FROM `mv_table_0` AS `mv_table_0`
      WHERE
        EXISTS(
          SELECT
            1
          FROM mv_keys_0 AS mv_keys
          WHERE
            `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
            AND `mv_table_0`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_1`
        )
      GROUP BY
        `mv_table_0`.`a`,
        `mv_table_0`.`b`
    ) AS mv_groups
  ) AS mv_side
  UNION ALL
  SELECT
    `mv_side`.`a` AS `c0`,
    `mv_side`.`b` AS `c1`,
    `mv_side`.`n` AS `c2`,
    `mv_side`.`mv_weight` AS `mv_weight`
  FROM (
    SELECT
      `mv_groups`.`a` AS `a`,
      `mv_groups`.`b` AS `b`,
      `mv_groups`.`n` AS `n`,
      -1 AS mv_weight
    FROM (
      SELECT
        MIN(CASE WHEN FALSE THEN `mv_table_0`.`a` END) AS `a`,
        `mv_table_0`.`b` AS `b`,
        COUNT(DISTINCT `mv_table_0`.`v`) AS `n`
      FROM mv_old_0 AS `mv_table_0`
      WHERE
        EXISTS(
          SELECT
            1
          FROM mv_keys_1 AS mv_keys
          WHERE
            `mv_table_0`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
        )
      GROUP BY
        `mv_table_0`.`b`
    ) AS mv_groups
    UNION ALL
    SELECT
      `mv_groups`.`a` AS `a`,
      `mv_groups`.`b` AS `b`,
      `mv_groups`.`n` AS `n`,
      1 AS mv_weight
    FROM (
      SELECT
        MIN(CASE WHEN FALSE THEN `mv_table_0`.`a` END) AS `a`,
        `mv_table_0`.`b` AS `b`,
        COUNT(DISTINCT `mv_table_0`.`v`) AS `n`
      FROM `mv_table_0` AS `mv_table_0`
      WHERE
        EXISTS(
          SELECT
            1
          FROM mv_keys_1 AS mv_keys
          WHERE
            `mv_table_0`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
        )
      GROUP BY
        `mv_table_0`.`b`
    ) AS mv_groups
  ) AS mv_side
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  `mv_delta`.`c2`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_2 is applied to the stored rows as in filter_deletes.sql
