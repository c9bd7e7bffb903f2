"""Iceberg tables: heads, history of the main branch, and commits that leave the rows alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from dbt.adapters.spark_mv.catalog import table_heads
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import (
    Bounds,
    BranchFacts,
    Executor,
    SnapshotFacts,
    client_for,
)
from dbt.adapters.spark_mv.sql.names import TableName, literal

FORMAT = "iceberg"


@dataclass(frozen=True)
class HistoryEntry:
    """A snapshot that became main's at a time in epoch milliseconds, and whether it continues
    another one."""

    at: int
    snapshot_id: str
    has_parent: bool


_CHAIN_LIMIT = 200
_ROW_COUNTS = (
    "added-data-files",
    "deleted-data-files",
    "added-delete-files",
    "removed-delete-files",
    "added-records",
    "deleted-records",
    "added-position-deletes",
    "added-equality-deletes",
)


def format_version(executor: Executor, name: TableName) -> int:
    """The version of Iceberg's format that a table has; 0 if it does not say."""
    ((_, found),) = executor.query(f"SHOW TBLPROPERTIES {name.sql} ('format-version')")
    return int(found) if str(found).isdigit() else 0


def labelled_chain(executor: Executor, name: TableName) -> list[SnapshotFacts]:
    """The head of the main branch, and what is below it as far as compactions reach."""
    chain = main_chain(executor, name, limit=1)
    if chain and chain[0].operation == "replace":
        return main_chain(executor, name)
    return chain


def main_chain(
    executor: Executor, name: TableName, limit: int = _CHAIN_LIMIT, until: str | None = None
) -> list[SnapshotFacts]:
    """Snapshots of the main branch, newest first, at most `limit`; empty without a snapshot."""
    return _chain(executor, name, "main", limit, until)


def commits(
    executor: Executor, name: TableName, branch: str, base: str, limit: int
) -> list[SnapshotFacts]:
    """The snapshots of a branch above `base`, newest first, at most `limit`; empty without it."""
    chain = _chain(executor, name, branch, limit, base)
    return list(takewhile(lambda snapshot: snapshot.snapshot_id != base, chain))


def _chain(
    executor: Executor, name: TableName, branch: str, limit: int, until: str | None = None
) -> list[SnapshotFacts]:
    client = client_for(executor, name.catalog)
    if client is not None:
        return client.chain(name.parts, branch, limit, until)
    rows = executor.query(
        "SELECT s.snapshot_id, s.parent_id, s.operation, "
        "unix_millis(s.committed_at), to_json(s.summary), r.name "
        f"FROM {name.sql}.`snapshots` s LEFT JOIN {name.sql}.`refs` r "
        f"ON r.snapshot_id = s.snapshot_id AND r.name = {literal(branch)}"
    )
    snapshots = {str(row[0]): _snapshot(row) for row in rows}
    head = next((str(row[0]) for row in rows if row[5] == branch), None)
    chain: list[SnapshotFacts] = []
    while head in snapshots and len(chain) < limit:
        chain.append(snapshots[head])
        head = snapshots[head].parent_id
    return chain


def _snapshot(row: Sequence[object]) -> SnapshotFacts:
    summary = json.loads(str(row[4])) if row[4] else {}
    parent = None if row[1] is None else str(row[1])
    return SnapshotFacts(str(row[0]), parent, str(row[2]), int(str(row[3])), summary)


def rows_unchanged(
    executor: Executor, name: TableName, old: str, new: str, schema_id: int | None
) -> bool:
    """Whether `old` is an ancestor of `new` and no commit in between touched a row; both have the
    schema of this id.

    Compactions rewrite files without changing rows; DML that matches nothing, changes of
    properties and the like commit no file at all. The specification asks for no counts in the
    summary of a snapshot: one that does not say that it changed nothing may have changed anything.
    If `old` is not kept, its schema may not be either, and its id may be that of another one: it is
    the same if all that came after it has had it.
    """
    chain = {snapshot.snapshot_id: snapshot for snapshot in main_chain(executor, name, until=old)}
    current, between = new, list[SnapshotFacts]()
    while current != old:
        snapshot = chain.get(current)
        if snapshot is None or snapshot.parent_id is None:
            return False
        if not _keeps_rows(snapshot, chain.get(snapshot.parent_id)):
            return False
        between.append(snapshot)
        current = snapshot.parent_id
    return old in chain or all(_has_schema(executor, name, one, schema_id) for one in between)


def _has_schema(
    executor: Executor, name: TableName, snapshot: SnapshotFacts, schema_id: int | None
) -> bool:
    found = snapshot.schema_id
    if found is None:
        found = table_heads.snapshot_schema(executor, name, snapshot.snapshot_id)
    return found is not None and found == schema_id


def _keeps_rows(snapshot: SnapshotFacts, parent: SnapshotFacts | None) -> bool:
    if snapshot.operation == "replace":
        return True
    if parent is None or summary_number(snapshot.summary, "changed-partition-count") != 0:
        return False
    if any(snapshot.summary.get(count, "0") != "0" for count in _ROW_COUNTS):
        return False
    totals = (summary_number(one.summary, "total-records") for one in (snapshot, parent))
    after, before = totals
    return after is not None and after == before


def moves(executor: Executor, name: TableName) -> str:
    """Changes whenever the main branch moves, also back to where it was, or the table is another
    one, also one that looks the same."""
    files = "sort_array(collect_set(concat_ws(' ', file, unix_millis(timestamp))))"
    identity = f"SELECT sha2(array_join({files}, ','), 256) FROM {name.sql}.`metadata_log_entries`"
    ((count, last, log),) = executor.query(
        f"SELECT count(*), max(made_current_at), ({identity}) FROM {name.sql}.`history`"
    )
    return f"{count} {last} {log}"


def added_bounds(
    executor: Executor, name: TableName, snapshot_ids: Sequence[str], columns: Sequence[str]
) -> dict[str, Bounds]:
    """Bounds of columns in the rows that these snapshots added, where they can be had without a
    Spark job."""
    client = client_for(executor, name.catalog)
    if client is None:
        return {}
    return client.added_bounds(name.parts, snapshot_ids, columns)


def bounds(
    executor: Executor, name: TableName, snapshot_id: str, columns: Sequence[str]
) -> dict[str, Bounds]:
    """As `added_bounds`, in all rows of a snapshot."""
    client = client_for(executor, name.catalog)
    if client is None:
        return {}
    return client.bounds(name.parts, snapshot_id, columns)


def branches(executor: Executor, name: TableName) -> dict[str, BranchFacts]:
    """Branches of a table, by name."""
    client = client_for(executor, name.catalog)
    if client is not None:
        return client.branches(name.parts)
    rows = executor.query(
        "SELECT name, snapshot_id, max_reference_age_in_ms DIV 60000 "
        f"FROM {name.sql}.`refs` WHERE type = 'BRANCH'"
    )
    return {str(row[0]): BranchFacts(str(row[1]), row[2]) for row in rows}


def create_branch(
    executor: Executor, name: TableName, branch: str, snapshot_id: str, kept_minutes: int
) -> None:
    """Create a branch at a snapshot; fails if it exists, so it serves as a mutex."""
    client = client_for(executor, name.catalog)
    if client is not None:
        client.create_branch(name.parts, branch, snapshot_id, kept_minutes)
        return
    executor.query(
        f"ALTER TABLE {name.sql} CREATE BRANCH `{branch}` AS OF VERSION {int(snapshot_id)} "
        f"RETAIN {kept_minutes} MINUTES"
    )


def publish(executor: Executor, name: TableName, branch: str, drop: Sequence[str]) -> None:
    """Fast-forward main to `branch`, refused if main has moved, then drop branches."""
    client = client_for(executor, name.catalog)
    if client is not None:
        client.publish(name.parts, branch, drop)
        return
    catalog = name.catalog
    target = literal(".".join(f"`{part}`" for part in (*name.namespace, name.name)))
    executor.query(f"CALL `{catalog}`.system.fast_forward({target}, 'main', {literal(branch)})")
    drop_branches(executor, name, drop)


def roll_back(executor: Executor, name: TableName, base: str, snapshot_id: str) -> None:
    """Take main from the snapshot `base` back to another. By statements it is not refused if main
    has moved since it was last read, so that `head_before` has to be asked after it."""
    client = client_for(executor, name.catalog)
    if client is not None:
        client.roll_back(name.parts, base, snapshot_id)
        return
    # Unlike the procedures, it is not tried again over what others commit meanwhile.
    executor.query(f"ALTER TABLE {name.sql} REPLACE BRANCH `main` AS OF VERSION {int(snapshot_id)}")


def head_before(executor: Executor, name: TableName, head: str) -> str | None:
    """The snapshot that was main's before `head` last became that."""
    rows = executor.query(
        f"SELECT snapshot_id FROM {name.sql}.`history` ORDER BY made_current_at DESC LIMIT 2"
    )
    return next((str(row[0]) for row in rows if str(row[0]) != head), None)


def history(executor: Executor, name: TableName) -> list[HistoryEntry]:
    """What main has been, as far as it is kept, in the order in which it became that: times may go
    back, as clocks of writers differ."""
    rows = executor.query(
        f"SELECT unix_millis(made_current_at), snapshot_id, parent_id FROM {name.sql}.`history`"
    )
    return [HistoryEntry(int(row[0]), str(row[1]), row[2] is not None) for row in rows]


def drop_branches(executor: Executor, name: TableName, drop: Sequence[str]) -> None:
    """Drop branches that may or may not exist."""
    client = client_for(executor, name.catalog)
    if client is not None:
        client.drop_branches(name.parts, drop)
        return
    for branch in drop:
        try:
            executor.query(f"ALTER TABLE {name.sql} DROP BRANCH IF EXISTS `{branch}`")
        except StatementFailed:
            # Iceberg fails on a branch that somebody else drops after it has looked.
            if branch in branches(executor, name):
                raise


def label_of(chain: Sequence[SnapshotFacts], key: str) -> tuple[SnapshotFacts, str] | None:
    """The newest label on a chain, looking through compactions only; None if there is none."""
    for snapshot in chain:
        if key in snapshot.summary:
            return snapshot, str(snapshot.summary[key])
        if snapshot.operation != "replace":
            return None
    return None


def summary_number(summary: Mapping[str, str], key: str) -> int | None:
    """A count of a snapshot's summary, None if it is not there."""
    value = summary.get(key)
    return int(value) if value is not None and value.isdigit() else None


def live_rows(summary: Mapping[str, str]) -> int | None:
    """The rows of a snapshot, None if its summary does not count them."""
    total = summary_number(summary, "total-records")
    return total and total - (summary_number(summary, "total-position-deletes") or 0)
