"""Branches of an Iceberg table in this process, over py4j; a table is as the catalog loaded it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import BranchFacts

_MINUTE = 60_000


def branches(jvm: Any, table: Any) -> dict[str, BranchFacts]:
    """Branches of a table, by name; none if there is no table."""
    if table is None:
        return {}
    references = table.refs()
    # Python's own iteration over a Java collection ends in a slow Java exception.
    names = jvm.java.util.ArrayList(references.keySet())
    found = {}
    for index in range(names.size()):
        reference = references.get(names.get(index))
        if reference.isBranch():
            found[str(names.get(index))] = _facts(reference)
    return found


def _facts(reference: Any) -> BranchFacts:
    kept = reference.maxRefAgeMs()
    return BranchFacts(str(reference.snapshotId()), None if kept is None else kept // _MINUTE)


def create(table: Any, branch: str, snapshot_id: int, kept_minutes: int) -> None:
    """Create a branch at a snapshot that is kept for so long, in one commit; fails if it exists."""
    change = table.manageSnapshots().createBranch(branch, snapshot_id)
    change.setMaxRefAgeMs(branch, kept_minutes * _MINUTE).commit()


def publish(jvm: Any, table: Any, branch: str, unwanted: Sequence[str]) -> None:
    """Fast-forward main to `branch` and drop branches, in one commit."""
    while True:
        present = branches(jvm, table)
        dropped = [name for name in unwanted if name in present]
        change = table.manageSnapshots().fastForwardBranch("main", branch)
        try:
            for name in dropped:
                change = change.removeBranch(name)
            change.commit()
            return
        except Exception:
            if not _some_are_gone(jvm, table, dropped):
                raise


def roll_back(jvm: Any, table: Any, base: str, snapshot_id: int) -> None:
    """Take main from the snapshot `base` back to another, in one commit that is refused if anything
    else is committed; fails if main is not at `base`."""
    operations = table.operations()
    known = operations.refresh()
    current = known.currentSnapshot()
    if current is None or str(current.snapshotId()) != base:
        raise StatementFailed(f"CommitFailed: main is not at snapshot {base}")
    change = jvm.org.apache.iceberg.TableMetadata.buildFrom(known)
    operations.commit(known, change.setBranchSnapshot(snapshot_id, "main").build())


def drop(jvm: Any, table: Any, unwanted: Sequence[str]) -> None:
    """Drop those branches that exist."""
    present = branches(jvm, table)
    for name in unwanted:
        if name not in present:
            continue
        try:
            table.manageSnapshots().removeBranch(name).commit()
        except Exception:
            if not _some_are_gone(jvm, table, [name]):
                raise


def _some_are_gone(jvm: Any, table: Any, names: Sequence[str]) -> bool:
    """Whether somebody else has dropped one of the branches since the table was loaded."""
    table.refresh()
    present = branches(jvm, table)
    return any(name not in present for name in names)
