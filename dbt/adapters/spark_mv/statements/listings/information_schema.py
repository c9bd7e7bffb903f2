"""INFORMATION_SCHEMA.MATERIALIZED_VIEWS, as BigQuery has it, over our metadata."""

from __future__ import annotations

from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.sql.names import Namespace, literal
from dbt.adapters.spark_mv.sql.reads import Reference, parse, reads_of
from dbt.adapters.spark_mv.sql.splice import splice, subquery

_COLUMNS = {
    "table_catalog": "STRING",
    "table_schema": "STRING",
    "table_name": "STRING",
    "last_refresh_time": "TIMESTAMP",
    "refresh_watermark": "TIMESTAMP",
    "enable_refresh": "BOOLEAN",
    "refresh_interval_minutes": "BIGINT",
    "last_modified_time": "TIMESTAMP",
    "is_stale": "BOOLEAN",
}


def rewrite_information_schema(log: MetadataLog, sql: str, home: Namespace) -> str:
    """`sql` with each [schema.]INFORMATION_SCHEMA.MATERIALIZED_VIEWS as a subquery."""
    tree = parse(sql)
    if tree is None:
        return sql
    with log.open_store() as store:
        events = store.events
        exists = store.version() is not None
    columns = ", ".join(_COLUMNS)

    def replacement(reference: Reference) -> str | None:
        *qualifier, schema, table = ("", *reference.parts)
        if (schema.lower(), table.lower()) != ("information_schema", "materialized_views"):
            return None
        if not exists:
            empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in _COLUMNS.items())
            return subquery(f"SELECT {empty} WHERE false", reference)
        wanted = ".".join(part for part in qualifier if part and part != home.catalog)
        where = f"table_schema = {literal(wanted or '.'.join(home.namespace))}"
        source = events.sibling("materialized_views").sql
        return subquery(f"SELECT {columns} FROM {source} WHERE {where}", reference)

    return splice(sql, reads_of(tree).references, replacement)
