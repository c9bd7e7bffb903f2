-- Expressions: equal rows of the result may be of different rows of the table.

SELECT a, b + v AS total FROM mv_table_0;

-- Changed: mv_table_0
-- Kept: row by row

-- mv_net_0
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_table_0`.`a` AS `c0`,
    `mv_table_0`.`b` + `mv_table_0`.`v` AS `c1`,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
