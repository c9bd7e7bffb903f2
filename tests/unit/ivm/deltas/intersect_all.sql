-- The copies of changed rows, on both sides as they are now.

SELECT a, b FROM mv_table_0 INTERSECT ALL SELECT b, v FROM mv_table_1;

-- Changed: mv_table_0, mv_table_1
-- Kept: groups of changed rows are recomputed

-- mv_keys_0
SELECT
  `mv_changed`.`mv_key_0`,
  `mv_changed`.`mv_key_1`
FROM (
  SELECT
    `mv_side`.`c0` AS mv_key_0,
    `mv_side`.`c1` AS mv_key_1
  FROM (
    SELECT
      `mv_table_0`.`a` AS `c0`,
      `mv_table_0`.`b` AS `c1`,
      `mv_table_0`.`mv_weight` AS mv_weight
    FROM mv_changes_0 AS `mv_table_0`
  ) AS mv_side
  UNION ALL
  SELECT
    `mv_side`.`b` AS mv_key_0,
    `mv_side`.`v` AS mv_key_1
  FROM (
    SELECT
      `mv_table_1`.`b` AS `b`,
      `mv_table_1`.`v` AS `v`,
      `mv_table_1`.`mv_weight` AS mv_weight
    FROM mv_changes_1 AS `mv_table_1`
  ) AS mv_side
) AS mv_changed
GROUP BY
  `mv_changed`.`mv_key_0`,
  `mv_changed`.`mv_key_1`;

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
      AND `mv_stored`.`c1` IS NOT DISTINCT FROM `mv_replaced`.`mv_key_1`
  )
UNION ALL
(
  SELECT
    `mv_side`.`c0`,
    `mv_side`.`c1`
  FROM (
    SELECT
      `mv_table_0`.`a` AS `c0`,
      `mv_table_0`.`b` AS `c1`
    FROM `mv_table_0` AS `mv_table_0`
  ) AS mv_side
  WHERE
    EXISTS(
      SELECT
        1
      FROM mv_keys_0 AS mv_keys
      WHERE
        `mv_side`.`c0` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
        AND `mv_side`.`c1` IS NOT DISTINCT FROM `mv_keys`.`mv_key_1`
    )
  INTERSECT ALL
  SELECT
    `mv_side`.`b`,
    `mv_side`.`v`
  FROM (
    SELECT
      `mv_table_1`.`b` AS `b`,
      `mv_table_1`.`v` AS `v`
    FROM `mv_table_1` AS `mv_table_1`
  ) AS mv_side
  WHERE
    EXISTS(
      SELECT
        1
      FROM mv_keys_0 AS mv_keys
      WHERE
        `mv_side`.`b` IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`
        AND `mv_side`.`v` IS NOT DISTINCT FROM `mv_keys`.`mv_key_1`
    )
);
