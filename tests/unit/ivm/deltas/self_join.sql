-- Both sides are the table that changed: two terms.

SELECT x.a, y.v FROM mv_table_0 x JOIN mv_table_0 y ON x.a = y.b;

-- Changed: mv_table_0
-- Kept: row by row

-- mv_net_0
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `x`.`a` AS `c0`,
    `y`.`v` AS `c1`,
    `x`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `x`
  JOIN `mv_table_0` AS `y`
    ON `x`.`a` = `y`.`b`
  UNION ALL
  SELECT
    `x`.`a` AS `c0`,
    `y`.`v` AS `c1`,
    `y`.`mv_weight` AS mv_weight
  FROM mv_old_0 AS `x`
  JOIN mv_changes_0 AS `y`
    ON `x`.`a` = `y`.`b`
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
