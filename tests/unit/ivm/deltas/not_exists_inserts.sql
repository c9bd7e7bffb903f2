-- Inserts only, but what is inserted takes rows away.

SELECT r.a FROM mv_table_0 r WHERE NOT EXISTS (SELECT 1 FROM mv_table_1 s WHERE s.b = r.b);

-- Changed: mv_table_1 (inserts only)
-- Kept: row by row

-- mv_net_0
SELECT
  `mv_delta`.`c0`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `r`.`a` AS `c0`,
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
          `mv_inner`.`mv_column_0` = `r`.`b`
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
          `mv_inner`.`mv_column_0` = `r`.`b`
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
        `mv_inner`.`mv_column_0` = `r`.`b`
    )
  UNION ALL
  SELECT
    `r`.`a` AS `c0`,
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
          `mv_inner`.`mv_column_0` = `r`.`b`
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
          `mv_inner`.`mv_column_0` = `r`.`b`
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
        `mv_inner`.`mv_column_0` = `r`.`b`
    )
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
