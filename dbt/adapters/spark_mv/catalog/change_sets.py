"""What lies between two versions of a base table, by the cheapest way that is exact.

Conditions and costs of each way were measured; docs/decisions/0008 has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

from dbt.adapters.spark_mv.catalog import iceberg, partitions
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.core.executor import Bounds, Executor, SnapshotFacts, Value
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.sql.columns import Columns
from dbt.adapters.spark_mv.sql.names import TableName, quote

APPENDED, LOGGED = "appended files", "change log"
TRACKED, COMPARED = "row ids of both versions", "comparison of both versions"
_COMMITS, _PARTITIONS = 200, 500
# From this version of Iceberg's format on each row has an id, and the commit that wrote it last.
_WITH_ROW_IDS = 3
_DELETES = ("total-delete-files", "added-delete-files", "removed-delete-files")


@dataclass(frozen=True)
class Change:
    """A change of one table: how it is read, and how many rows it lists at most, if known.

    Row ids and rows are compared of rows that meet the condition `where`, if there is one: a
    `share` of them. Of appended files `commits` are those that added them, and `bounds` what is
    known of columns in them.
    """

    table: TableName
    old: Version
    new: Version
    way: str
    rows: int | None = None
    where: str | None = None
    share: float = 1.0
    commits: tuple[str, ...] = ()
    bounds: Mapping[str, Bounds] = field(default_factory=dict)

    @property
    def inserts_only(self) -> bool:
        """Whether no row has gone."""
        return self.way == APPENDED

    def __str__(self) -> str:
        rows = "" if self.rows is None else f", at most {self.rows:,} rows"
        partitions = "" if self.where is None else ", in changed partitions"
        return f"{self.table.shown}: {self.way}{partitions}{rows}"

    def sql(self, columns: Columns, weight: str, nets: bool = True) -> str:
        """A query of the changed rows: these columns, and their weight; each row once if it
        `nets`."""
        listed = columns.listed
        if self.way == APPENDED:
            appended = f"SELECT {listed}, 1 AS {weight} FROM {self._between('')}"
            known = [within(quote(column), bounds) for column, bounds in self.bounds.items()]
            return f"{appended} WHERE {' AND '.join(known)}" if known else appended
        if self.way == LOGGED:
            signed = "CASE WHEN _change_type IN ('INSERT', 'UPDATE_AFTER') THEN 1 ELSE -1 END"
            inner = f"SELECT {listed}, {signed} AS {weight} FROM {self._between('.`changes`')}"
        elif self.way == TRACKED:
            inner = self._by_row_id(columns.names, weight)
        else:
            inner = (
                f"SELECT {listed}, 1 AS {weight} FROM {self._at(self.new)}"
                f" UNION ALL SELECT {listed}, -1 FROM {self._at(self.old)}"
            )
        if not nets:
            return inner
        return (
            f"SELECT {columns.kept}, SUM({weight}) AS {weight} FROM ({inner}) "
            f"GROUP BY {columns.keys} HAVING SUM({weight}) <> 0"
        )

    def _by_row_id(self, columns: Sequence[str], weight: str) -> str:
        """Rows of either version that the other has not, or not as its last commit wrote them."""
        listed = ", ".join(quote(column) for column in columns)
        ids = "_row_id AS mv_row, _last_updated_sequence_number AS mv_written, 1 AS mv_is"
        values = ", ".join(
            f"CASE WHEN mv_new.mv_is IS NULL THEN mv_old.{name} ELSE mv_new.{name} END AS {name}"
            for name in map(quote, columns)
        )
        return (
            f"SELECT {values}, CASE WHEN mv_new.mv_is IS NULL THEN -1 ELSE 1 END AS {weight} "
            f"FROM (SELECT {listed}, {ids} FROM {self._at(self.new)}) AS mv_new "
            f"FULL JOIN (SELECT {listed}, {ids} FROM {self._at(self.old)}) AS mv_old "
            "ON mv_new.mv_row = mv_old.mv_row AND mv_new.mv_written = mv_old.mv_written "
            "WHERE mv_new.mv_is IS NULL OR mv_old.mv_is IS NULL"
        )

    def _between(self, suffix: str) -> str:
        return (
            f"{self.table.sql}{suffix} WITH (`start-snapshot-id` = '{self.old.snapshot_id}', "
            f"`end-snapshot-id` = '{self.new.snapshot_id}')"
        )

    def _at(self, version: Version) -> str:
        where = f" WHERE {self.where}" if self.where is not None else ""
        return f"{self.table.sql} VERSION AS OF {version.snapshot_id}{where}"


def within(column: str, bounds: Bounds) -> str:
    """A condition that holds for all values within the bounds.

    It is true of every changed row. Spark carries it over equalities to the tables that are joined,
    whose files without such values are then not read.
    """
    lower, upper = _literal(bounds.lower), _literal(bounds.upper)
    between = f"{column} BETWEEN {lower} AND {upper}"
    return f"({between} OR {column} IS NULL)" if bounds.with_null else between


def _literal(value: Value) -> str:
    if isinstance(value, date):
        return f"DATE '{value}'"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def with_bounds(executor: Executor, change: Change, columns: Sequence[str]) -> Change:
    """The change with what is known of these columns in its rows."""
    if change.way != APPENDED or not columns:
        return change
    bounds = iceberg.added_bounds(executor, change.table, change.commits, columns)
    return replace(change, bounds=bounds)


def change_between(
    executor: Executor, table: TableName, old: Version, new: Version
) -> Change | Reason:
    """How the change of `table` from `old` to `new` can be read; the reason if it cannot."""
    if not (old.can_pin and new.can_pin):
        return Reason("NO_OLD_VERSION", f"{table.shown} has no version that can be read again")
    if old.schema_id != new.schema_id:
        return Reason("SCHEMA_CHANGED", f"the columns of {table.shown} were altered")
    assert old.snapshot_id and new.snapshot_id
    chain = iceberg.main_chain(executor, table, _COMMITS, old.snapshot_id)
    commits = _commits(chain, old.snapshot_id, new.snapshot_id)
    # A version may be older than the columns that the table had by then.
    schema_id = commits[0].schema_id if commits else None
    if schema_id is None:
        schema_id = iceberg.snapshot_schema(executor, table, old.snapshot_id)
    if schema_id != old.schema_id:
        return Reason("VERSION_GONE", f"{table.shown} can no longer be read as it was")
    if commits is None:
        return _compared(executor, Change(table, old, new, COMPARED))
    start, between = commits
    counts = [_changed_rows(commit) for commit in between]
    rows = None if None in counts else sum(count or 0 for count in counts)
    if all(commit.operation == "append" and not _deletes(commit) for commit in between):
        added = tuple(commit.snapshot_id for commit in between)
        return Change(table, old, new, APPENDED, rows, commits=added)
    if not any(_deletes(commit) for commit in (start, *between)):
        return Change(table, old, new, LOGGED, rows)
    way = TRACKED if iceberg.format_version(executor, table) >= _WITH_ROW_IDS else COMPARED
    return _compared(executor, Change(table, old, new, way, rows))


def _compared(executor: Executor, change: Change) -> Change:
    """The change with what has to be compared: rows of partitions whose files are the same are."""
    spec = partitions.spec_of(executor, change.table)
    assert change.old.snapshot_id and change.new.snapshot_id
    if spec is None or not spec.fields:
        return change
    new = partitions.files(change.table, spec, change.new.snapshot_id)
    differing = partitions.changed_files(
        change.table, spec, change.old.snapshot_id, change.new.snapshot_id
    )
    changed = partitions.partitions_of(executor, spec, differing)
    if changed is None or len(changed) > _PARTITIONS:
        return change
    # A file of the old version is among these, or it differs: so all are of this spec.
    listed = partitions.partitions_of(executor, spec, new)
    if listed is None:
        return change
    where = partitions.in_partitions(spec, change.table.catalog, changed)
    return replace(change, where=where, share=len(changed) / max(1, len(listed | changed)))


def _commits(
    chain: Sequence[SnapshotFacts], old: str, new: str
) -> tuple[SnapshotFacts, list[SnapshotFacts]] | None:
    """The commit `old`, and those after it up to `new` that may have changed rows; None if `old`
    is not below `new`."""
    known = {commit.snapshot_id: commit for commit in chain}
    found, current = [], known.get(new)
    while current is not None and current.snapshot_id != old:
        if current.operation != "replace":
            found.append(current)
        current = known.get(current.parent_id or "")
    return None if current is None else (current, found)


def _deletes(commit: SnapshotFacts) -> bool:
    """Whether files of deletes are, or may be, in the table, or were: its change log cannot be
    read then. Not every writer counts them."""
    if iceberg.summary_number(commit.summary, "total-delete-files") is None:
        return True
    return any((iceberg.summary_number(commit.summary, key) or 0) > 0 for key in _DELETES)


def _changed_rows(commit: SnapshotFacts) -> int | None:
    """How many rows a commit has changed at most, None if it does not count them."""
    if iceberg.summary_number(commit.summary, "total-records") is None:
        return None
    counts = ("added-records", "deleted-records", "added-position-deletes")
    return sum(iceberg.summary_number(commit.summary, key) or 0 for key in counts)
