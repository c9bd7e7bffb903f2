"""Forms of queries with examples over the tables of the shop, from which the rows of
docs/supported_queries.md are made.

What becomes of them is not said here; the classifier says it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Construct:
    """A form of query. `note` is what the classifier does not say: how it works, or the way out if
    its reason names none.

    `partition_by` is the column that the view is partitioned by, if the row is about that;
    `settings` are those of the session; `plans_otherwise` that Spark plans it in another way than
    it was understood.
    """

    title: str
    examples: tuple[str, ...]
    note: str = ""
    partition_by: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    plans_otherwise: bool = False


ROWS = (
    Construct(
        "WHERE, expressions",
        (
            "SELECT id, amount * 2 AS twice FROM orders WHERE amount > 5",
            "SELECT id, CASE WHEN is_paid THEN amount END AS paid FROM orders",
            "SELECT id, amount * 2 AS twice, twice + 1 AS more FROM orders",
        ),
    ),
    Construct(
        "comparisons of columns of one table with the clock",
        (
            "SELECT id FROM orders WHERE day > CURRENT_DATE - 7",
            "SELECT id, CASE WHEN day < CURRENT_DATE THEN amount END AS late FROM orders",
        ),
        "rows that cross a moment are updates",
    ),
    Construct(
        "`LATERAL VIEW`, generators",
        (
            "SELECT id, tag FROM orders LATERAL VIEW EXPLODE(tags) t AS tag",
            "SELECT id, EXPLODE(tags) AS tag FROM orders",
            "SELECT id, tag FROM orders, LATERAL EXPLODE(tags) AS t(tag)",
        ),
    ),
    Construct(
        "`LATERAL` subqueries of expressions, of rows, of aggregates by equal keys",
        (
            "SELECT id, twice FROM orders o, LATERAL (SELECT o.amount * 2 AS twice) l",
            "SELECT o.id, l.day FROM orders o LEFT JOIN LATERAL "
            "(SELECT r.day FROM returns r WHERE r.id = o.id AND r.day > o.day) l ON TRUE",
            "SELECT o.id, n, last FROM orders o, LATERAL (SELECT COUNT(*) AS n, "
            "MAX(r.day) AS last FROM returns r WHERE r.id = o.id) l",
        ),
        "joined",
    ),
    Construct(
        "`LATERAL` subqueries with GROUP BY, HAVING or DISTINCT, by equal keys",
        (
            "SELECT o.id, l.day, l.n FROM orders o, LATERAL (SELECT r.day, COUNT(*) AS n "
            "FROM returns r WHERE r.id = o.id GROUP BY r.day HAVING COUNT(*) > 1) l",
            "SELECT o.id, l.day FROM orders o LEFT JOIN LATERAL "
            "(SELECT DISTINCT r.day FROM returns r WHERE r.id = o.id) l ON TRUE",
        ),
    ),
    Construct(
        "`LATERAL` subqueries with LIMIT, or windows, values with LIMIT 1, by equal keys",
        (
            "SELECT c.id, l.day FROM customers c, LATERAL (SELECT o.day FROM orders o "
            "WHERE o.customer = c.id ORDER BY o.day DESC LIMIT 3) l",
            "SELECT c.id, l.k FROM customers c LEFT JOIN LATERAL (SELECT o.day, RANK() OVER "
            "(ORDER BY o.amount) AS k FROM orders o WHERE o.customer = c.id) l ON l.k < 3",
            "SELECT id, (SELECT o.day FROM orders o WHERE o.customer = c.id ORDER BY o.amount DESC "
            "LIMIT 1) AS best_day FROM customers c",
        ),
        "rows are numbered by key; those of changed keys are numbered again",
    ),
    Construct(
        "WITH, subqueries in FROM, views",
        (
            "WITH large AS (SELECT id, region FROM orders WHERE amount > 5) SELECT id FROM large",
            "SELECT id FROM (SELECT id, region FROM orders) d WHERE region = 'north'",
        ),
        "views are inlined as subqueries",
    ),
    Construct(
        "inner and cross joins on any condition, of any number, of a table with itself",
        (
            "SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer",
            "SELECT o.id, c.name FROM orders o, customers c WHERE o.amount > c.score",
            "SELECT a.id, b.id AS other FROM orders a JOIN orders b ON a.day = b.day",
        ),
    ),
    Construct(
        "left, right, full joins on any condition, of any number, of a table with itself",
        (
            "SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer",
            "SELECT o.id, r.day FROM returns r RIGHT JOIN orders o ON o.id = r.id",
            "SELECT id, o.day, r.day AS back FROM orders o FULL JOIN returns r USING (id)",
        ),
    ),
    Construct(
        "`LEFT SEMI`, `LEFT ANTI`",
        (
            "SELECT id, day FROM orders o LEFT SEMI JOIN returns r ON r.id = o.id",
            "SELECT id, day FROM orders o LEFT ANTI JOIN returns r ON r.id = o.id",
        ),
    ),
    Construct(
        "`[NOT] EXISTS`, `[NOT] IN` as conditions of WHERE, NULLs included",
        (
            "SELECT id FROM orders o WHERE EXISTS "
            "(SELECT 1 FROM returns r WHERE r.id = o.id AND r.day > o.day)",
            "SELECT id FROM orders WHERE customer NOT IN (SELECT id FROM customers)",
            "SELECT id FROM orders WHERE (id, day) IN (SELECT id, day FROM returns)",
        ),
    ),
    Construct(
        "UNION ALL",
        ("SELECT region, day FROM orders UNION ALL SELECT region, day FROM returns",),
    ),
    Construct(
        "aggregates of all rows, joined or as scalar subqueries, in SELECT, WHERE, HAVING",
        (
            "SELECT id FROM orders WHERE amount > (SELECT AVG(amount) FROM orders)",
            "SELECT id, amount / m.total AS part FROM orders "
            "CROSS JOIN (SELECT SUM(amount) AS total FROM orders) m",
            "SELECT id, EXISTS (SELECT 1 FROM returns WHERE quantity > 9) AS any_large FROM orders",
            "SELECT region, SUM(amount) AS total FROM orders GROUP BY region "
            "HAVING SUM(amount) > (SELECT AVG(amount) FROM orders)",
        ),
        "joined; if the value changes, every row with it changes",
    ),
    Construct(
        "scalar subqueries with aggregates, correlated by equal keys",
        (
            "SELECT id, (SELECT SUM(amount) FROM orders o WHERE o.customer = c.id) AS total "
            "FROM customers c",
            "SELECT id FROM orders o WHERE amount > "
            "(SELECT AVG(amount) FROM orders i WHERE i.customer = o.customer)",
        ),
        "joined by key",
    ),
    Construct(
        "`[NOT] EXISTS` anywhere, `[NOT] IN` under OR in WHERE and HAVING, by equal keys, NULLs "
        "included",
        (
            "SELECT id, EXISTS (SELECT 1 FROM returns r WHERE r.id = o.id) AS is_back "
            "FROM orders o",
            "SELECT id FROM orders WHERE amount > 5 OR id NOT IN (SELECT id FROM returns)",
            "SELECT id FROM orders o WHERE EXISTS (SELECT region FROM returns r "
            "WHERE r.id = o.id GROUP BY region HAVING COUNT(*) > 1)",
            "SELECT region, COUNT(*) AS n FROM orders GROUP BY region "
            "HAVING COUNT(*) > 2 OR region IN (SELECT region FROM returns)",
        ),
        "joined by key",
    ),
    Construct(
        "joins of rows that windows choose, and semi joins with these",
        (
            "SELECT name FROM customers c JOIN (SELECT id, ROW_NUMBER() OVER (PARTITION BY region "
            "ORDER BY day) AS k FROM orders) d ON c.id = d.id AND d.k = 1",
            "SELECT id FROM returns WHERE id IN (SELECT id FROM (SELECT id, ROW_NUMBER() OVER "
            "(PARTITION BY region ORDER BY day) AS k FROM orders) d WHERE k = 1)",
        ),
        "rows that are equal in ORDER BY get a total order",
    ),
    Construct(
        "windows that do not return a shared column of PARTITION BY",
        (
            "SELECT id, SUM(amount) OVER (PARTITION BY region) AS total FROM orders",
            "SELECT id, ROW_NUMBER() OVER (PARTITION BY region ORDER BY day) AS k FROM orders",
            "SELECT id, SUM(quantity) OVER (PARTITION BY region ORDER BY day "
            "ROWS 1 PRECEDING) AS s FROM orders",
        ),
        "rows that are equal in ORDER BY get a total order",
    ),
    Construct(
        "joins of aggregates",
        (
            "SELECT name, n FROM customers c JOIN (SELECT customer, COUNT(*) AS n FROM orders "
            "GROUP BY customer) d ON d.customer = c.id",
        ),
        "groups of changed rows below are recomputed",
    ),
    Construct(
        "UNION ALL of aggregates",
        (
            "SELECT region, COUNT(*) AS n FROM orders GROUP BY region "
            "UNION ALL SELECT region, 0 FROM returns",
        ),
        "groups of changed rows below are recomputed",
    ),
    Construct(
        "GROUPING SETS with aggregates that are not added to, or below others, if no set is empty",
        (
            "SELECT region, day, COUNT(DISTINCT customer) AS n FROM orders "
            "GROUP BY GROUPING SETS ((region, day), (region))",
        ),
        "rewritten to UNION ALL of one GROUP BY per set; groups of changed rows are recomputed",
    ),
)

ANEW = (
    Construct(
        "any other aggregate with GROUP BY",
        (
            "SELECT region, COUNT(DISTINCT customer) AS n FROM orders GROUP BY region",
            "SELECT region, STDDEV(amount) AS s, COLLECT_SET(day) AS days FROM orders "
            "GROUP BY region",
            "SELECT region, FIRST(amount) AS one FROM orders GROUP BY region",
            "SELECT region, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount) AS half "
            "FROM orders GROUP BY region",
        ),
    ),
    Construct(
        "sums and averages of FLOAT and DOUBLE, and of long decimals, with GROUP BY",
        (
            "SELECT region, SUM(weight) AS total FROM orders GROUP BY region",
            "SELECT region, SUM(CAST(amount AS DECIMAL(38, 10))) AS total FROM orders "
            "GROUP BY region",
        ),
    ),
    Construct(
        "sums of FLOAT and DOUBLE, STDDEV and similar, below joins, if they are only shown, and a "
        "column of the joins is returned",
        (
            "SELECT c.id, o.total FROM customers c LEFT JOIN (SELECT customer, SUM(weight) AS "
            "total FROM orders GROUP BY customer) o ON o.customer = c.id",
        ),
    ),
    Construct(
        "the same below groups and windows that return their keys",
        (
            "SELECT region, MAX(total) AS most FROM (SELECT region, customer, SUM(weight) AS total "
            "FROM orders GROUP BY region, customer) d GROUP BY region",
        ),
    ),
    Construct(
        "INTERSECT ALL, EXCEPT ALL",
        (
            "SELECT region, day FROM orders INTERSECT ALL SELECT region, day FROM returns",
            "SELECT region, day FROM orders EXCEPT ALL SELECT region, day FROM returns",
        ),
    ),
    Construct(
        "window functions that share a returned column of PARTITION BY, also over aggregates",
        (
            "SELECT region, id, SUM(amount) OVER (PARTITION BY region) AS total FROM orders",
            "SELECT region, id, ROW_NUMBER() OVER (PARTITION BY region ORDER BY day) AS k, "
            "LAG(amount) OVER (PARTITION BY region, day ORDER BY id) AS l FROM orders",
            "SELECT region, day, RANK() OVER (PARTITION BY region ORDER BY SUM(amount)) AS k "
            "FROM orders GROUP BY region, day",
        ),
    ),
    Construct(
        "the first rows of groups, and other conditions on windows that return their keys",
        (
            "SELECT region, id FROM (SELECT region, id, ROW_NUMBER() OVER (PARTITION BY region "
            "ORDER BY day) AS k FROM orders) d WHERE k = 1",
        ),
    ),
    Construct(
        "a selection from groups that return their keys and cannot be added to",
        (
            "SELECT region FROM (SELECT region, COUNT(DISTINCT day) AS n FROM orders "
            "GROUP BY region) d WHERE n > 1",
            "SELECT UPPER(region) AS name FROM "
            "(SELECT region FROM orders EXCEPT ALL SELECT region FROM returns) d",
        ),
    ),
    Construct(
        "ORDER BY of returned columns, with LIMIT, at the end",
        ("SELECT id, amount FROM orders ORDER BY amount DESC LIMIT 10",),
        "stores as many spare rows as the LIMIT, 10 to 1,000; after these the refresh is complete",
    ),
    Construct(
        "the same with GROUP BY",
        (
            "SELECT region, COUNT(*) AS n FROM orders GROUP BY region ORDER BY COUNT(*) DESC "
            "LIMIT 3",
        ),
        "faster if the groups are a separate view, which can be added to",
    ),
)
