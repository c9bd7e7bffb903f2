-- A filter, and rows that only came: those of them that meet it.

SELECT a, v FROM mv_table_0 WHERE v > 1;

-- Changed: mv_table_0 (inserts only)
-- Kept: row by row

-- Rows to be added to the stored ones
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
FROM (
  SELECT
    `mv_table_0`.`a` AS `c0`,
    `mv_table_0`.`v` AS `c1`,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
  WHERE
    `mv_table_0`.`v` > 1
) AS mv_delta;
