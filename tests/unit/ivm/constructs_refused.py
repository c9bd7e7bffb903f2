"""Forms of queries that are not refreshed fast, and columns that a view is partitioned by."""

from __future__ import annotations

from tests.unit.ivm.constructs import Construct
from tests.unit.ivm.shop import USER_FUNCTION

REFUSED = (
    Construct(
        "other aggregates without GROUP BY, and no other relation",
        (
            "SELECT COUNT(DISTINCT customer) AS n FROM orders",
            "SELECT STDDEV(amount) AS s FROM orders",
        ),
    ),
    Construct(
        "sums of FLOAT and DOUBLE without GROUP BY",
        ("SELECT SUM(weight) AS total FROM orders", "SELECT AVG(weight) AS mean FROM orders"),
    ),
    Construct(
        "aggregates of all rows in a subquery, and no other relation",
        (
            "SELECT (SELECT MAX(amount) FROM orders) AS most",
            "SELECT n + 1 AS more FROM (SELECT COUNT(DISTINCT id) AS n FROM orders) d",
            "SELECT region FROM orders UNION ALL SELECT MAX(region) FROM returns",
        ),
    ),
    Construct(
        "windows without a common PARTITION BY",
        (
            "SELECT id, RANK() OVER (ORDER BY amount) AS k FROM orders",
            "SELECT id, SUM(amount) OVER (PARTITION BY region) AS r, "
            "SUM(amount) OVER (PARTITION BY day) AS d FROM orders",
        ),
    ),
    Construct(
        "QUALIFY",
        (
            "SELECT region, id FROM orders "
            "QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY day) = 1",
        ),
    ),
    Construct(
        "GROUPING SETS with an empty set, as ROLLUP and CUBE have, not at the top, or with other "
        "aggregates",
        (
            "SELECT region, COUNT(DISTINCT customer) AS n FROM orders GROUP BY ROLLUP (region)",
            "SELECT n, COUNT(*) AS c FROM (SELECT COUNT(*) AS n FROM orders GROUP BY CUBE (region)"
            ") d GROUP BY n",
        ),
    ),
    Construct(
        "GROUP BY ALL with a number among the keys",
        ("SELECT region, 1 AS one, COUNT(*) AS n FROM orders GROUP BY ALL",),
    ),
    Construct("LIMIT without ORDER BY", ("SELECT id FROM orders LIMIT 10",)),
    Construct(
        "LIMIT with ORDER BY of columns that are not returned",
        ("SELECT id FROM orders ORDER BY amount LIMIT 10",),
    ),
    Construct(
        "LIMIT that is not at the end, OFFSET",
        (
            "SELECT COUNT(*) AS n FROM (SELECT id FROM orders ORDER BY id LIMIT 10) d",
            "SELECT id, amount FROM orders ORDER BY amount OFFSET 5",
        ),
    ),
    Construct(
        "scalar subqueries that are no aggregates, or have GROUP BY",
        (
            "SELECT id FROM orders WHERE amount > (SELECT score FROM customers WHERE id = 1)",
            "SELECT id FROM orders WHERE amount > (SELECT SUM(score) FROM customers GROUP BY id)",
        ),
    ),
    Construct(
        "subqueries in ON of outer joins, in LATERAL VIEW",
        (
            "SELECT id, x FROM orders "
            "LATERAL VIEW EXPLODE(ARRAY((SELECT MAX(id) FROM returns))) t AS x",
            "SELECT o.id, name FROM orders o LEFT JOIN customers c "
            "ON o.amount > (SELECT MAX(score) FROM customers)",
        ),
    ),
    Construct(
        "subqueries in `= ANY`, `> ALL`",
        (
            "SELECT id FROM orders WHERE amount = ANY (SELECT score FROM customers)",
            "SELECT id FROM orders WHERE amount > ALL (SELECT score FROM customers)",
        ),
    ),
    Construct(
        "subqueries on the left of IN",
        (
            "SELECT id FROM orders WHERE "
            "(SELECT MAX(id) FROM returns) IN (SELECT id FROM customers)",
        ),
    ),
    Construct(
        "IN as a value",
        ("SELECT id, id IN (SELECT id FROM returns) AS is_back FROM orders",),
    ),
    Construct(
        "IN of a tuple under OR",
        ("SELECT id FROM orders WHERE amount > 5 OR (id, day) IN (SELECT id, day FROM returns)",),
    ),
    Construct(
        "NOT IN of a tuple",
        ("SELECT id FROM orders WHERE (id, day) NOT IN (SELECT id, day FROM returns)",),
    ),
    Construct(
        "correlated conditions over more than one level, or in IN with GROUP BY",
        (
            "SELECT id FROM orders o WHERE region IN (SELECT r.region FROM returns r "
            "WHERE r.id = o.id GROUP BY r.region HAVING COUNT(*) > 1)",
            "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM returns r WHERE EXISTS "
            "(SELECT 1 FROM customers c WHERE c.id = o.customer AND c.region = r.region))",
        ),
    ),
    Construct(
        "correlated scalar subqueries with GROUP BY, DISTINCT or LIMIT",
        (
            "SELECT id, (SELECT MAX(r.day) FROM returns r WHERE r.id = o.id GROUP BY r.region) "
            "AS back FROM orders o",
        ),
    ),
    Construct(
        "correlated scalar subqueries with other conditions than equality",
        (
            "SELECT id, (SELECT MAX(r.day) FROM returns r WHERE r.day < o.day) AS before "
            "FROM orders o",
        ),
    ),
    Construct(
        "correlated scalar subqueries of outer columns, or without an aggregate",
        (
            "SELECT id, (SELECT MAX(r.quantity + o.quantity) FROM returns r WHERE r.id = o.id) "
            "AS most FROM orders o",
            "SELECT id, (SELECT r.day FROM returns r WHERE r.id = o.id) AS back FROM orders o",
        ),
    ),
    Construct(
        "correlated IN under OR, of a constant or of outer columns",
        (
            "SELECT id FROM orders o WHERE amount > 5 OR quantity IN "
            "(SELECT r.quantity + o.quantity FROM returns r WHERE r.id = o.id)",
        ),
    ),
    Construct(
        "correlated scalar subqueries that name outer columns in ON",
        (
            "SELECT id, (SELECT MAX(r.day) FROM returns r JOIN customers c ON c.id = o.customer "
            "WHERE r.id = o.id) AS back FROM orders o",
        ),
    ),
    Construct(
        "correlated scalar subqueries of aggregates that are neither COUNT nor NULL over no rows",
        (
            "SELECT id, (SELECT APPROX_COUNT_DISTINCT(r.day) FROM returns r WHERE r.id = o.id) "
            "AS n FROM orders o",
        ),
    ),
    Construct(
        "correlated scalar subqueries by columns of different types",
        (
            "SELECT id, (SELECT SUM(quantity) FROM orders o WHERE o.region = c.score) AS total "
            "FROM customers c",
        ),
    ),
    Construct(
        "correlated scalar subqueries next to aggregates, by a column that is not a key",
        (
            "SELECT region, (SELECT MAX(r.day) FROM returns r WHERE r.id = o.id) AS back "
            "FROM orders o GROUP BY region",
        ),
    ),
    Construct(
        "LATERAL subqueries with LIMIT, by other conditions than equal keys",
        (
            "SELECT o.id, back FROM orders o, LATERAL (SELECT r.day AS back FROM returns r "
            "WHERE r.day > o.day ORDER BY r.day LIMIT 1) l",
        ),
    ),
    Construct(
        "aggregates that depend on the order of rows (`first`, `collect_list` ..), below any "
        "operator but a filter",
        (
            "SELECT r.id, f.one FROM returns r JOIN (SELECT region, FIRST(amount) AS one "
            "FROM orders GROUP BY region) f ON f.region = r.region",
        ),
    ),
    Construct(
        "sums of FLOAT and DOUBLE, STDDEV and similar, if they decide about rows, or without a key",
        (
            "SELECT MAX(total) AS most FROM (SELECT region, SUM(CAST(amount AS DOUBLE)) AS total "
            "FROM orders GROUP BY region) d",
            "SELECT r.id, o.s FROM returns r JOIN (SELECT region, STDDEV(amount) AS s FROM orders "
            "GROUP BY region) o ON o.region = r.region WHERE o.s > 1",
        ),
    ),
    Construct(
        "these aggregates, if the keys are not among the columns of the view",
        ("SELECT FIRST(amount) AS one FROM orders GROUP BY region",),
    ),
    Construct(
        "right and full joins after a semi or anti join",
        (
            "SELECT c.id, o.day FROM orders o LEFT SEMI JOIN returns r ON r.id = o.id "
            "FULL JOIN customers c ON c.id = o.customer",
        ),
        "or use EXISTS",
    ),
    Construct(
        "sessions, and windows of time that overlap",
        (
            "SELECT region, COUNT(*) AS n FROM orders "
            "GROUP BY region, SESSION_WINDOW(CAST(day AS TIMESTAMP), '7 days')",
            "SELECT region, COUNT(*) AS n FROM orders "
            "GROUP BY region, WINDOW(CAST(day AS TIMESTAMP), '7 days', '1 day')",
        ),
        "group by windows that do not overlap, or put these in a query over the view",
    ),
    Construct(
        "functions of your own",
        (f"SELECT {USER_FUNCTION}(id) AS value FROM orders",),
        "the adapter cannot see its inputs; write it as an expression",
    ),
    Construct(
        "TABLESAMPLE",
        ("SELECT id FROM orders TABLESAMPLE (10 PERCENT)",),
    ),
    Construct(
        "PIVOT",
        (
            "SELECT north, south FROM orders "
            "PIVOT (SUM(amount) FOR region IN ('north' AS north, 'south' AS south))",
        ),
    ),
    Construct(
        "recursion",
        (
            "WITH RECURSIVE n AS (SELECT id FROM orders UNION ALL SELECT id + 1 FROM n "
            "WHERE id < 9) SELECT id FROM n",
        ),
    ),
    Construct(
        "a star inside of an expression",
        (
            "SELECT day, SUM(HASH(*)) AS h FROM orders GROUP BY day",
            "SELECT id, TO_JSON(STRUCT(o.*)) AS row FROM orders o",
            "SELECT COUNT(o.*) AS n FROM orders o",
        ),
    ),
    Construct(
        "`_file` and similar columns",
        ("SELECT id FROM orders WHERE _file LIKE '%.parquet'",),
        "a compaction changes its value",
    ),
    Construct(
        "`rand` and similar functions",
        ("SELECT id, RAND() AS r FROM orders",),
        "only a complete refresh supports it",
    ),
    Construct(
        "columns of a type that cannot be compared, if the rows are not groups",
        ("SELECT id, extra FROM orders",),
    ),
    Construct(
        "DISTINCT ON",
        ("SELECT DISTINCT ON (region) region, id FROM orders",),
        "Spark refuses it, too",
    ),
    Construct(
        "UNION BY NAME",
        ("SELECT id, day FROM orders UNION ALL BY NAME SELECT day, id FROM returns",),
    ),
    Construct(
        "an expression that returns several columns",
        ("SELECT POSEXPLODE(tags) AS (n, tag) FROM orders",),
    ),
    Construct(
        "joins in parentheses",
        (
            "SELECT c.name FROM customers c LEFT JOIN "
            "(orders o JOIN returns r ON r.id = o.id) ON o.customer = c.id",
        ),
        "write (SELECT .. FROM .. JOIN ..)",
    ),
    Construct(
        "any query, if names are case sensitive",
        ("SELECT id, Id FROM orders",),
        "unset spark.sql.caseSensitive",
        settings=(("spark.sql.caseSensitive", "true"),),
    ),
    Construct(
        "a query whose printed text has another plan in Spark",
        ("SELECT id, amount FROM orders",),
        "any query can be affected, this example is not; the reason shows where the plans differ",
        plans_otherwise=True,
    ),
)
