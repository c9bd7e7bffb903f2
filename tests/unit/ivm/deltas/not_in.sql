-- A NULL on either side makes NOT IN unknown, so it counts as found.

SELECT a, v FROM mv_table_0 WHERE b NOT IN (SELECT b FROM mv_table_1);

-- Changed: mv_table_1
-- Kept: row by row

-- mv_net_0
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_table_0`.`a` AS `c0`,
    `mv_table_0`.`v` AS `c1`,
    -1 AS mv_weight
  FROM `mv_table_0` AS `mv_table_0`
  WHERE
    (
      EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `mv_table_1`.`b` AS mv_column_0,
            `mv_table_1`.`mv_weight` AS mv_weight
          FROM mv_changes_1 AS `mv_table_1`
        ) AS mv_inner
        WHERE
          (
            `mv_table_0`.`b` = `mv_inner`.`mv_column_0`
            OR `mv_table_0`.`b` IS NULL
            OR `mv_inner`.`mv_column_0` IS NULL
          )
      )
      AND NOT EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `mv_table_1`.`b` AS mv_column_0
          FROM mv_old_1 AS `mv_table_1`
        ) AS mv_inner
        WHERE
          (
            `mv_table_0`.`b` = `mv_inner`.`mv_column_0`
            OR `mv_table_0`.`b` IS NULL
            OR `mv_inner`.`mv_column_0` IS NULL
          )
      )
    )
    AND EXISTS(
      SELECT
        1
      FROM (
        SELECT
          `mv_table_1`.`b` AS mv_column_0
        FROM `mv_table_1` AS `mv_table_1`
      ) AS mv_inner
      WHERE
        (
          `mv_table_0`.`b` = `mv_inner`.`mv_column_0`
          OR `mv_table_0`.`b` IS NULL
          OR `mv_inner`.`mv_column_0` IS NULL
        )
    )
  UNION ALL
  SELECT
    `mv_table_0`.`a` AS `c0`,
    `mv_table_0`.`v` AS `c1`,
    1 AS mv_weight
  FROM `mv_table_0` AS `mv_table_0`
  WHERE
    (
      EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `mv_table_1`.`b` AS mv_column_0,
            `mv_table_1`.`mv_weight` AS mv_weight
          FROM mv_changes_1 AS `mv_table_1`
        ) AS mv_inner
        WHERE
          (
            `mv_table_0`.`b` = `mv_inner`.`mv_column_0`
            OR `mv_table_0`.`b` IS NULL
            OR `mv_inner`.`mv_column_0` IS NULL
          )
      )
      AND EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `mv_table_1`.`b` AS mv_column_0
          FROM mv_old_1 AS `mv_table_1`
        ) AS mv_inner
        WHERE
          (
            `mv_table_0`.`b` = `mv_inner`.`mv_column_0`
            OR `mv_table_0`.`b` IS NULL
            OR `mv_inner`.`mv_column_0` IS NULL
          )
      )
    )
    AND NOT EXISTS(
      SELECT
        1
      FROM (
        SELECT
          `mv_table_1`.`b` AS mv_column_0
        FROM `mv_table_1` AS `mv_table_1`
      ) AS mv_inner
      WHERE
        (
          `mv_table_0`.`b` = `mv_inner`.`mv_column_0`
          OR `mv_table_0`.`b` IS NULL
          OR `mv_inner`.`mv_column_0` IS NULL
        )
    )
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
