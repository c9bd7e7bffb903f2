-- Inserts only: rows for which it begins to hold; it ceases for none.

SELECT r.a, r.v FROM mv_table_0 r WHERE EXISTS (SELECT 1 FROM mv_table_1 s WHERE s.b = r.b);

-- Changed: mv_table_1 (inserts only)
-- Kept: row by row

-- Rows to be added to the stored ones
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
FROM (
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
) AS mv_delta;
