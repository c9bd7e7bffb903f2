-- A filter above: the keys of the window are still among the columns.

SELECT a, v FROM (SELECT a, v, RANK() OVER (PARTITION BY a ORDER BY v) AS k FROM mv_table_0) d WHERE k = 1;

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

-- Stored rows after it
SELECT
  `mv_stored`.`c0`,
  `mv_stored`.`c1`
FROM mv_stored
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM mv_keys_0 AS mv_replaced
    WHERE
      `mv_stored`.`c0` IS NOT DISTINCT FROM `mv_replaced`.`mv_key_0`
  )
UNION ALL
SELECT
  `d`.`a` AS `c0`,
  `d`.`v` AS `c1`
FROM (
  SELECT
    `mv_table_0`.`a` AS `a`,
    `mv_table_0`.`v` AS `v`,
    RANK() OVER (PARTITION BY `mv_table_0`.`a` ORDER BY `mv_table_0`.`v`) AS `k`
  FROM `mv_table_0` AS `mv_table_0`
) AS `d`
WHERE
  `d`.`k` = 1
  AND EXISTS(
    SELECT
      1
    FROM mv_keys_0 AS mv_keys
    WHERE
      `d`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
  );
