"""Tables of a catalog that are held from one question to the next."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

from dbt.adapters.spark_mv.catalog.metadata_files import column_facts
from dbt.adapters.spark_mv.catalog.table_heads import has_own_columns, metadata_digest
from dbt.adapters.spark_mv.core.executor import ColumnFacts, SnapshotFacts, TableFacts

T = TypeVar("T")


class HeldTable:
    """A table of Iceberg's, and what has been read of its newest metadata file.

    A metadata file never changes, and no other one has its name: while it is the newest one, what
    was read of it is not asked of the JVM again.
    """

    def __init__(self, table: Any, operations: Any) -> None:
        """`operations` are those of the table, None for a metadata table as `orders.snapshots`."""
        self.table = table
        self._operations = operations
        self._known: tuple[str | None, dict[Hashable, Any]] = (None, {})

    def refresh(self) -> Any:
        """The newest metadata of the table, if it has its own; fails if the table is gone, or
        another one has its name."""
        if self._operations is not None:
            return self._operations.refresh()
        self.table.refresh()
        return None

    def facts(self, metadata: Any) -> TableFacts:
        """Facts of the table, of which this is the newest metadata."""
        if metadata is None:
            snapshot, schema = self.table.currentSnapshot(), int(self.table.schema().schemaId())
            return TableFacts("iceberg", snapshot and str(snapshot.snapshotId()), schema)
        return self._read(metadata, "facts", _facts)

    def chain(
        self,
        metadata: Any,
        branch: str,
        limit: int,
        until: str | None,
        as_json: Callable[[Any], str],
    ) -> list[SnapshotFacts]:
        """Snapshots of a branch, newest first."""
        if metadata is None:
            return []
        read = partial(_chain, branch, limit, until, as_json)
        return list(self._read(metadata, (branch, limit, until), read))

    def columns_at(
        self, metadata: Any, snapshot_id: str | None, as_json: Callable[[Any], str]
    ) -> tuple[ColumnFacts, ...]:
        """The columns under which a snapshot is read, or else those of now; none if not known."""
        schema = None if metadata is None else _schema_at(metadata, snapshot_id)
        return () if schema is None else column_facts(json.loads(as_json(schema))["fields"])

    def _read(self, metadata: Any, what: Hashable, function: Callable[[Any], T]) -> T:
        location = metadata.metadataFileLocation()
        if location is None:  # a catalog may keep metadata in no file
            return function(metadata)
        if location != self._known[0]:
            self._known = location, {}
        known = self._known
        if known[0] != location:  # another thread has just read other metadata
            return function(metadata)
        if what not in known[1]:
            known[1][what] = function(metadata)
        found: T = known[1][what]
        return found


def _facts(metadata: Any) -> TableFacts:
    snapshot = metadata.currentSnapshot()
    # Tables of other engines may not say it.
    schema_id = None if snapshot is None else snapshot.schemaId()
    head = None if snapshot is None else str(snapshot.snapshotId()), int(metadata.currentSchemaId())
    digest = None if has_own_columns(head, schema_id) else _digest(metadata)
    return TableFacts("iceberg", *head, schema_id, digest)


def _digest(metadata: Any) -> str:
    return metadata_digest(str(metadata.metadataFileLocation()), metadata.lastUpdatedMillis())


def _chain(
    branch: str, limit: int, until: str | None, as_json: Callable[[Any], str], metadata: Any
) -> list[SnapshotFacts]:
    head = metadata.ref(branch)
    snapshot = None if head is None else metadata.snapshot(head.snapshotId())
    chain: list[SnapshotFacts] = []
    while snapshot is not None and len(chain) < limit:
        parent = snapshot.parentId()
        chain.append(
            SnapshotFacts(
                snapshot_id=str(snapshot.snapshotId()),
                parent_id=None if parent is None else str(parent),
                operation=str(snapshot.operation()),
                committed_at=int(snapshot.timestampMillis()),
                summary=json.loads(as_json(snapshot.summary())),
                schema_id=snapshot.schemaId(),
            )
        )
        if parent is None or chain[-1].snapshot_id == until:
            break
        snapshot = metadata.snapshot(parent)
    return chain


def _schema_at(metadata: Any, snapshot_id: str | None) -> Any:
    if snapshot_id is None:
        return metadata.schema()
    snapshot = metadata.snapshot(int(snapshot_id))
    schema_id = None if snapshot is None else snapshot.schemaId()
    return None if schema_id is None else metadata.schemasById().get(schema_id)
