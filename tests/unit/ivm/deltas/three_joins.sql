-- Three relations, of which the first and the last change: the term of the last reads the
-- first as it was.

SELECT r.a, s.b, t.v FROM mv_table_0 r JOIN mv_table_1 s ON r.a = s.a JOIN mv_table_2 t ON s.b = t.b WHERE r.v > t.v;

-- Changed: mv_table_0, mv_table_2
-- Kept: row by row

-- mv_net_0
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  `mv_delta`.`c2`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `r`.`a` AS `c0`,
    `s`.`b` AS `c1`,
    `t`.`v` AS `c2`,
    `r`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `r`
  JOIN `mv_table_1` AS `s`
    ON `r`.`a` = `s`.`a`
  JOIN `mv_table_2` AS `t`
    ON `s`.`b` = `t`.`b`
  WHERE
    `r`.`v` > `t`.`v`
  UNION ALL
  SELECT
    `r`.`a` AS `c0`,
    `s`.`b` AS `c1`,
    `t`.`v` AS `c2`,
    `t`.`mv_weight` AS mv_weight
  FROM mv_old_0 AS `r`
  JOIN `mv_table_1` AS `s`
    ON `r`.`a` = `s`.`a`
  JOIN mv_changes_2 AS `t`
    ON `s`.`b` = `t`.`b`
  WHERE
    `r`.`v` > `t`.`v`
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  `mv_delta`.`c2`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_0 is applied to the stored rows as in filter_deletes.sql
