"""Forms of queries whose groups are added to."""

from __future__ import annotations

from tests.unit.ivm.constructs import Construct

ADDED = (
    Construct(
        "COUNT, SUM, AVG, MIN, MAX with GROUP BY, of whole numbers and decimals "
        "(COUNT, MIN, MAX: of any type)",
        (
            "SELECT region, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY region",
            "SELECT region, AVG(quantity) AS mean, MAX(day) AS last FROM orders GROUP BY region",
            "SELECT region, 2 * SUM(amount) / COUNT(name) AS twice FROM orders "
            "JOIN customers USING (region) GROUP BY region",
        ),
    ),
    Construct(
        "HAVING with these, `GROUP BY ALL`",
        (
            "SELECT region, COUNT(*) AS n FROM orders GROUP BY region HAVING COUNT(*) > 1",
            "SELECT region, SUM(amount) AS total FROM orders GROUP BY ALL HAVING MAX(day) > DATE "
            "'2024-01-01'",
        ),
        "groups filtered by HAVING are stored, too, and the view does not show them",
    ),
    Construct(
        "a selection from such groups, as the last CTE of a model often is",
        (
            "WITH totals AS (SELECT region, SUM(amount) AS total, COUNT(*) AS n FROM orders "
            "GROUP BY region) SELECT region, total / n AS mean FROM totals WHERE n > 1",
            "SELECT name, n FROM (SELECT region AS name, COUNT(*) AS n FROM orders "
            "GROUP BY region) d WHERE name <> 'north'",
        ),
        "rewritten to one GROUP BY: conditions on keys go to WHERE, others to HAVING",
    ),
    Construct(
        "DISTINCT, UNION",
        (
            "SELECT DISTINCT region FROM orders",
            "SELECT DISTINCT region, name FROM orders JOIN customers USING (region)",
            "SELECT region, day FROM orders UNION SELECT region, day FROM returns",
        ),
        "rewritten to GROUP BY of all columns; rows are counted",
    ),
    Construct(
        "INTERSECT, EXCEPT",
        (
            "SELECT region, day FROM orders INTERSECT SELECT region, day FROM returns",
            "SELECT region, day FROM orders EXCEPT SELECT region, day FROM returns",
        ),
        "like UNION; counts the rows of both sides, and stores rows that the view does not show",
    ),
    Construct(
        "the same without GROUP BY",
        (
            "SELECT COUNT(*) AS n, SUM(amount) AS total, MIN(day) AS first_day FROM orders",
            "SELECT SUM(amount) AS total FROM orders HAVING COUNT(*) > 1",
            "SELECT total + 1 AS more FROM (SELECT SUM(amount) AS total FROM orders) d",
        ),
    ),
    Construct(
        "windows of time that do not overlap and are not sessions",
        (
            "SELECT window.start AS start, COUNT(*) AS n FROM orders "
            "GROUP BY WINDOW(CAST(day AS TIMESTAMP), '7 days')",
            "SELECT region, WINDOW(CAST(day AS TIMESTAMP), '36 hours') AS part, MAX(amount) AS top "
            "FROM orders GROUP BY ALL",
        ),
        "rewritten to expressions of the time, which may be anywhere in a query",
    ),
    Construct(
        "`FILTER (WHERE ..)` on these, COUNT_IF, BOOL_AND, BOOL_OR and their other names",
        (
            "SELECT region, SUM(amount) FILTER (WHERE is_paid) AS paid FROM orders GROUP BY region",
            "SELECT region, COUNT_IF(is_paid) AS n, EVERY(amount > 5) AS all_large FROM orders "
            "GROUP BY region",
        ),
        "rewritten to aggregates of CASE",
    ),
    Construct(
        "the same with GROUPING SETS, ROLLUP, CUBE, GROUPING and GROUPING_ID, at the top",
        (
            "SELECT region, day, SUM(amount) AS total FROM orders GROUP BY ROLLUP (region, day)",
            "SELECT region, day, GROUPING(day) AS g, COUNT(*) AS n FROM orders "
            "GROUP BY GROUPING SETS ((region, day), (region), ())",
        ),
    ),
    Construct(
        "these aggregates over aggregates, set operations and joins",
        (
            "SELECT region, MAX(n) AS most FROM (SELECT region, day, COUNT(*) AS n FROM orders "
            "GROUP BY region, day) d GROUP BY region",
            "SELECT region, COUNT(*) AS n FROM (SELECT region, id FROM orders "
            "UNION SELECT region, id FROM returns) u GROUP BY region",
        ),
        "groups of changed rows below are recomputed",
    ),
)
