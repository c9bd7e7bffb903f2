"""Names, and what holds of columns, in the payloads of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.sql.names import TableName


def name_of(payload: dict[str, Any]) -> TableName | None:
    """The name that a payload has as a list of its parts, None if it has none."""
    parts = payload.get("parts")
    if not isinstance(parts, list) or len(parts) < 2 or not all(isinstance(p, str) for p in parts):
        return None
    return TableName(parts[0], tuple(parts[1:-1]), parts[-1])


def staging_table_of(started: Event | None) -> TableName | None:
    """The staging table of a refresh; None if it writes to the one in use."""
    if started is None or not started.payload.get("aside"):
        return None
    return name_of({"parts": started.payload.get("storage")})


def sources_of(payload: dict[str, Any]) -> tuple[TableName, ...] | None:
    """The relations that a lifecycle event says a view reads, None if that cannot be read."""
    stored = payload.get("sources", [])
    if not isinstance(stored, list) or not all(isinstance(source, dict) for source in stored):
        return None
    names = tuple(name_of(source) for source in stored)
    return None if None in names else tuple(name for name in names if name is not None)


def constraint_of(payload: Mapping[str, Any]) -> Constraint | None:
    """What an event says that a test has found to hold, None if that cannot be read."""
    said, versions = payload.get("columns"), payload.get("versions")
    if not isinstance(said, list) or not isinstance(versions, list) or len(said) not in (1, 2):
        return None
    lists = [one for one in said if isinstance(one, list) and one]
    columns = [(name_of({"parts": one[:-1]}), str(one[-1])) for one in lists]
    places = [(table, column) for table, column in columns if table is not None]
    if len(places) < len(said):
        return None
    return Constraint(str(payload.get("constraint")), *places)


def payload_of(constraint: Constraint, versions: Sequence[Any]) -> dict[str, Any]:
    """The payload of such an event; `versions` are those of its tables, as they are stored."""
    places = [constraint.column, *([constraint.to] if constraint.to is not None else [])]
    columns = [[*table.parts, column] for table, column in places]
    return {"constraint": constraint.kind, "columns": columns, "versions": list(versions)}
