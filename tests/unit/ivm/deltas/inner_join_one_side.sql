-- Only one side changes: one term.

SELECT r.a, s.v FROM mv_table_0 r JOIN mv_table_1 s ON r.b = s.b;

-- Changed: mv_table_1 (inserts only)
-- Kept: row by row

-- Rows to be added to the stored ones
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
FROM (
  SELECT
    `r`.`a` AS `c0`,
    `s`.`v` AS `c1`,
    `s`.`mv_weight` AS mv_weight
  FROM `mv_table_0` AS `r`
  JOIN mv_changes_1 AS `s`
    ON `r`.`b` = `s`.`b`
) AS mv_delta;
