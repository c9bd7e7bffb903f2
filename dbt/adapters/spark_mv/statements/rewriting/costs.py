"""What a query reads, as Spark estimates it: partitions and files that its conditions rule out do
not count."""

from __future__ import annotations

import re

from dbt.adapters.spark_mv.statements.context import StatementContext

_SCAN = re.compile(r"RelationV2\[.*?Statistics\((?P<statistics>.*)\)\s*$", re.MULTILINE)
_ROWS = re.compile(r"rowCount=([0-9.E+]+)")
# Of two texts the other one has to read so much less.
CLEARLY_LESS = 0.8


def rows_read(context: StatementContext, query: str) -> int:
    """How many rows of Iceberg's tables a query reads; what is answered from their metadata alone
    reads none. Raises `StatementFailed` if Spark refuses the query."""
    text = "\n".join(str(row[0]) for row in context.ask(f"EXPLAIN COST {query}"))
    plan = text.partition("== Physical Plan ==")[0]
    total = 0
    for scan in _SCAN.finditer(plan):
        rows = _ROWS.search(scan["statistics"])
        total += int(float(rows[1])) if rows is not None else 0
    return total
