"""What Spark says of the texts of a query before one of them runs: names and types of the columns,
and how much is read; partitions and files that conditions rule out do not count."""

from __future__ import annotations

import re
from functools import cache

from dbt.adapters.spark_mv.core.executor import ColumnType, QueryPlan
from dbt.adapters.spark_mv.sql.plans import plan_of
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.views.storage_sql import describe_query

_SCAN = re.compile(r"RelationV2\[.*?Statistics\((?P<statistics>.*)\)\s*$", re.MULTILINE)
_ROWS = re.compile(r"rowCount=([0-9.E+]+)")
# Of two texts the other one has to read so much less.
CLEARLY_LESS = 0.8


class Plans:
    """Plans of the texts of one statement's query, each made once. All methods raise
    `StatementFailed` if Spark refuses the query."""

    def __init__(self, context: StatementContext) -> None:
        self._context = context
        self._plan = cache(context.plan)

    def columns(self, query: str) -> tuple[ColumnType, ...]:
        """Names and types of what a query returns."""
        plan: QueryPlan | None = self._plan(query)
        if plan is not None:
            return plan.columns
        return tuple((str(row[0]), str(row[1])) for row in self._context.ask(describe_query(query)))

    def rows(self, query: str) -> int:
        """How many rows of Iceberg's tables a query reads; what is answered from their metadata
        alone reads none."""
        plan: QueryPlan | None = self._plan(query)
        if plan is not None:
            return plan.rows
        text = plan_of(self._context.ask(f"EXPLAIN COST {query}"))
        optimized = text.partition("== Physical Plan ==")[0]
        scans = (_ROWS.search(scan["statistics"]) for scan in _SCAN.finditer(optimized))
        return sum(int(float(rows[1])) for rows in scans if rows is not None)
