"""The one visible step of a refresh: main moves to the branch that was written, or back to the
newest build, or nothing does.

It is a compare-and-swap on main's snapshot, so repeating it is harmless. A reply that was lost is
not trusted: main itself is the evidence of what was published.
"""

from __future__ import annotations

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import PublishRefused, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, SnapshotFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.refresh.lock import RefreshLock
from dbt.adapters.spark_mv.state.freshness import LABEL_ID

# Somebody committed to the table at the same time, or the catalog was busy: worth another try.
_CONFLICTS = (
    "CommitFailed",
    "CommitStateUnknown",
    "metadata refresh is required",
    "Cannot commit",
    "SQLITE_BUSY",
    "database is locked",
)
_CHAIN = 20
_ATTEMPTS = 6


class _Conflict(StatementFailed):
    """A publish that failed for a known, passing cause."""


def publish(
    executor: Executor, lock: RefreshLock, refresh_id: str, writes: int
) -> tuple[SnapshotFacts, ...]:
    """Fast-forward main to the branch of the lock, to which this refresh made so many writes;
    returns the published snapshots, newest first.

    Raises `PublishRefused` if main is another snapshot now, `StatementFailed` if main did not
    move and the cause is permanent.
    """
    built = iceberg.commits(executor, lock.storage, lock.branch, lock.base, writes + 1)
    # A commit to a branch that was dropped creates it again, from what main was by then: main
    # could be moved to it, and a newer build, or an earlier write of ours, would be lost.
    ours = [snapshot for snapshot in built if snapshot.summary.get(LABEL_ID) == refresh_id]
    if len(ours) != writes or built != ours or built[-1].parent_id != lock.base:
        raise PublishRefused("another refresh has taken over")
    _retrying()(_publish_once, executor, lock, refresh_id)
    return tuple(built)


def _retrying() -> Retrying:
    return Retrying(
        stop=stop_after_attempt(_ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.05, max=1.0),
        retry=retry_if_exception_type(_Conflict),
        reraise=True,
    )


def _publish_once(executor: Executor, lock: RefreshLock, refresh_id: str) -> None:
    try:
        reached("publish.before")
        iceberg.publish(executor, lock.storage, lock.branch, [lock.branch, *lock.leftovers])
        reached("publish.after")
    except StatementFailed as error:
        chain = iceberg.main_chain(executor, lock.storage, _CHAIN)
        if any(snapshot.summary.get(LABEL_ID) == refresh_id for snapshot in chain):
            return
        if not chain or chain[0].snapshot_id != lock.base:
            raise PublishRefused("another refresh was published first") from None
        if any(text in str(error) for text in _CONFLICTS):
            raise _Conflict(error.problem, error.way_out) from None
        raise


def take_back(executor: Executor, lock: RefreshLock, snapshot_id: str) -> None:
    """Take main from the base of the lock back to another snapshot.

    Raises `PublishRefused` if anything else was written, which is then as if this had not been
    done, `StatementFailed` if main did not move and the cause is permanent.
    """
    _retrying()(_take_back_once, executor, lock, snapshot_id)
    reached("restore.after")
    _refuse_other(executor, lock, snapshot_id)
    lost = iceberg.head_before(executor, lock.storage, snapshot_id)
    if lost is not None and lost != lock.base:
        # Only by statements: they do not say from where main is to be moved.
        iceberg.roll_back(executor, lock.storage, snapshot_id, lost)
        raise PublishRefused(f"snapshot {lost} was written to its storage table at the same time")


def _take_back_once(executor: Executor, lock: RefreshLock, snapshot_id: str) -> None:
    reached("restore.before")
    _refuse_other(executor, lock, lock.base)
    reached("restore.checked")
    try:
        iceberg.roll_back(executor, lock.storage, lock.base, snapshot_id)
    except StatementFailed as error:
        if _head(executor, lock) == snapshot_id:
            return
        _refuse_other(executor, lock, lock.base)
        if any(text in str(error) for text in _CONFLICTS):
            raise _Conflict(error.problem, error.way_out) from None
        raise


def _refuse_other(executor: Executor, lock: RefreshLock, expected: str) -> None:
    if _head(executor, lock) != expected:
        raise PublishRefused("something else was written to its storage table")


def _head(executor: Executor, lock: RefreshLock) -> str | None:
    chain = iceberg.main_chain(executor, lock.storage, 1)
    return chain[0].snapshot_id if chain else None
