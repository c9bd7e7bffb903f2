"""Heads of Iceberg tables, asked for in SQL: no statement here reads a row of a table."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.sql.names import TableName

# Main snapshot id, None if there is none yet, and current schema id.
Head = tuple[str | None, int]

_SCAN = re.compile(r"IcebergScan\(table=(.*?), schemaId=(\d+), snapshotId=(\d+|null)")
_FIRST_SCHEMA = 0


def heads(executor: Executor, names: Sequence[TableName]) -> dict[TableName, Head]:
    """The head of each table, from one EXPLAIN without a job."""
    found = _scans(executor, [name.sql for name in names])
    if len(found) != len(names):
        if len(names) == 1:
            return {}
        return {key: value for name in names for key, value in heads(executor, [name]).items()}
    return {name: head for name, (_, head) in zip(names, found, strict=True)}


def heads_if_tables(executor: Executor, names: Sequence[TableName]) -> dict[TableName, Head]:
    """The heads of those names that are tables: a scan says which table it reads, and that of a
    view is one of another name. Empty if that cannot be told."""
    try:
        found = _scans(executor, [name.sql for name in names])
    except StatementFailed:
        return {}
    if len(found) != len(names):
        return {}
    pairs = zip(names, found, strict=True)
    return {name: head for name, (table, head) in pairs if table == ".".join(name.parts)}


def _scans(executor: Executor, relations: Sequence[str]) -> list[tuple[str, Head]]:
    if not relations:
        return []
    union = " UNION ALL ".join(f"SELECT 1 FROM {relation}" for relation in relations)
    # One row, or the lines of an error.
    plan = "\n".join(str(row[0]) for row in executor.query(f"EXPLAIN {union}"))
    return [
        (table, (None if snapshot == "null" else snapshot, int(schema)))
        for table, schema, snapshot in _SCAN.findall(plan)
    ]


def snapshot_schema(executor: Executor, name: TableName, snapshot_id: str) -> int | None:
    """Id of the schema under which a snapshot is read, None if it cannot be read."""
    return _snapshot_schemas(executor, {name: snapshot_id}).get(name)


def has_own_columns(head: Head, snapshot_schema_id: int | None) -> bool:
    """Whether a head is that of a table without columns other than those that its snapshot, or the
    table at first, had.

    Those keep their numbers. Others may have numbers that were those of others before: Iceberg
    gives a new schema the number after the highest that is kept, so a table that was registered
    from an older metadata file, or whose unused schemas were removed, counts them again.
    """
    return head[0] is None or head[1] in (_FIRST_SCHEMA, snapshot_schema_id)


def metadata_digest(file: str, updated_at: int) -> str:
    """What a metadata file is known by; `updated_at` is what it says itself, in epoch
    milliseconds."""
    name = file.rsplit("/", 1)[-1]
    return hashlib.sha256(f"{name}@{updated_at}".encode()).hexdigest()[:16]


def altered(executor: Executor, found: Mapping[TableName, Head]) -> dict[TableName, str]:
    """The digests of the metadata files of those tables whose columns are not their snapshots'."""
    asked = {name: head for name, head in found.items() if not has_own_columns(head, None)}
    schemas = _snapshot_schemas(executor, {n: str(snapshot) for n, (snapshot, _) in asked.items()})
    names = [name for name, head in asked.items() if not has_own_columns(head, schemas.get(name))]
    if not names:
        return {}
    rows = executor.query(
        " UNION ALL ".join(
            f"SELECT {number}, file, unix_millis(timestamp) FROM {name.sql}.metadata_log_entries"
            for number, name in enumerate(names)
        )
    )
    # The file in use is the last entry: times are those of the clocks of writers.
    newest = {names[row[0]]: (str(row[1]), int(row[2])) for row in rows}
    return {name: metadata_digest(*entry) for name, entry in newest.items()}


def _snapshot_schemas(
    executor: Executor, snapshots: Mapping[TableName, str]
) -> dict[TableName, int]:
    relations = [f"{name.sql} VERSION AS OF {snapshot}" for name, snapshot in snapshots.items()]
    try:
        scans = _scans(executor, relations)
    except StatementFailed:
        scans = []
    if len(scans) != len(snapshots):
        return {}
    pairs = zip(snapshots.items(), scans, strict=True)
    return {name: schema for (name, asked), (_, (read, schema)) in pairs if read == asked}
