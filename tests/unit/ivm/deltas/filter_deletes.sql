-- A filter, and rows that came and went: copies of rows are counted.

SELECT a, v FROM mv_table_0 WHERE v > 1;

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
    `mv_table_0`.`v` AS `c1`,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
  WHERE
    `mv_table_0`.`v` > 1
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- Stored rows after it
SELECT
  `mv_stored`.`c0`,
  `mv_stored`.`c1`
FROM mv_stored
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM mv_net_0 AS mv_replaced
    WHERE
      `mv_stored`.`c0` IS NOT DISTINCT FROM `mv_replaced`.`c0`
      AND `mv_stored`.`c1` IS NOT DISTINCT FROM `mv_replaced`.`c1`
  )
UNION ALL
SELECT
  `c0`,
  `c1`
FROM (
  SELECT
    `c0`,
    `c1`,
    CASE
      WHEN SUM(mv_weight) < 0
      THEN RAISE_ERROR('mv: a change takes away more rows than there were')
      ELSE SUM(mv_weight)
    END AS mv_weight
  FROM (
    SELECT
      `c0`,
      `c1`,
      1 AS mv_weight
    FROM mv_stored
    WHERE
      EXISTS(
        SELECT
          1
        FROM mv_net_0 AS mv_replaced
        WHERE
          `mv_stored`.`c0` IS NOT DISTINCT FROM `mv_replaced`.`c0`
          AND `mv_stored`.`c1` IS NOT DISTINCT FROM `mv_replaced`.`c1`
      )
    UNION ALL
    SELECT
      `c0`,
      `c1`,
      mv_weight
    FROM mv_net_0
  )
  GROUP BY
    `c0`,
    `c1`
  HAVING
    SUM(mv_weight) <> 0
)
LATERAL VIEW
EXPLODE(ARRAY_REPEAT(0, CAST(mv_weight AS INT))) mv_copies AS mv_copy;
