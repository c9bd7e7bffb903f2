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
    """

    is_new: bool
    content: int
    path: str
    rows: int
    ids: Numbers
    updated: Numbers


def changed_files(
    executor: Executor, table: TableName, old: str, new: str
) -> tuple[ChangedFile, ...] | None:
    """The files that only one version has; None if they are too many, or cannot be listed, or if
    the table's rows do not say in which file they are."""
    columns = ", ".join(
        f"any_value(data_file.null_value_counts[{number}]), "
        f"hex(any_value(data_file.upper_bounds[{number}]))"
        for number in (_ROW_ID, _LAST_UPDATED)
    )
    versions = " UNION ALL ".join(
        f"SELECT {is_new} AS mv_new, sequence_number, data_file FROM {table.sql}.`entries` "
        f"VERSION AS OF {version} WHERE status < 2"
        for is_new, version in (("true", new), ("false", old))
    )
    try:
        described = executor.query(f"DESCRIBE TABLE {table.sql}")
        if _OF_ROWS & {str(row[0]).lower() for row in described}:
            return None
        rows = executor.query(
            "SELECT any_value(mv_new), data_file.content, data_file.file_path, "
            f"any_value(data_file.record_count), {columns} FROM ({versions}) "
            # A file that was taken out and put in again is another: older deletes pass it by.
            "GROUP BY data_file.content, data_file.file_path, data_file.content_offset, "
            f"sequence_number HAVING count(*) = 1 LIMIT {_MOST_FILES + 1}"
        )
    except StatementFailed:
        return None
    if len(rows) > _MOST_FILES:
        return None
    return tuple(map(_changed_file, rows))


def _changed_file(row: Row) -> ChangedFile:
    is_new, content, path, count, no_id, last_id, not_updated, last_updated = row
    return ChangedFile(
        is_new=str(is_new).lower() == "true",
        content=int(content),
        path=str(path),
        rows=int(count),
        ids=Numbers(no_id, _number(last_id)),
        updated=Numbers(not_updated, _number(last_updated)),
    )


def _number(stored: str | None) -> int | None:
    return None if stored is None else int.from_bytes(bytes.fromhex(stored), "little", signed=True)
