"""The files that two versions of an Iceberg table do not share.

Files never change, and deletes are files too: whatever lies between two versions is in the files
that only one of them has. Read from the metadata alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, Row
from dbt.adapters.spark_mv.sql.names import TableName

# The ids that the specification gives to the columns _row_id and _last_updated_sequence_number.
_ROW_ID, _LAST_UPDATED = 2147483540, 2147483539
DATA, EQUALITY_DELETES = 0, 2
# What Iceberg says of a row, unless a column of the table has the name.
_OF_ROWS = {"_file", "_pos", "_row_id", "_last_updated_sequence_number"}
_MOST_FILES = 10_000
# So many positions or ids are sent to all executors, rather than the table's rows to these.
MOST_SENT = 1_000_000


@dataclass(frozen=True)
class Numbers:
    """What is known of a column of numbers in a file: how many rows lack one, and the largest."""

    missing: int | None
    largest: int | None

    def later_than(self, limit: int, rows: int) -> int:
        """How many of the file's rows lack a number, or have one above `limit`, at most."""
        if self.missing is None or self.largest is None or self.largest > limit:
            return rows
        return self.missing


@dataclass(frozen=True)
class ChangedFile:
    """A file that only the new version has, or only the old one; `content` as Iceberg numbers it.

    Row ids and sequence numbers that are not stored are given by the commit that added the file.
    `is_later` says that the file was added after all that the old version has, `is_another` that
    this one has a file at the same path.
    """

    is_new: bool
    content: int
    path: str
    rows: int
    ids: Numbers
    updated: Numbers
    is_later: bool = True
    is_another: bool = False


def changed_files(
    executor: Executor, table: TableName, old: str, new: str
) -> tuple[ChangedFile, ...] | None:
    """The files that only one version has; None if they are too many, or cannot be listed, if one
    is there twice, or if the table's rows do not say in which file they are."""
    try:
        described = executor.query(f"DESCRIBE TABLE {table.sql}")
        if _OF_ROWS & {str(row[0]).lower() for row in described}:
            return None
        rows = executor.query(_changed(table, old, new))
    except StatementFailed:
        return None
    if len(rows) > _MOST_FILES or any(abs(int(row[0])) > 1 for row in rows):
        return None
    return tuple(map(_changed_file, rows))


def live_entries(table: TableName, snapshot: str = "") -> str:
    """What stands behind FROM to list the files of a table, of now or of a snapshot, without those
    that it removed."""
    at = f" VERSION AS OF {snapshot}" if snapshot else ""
    return f"{table.sql}.entries{at} WHERE status < 2"


def _changed(table: TableName, old: str, new: str) -> str:
    metrics = ("ids", "updated")
    versions = " UNION ALL ".join(
        f"SELECT {sign} AS mv_sign, sequence_number, data_file FROM " + live_entries(table, version)
        for sign, version in ((1, new), (-1, old))
    )
    numbers = ", ".join(
        f"any_value(data_file.null_value_counts[{number}]) AS no_{name}, "
        f"hex(any_value(data_file.upper_bounds[{number}])) AS last_{name}"
        for number, name in zip((_ROW_ID, _LAST_UPDATED), metrics, strict=True)
    )
    # A file that was taken out and put in again is another: older deletes pass it by.
    files = (
        "SELECT sum(mv_sign) AS mv_sign, data_file.content, data_file.file_path, "
        f"any_value(data_file.record_count) AS mv_rows, {numbers}, sequence_number, "
        "sum(count_if(mv_sign < 0)) OVER (PARTITION BY data_file.file_path) AS mv_before "
        f"FROM ({versions}) GROUP BY data_file.content, data_file.file_path, "
        "data_file.content_offset, sequence_number"
    )
    last = f"SELECT max(sequence_number) FROM {live_entries(table, old)}"
    listed = ", ".join(f"no_{name}, last_{name}" for name in metrics)
    return (
        f"SELECT mv_sign, content, file_path, mv_rows, {listed}, "
        f"COALESCE(sequence_number > ({last}), TRUE), mv_before > 0 "
        f"FROM ({files}) WHERE mv_sign <> 0 LIMIT {_MOST_FILES + 1}"
    )


def _changed_file(row: Row) -> ChangedFile:
    sign, content, path, count, no_id, last_id, not_updated, last_updated, later, another = row
    return ChangedFile(
        is_new=int(sign) > 0,
        content=int(content),
        path=str(path),
        rows=int(count),
        ids=Numbers(no_id, _number(last_id)),
        updated=Numbers(not_updated, _number(last_updated)),
        is_later=_is_true(later),
        is_another=_is_true(another),
    )


def _is_true(value: object) -> bool:
    """A boolean, which not every connection returns as one."""
    return str(value).lower() == "true"


def _number(stored: str | None) -> int | None:
    return None if stored is None else int.from_bytes(bytes.fromhex(stored), "little", signed=True)
