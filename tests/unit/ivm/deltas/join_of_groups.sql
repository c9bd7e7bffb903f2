-- Groups of changed rows, below a join.

SELECT s.b, d.n FROM mv_table_1 s JOIN (SELECT a, COUNT(*) AS n FROM mv_table_0 GROUP BY a) d ON d.a = s.a;

-- Changed: mv_table_0
-- Kept: row by row

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

-- mv_net_1
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `s`.`b` AS `c0`,
    `d`.`n` AS `c1`,
    `d`.`mv_weight` AS mv_weight
  FROM `mv_table_1` AS `s`
  JOIN (
    SELECT
      `mv_groups`.`a` AS `a`,
      `mv_groups`.`n` AS `n`,
      -1 AS mv_weight
    FROM (
      SELECT
        `mv_table_0`.`a` AS `a`,
        COUNT(*) AS `n`
      FROM mv_old_0 AS `mv_table_0`
      WHERE
        EXISTS(
          SELECT
            1
          FROM mv_keys_0 AS mv_keys
          WHERE
            `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
        )
      GROUP BY
        `mv_table_0`.`a`
    ) AS mv_groups
    UNION ALL
    SELECT
      `mv_groups`.`a` AS `a`,
      `mv_groups`.`n` AS `n`,
      1 AS mv_weight
    FROM (
      SELECT
        `mv_table_0`.`a` AS `a`,
        COUNT(*) AS `n`
      FROM `mv_table_0` AS `mv_table_0`
      WHERE
        EXISTS(
          SELECT
            1
          FROM mv_keys_0 AS mv_keys
          WHERE
            `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
        )
      GROUP BY
        `mv_table_0`.`a`
    ) AS mv_groups
  ) AS d
    ON `d`.`a` = `s`.`a`
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_1 is applied to the stored rows as in filter_deletes.sql
