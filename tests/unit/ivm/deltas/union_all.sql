-- The changes of both sides.

SELECT a, b FROM mv_table_0 UNION ALL SELECT b, v FROM mv_table_1;

-- Changed: mv_table_0, mv_table_1 (inserts only)
-- Kept: row by row

-- Rows to be added to the stored ones
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
FROM (
  SELECT
    `mv_side`.`c0` AS `c0`,
    `mv_side`.`c1` AS `c1`,
    `mv_side`.`mv_weight` AS `mv_weight`
  FROM (
    SELECT
      `mv_table_0`.`a` AS `c0`,
      `mv_table_0`.`b` AS `c1`,
      `mv_table_0`.`mv_weight` AS mv_weight
    FROM mv_changes_0 AS `mv_table_0`
  ) AS mv_side
  UNION ALL
  SELECT
    `mv_side`.`b` AS `c0`,
    `mv_side`.`v` AS `c1`,
    `mv_side`.`mv_weight` AS `mv_weight`
  FROM (
    SELECT
      `mv_table_1`.`b` AS `b`,
      `mv_table_1`.`v` AS `v`,
      `mv_table_1`.`mv_weight` AS mv_weight
    FROM mv_changes_1 AS `mv_table_1`
  ) AS mv_side
) AS mv_delta;
