-- Telescoping: changes of the left side meet the right side of now, the left side of
-- before meets changes of the right side.

SELECT r.a, s.v FROM mv_table_0 r JOIN mv_table_1 s ON r.b = s.b;

-- Changed: mv_table_0, mv_table_1
-- Kept: row by row

-- mv_net_0
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `r`.`a` AS `c0`,
    `s`.`v` AS `c1`,
    `r`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `r`
  JOIN `mv_table_1` AS `s`
    ON `r`.`b` = `s`.`b`
  UNION ALL
  SELECT
    `r`.`a` AS `c0`,
    `s`.`v` AS `c1`,
    `s`.`mv_weight` AS mv_weight
  FROM mv_old_0 AS `r`
  JOIN mv_changes_1 AS `s`
    ON `r`.`b` = `s`.`b`
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
