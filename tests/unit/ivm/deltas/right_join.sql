-- As a left join, the sides exchanged.

SELECT r.a, s.v FROM mv_table_0 r RIGHT JOIN mv_table_1 s ON r.b = s.b;

-- Changed: mv_table_0
-- Kept: row by row

-- mv_net_0
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_join_r_s`.`r__a` AS `c0`,
    `mv_join_r_s`.`s__v` AS `c1`,
    `mv_join_r_s`.`mv_weight` AS mv_weight
  FROM (
    SELECT
      `r`.`a` AS `r__a`,
      `s`.`v` AS `s__v`,
      `r`.`mv_weight` AS mv_weight
    FROM `mv_table_1` AS `s`
    JOIN mv_changes_0 AS `r`
      ON `r`.`b` = `s`.`b`
    UNION ALL
    SELECT
      `r`.`a` AS `r__a`,
      `s`.`v` AS `s__v`,
      1 AS mv_weight
    FROM `mv_table_1` AS `s`
    LEFT JOIN `mv_table_0` AS `r`
      ON FALSE
    WHERE
      (
        EXISTS(
          SELECT
            1
          FROM mv_changes_0 AS `r`
          WHERE
            `r`.`b` = `s`.`b`
        )
        AND EXISTS(
          SELECT
            1
          FROM mv_old_0 AS `r`
          WHERE
            `r`.`b` = `s`.`b`
        )
      )
      AND NOT EXISTS(
        SELECT
          1
        FROM `mv_table_0` AS `r`
        WHERE
          `r`.`b` = `s`.`b`
      )
    UNION ALL
    SELECT
      `r`.`a` AS `r__a`,
      `s`.`v` AS `s__v`,
      -1 AS mv_weight
    FROM `mv_table_1` AS `s`
    LEFT JOIN `mv_table_0` AS `r`
      ON FALSE
    WHERE
      (
        EXISTS(
          SELECT
            1
          FROM mv_changes_0 AS `r`
          WHERE
            `r`.`b` = `s`.`b`
        )
        AND NOT EXISTS(
          SELECT
            1
          FROM mv_old_0 AS `r`
          WHERE
            `r`.`b` = `s`.`b`
        )
      )
      AND EXISTS(
        SELECT
          1
        FROM `mv_table_0` AS `r`
        WHERE
          `r`.`b` = `s`.`b`
      )
  ) AS mv_join_r_s
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
