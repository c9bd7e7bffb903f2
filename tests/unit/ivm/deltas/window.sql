-- Whole partitions of the window.

SELECT a, v, SUM(v) OVER (PARTITION BY a ORDER BY b) AS total FROM mv_table_0;

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
  `mv_stored`.`c1`,
  `mv_stored`.`c2`
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
  `mv_table_0`.`a` AS `c0`,
  `mv_table_0`.`v` AS `c1`,
  SUM(`mv_table_0`.`v`) OVER (PARTITION BY `mv_table_0`.`a` ORDER BY `mv_table_0`.`b`) AS `c2`
FROM `mv_table_0` AS `mv_table_0`
WHERE
  EXISTS(
    SELECT
      1
    FROM mv_keys_0 AS mv_keys
    WHERE
      `mv_table_0`.`a` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
  );
