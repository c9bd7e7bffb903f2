"""Forms of queries that read the clock in a way that has no fast refresh."""

from __future__ import annotations

from tests.unit.ivm.constructs import Construct

OF_THE_CLOCK = (
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
