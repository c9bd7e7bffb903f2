"""Columns that a view is partitioned by, and what they are in its query."""

from __future__ import annotations

from tests.unit.ivm.constructs import Construct

PARTITIONED = (
    Construct(
        "is in GROUP BY, or computed from columns in GROUP BY",
        (
            "SELECT region, COUNT(*) AS n FROM orders GROUP BY region, day",
            "SELECT UPPER(region) AS region, COUNT(*) AS n FROM orders GROUP BY region",
        ),
        partition_by="region",
    ),
    Construct(
        "is in PARTITION BY of every window, or computed from such columns",
        (
            "SELECT region, id, RANK() OVER (PARTITION BY region, day ORDER BY id) AS k "
            "FROM orders",
            "SELECT LEFT(region, 1) AS region, SUM(amount) OVER (PARTITION BY region) AS total "
            "FROM orders",
        ),
        partition_by="region",
    ),
    Construct(
        "is any column or expression without aggregates and windows, in joins of any kind, set "
        "operations, subqueries",
        (
            "SELECT o.id, c.region FROM orders o LEFT JOIN customers c ON c.id = o.customer",
            "SELECT region, day FROM orders EXCEPT SELECT region, day FROM returns",
            "SELECT region, id FROM orders WHERE id IN (SELECT id FROM returns)",
            "SELECT DISTINCT CONCAT(region, '!') AS region FROM orders",
        ),
        partition_by="region",
    ),
    Construct(
        "is a key of the operators below, even if these depend on row order",
        (
            "SELECT region, COUNT(*) AS n FROM (SELECT region, ROW_NUMBER() OVER "
            "(PARTITION BY region ORDER BY day) AS k FROM orders) d WHERE k = 1 GROUP BY region",
        ),
        partition_by="region",
    ),
    Construct(
        "is in all GROUPING SETS, which are not added to",
        (
            "SELECT region, day, COUNT(DISTINCT customer) AS n FROM orders "
            "GROUP BY GROUPING SETS ((region, day), (region))",
        ),
        partition_by="region",
    ),
    Construct(
        "is an aggregate or the value of a window",
        (
            "SELECT region, MAX(day) AS day FROM orders GROUP BY region",
            "SELECT region, LAG(day) OVER (PARTITION BY region ORDER BY id) AS day FROM orders",
        ),
        partition_by="day",
    ),
    Construct(
        "is not in PARTITION BY of every window",
        (
            "SELECT day, SUM(amount) OVER (PARTITION BY region) AS total FROM orders",
            "SELECT day, region, SUM(amount) OVER (PARTITION BY region) AS r, "
            "COUNT(*) OVER (PARTITION BY region, day) AS d FROM orders",
        ),
        partition_by="day",
    ),
    Construct(
        "belongs to GROUPING SETS that are added to",
        (
            "SELECT region, day, SUM(amount) AS total FROM orders GROUP BY ROLLUP (region, day)",
            "SELECT region, day, COUNT(*) AS n FROM orders "
            "GROUP BY GROUPING SETS ((region, day), (region))",
        ),
        partition_by="region",
    ),
    Construct(
        "is missing in some of the GROUPING SETS",
        (
            "SELECT region, day, COUNT(DISTINCT customer) AS n FROM orders "
            "GROUP BY GROUPING SETS ((region, day), (region))",
        ),
        partition_by="day",
    ),
    Construct(
        "is a boolean",
        ("SELECT is_paid, COUNT(*) AS n FROM orders GROUP BY is_paid",),
        "Spark simplifies conditions on booleans to forms that Iceberg refuses",
        partition_by="is_paid",
    ),
    Construct(
        "does not exist: the view has no partitions",
        ("SELECT region, COUNT(*) AS n FROM orders GROUP BY region",),
    ),
)
