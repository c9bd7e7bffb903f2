-- LIMIT, and rows that only came: they are sorted in among those that are stored.

SELECT a, v FROM mv_table_0 ORDER BY v DESC, a LIMIT 3;

-- Changed: mv_table_0 (inserts only)
-- Kept: the first rows, from those that are stored and those that came

-- Stored rows after it
SELECT
  `c0`,
  `c1`
FROM (
  SELECT
    `c0`,
    `c1`
  FROM mv_stored
  UNION ALL
  SELECT
    `mv_delta`.`c0`,
    `mv_delta`.`c1`
  FROM (
    SELECT
      `mv_table_0`.`a` AS `c0`,
      `mv_table_0`.`v` AS `c1`,
      `mv_table_0`.`mv_weight` AS mv_weight
    FROM mv_changes_0 AS `mv_table_0`
  ) AS mv_delta
)
ORDER BY
  `c1` DESC,
  `c0`
LIMIT 3;
