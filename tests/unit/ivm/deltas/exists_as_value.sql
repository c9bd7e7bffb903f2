-- A left join of the keys that are there.

SELECT r.a, EXISTS (SELECT 1 FROM mv_table_1 s WHERE s.b = r.b) AS x FROM mv_table_0 r;

-- Changed: mv_table_1
-- Kept: row by row

-- mv_keys_0
SELECT
  `mv_changed`.`mv_key_0`
FROM (
  SELECT
    `s`.`b` AS mv_key_0,
    `s`.`mv_weight` AS mv_weight
  FROM mv_changes_1 AS `s`
) AS mv_changed
GROUP BY
  `mv_changed`.`mv_key_0`;

-- mv_net_1
SELECT
  `mv_delta`.`c0`,
  `mv_delta`.`c1`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_join_r_mv_value_0`.`r__a` AS `c0`,
    (
      NOT `mv_join_r_mv_value_0`.`mv_value_0__mv_output_0` IS NULL
    ) AS `c1`,
    `mv_join_r_mv_value_0`.`mv_weight` AS mv_weight
  FROM (
    SELECT
      `r`.`a` AS `r__a`,
      `mv_value_0`.`mv_output_0` AS `mv_value_0__mv_output_0`,
      `mv_value_0`.`mv_weight` AS mv_weight
    FROM `mv_table_0` AS `r`
    JOIN (
      SELECT
        `mv_groups`.`mv_key_0` AS `mv_key_0`,
        `mv_groups`.`mv_output_0` AS `mv_output_0`,
        -1 AS mv_weight
      FROM (
        SELECT
          `s`.`b` AS mv_key_0,
          TRUE AS mv_output_0
        FROM mv_old_1 AS `s`
        WHERE
          EXISTS(
            SELECT
              1
            FROM mv_keys_0 AS mv_keys
            WHERE
              `s`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
          )
        GROUP BY
          `s`.`b`
      ) AS mv_groups
      UNION ALL
      SELECT
        `mv_groups`.`mv_key_0` AS `mv_key_0`,
        `mv_groups`.`mv_output_0` AS `mv_output_0`,
        1 AS mv_weight
      FROM (
        SELECT
          `s`.`b` AS mv_key_0,
          TRUE AS mv_output_0
        FROM `mv_table_1` AS `s`
        WHERE
          EXISTS(
            SELECT
              1
            FROM mv_keys_0 AS mv_keys
            WHERE
              `s`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
          )
        GROUP BY
          `s`.`b`
      ) AS mv_groups
    ) AS mv_value_0
      ON `r`.`b` = `mv_value_0`.`mv_key_0`
    UNION ALL
    SELECT
      `r`.`a` AS `r__a`,
      `mv_value_0`.`mv_output_0` AS `mv_value_0__mv_output_0`,
      1 AS mv_weight
    FROM `mv_table_0` AS `r`
    LEFT JOIN (
      SELECT
        `s`.`b` AS mv_key_0,
        TRUE AS mv_output_0
      FROM `mv_table_1` AS `s`
      GROUP BY
        `s`.`b`
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
                `s`.`b` AS mv_key_0,
                TRUE AS mv_output_0
              FROM mv_old_1 AS `s`
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM mv_keys_0 AS mv_keys
                  WHERE
                    `s`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
                )
              GROUP BY
                `s`.`b`
            ) AS mv_groups
            UNION ALL
            SELECT
              `mv_groups`.`mv_key_0` AS `mv_key_0`,
              `mv_groups`.`mv_output_0` AS `mv_output_0`,
              1 AS mv_weight
            FROM (
              SELECT
                `s`.`b` AS mv_key_0,
                TRUE AS mv_output_0
              FROM `mv_table_1` AS `s`
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM mv_keys_0 AS mv_keys
                  WHERE
                    `s`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
                )
              GROUP BY
                `s`.`b`
            ) AS mv_groups
          ) AS mv_value_0
          WHERE
            `r`.`b` = `mv_value_0`.`mv_key_0`
        )
        AND EXISTS(
          SELECT
            1
          FROM (
            SELECT
              `s`.`b` AS mv_key_0,
              TRUE AS mv_output_0
            FROM mv_old_1 AS `s`
            GROUP BY
              `s`.`b`
          ) AS mv_value_0
          WHERE
            `r`.`b` = `mv_value_0`.`mv_key_0`
        )
      )
      AND NOT EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `s`.`b` AS mv_key_0,
            TRUE AS mv_output_0
          FROM `mv_table_1` AS `s`
          GROUP BY
            `s`.`b`
        ) AS mv_value_0
        WHERE
          `r`.`b` = `mv_value_0`.`mv_key_0`
      )
    UNION ALL
    SELECT
      `r`.`a` AS `r__a`,
      `mv_value_0`.`mv_output_0` AS `mv_value_0__mv_output_0`,
      -1 AS mv_weight
    FROM `mv_table_0` AS `r`
    LEFT JOIN (
      SELECT
        `s`.`b` AS mv_key_0,
        TRUE AS mv_output_0
      FROM `mv_table_1` AS `s`
      GROUP BY
        `s`.`b`
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
                `s`.`b` AS mv_key_0,
                TRUE AS mv_output_0
              FROM mv_old_1 AS `s`
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM mv_keys_0 AS mv_keys
                  WHERE
                    `s`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
                )
              GROUP BY
                `s`.`b`
            ) AS mv_groups
            UNION ALL
            SELECT
              `mv_groups`.`mv_key_0` AS `mv_key_0`,
              `mv_groups`.`mv_output_0` AS `mv_output_0`,
              1 AS mv_weight
            FROM (
              SELECT
                `s`.`b` AS mv_key_0,
                TRUE AS mv_output_0
              FROM `mv_table_1` AS `s`
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM mv_keys_0 AS mv_keys
                  WHERE
                    `s`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
                )
              GROUP BY
                `s`.`b`
            ) AS mv_groups
          ) AS mv_value_0
          WHERE
            `r`.`b` = `mv_value_0`.`mv_key_0`
        )
        AND NOT EXISTS(
          SELECT
            1
          FROM (
            SELECT
              `s`.`b` AS mv_key_0,
              TRUE AS mv_output_0
            FROM mv_old_1 AS `s`
            GROUP BY
              `s`.`b`
          ) AS mv_value_0
          WHERE
            `r`.`b` = `mv_value_0`.`mv_key_0`
        )
      )
      AND EXISTS(
        SELECT
          1
        FROM (
          SELECT
            `s`.`b` AS mv_key_0,
            TRUE AS mv_output_0
          FROM `mv_table_1` AS `s`
          GROUP BY
            `s`.`b`
        ) AS mv_value_0
        WHERE
          `r`.`b` = `mv_value_0`.`mv_key_0`
      )
  ) AS mv_join_r_mv_value_0
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`,
  `mv_delta`.`c1`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_1 is applied to the stored rows as in filter_deletes.sql
