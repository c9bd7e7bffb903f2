"""What Spark says of a relation, as the rows of dbt's docs catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from dbt.adapters.base import BaseRelation
from dbt.adapters.spark.column import SparkColumn

# Set by Iceberg itself, or carried by every table it creates.
_OF_THE_FORMAT = frozenset(
    {
        "current-snapshot-id",
        "current-snapshot-summary",
        "current-snapshot-timestamp-ms",
        "format",
        "format-version",
        "identifier-fields",
        "location",
        "owner",
        "provider",
        "sort-order",
        "write.parquet.compression-codec",
    }
)
_PROPERTIES = re.compile(r"^Table Properties: \[(.*)\]$", re.M)
_PROPERTY_NAME = re.compile(r"(?:^|,)([^,=]+)=")


def catalog_rows(
    relation: BaseRelation, described: Iterable[Any], stats: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """One row per column of `describe extended`, each with what is known of the relation."""
    rows = [(str(name), kind, comment) for name, kind, comment in described]
    ends = (at for at, row in enumerate(rows) if not row[0] or row[0].startswith("#"))
    end = next(ends, len(rows))
    details = {name: value for name, value, _ in rows[end:]}
    about = {
        "table_database": None,
        "table_schema": relation.schema,
        "table_name": relation.identifier,
        "table_type": str(relation.type) if relation.type else None,
        "table_comment": details.get("Comment") or None,
        "table_owner": details.get("Owner"),
        **SparkColumn.convert_table_stats(details.get("Statistics")),
        **stats,
    }
    for index, (name, kind, comment) in enumerate(rows[:end]):
        yield {
            **about,
            "column_name": name,
            "column_index": index,
            "column_type": kind,
            "column_comment": comment or None,
        }


def outdated_properties(information: str, wanted: Iterable[str]) -> list[str]:
    """Names of table properties that somebody set, and that are not wanted any more."""
    found = _PROPERTIES.search(information or "")
    names = set(_PROPERTY_NAME.findall(found[1])) if found else set()
    return sorted(names - _OF_THE_FORMAT - set(wanted))
