"""Changes by which no file with rows went: rows were added in files, or deleted by their positions.

The new rows are those of the added files, and the old ones those at positions that files of deletes
name which were added since. Of the old version only live rows are read, so positions that were
deleted before do no harm; older deletes may be left over from a file that was at a path before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.spark_mv.catalog.file_changes import (
    DATA,
    EQUALITY_DELETES,
    MOST_SENT,
    ChangedFile,
)
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.sql.literals import value_sql
from dbt.adapters.spark_mv.sql.names import TableName

# So many files are named in a statement.
_MOST_NAMED = 500
# Paths are long, so their hashes are compared first; an equation of paths would be taken for a key.
_MATCHES = (
    "mv_old.mv_hash = mv_gone.mv_hash AND mv_old.mv_pos = mv_gone.mv_pos "
    "AND mv_old.mv_file >= mv_gone.mv_file AND mv_old.mv_file <= mv_gone.mv_file"
)


@dataclass(frozen=True)
class Positions:
    """A change by `added` files with so many rows, `came`, and by the deletion of at most `went`
    rows, which the files `deleting` name; in all so many positions are listed as `deleted`."""

    added: tuple[str, ...]
    came: int
    deleting: tuple[str, ...]
    went: int
    deleted: int

    @property
    def rows(self) -> int:
        """How many rows the change lists, at most."""
        return self.came + self.went

    @property
    def takes_away(self) -> bool:
        """Whether rows have gone."""
        return self.went > 0

    @property
    def scans(self) -> float:
        """What it costs to find them, in reads of the whole table; as measured."""
        return (0.2 if self.added else 0.0) + (0.4 if self.went else 0.0)

    def sql(
        self, table: TableName, old: str, new: str, listed: str, weight: str, where: str
    ) -> str:
        """A query of the changed rows of a table between two snapshots, with their columns as
        `listed`, of those rows that meet the condition `where`."""
        files = ", ".join(map(value_sql, self.added)) or "''"
        came = (
            f"SELECT {listed}, 1 AS {weight} FROM {table.sql} VERSION AS OF {new} "
            f"WHERE _file IN ({files}) AND ({where})"
        )
        if not self.went:
            return came
        before = (
            f"SELECT {listed}, _file AS mv_file, _pos AS mv_pos, xxhash64(_file) AS mv_hash "
            f"FROM {table.sql} VERSION AS OF {old} WHERE {where}"
        )
        gone = (
            "SELECT file_path AS mv_file, pos AS mv_pos, xxhash64(file_path) AS mv_hash "
            f"FROM {table.sql}.`position_deletes` VERSION AS OF {new} "
            f"WHERE delete_file_path IN ({', '.join(map(value_sql, self.deleting))})"
        )
        hint = "/*+ BROADCAST(mv_gone) */ " if self.deleted <= MOST_SENT else ""
        went = (
            f"SELECT {hint}{listed}, -1 AS {weight} FROM ({before}) AS mv_old "
            f"LEFT SEMI JOIN ({gone}) AS mv_gone ON {_MATCHES}"
        )
        return f"{came} UNION ALL {went}" if self.added else went


def positions(files: Sequence[ChangedFile], deleted: int | None) -> Positions | None:
    """How a change by these files is read by positions; None if a file with rows went, or has been
    added once more, or if rows were deleted by their values.

    `deleted` is how many positions the new version lists as deleted, if that is known.
    """
    added = [file for file in files if file.content == DATA]
    deletes = [file for file in files if file.content != DATA]
    if not all(file.is_new and not file.is_another for file in added):
        return None
    # One of before that was written anew has kept its number, and deletes what was deleted then.
    deleting = sorted({file.path for file in deletes if file.is_new and file.is_later})
    if max(len(added), len(deleting)) > _MOST_NAMED:
        return None
    if any(file.content == EQUALITY_DELETES for file in deletes):
        return None
    # Files of deletes that were joined may have named a position more than once.
    went = max(1, sum(file.rows if file.is_new else -file.rows for file in deletes))
    return Positions(
        tuple(sorted(file.path for file in added)),
        sum(file.rows for file in added),
        tuple(deleting),
        went if deleting else 0,
        MOST_SENT + 1 if deleted is None else deleted,
    )


def stay_deleted(
    executor: Executor, table: TableName, old: str, new: str, files: Sequence[ChangedFile]
) -> bool:
    """Whether no row that was deleted in the old version is there again in the new one, if `files`
    are what changed; False also if that is not known."""
    taken_out = [file for file in files if file.content != DATA and not file.is_new]
    if not taken_out:
        return True
    if any(file.content == EQUALITY_DELETES for file in taken_out):
        return False
    before, now = (
        f"SELECT file_path, pos FROM {table.sql}.`position_deletes` VERSION AS OF {version}"
        for version in (old, new)
    )
    # Deletes may be left over from files that are not there any more.
    live = " AND ".join(
        f"mv_before.file_path IN (SELECT file_path FROM {table.sql}.`files` "
        f"VERSION AS OF {version} WHERE content = {DATA})"
        for version in (old, new)
    )
    try:
        return not executor.query(
            f"SELECT 1 FROM ({before}) AS mv_before LEFT ANTI JOIN ({now}) AS mv_now "
            "ON mv_before.file_path = mv_now.file_path AND mv_before.pos = mv_now.pos "
            f"WHERE {live} LIMIT 1"
        )
    except StatementFailed:
        return False
