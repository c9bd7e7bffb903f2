"""Metadata logs of Iceberg tables: nothing is committed to a table without an entry.

Entries are told by their hashes, and never by their order: times are those of the writers' clocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor

from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.sql.names import TableName

# Of one entry; names of files are never used again, so no two entries are alike.
ENTRY = "xxhash64(file, timestamp)"


@dataclass(frozen=True)
class TableLog:
    """The log of a table: the hashes of its entries, of which so many were `unmoved`, commits
    without a snapshot of their own; `schema_id` is that of the newest snapshot."""

    table: TableName
    entries: tuple[int, ...]
    unmoved: int
    schema_id: int | None


def read_logs(executor: Executor, tables: Sequence[TableName]) -> tuple[TableLog, ...]:
    """The logs of these tables, in one statement; raises `StatementFailed`."""
    columns = "latest_snapshot_id, latest_schema_id, timestamp"
    rows = executor.query(
        "\nUNION ALL ".join(
            f"SELECT {number} AS mv_table, {ENTRY} AS mv_entry, {columns} "
            f"FROM {table.sql}.metadata_log_entries"
            for number, table in enumerate(tables)
        )
    )
    found: list[TableLog] = []
    for number, table in enumerate(tables):
        own = sorted((row for row in rows if row[0] == number), key=lambda row: row[4])
        snapshots = {row[2] for row in own if row[2] is not None}
        entries = tuple(int(row[1]) for row in own)
        found.append(TableLog(table, entries, len(own) - len(snapshots), own[-1][3]))
    return tuple(found)


def is_as_it_was(logs: Iterable[TableLog]) -> tuple[str, str]:
    """A query of the entries of these tables, and the condition under which, put together, they
    are those of the logs."""
    known = tuple(logs)
    entries = [entry for log in known for entry in log.entries]
    listed = "\n  UNION ALL ".join(
        f"SELECT file, timestamp FROM {log.table.sql}.metadata_log_entries" for log in known
    )
    return listed, f"count(*) = {len(entries)} AND bit_xor({ENTRY}) = {reduce(xor, entries)}L"


def only_rows(log: TableLog) -> str:
    """A query of one row while nothing but rows of a table has changed.

    Each commit of rows has a snapshot of its own, of the columns that there were; an entry of the
    log whose snapshot another one has is a change of something else.
    """
    known = f"{ENTRY} IN ({', '.join(f'{entry}L' for entry in log.entries)})"
    schema = "NULL" if log.schema_id is None else str(log.schema_id)
    return (
        f"SELECT 1 FROM {log.table.sql}.metadata_log_entries "
        f"HAVING count_if({known}) = {len(log.entries)} "
        f"AND count_if(NOT {known} AND NOT latest_schema_id <=> {schema}) = 0 "
        f"AND count(*) - count(DISTINCT latest_snapshot_id) = {log.unmoved}"
    )
