-- By the counts of rows and of values, joined.

SELECT a, v FROM mv_table_0 WHERE v > 2 OR b NOT IN (SELECT b FROM mv_table_1);

-- Changed: mv_table_1
-- Kept: row by row

-- mv_keys_0
SELECT
  `mv_changed`.`mv_key_0`
FROM (
  SELECT
    `mv_inner`.`b` AS mv_key_0,
    `mv_inner`.`mv_weight` AS mv_weight
  FROM (
    SELECT
      `mv_table_1`.`b` AS `b`,
      `mv_table_1`.`mv_weight` AS mv_weight
    FROM mv_changes_1 AS `mv_table_1`
  ) AS mv_inner
) AS mv_changed
GROUP BY
  `mv_changed`.`mv_key_0`;

-- mv_row_1
SELECT
  ANY_VALUE(`mv_delta`.`mv_output_0`) AS `mv_output_0`,
  ANY_VALUE(`mv_delta`.`mv_output_1`) AS `mv_output_1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_groups`.`mv_output_0` AS `mv_output_0`,
    `mv_groups`.`mv_output_1` AS `mv_output_1`,
    -1 AS mv_weight
  FROM (
    SELECT
      COUNT(*) AS mv_output_0,
      COUNT(`mv_inner`.`b`) AS mv_output_1
    FROM (
      SELECT
        `mv_table_1`.`b` AS `b`
      FROM mv_old_1 AS `mv_table_1`
    ) AS mv_inner
  ) AS mv_groups
  UNION ALL
  SELECT
    `mv_groups`.`mv_output_0` AS `mv_output_0`,
    `mv_groups`.`mv_output_1` AS `mv_output_1`,
    1 AS mv_weight
  FROM (
    SELECT
      COUNT(*) AS mv_output_0,
      COUNT(`mv_inner`.`b`) AS mv_output_1
    FROM (
      SELECT
        `mv_table_1`.`b` AS `b`
      FROM `mv_table_1` AS `mv_table_1`
    ) AS mv_inner
  ) AS mv_groups
) AS mv_delta
GROUP BY
  `mv_delta`.`mv_output_0`,
  `mv_delta`.`mv_output_1`,
  CAST(`mv_delta`.`mv_output_0` AS STRING),
  CAST(`mv_delta`.`mv_output_1` AS STRING)
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- mv_net_2
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_join_mv_table_0_mv_value_0`.`mv_table_0__a` AS `c0`,
    `mv_join_mv_table_0_mv_value_0`.`mv_table_0__v` AS `c1`,
    `mv_join_mv_table_0_mv_value_0`.`mv_weight` AS mv_weight
  FROM (
    SELECT
      `mv_table_0`.`a` AS `mv_table_0__a`,
      `mv_table_0`.`v` AS `mv_table_0__v`,
      `mv_value_0`.`mv_output_0` AS `mv_value_0__mv_output_0`,
      `mv_table_0`.`b` AS `mv_table_0__b`,
      `mv_value_0`.`mv_weight` AS mv_weight
    FROM `mv_table_0` AS `mv_table_0`
    JOIN (
      SELECT
        `mv_groups`.`mv_key_0` AS `mv_key_0`,
        `mv_groups`.`mv_output_0` AS `mv_output_0`,
        -1 AS mv_weight
      FROM (
        SELECT
          `mv_inner`.`b` AS mv_key_0,
          TRUE AS mv_output_0
        FROM (
          SELECT
            `mv_table_1`.`b` AS `b`
          FROM mv_old_1 AS `mv_table_1`
        ) AS mv_inner
        WHERE
          EXISTS(
            SELECT
              1
            FROM mv_keys_0 AS mv_keys
            WHERE
              `mv_inner`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
          )
        GROUP BY
          `mv_inner`.`b`
      ) AS mv_groups
      UNION ALL
      SELECT
        `mv_groups`.`mv_key_0` AS `mv_key_0`,
        `mv_groups`.`mv_output_0` AS `mv_output_0`,
        1 AS mv_weight
      FROM (
        SELECT
          `mv_inner`.`b` AS mv_key_0,
          TRUE AS mv_output_0
        FROM (
          SELECT
            `mv_table_1`.`b` AS `b`
          FROM `mv_table_1` AS `mv_table_1`
        ) AS mv_inner
        WHERE
          EXISTS(
            SELECT
              1
            FROM mv_keys_0 AS mv_keys
            WHERE
              `mv_inner`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
          )
        GROUP BY
          `mv_inner`.`b`
      ) AS mv_groups
    ) AS mv_value_0
      ON `mv_table_0`.`b` = `mv_value_0`.`mv_key_0`
    UNION ALL
    SELECT
      `mv_table_0`.`a` AS `mv_table_0__a`,
      `mv_table_0`.`v` AS `mv_table_0__v`,
      `mv_value_0`.`mv_output_0` AS `mv_value_0__mv_output_0`,
      `mv_table_0`.`b` AS `mv_table_0__b`,
      1 AS mv_weight
    FROM `mv_table_0` AS `mv_table_0`
    LEFT JOIN (
      SELECT
        `mv_inner`.`b` AS mv_key_0,
        TRUE AS mv_output_0
      FROM (
        SELECT
          `mv_table_1`.`b` AS `b`
        FROM `mv_table_1` AS `mv_table_1`
      ) AS mv_inner
      GROUP BY
        `mv_inner`.`b`
    ) AS mv_value_0
      ON FALSE
    WHERE
      (
        EXISTS(
          SELECT
            1
          FROM (
            SELECT
              `mv_groups`.`mv_key_0` AS `mv_key_0`,
              `mv_groups`.`mv_output_0` AS `mv_output_0`,
              -1 AS mv_weight
            FROM (
              SELECT
                `mv_inner`.`b` AS mv_key_0,
                TRUE AS mv_output_0
              FROM (
                SELECT
                  `mv_table_1`.`b` AS `b`
                FROM mv_old_1 AS `mv_table_1`
              ) AS mv_inner
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM mv_keys_0 AS mv_keys
                  WHERE
                    `mv_inner`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
                )
              GROUP BY
                `mv_inner`.`b`
            ) AS mv_groups
            UNION ALL
            SELECT
              `mv_groups`.`mv_key_0` AS `mv_key_0`,
              `mv_groups`.`mv_output_0` AS `mv_output_0`,
              1 AS mv_weight
            FROM (
              SELECT
                `mv_inner`.`b` AS mv_key_0,
                TRUE AS mv_output_0
              FROM (
                SELECT
                  `mv_table_1`.`b` AS `b`
                FROM `mv_table_1` AS `mv_table_1`
              ) AS mv_inner
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM mv_keys_0 AS mv_keys
                  WHERE
                    `mv_inner`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
                )
              GROUP BY
                `mv_inner`.`b`
            ) AS mv_groups
          ) AS mv_value_0
          WHERE
            `mv_table_0`.`b` = `mv_value_0`.`mv_key_0`
        )
        AND EXISTS(
          SELECT
            1
          FROM (
            SELECT
              `mv_inner`.`b` AS mv_key_0,
              TRUE AS mv_output_0
            FROM (
              SELECT
                `mv_table_1`.`b` AS `b`
              FROM mv_old_1 AS `mv_table_1`
            ) AS mv_inner
            GROUP BY
              `mv_inner`.`b`
          ) AS mv_value_0
          WHERE
            `mv_table_0`.`b` = `mv_value_0`.`mv_key_0`
        )
      )
      AND NOT EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `mv_inner`.`b` AS mv_key_0,
            TRUE AS mv_output_0
          FROM (
            SELECT
              `mv_table_1`.`b` AS `b`
            FROM `mv_table_1` AS `mv_table_1`
          ) AS mv_inner
          GROUP BY
            `mv_inner`.`b`
        ) AS mv_value_0
        WHERE
          `mv_table_0`.`b` = `mv_value_0`.`mv_key_0`
      )
    UNION ALL
    SELECT
      `mv_table_0`.`a` AS `mv_table_0__a`,
      `mv_table_0`.`v` AS `mv_table_0__v`,
      `mv_value_0`.`mv_output_0` AS `mv_value_0__mv_output_0`,
      `mv_table_0`.`b` AS `mv_table_0__b`,
      -1 AS mv_weight
    FROM `mv_table_0` AS `mv_table_0`
    LEFT JOIN (
      SELECT
        `mv_inner`.`b` AS mv_key_0,
        TRUE AS mv_output_0
      FROM (
        SELECT
          `mv_table_1`.`b` AS `b`
        FROM `mv_table_1` AS `mv_table_1`
      ) AS mv_inner
      GROUP BY
        `mv_inner`.`b`
    ) AS mv_value_0
      ON FALSE
    WHERE
      (
        EXISTS(
          SELECT
            1
          FROM (
            SELECT
              `mv_groups`.`mv_key_0` AS `mv_key_0`,
              `mv_groups`.`mv_output_0` AS `mv_output_0`,
              -1 AS mv_weight
            FROM (
              SELECT
                `mv_inner`.`b` AS mv_key_0,
                TRUE AS mv_output_0
              FROM (
                SELECT
                  `mv_table_1`.`b` AS `b`
                FROM mv_old_1 AS `mv_table_1`
              ) AS mv_inner
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM mv_keys_0 AS mv_keys
                  WHERE
                    `mv_inner`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
                )
              GROUP BY
                `mv_inner`.`b`
            ) AS mv_groups
            UNION ALL
            SELECT
              `mv_groups`.`mv_key_0` AS `mv_key_0`,
              `mv_groups`.`mv_output_0` AS `mv_output_0`,
              1 AS mv_weight
            FROM (
              SELECT
                `mv_inner`.`b` AS mv_key_0,
                TRUE AS mv_output_0
              FROM (
                SELECT
                  `mv_table_1`.`b` AS `b`
                FROM `mv_table_1` AS `mv_table_1`
              ) AS mv_inner
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM mv_keys_0 AS mv_keys
                  WHERE
                    `mv_inner`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
                )
              GROUP BY
                `mv_inner`.`b`
            ) AS mv_groups
          ) AS mv_value_0
          WHERE
            `mv_table_0`.`b` = `mv_value_0`.`mv_key_0`
        )
        AND NOT EXISTS(
          SELECT
            1
          FROM (
            SELECT
              `mv_inner`.`b` AS mv_key_0,
              TRUE AS mv_output_0
            FROM (
              SELECT
                `mv_table_1`.`b` AS `b`
              FROM mv_old_1 AS `mv_table_1`
            ) AS mv_inner
            GROUP BY
              `mv_inner`.`b`
          ) AS mv_value_0
          WHERE
            `mv_table_0`.`b` = `mv_value_0`.`mv_key_0`
        )
      )
      AND EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `mv_inner`.`b` AS mv_key_0,
            TRUE AS mv_output_0
          FROM (
            SELECT
              `mv_table_1`.`b` AS `b`
            FROM `mv_table_1` AS `mv_table_1`
          ) AS mv_inner
          GROUP BY
            `mv_inner`.`b`
        ) AS mv_value_0
        WHERE
          `mv_table_0`.`b` = `mv_value_0`.`mv_key_0`
      )
  ) AS mv_join_mv_table_0_mv_value_0
  CROSS JOIN (
    SELECT
      COUNT(*) AS mv_output_0,
      COUNT(`mv_inner`.`b`) AS mv_output_1
    FROM (
      SELECT
        `mv_table_1`.`b` AS `b`
      FROM `mv_table_1` AS `mv_table_1`
    ) AS mv_inner
  ) AS mv_value_1
  WHERE
    `mv_join_mv_table_0_mv_value_0`.`mv_table_0__v` > 2
    OR NOT (
      CASE
        WHEN NOT `mv_join_mv_table_0_mv_value_0`.`mv_value_0__mv_output_0` IS NULL
        THEN TRUE
        WHEN COALESCE(`mv_value_1`.`mv_output_0`, 0) = 0
        THEN FALSE
        WHEN `mv_join_mv_table_0_mv_value_0`.`mv_table_0__b` IS NULL
        OR `mv_value_1`.`mv_output_0` > `mv_value_1`.`mv_output_1`
        THEN NULL
        ELSE FALSE
      END
    )
  UNION ALL
  SELECT
    `mv_join_mv_table_0_mv_value_0`.`mv_table_0__a` AS `c0`,
    `mv_join_mv_table_0_mv_value_0`.`mv_table_0__v` AS `c1`,
    `mv_value_1`.`mv_weight` AS mv_weight
  FROM (
    SELECT
      `mv_table_0`.`a` AS `mv_table_0__a`,
      `mv_table_0`.`v` AS `mv_table_0__v`,
      `mv_value_0`.`mv_output_0` AS `mv_value_0__mv_output_0`,
      `mv_table_0`.`b` AS `mv_table_0__b`
    FROM `mv_table_0` AS `mv_table_0`
    LEFT JOIN (
      SELECT
        `mv_inner`.`b` AS mv_key_0,
        TRUE AS mv_output_0
      FROM (
        SELECT
          `mv_table_1`.`b` AS `b`
        FROM mv_old_1 AS `mv_table_1`
      ) AS mv_inner
      GROUP BY
        `mv_inner`.`b`
    ) AS mv_value_0
      ON `mv_table_0`.`b` = `mv_value_0`.`mv_key_0`
  ) AS mv_join_mv_table_0_mv_value_0
  CROSS JOIN (
    SELECT
      `mv_row`.`mv_output_0`,
      `mv_row`.`mv_output_1`,
      `mv_row`.`mv_weight`
    FROM mv_row_1 AS mv_row
  ) AS mv_value_1
  WHERE
    `mv_join_mv_table_0_mv_value_0`.`mv_table_0__v` > 2
    OR NOT (
      CASE
        WHEN NOT `mv_join_mv_table_0_mv_value_0`.`mv_value_0__mv_output_0` IS NULL
        THEN TRUE
        WHEN COALESCE(`mv_value_1`.`mv_output_0`, 0) = 0
        THEN FALSE
        WHEN `mv_join_mv_table_0_mv_value_0`.`mv_table_0__b` IS NULL
        OR `mv_value_1`.`mv_output_0` > `mv_value_1`.`mv_output_1`
        THEN NULL
        ELSE FALSE
      END
    )
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_2 is applied to the stored rows as in filter_deletes.sql
