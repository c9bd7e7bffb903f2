-- A generator makes rows of each changed row, with its weight.

SELECT a, x FROM mv_table_0 LATERAL VIEW EXPLODE(ARRAY(b, v)) e AS x;

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
    `mv_relation_0`.`x` AS `c1`,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
  LATERAL VIEW
  EXPLODE(ARRAY(`mv_table_0`.`b`, `mv_table_0`.`v`)) mv_relation_0 AS `x`
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
