"""Changes of tables of format version 3, whose rows have ids and the commit that wrote them last.

A row of the new version is new if it was written after the old one, or has an id that the old one
cannot have. What the old version had of the others is the same. A writer that gives rows new ids
therefore costs time, and is not mistaken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.spark_mv.catalog.file_changes import DATA, MOST_SENT, ChangedFile, live_entries
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.sql.names import TableName

# Iceberg's vectorized reader never frees the row ids that it has read (apache/iceberg 17241).
_BY_ROW = "WITH (`vectorization-enabled` = 'false')"


@dataclass(frozen=True)
class RowIds:
    """How the rows of a later version are told from those of an earlier one: they were written
    after `sequence`, or their ids begin with `next_id`.

    There are `came` new rows at most, of which so many `replaced` others; and rows may have `gone`
    of which nothing is left.
    """

    sequence: int
    next_id: int
    came: int
    replaced: int
    gone: int

    @property
    def rows(self) -> int:
        """How many rows the change lists, at most."""
        return self.came + self.replaced + self.gone

    @property
    def takes_away(self) -> bool:
        """Whether rows may have gone, or be others now."""
        return bool(self.replaced or self.gone)

    @property
    def scans(self) -> float:
        """What it costs to find them, in reads of the whole table; as measured."""
        if self.gone:
            return 1.9
        return 1.3 if self.replaced else 0.5

    def sql(
        self, table: TableName, old: str, new: str, listed: str, weight: str, where: str
    ) -> str:
        """A query of the changed rows of a table between two snapshots, with their columns as
        `listed`, of those rows that meet the condition `where`."""
        is_new = (
            f"COALESCE(_last_updated_sequence_number > {self.sequence} "
            f"OR _row_id >= {self.next_id}, TRUE)"
        )
        now, before = (f"{table.sql} VERSION AS OF {version} {_BY_ROW}" for version in (new, old))
        came = f"SELECT {listed}, 1 AS {weight} FROM {now} WHERE {is_new} AND ({where})"
        if not self.takes_away:
            return came
        went = f"SELECT {listed}, _row_id AS mv_row FROM {before} WHERE {where}"
        if self.gone:
            join, others, hint = "LEFT ANTI", f"NOT {is_new}", ""
        else:
            join, others = "LEFT SEMI", is_new
            hint = "/*+ BROADCAST(mv_new) */ " if self.came <= MOST_SENT else ""
        ids = f"SELECT _row_id AS mv_row FROM {now} WHERE {others} AND ({where})"
        return (
            f"{came} UNION ALL SELECT {hint}{listed}, -1 FROM ({went}) AS mv_old "
            f"{join} JOIN ({ids}) AS mv_new ON mv_old.mv_row = mv_new.mv_row"
        )


def row_ids(
    executor: Executor, table: TableName, old: str, files: Sequence[ChangedFile], counted: bool
) -> RowIds | None:
    """How the change from the snapshot `old` is read by ids, if `files` are what changed; None if
    not all rows of that snapshot have one.

    `counted` says that the files' rows are those of the table, because no version has deletes.
    """
    try:
        ((sequence, next_id, without),) = executor.query(
            "SELECT max(sequence_number), max(data_file.first_row_id + data_file.record_count), "
            f"count_if(data_file.first_row_id IS NULL) FROM "
            f"{live_entries(table, old)} AND data_file.content = {DATA}"
        )
    except StatementFailed:
        return None
    if without:
        return None
    sequence, next_id = int(sequence or 0), int(next_id or 0)
    came = with_new_id = grown = 0
    for file in files:
        if file.content == DATA:
            grown += file.rows if file.is_new else -file.rows
        if file.content == DATA and file.is_new:
            new_ids = file.ids.later_than(next_id - 1, file.rows)
            with_new_id += new_ids
            came += max(new_ids, file.updated.later_than(sequence, file.rows))
    gone = max(0, with_new_id - grown)
    if not counted:
        gone += max(1, sum(file.rows for file in files if file.content != DATA))
    return RowIds(sequence, next_id, came, max(0, came - with_new_id), gone)
