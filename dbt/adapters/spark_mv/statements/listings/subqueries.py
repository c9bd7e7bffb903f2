"""Which listings a statement calls; each becomes a subquery over the metadata."""

from __future__ import annotations

import re

from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.statements.listings.information_schema import rewrite_information_schema
from dbt.adapters.spark_mv.statements.listings.table_functions import (
    CALLED,
    rewrite_table_functions,
)

_SCHEMA = re.compile(r"information_schema.*?materialized_views", re.IGNORECASE | re.DOTALL)


def with_listings(services: Services, sql: str, context: StatementContext) -> str:
    """`sql` with subqueries in place of INFORMATION_SCHEMA and of table functions."""
    if _SCHEMA.search(sql):
        services.log.flush()
        sql = rewrite_information_schema(services.log, sql, context.namespace())
    if CALLED.search(sql):
        home = context.namespace()
        sql = rewrite_table_functions(
            sql, home, services.lineage, services.resolver, services.schemas
        )
    return sql
