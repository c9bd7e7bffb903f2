-- LIMIT, and rows that came and went: an error once one of the first rows went.

SELECT a, v FROM mv_table_0 ORDER BY v DESC, a LIMIT 3;

-- Changed: mv_table_0
-- Kept: the first rows, from those that are stored, some in reserve, and those that came

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
  `c1`,
  ROW_NUMBER() OVER (ORDER BY `c1` DESC, `c0`) > 3 AS mv_spare_3
FROM (
  SELECT
    `c0`,
    `c1`
  FROM (
    SELECT
      `c0`,
      `c1`,
      CASE
        WHEN mv_is_cut AND SUM(mv_copies) OVER () < 3
        THEN RAISE_ERROR('mv: more of the first rows were taken away than there are rows in reserve')
        ELSE mv_copies
      END AS mv_copies
    FROM (
      SELECT
        `c0`,
        `c1`,
        mv_is_cut,
        CASE
          WHEN mv_is_cut AND NOT mv_is_known
          THEN 0
          WHEN NOT mv_is_cut AND mv_weight + mv_stored_copies < 0
          THEN RAISE_ERROR('mv: a change takes away more rows than there were')
          ELSE GREATEST(mv_weight + mv_stored_copies, 0)
        END AS mv_copies
      FROM (
        SELECT
          `c0`,
          `c1`,
          mv_weight,
          mv_stored_copies,
          (
            SELECT
              COUNT(*)
            FROM mv_stored
          ) >= 3 AS mv_is_cut,
          MAX(mv_stored_copies) OVER (ORDER BY `c1` DESC, `c0` RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) > 0 AS mv_is_known
        FROM (
          SELECT
            `c0`,
            `c1`,
            SUM(mv_weight) AS mv_weight,
            SUM(mv_stored_copies) AS mv_stored_copies
          FROM (
            SELECT
              `c0`,
              `c1`,
              0 AS mv_weight,
              1 AS mv_stored_copies
            FROM mv_stored
            UNION ALL
            (
              SELECT
                `c0`,
                `c1`,
                mv_weight,
                0
              FROM mv_net_0
              WHERE
                mv_weight > 0
              ORDER BY
                `c1` DESC,
                `c0`
              LIMIT 13
            )
            UNION ALL
            SELECT
              `c0`,
              `c1`,
              mv_weight,
              0
            FROM mv_net_0
            WHERE
              mv_weight < 0
          )
          GROUP BY
            `c0`,
            `c1`
        )
      )
    )
  )
  LATERAL VIEW
  EXPLODE(ARRAY_REPEAT(0, CAST(mv_copies AS INT))) mv_repeated AS mv_copy
  ORDER BY
    `c1` DESC,
    `c0`
  LIMIT 13
);
