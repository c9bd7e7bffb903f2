"""What the metadata files of Iceberg's tables and views say, as facts. Pure: JSON in, facts out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.spark_mv.catalog.table_heads import has_own_columns, metadata_digest
from dbt.adapters.spark_mv.core.executor import (
    BranchFacts,
    ColumnFacts,
    SnapshotFacts,
    TableFacts,
    ViewFacts,
)

_MINUTE = 60_000
_NONE_YET = (None, -1)
_IN_SPARK = {"long": "bigint", "timestamp": "timestamp_ntz", "timestamptz": "timestamp"}
_SHARED = re.compile(r"boolean|int|float|double|date|string|binary|decimal\(\d+, ?\d+\)")


def view_facts(metadata: Mapping[str, Any], catalog: str) -> ViewFacts:
    """Facts of a view; `catalog` is where it lies, and where it looks names up unless it says."""
    wanted = metadata["current-version-id"]
    version = next(v for v in metadata["versions"] if v["version-id"] == wanted)
    schema = next(s for s in metadata["schemas"] if s["schema-id"] == version["schema-id"])
    texts = [r["sql"] for r in version["representations"] if r.get("dialect") == "spark"]
    return ViewFacts(
        text=texts[0] if texts else "",
        catalog=version.get("default-catalog") or catalog,
        namespace=tuple(version["default-namespace"]),
        columns=tuple(field["name"] for field in schema["fields"]),
        properties=metadata.get("properties") or {},
        types=tuple(_plain(field["type"]) for field in schema["fields"]),
    )


def _plain(written: Any) -> str:
    """A type in Spark's words, empty if it has parts or is none of those that it shares."""
    if not isinstance(written, str):
        return ""
    shared = written.replace(", ", ",") if _SHARED.fullmatch(written) else ""
    return _IN_SPARK.get(written, shared)


def table_facts(metadata: Mapping[str, Any], location: str) -> TableFacts:
    """Facts of a table as it is now; `location` is that of the file."""
    current = metadata.get("current-snapshot-id")
    snapshot = None if current in _NONE_YET else _snapshots(metadata)[current]
    head = (None if snapshot is None else str(current), int(metadata["current-schema-id"]))
    schema_id = None if snapshot is None else snapshot.get("schema-id")
    own = has_own_columns(head, schema_id)
    digest = None if own else metadata_digest(location, int(metadata["last-updated-ms"]))
    return TableFacts("iceberg", *head, schema_id, digest)


def chain(
    metadata: Mapping[str, Any], branch: str, limit: int, until: str | None
) -> list[SnapshotFacts]:
    """Snapshots of a branch, newest first, down to `until`, at most `limit`."""
    snapshots = _snapshots(metadata)
    reference = _references(metadata).get(branch)
    found: list[SnapshotFacts] = []
    current = None if reference is None else snapshots.get(reference["snapshot-id"])
    while current is not None and len(found) < limit:
        found.append(_snapshot_facts(current))
        if found[-1].snapshot_id == until:
            break
        current = snapshots.get(current.get("parent-snapshot-id"))
    return found


def branches(metadata: Mapping[str, Any]) -> dict[str, BranchFacts]:
    """Branches of a table, by name."""
    return {name: _branch_facts(ref) for name, ref in _branches(metadata)}


def columns(metadata: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The columns of a table's current schema, as the specification writes fields."""
    return _fields(metadata, metadata["current-schema-id"])


def columns_at(metadata: Mapping[str, Any], snapshot_id: str | None) -> tuple[ColumnFacts, ...]:
    """The columns under which a snapshot is read, or else those of now; none if not known."""
    if snapshot_id is None:
        return column_facts(_fields(metadata, metadata["current-schema-id"]))
    snapshot = _snapshots(metadata).get(int(snapshot_id), {})
    return column_facts(_fields(metadata, snapshot.get("schema-id")))


def column_facts(fields: Sequence[Mapping[str, Any]]) -> tuple[ColumnFacts, ...]:
    """Facts of columns, as the specification writes fields."""
    return tuple(
        ColumnFacts(
            int(field["id"]),
            str(field["name"]),
            json.dumps(field["type"], sort_keys=True),
            bool(field["required"]),
        )
        for field in fields
    )


def _fields(metadata: Mapping[str, Any], schema_id: int | None) -> Sequence[Mapping[str, Any]]:
    found = (s["fields"] for s in metadata["schemas"] if s["schema-id"] == schema_id)
    return next(found, ())


def is_partitioned(metadata: Mapping[str, Any]) -> bool:
    """Whether rows that are written now go to partitions."""
    wanted = metadata["default-spec-id"]
    spec = next(s for s in metadata["partition-specs"] if s["spec-id"] == wanted)
    return any(field["transform"] != "void" for field in spec["fields"])


def _snapshots(metadata: Mapping[str, Any]) -> dict[int | None, Mapping[str, Any]]:
    return {snapshot["snapshot-id"]: snapshot for snapshot in metadata.get("snapshots") or ()}


def _references(metadata: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Branches and tags; a table from before there were any has its head as `main`."""
    found: Mapping[str, Mapping[str, Any]] | None = metadata.get("refs")
    head = metadata.get("current-snapshot-id")
    if found is None and head not in _NONE_YET:
        return {"main": {"snapshot-id": head, "type": "branch"}}
    return found or {}


def _branches(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((n, ref) for n, ref in _references(metadata).items() if ref["type"] == "branch")


def _branch_facts(reference: Mapping[str, Any]) -> BranchFacts:
    kept = reference.get("max-ref-age-ms")
    minutes = None if kept is None else int(kept) // _MINUTE
    return BranchFacts(str(reference["snapshot-id"]), minutes)


def _snapshot_facts(snapshot: Mapping[str, Any]) -> SnapshotFacts:
    parent = snapshot.get("parent-snapshot-id")
    summary = dict(snapshot.get("summary") or {})
    operation = summary.pop("operation", None)
    return SnapshotFacts(
        snapshot_id=str(snapshot["snapshot-id"]),
        parent_id=None if parent is None else str(parent),
        operation=str(operation),
        committed_at=int(snapshot["timestamp-ms"]),
        summary=summary,
        schema_id=snapshot.get("schema-id"),
    )
