-- LIMIT, and rows that came and went: an error once one of the first rows went.

SELECT a, v FROM mv_table_0 ORDER BY v DESC, a LIMIT 3;

-- Changed: mv_table_0
-- Kept: the first rows, from those that are stored and those that came

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
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- Stored rows after it
SELECT
  `c0`,
  `c1`
FROM (
  SELECT
    `c0`,
    `c1`
  FROM (
    SELECT
      `c0`,
      `c1`,
      CASE
        WHEN (
          SELECT
            COUNT(*)
          FROM mv_stored
        ) >= 3
        AND SUM(mv_weight) < 0
        AND SUM(mv_stored_copies) > 0
        THEN RAISE_ERROR('mv: one of the first rows went, and which row moves up is not stored')
        WHEN NOT (
          SELECT
            COUNT(*)
          FROM mv_stored
        ) >= 3
        AND SUM(mv_weight) + SUM(mv_stored_copies) < 0
        THEN RAISE_ERROR('mv: more rows went than there were')
        ELSE GREATEST(SUM(mv_weight) + SUM(mv_stored_copies), 0)
      END AS mv_weight
    FROM (
      SELECT
        `c0`,
        `c1`,
        0 AS mv_weight,
        1 AS mv_stored_copies
      FROM mv_stored
      UNION ALL
      SELECT
        `c0`,
        `c1`,
        mv_weight,
        0
      FROM mv_net_0
    )
    GROUP BY
      `c0`,
      `c1`
  )
  LATERAL VIEW
  EXPLODE(ARRAY_REPEAT(0, CAST(mv_weight AS INT))) mv_copies AS mv_copy
)
ORDER BY
  `c1` DESC,
  `c0`
LIMIT 3;
