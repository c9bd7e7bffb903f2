"""What lies between two versions of a base table, by the cheapest way that is exact.

Conditions and costs of each way were measured; docs/decisions/0008 has them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

from dbt.adapters.spark_mv.catalog import iceberg, partition_lists, partitions, table_heads
from dbt.adapters.spark_mv.catalog.file_changes import changed_files
from dbt.adapters.spark_mv.catalog.positions import Positions, positions, stay_deleted
from dbt.adapters.spark_mv.catalog.row_ids import RowIds, row_ids
from dbt.adapters.spark_mv.catalog.versions import Version, keeps_columns
from dbt.adapters.spark_mv.core.executor import Bounds, Executor, SnapshotFacts, Value
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.sql.columns import Columns
from dbt.adapters.spark_mv.sql.names import TableName, quote

APPENDED, LOGGED = "appended files", "change log"
POSITIONED, TRACKED = "added files and deleted positions", "row ids of both versions"
COMPARED = "comparison of both versions"
# Nobody wrote to the table.
UNWRITTEN = "the same version"
_COMMITS, _PARTITIONS = 200, 500
# The change log lists every row of the files that were written anew: soon more than row ids cost.
_LOGGED_SHARE = 0.5
# From this version of Iceberg's format on each row has an id, and the commit that wrote it last.
_WITH_ROW_IDS = 3
_TOTAL, _DELETES = "total-delete-files", ("added-delete-files", "removed-delete-files")


@dataclass(frozen=True)
class Change:
    """A change of one table: how it is read, and how many rows it lists at most, if known.

    What changed is sought among rows that meet the condition `where`, if there is one: a `share`
    of them; `found` says by which files or ids. Of appended files `commits` are those that added
    them, and `bounds` what is known of columns in them. `rewritten` says that files were written
    anew for some of their rows, `compacted` that others may have been for none. Of the rows that
    were there so many have `crossed` a moment: by the clock they are others, and nobody wrote them.
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
    found: Positions | RowIds | None = None
    rewritten: bool = False
    compacted: bool = True
    crossed: int = 0

    @property
    def inserts_only(self) -> bool:
        """Whether no row has gone."""
        if self.crossed:
            return False
        return self.way == APPENDED or (self.found is not None and not self.found.takes_away)

    @property
    def scans(self) -> float:
        """What it costs to find the changed rows, beside reading them, in reads of the table."""
        found = 0.0 if self.found is None else self.found.scans * self.share
        return found + (1.0 if self.crossed else 0.0)

    def __str__(self) -> str:
        rows = "" if self.rows is None else f", at most {self.rows:,} rows"
        partitions = "" if self.where is None else ", in changed partitions"
        crossed = f", {self.crossed:,} rows by the clock" if self.crossed else ""
        return f"{self.table.shown}: {self.way}{partitions}{rows}{crossed}"

    def sql(self, columns: Columns, weight: str, nets: bool = True) -> str:
        """A query of the changed rows: these columns, and their weight; each row once if it
        `nets`."""
        listed = columns.listed
        if self.way == APPENDED:
            appended = f"SELECT {listed}, 1 AS {weight} FROM {self._between('')}"
            known = [within(quote(column), bounds) for column, bounds in self.bounds.items()]
            return f"{appended} WHERE {' AND '.join(known)}" if known else appended
        if self.found is not None:
            old, new, where = self.old.snapshot_id, self.new.snapshot_id, self.where or "TRUE"
            inner = self.found.sql(self.table, str(old), str(new), listed, weight, where)
        elif self.way == LOGGED:
            signed = "CASE WHEN _change_type IN ('INSERT', 'UPDATE_AFTER') THEN 1 ELSE -1 END"
            inner = f"SELECT {listed}, {signed} AS {weight} FROM {self._between('.`changes`')}"
        else:
            inner = (
                f"SELECT {listed}, 1 AS {weight} FROM {self._at(self.new)}"
                f" UNION ALL SELECT {listed}, -1 FROM {self._at(self.old)}"
            )
        if self.inserts_only or not nets:
            return inner
        return netted(inner, columns, weight)

    def _between(self, suffix: str) -> str:
        return (
            f"{self.table.sql}{suffix} WITH (`start-snapshot-id` = '{self.old.snapshot_id}', "
            f"`end-snapshot-id` = '{self.new.snapshot_id}')"
        )

    def _at(self, version: Version) -> str:
        where = f" WHERE {self.where}" if self.where is not None else ""
        return f"{self.table.sql} VERSION AS OF {version.snapshot_id}{where}"


def netted(changed: str, columns: Columns, weight: str) -> str:
    """A query of the rows of another one, each once, whose weights do not add up to nothing."""
    return (
        f"SELECT {columns.kept}, SUM({weight}) AS {weight} FROM ({changed}) "
        f"GROUP BY {columns.keys} HAVING SUM({weight}) <> 0"
    )


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


def with_deletes(change: Change) -> Change:
    """A change as it would be if a few rows had been deleted by their positions, and others
    written to files of their own, instead of files anew; others as they are."""
    if not change.rewritten:
        return change
    return replace(change, way=POSITIONED, rows=0, found=Positions(("",), 0, ("",), 1, 0))


def schema_changed(table: TableName) -> Reason:
    """Why nothing is computed from what a table was before."""
    return Reason(
        "SCHEMA_CHANGED", f"the columns of {table.shown} were altered, or the table was replaced"
    )


def change_between(
    executor: Executor,
    table: TableName,
    old: Version,
    new: Version,
    needed: Collection[str] | None = None,
) -> Change | Reason:
    """How the change of `table` from `old` to `new` can be read; the reason if it cannot. The new
    one may have further columns if the `needed` ones are named, which the old one has to have."""
    if any(version.is_altered for version in (old, new)):
        return schema_changed(table)
    if not (old.can_pin and new.can_pin):
        return Reason("NO_OLD_VERSION", f"{table.shown} has no version that can be read again")
    if not keeps_columns(executor, table, old, new, needed):
        return schema_changed(table)
    assert old.snapshot_id and new.snapshot_id
    chain = iceberg.main_chain(executor, table, _COMMITS, old.snapshot_id)
    commits = _commits(chain, old.snapshot_id, new.snapshot_id)
    # A version may be older than the columns that the table had by then.
    schema_id = commits.start.schema_id if commits else None
    if schema_id is None:
        schema_id = table_heads.snapshot_schema(executor, table, old.snapshot_id)
    if schema_id != old.schema_id:
        return Reason("VERSION_GONE", f"{table.shown} can no longer be read as it was")
    change = Change(table, old, new, COMPARED)
    if commits is None:
        return _in_partitions(executor, change)
    change = replace(change, rows=commits.rows, compacted=commits.compacted)
    return _of_commits(executor, change, commits)


def _of_commits(executor: Executor, change: Change, commits: _Commits) -> Change:
    """How the change by these commits is read."""
    if all(commit.operation == "append" and not _deletes(commit) for commit in commits.between):
        added = tuple(commit.snapshot_id for commit in commits.between)
        return replace(change, way=APPENDED, commits=added)
    version = iceberg.format_version(executor, change.table)
    counted = not any(_has_deletes(commit) for commit in (commits.start, *commits.between))
    if counted:
        logged = replace(change, way=LOGGED, rewritten=True)
        live = iceberg.live_rows(commits.head.summary) or 0
        if version < _WITH_ROW_IDS or (change.rows or live) <= _LOGGED_SHARE * live:
            return logged
        return _by_files(executor, change, commits, version, counted) or logged
    found = _by_files(executor, change, commits, version, counted)
    return found or _in_partitions(executor, change)


def _by_files(
    executor: Executor, change: Change, commits: _Commits, version: int, counted: bool
) -> Change | None:
    """The change as it is read by its files, or by row ids; None if it cannot be."""
    old, new = commits.start.snapshot_id, commits.head.snapshot_id
    files = changed_files(executor, change.table, old, new)
    if files is None or not stay_deleted(executor, change.table, old, new, files):
        return None
    summaries = commits.start.summary, commits.head.summary
    if all(iceberg.summary_number(one, "total-equality-deletes") == 0 for one in summaries):
        deleted = iceberg.summary_number(summaries[1], "total-position-deletes")
        by_position = positions(files, deleted)
        if by_position is not None:
            found = replace(change, way=POSITIONED, rows=by_position.rows, found=by_position)
            return _in_partitions(executor, found)
    if version < _WITH_ROW_IDS:
        return None
    by_id = row_ids(executor, change.table, old, files, counted)
    if by_id is None:
        return None
    found = replace(change, way=TRACKED, rows=by_id.rows, found=by_id)
    return _in_partitions(executor, found)


def _in_partitions(executor: Executor, change: Change) -> Change:
    """The change with where it is sought: rows of partitions whose files are the same are."""
    spec = partitions.spec_of(executor, change.table)
    assert change.old.snapshot_id and change.new.snapshot_id
    if spec is None or not spec.fields:
        return change
    old, new = change.old.snapshot_id, change.new.snapshot_id
    changed = partition_lists.changed(executor, change.table, spec, old, new)
    if changed is None or len(changed) > _PARTITIONS:
        return change
    # A file of the old version is among these, or it differs: so all are of this spec.
    listed = partition_lists.current(executor, change.table, spec, new)
    if listed is None:
        return change
    where = partitions.in_partitions(spec, change.table.catalog, changed)
    return replace(change, where=where, share=len(changed) / max(1, len(listed | changed)))


@dataclass(frozen=True)
class _Commits:
    """The commit of the old version, that of the new one, and those that may have changed rows
    `between` them, with the new one if it is such a commit; whether there are others."""

    start: SnapshotFacts
    head: SnapshotFacts
    between: tuple[SnapshotFacts, ...]
    compacted: bool

    @property
    def rows(self) -> int | None:
        """How many rows they have changed at most, None if not all of them count them."""
        counts = [_changed_rows(commit) for commit in self.between]
        return None if None in counts else sum(count or 0 for count in counts)


def _commits(chain: Sequence[SnapshotFacts], old: str, new: str) -> _Commits | None:
    """The commits from `old` to `new`; None if `old` is not below `new`."""
    known = {commit.snapshot_id: commit for commit in chain}
    found, current = [], known.get(new)
    while current is not None and current.snapshot_id != old:
        found.append(current)
        current = known.get(current.parent_id or "")
    if current is None:
        return None
    between = tuple(commit for commit in found if commit.operation != "replace")
    return _Commits(current, known[new], between, len(between) < len(found))


def _has_deletes(commit: SnapshotFacts) -> bool:
    """Whether files of deletes are, or may be, in the table, or were: its change log cannot be
    read then."""
    return _deletes(commit) or iceberg.summary_number(commit.summary, _TOTAL) != 0


def _deletes(commit: SnapshotFacts) -> bool:
    """Whether a commit added or removed files of deletes; not every writer counts them."""
    if iceberg.summary_number(commit.summary, _TOTAL) is None:
        return True
    return any((iceberg.summary_number(commit.summary, key) or 0) > 0 for key in _DELETES)


def _changed_rows(commit: SnapshotFacts) -> int | None:
    """How many rows a commit has changed at most, None if it does not count them."""
    if iceberg.summary_number(commit.summary, "total-records") is None:
        return None
    counts = ("added-records", "deleted-records", "added-position-deletes")
    return sum(iceberg.summary_number(commit.summary, key) or 0 for key in counts)
