-- As NOT EXISTS.

SELECT r.a, r.v FROM mv_table_0 r LEFT ANTI JOIN mv_table_1 s ON r.b = s.b;

-- Changed: mv_table_1
-- Kept: row by row

-- mv_net_0
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `r`.`a` AS `c0`,
    `r`.`v` AS `c1`,
    -1 AS mv_weight
  FROM `mv_table_0` AS `r`
  WHERE
    (
      EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `s`.`b` AS mv_column_0,
            `s`.`mv_weight` AS mv_weight
          FROM mv_changes_1 AS `s`
        ) AS mv_inner
        WHERE
          `r`.`b` = `mv_inner`.`mv_column_0`
      )
      AND NOT EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `s`.`b` AS mv_column_0
          FROM mv_old_1 AS `s`
        ) AS mv_inner
        WHERE
          `r`.`b` = `mv_inner`.`mv_column_0`
      )
    )
    AND EXISTS(
      SELECT
        1
      FROM (
        SELECT
          `s`.`b` AS mv_column_0
        FROM `mv_table_1` AS `s`
      ) AS mv_inner
      WHERE
        `r`.`b` = `mv_inner`.`mv_column_0`
    )
  UNION ALL
  SELECT
    `r`.`a` AS `c0`,
    `r`.`v` AS `c1`,
    1 AS mv_weight
  FROM `mv_table_0` AS `r`
  WHERE
    (
      EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `s`.`b` AS mv_column_0,
            `s`.`mv_weight` AS mv_weight
          FROM mv_changes_1 AS `s`
        ) AS mv_inner
        WHERE
          `r`.`b` = `mv_inner`.`mv_column_0`
      )
      AND EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `s`.`b` AS mv_column_0
          FROM mv_old_1 AS `s`
        ) AS mv_inner
        WHERE
          `r`.`b` = `mv_inner`.`mv_column_0`
      )
    )
    AND NOT EXISTS(
      SELECT
        1
      FROM (
        SELECT
          `s`.`b` AS mv_column_0
        FROM `mv_table_1` AS `s`
      ) AS mv_inner
      WHERE
        `r`.`b` = `mv_inner`.`mv_column_0`
    )
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
