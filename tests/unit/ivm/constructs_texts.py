"""Forms of queries without a fast refresh: for the clock, the texts that they read, their size."""

from __future__ import annotations

from tests.unit.ivm.constructs import Construct

_MANY_FULL_JOINS = " ".join(f"FULL JOIN returns r{n} ON r{n}.id = o.id + {n}" for n in range(6))

OF_CLOCK_AND_TEXTS = (
    Construct(
        "four or more full joins of one another",
        (f"SELECT o.id, r0.day, r5.day AS last FROM orders o {_MANY_FULL_JOINS}",),
    ),
    Construct(
        "collations",
        (
            "SELECT name COLLATE UTF8_LCASE AS name, COUNT(*) AS n FROM customers "
            "GROUP BY name COLLATE UTF8_LCASE",
            "SELECT id FROM customers WHERE COLLATE(name, 'UTF8_LCASE') = 'ann'",
        ),
        "group by lower(name)",
    ),
    Construct(
        "the clock as a value",
        ("SELECT id, CURRENT_DATE AS today FROM orders",),
        "compare it with columns of one table, or compute with it in a query over the view",
    ),
    Construct(
        "groups that are compared with the clock in a query over them",
        (
            "SELECT region FROM (SELECT region, MAX(day) AS last FROM orders GROUP BY region) d "
            "WHERE last > CURRENT_DATE",
        ),
        "compare the rows before they are grouped, or do so in a query over the view",
    ),
)
