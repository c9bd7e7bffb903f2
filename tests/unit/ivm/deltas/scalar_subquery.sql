-- A relation of one row: what it was goes, what it is comes, unless it is the same.

SELECT a, v FROM mv_table_0 WHERE v > (SELECT AVG(v) FROM mv_table_1);

-- Changed: mv_table_0, mv_table_1
-- Kept: row by row

-- mv_row_0
SELECT
  ANY_VALUE(`mv_delta`.`_col_0`) AS `_col_0`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_groups`.`_col_0` AS `_col_0`,
    -1 AS mv_weight
  FROM (
    SELECT
      CASE
        WHEN SUM(ABS(CAST(`mv_table_1`.`v` AS BIGINT))) > 9007199254740992
        THEN RAISE_ERROR('mv: an average needs a sum beyond 2 to the power of 53')
        ELSE AVG(`mv_table_1`.`v`)
      END AS `_col_0`
    FROM mv_old_1 AS `mv_table_1`
  ) AS mv_groups
  UNION ALL
  SELECT
    `mv_groups`.`_col_0` AS `_col_0`,
    1 AS mv_weight
  FROM (
    SELECT
      CASE
        WHEN SUM(ABS(CAST(`mv_table_1`.`v` AS BIGINT))) > 9007199254740992
        THEN RAISE_ERROR('mv: an average needs a sum beyond 2 to the power of 53')
        ELSE AVG(`mv_table_1`.`v`)
      END AS `_col_0`
    FROM `mv_table_1` AS `mv_table_1`
  ) AS mv_groups
) AS mv_delta
GROUP BY
  `mv_delta`.`_col_0`,
  CAST(`mv_delta`.`_col_0` AS STRING)
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- mv_net_1
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_table_0`.`a` AS `c0`,
    `mv_table_0`.`v` AS `c1`,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
  CROSS JOIN (
    SELECT
      AVG(`mv_table_1`.`v`) AS `_col_0`
    FROM `mv_table_1` AS `mv_table_1`
  ) AS mv_value_0
  WHERE
    `mv_table_0`.`v` > (
      `mv_value_0`.`_col_0`
    )
  UNION ALL
  SELECT
    `mv_table_0`.`a` AS `c0`,
    `mv_table_0`.`v` AS `c1`,
    `mv_value_0`.`mv_weight` AS mv_weight
  FROM mv_old_0 AS `mv_table_0`
  CROSS JOIN (
    SELECT
      `mv_row`.`_col_0`,
      `mv_row`.`mv_weight`
    FROM mv_row_0 AS mv_row
  ) AS mv_value_0
  WHERE
    `mv_table_0`.`v` > (
      `mv_value_0`.`_col_0`
    )
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_1 is applied to the stored rows as in filter_deletes.sql
