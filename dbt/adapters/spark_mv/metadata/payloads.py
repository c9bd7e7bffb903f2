"""Names in the payloads of events."""

from __future__ import annotations

from typing import Any

from dbt.adapters.spark_mv.sql.names import TableName


def name_of(payload: dict[str, Any]) -> TableName | None:
    """The name that a payload has as a list of its parts, None if it has none."""
    parts = payload.get("parts")
    if not isinstance(parts, list) or len(parts) < 2 or not all(isinstance(p, str) for p in parts):
        return None
    return TableName(parts[0], tuple(parts[1:-1]), parts[-1])


def sources_of(payload: dict[str, Any]) -> tuple[TableName, ...] | None:
    """The relations that a lifecycle event says a view reads, None if that cannot be read."""
    stored = payload.get("sources", [])
    if not isinstance(stored, list) or not all(isinstance(source, dict) for source in stored):
        return None
    names = tuple(name_of(source) for source in stored)
    return None if None in names else tuple(name for name in names if name is not None)
