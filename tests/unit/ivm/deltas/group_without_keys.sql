-- The keys are not returned, so that stored rows of a group cannot be found: the groups of
-- before go, those of now come.

SELECT COUNT(DISTINCT v) AS n FROM mv_table_0 GROUP BY a;

-- Changed: mv_table_0
-- Kept: groups of changed rows are recomputed

-- mv_keys_0
SELECT
  `mv_changed`.`mv_key_0`
FROM (
  SELECT
    `mv_table_0`.`a` AS mv_key_0,
    `mv_table_0`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS `mv_table_0`
) AS mv_changed
GROUP BY
  `mv_changed`.`mv_key_0`;

-- mv_net_1
SELECT
  `mv_delta`.`c0`,
  SUM(`mv_delta`.`mv_weight`) AS mv_weight
FROM (
  SELECT
    `mv_groups`.`c0` AS `c0`,
    -1 AS mv_weight
  FROM (
    SELECT
      COUNT(DISTINCT `mv_table_0`.`v`) AS `c0`
    FROM mv_old_0 AS `mv_table_0`
    WHERE
      EXISTS(
        SELECT
          1
        FROM mv_keys_0 AS mv_keys
        WHERE
          `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
      )
    GROUP BY
      `mv_table_0`.`a`
  ) AS mv_groups
  UNION ALL
  SELECT
    `mv_groups`.`c0` AS `c0`,
    1 AS mv_weight
  FROM (
    SELECT
      COUNT(DISTINCT `mv_table_0`.`v`) AS `c0`
    FROM `mv_table_0` AS `mv_table_0`
    WHERE
      EXISTS(
        SELECT
          1
        FROM mv_keys_0 AS mv_keys
        WHERE
          `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
      )
    GROUP BY
      `mv_table_0`.`a`
  ) AS mv_groups
) AS mv_delta
GROUP BY
  `mv_delta`.`c0`
HAVING
  SUM(`mv_delta`.`mv_weight`) <> 0;

-- The net change mv_net_1 is applied to the stored rows as in filter_deletes.sql
