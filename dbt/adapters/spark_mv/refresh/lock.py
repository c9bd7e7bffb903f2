"""The right to refresh: a branch whose name is derived from the main snapshot it starts from.

Creating a branch fails if it exists, so the branch is the mutex. It only saves work: the publish
itself is a compare-and-swap, so whoever wrongly believes to own the refresh can only lose there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import BranchFacts, Executor
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.refresh.lock_owner import Owner, owner_is_dead, owner_of, this_process
from dbt.adapters.spark_mv.sql.names import TableName

BRANCH = re.compile(r"^refresh_(\d+)_(\d+)$")
_UNKNOWN_OWNER_GRACE = 30.0
_ATTEMPTS = 5


@dataclass(frozen=True)
class RefreshLock:
    """A won right to refresh `storage` from main snapshot `base`, by writing to `branch`."""

    storage: TableName
    base: str
    branch: str
    leftovers: tuple[str, ...]


@dataclass(frozen=True)
class LockHeld:
    """Another refresh holds `branch`: `owner` is the process, as the branch itself says, `started`
    its REFRESH_STARTED, if that is known yet."""

    branch: str
    owner: Owner | None
    started: Event | None


class RefreshLocks:
    """Refresh locks, seen from one process. `started` finds the REFRESH_STARTED of a branch."""

    def __init__(
        self, executor: Executor, started: Callable[[str], Event | None], timeout: float
    ) -> None:
        self._executor = executor
        self._started = started
        self._timeout = timeout
        self._first_seen: dict[tuple[TableName, str], float] = {}
        self._broken: dict[tuple[TableName, str], int] = {}

    def acquire(self, storage: TableName, base: str) -> RefreshLock | LockHeld | None:
        """Try to take the lock; `LockHeld` if a living owner has it, None if main is not at `base`
        any more."""
        for attempt in range(_ATTEMPTS):
            branches = iceberg.branches(self._executor, storage)
            main = branches.get("main")
            if main is None or main.snapshot_id != base:
                return None
            busy = self._holder(storage, base, branches)
            if busy is not None:
                return busy
            taken = max(_highest(branches, base), self._broken.get((storage, base), 0))
            branch = f"refresh_{base}_{taken + 1}"
            kept = this_process().kept_minutes()
            try:
                iceberg.create_branch(self._executor, storage, branch, base, kept)
            except StatementFailed:
                found = iceberg.branches(self._executor, storage).get(branch)
                if found is not None:
                    return LockHeld(branch, owner_of(found), None)
                # Another branch was made or dropped at the same moment: nobody has the lock.
                if attempt == _ATTEMPTS - 1:
                    raise
                continue
            leftovers = tuple(name for name in branches if BRANCH.match(name))
            return RefreshLock(storage, base, branch, leftovers)
        return None

    def break_lock(self, storage: TableName, base: str, held: LockHeld) -> None:
        """Take the lock away from who holds it. The next one that this process acquires has
        another name, so that who lost it does not write under the new one."""
        iceberg.drop_branches(self._executor, storage, [held.branch])
        self._broken[storage, base] = _number(held.branch, base) or 0

    def is_held(self, storage: TableName, base: str) -> bool:
        """Whether a living owner holds the lock on `base`."""
        branches = iceberg.branches(self._executor, storage)
        return self._holder(storage, base, branches) is not None

    def _holder(
        self, storage: TableName, base: str, branches: Mapping[str, BranchFacts]
    ) -> LockHeld | None:
        branch = f"refresh_{base}_{_highest(branches, base)}"
        facts = branches.get(branch)
        return self.holder_of(storage, branch, facts) if facts is not None else None

    def holder_of(self, storage: TableName, branch: str, facts: BranchFacts) -> LockHeld | None:
        """Who holds a branch, None if that process is gone or over its time."""
        owner, started = owner_of(facts), self._started(branch)
        if owner is not None and owner.is_dead(self._timeout):
            return None
        if started is not None and owner_is_dead(started, self._timeout):
            return None
        # Only branches made by earlier versions do not say whose they are.
        is_unknown = owner is None and started is None
        grace = min(self._timeout, _UNKNOWN_OWNER_GRACE) if is_unknown else self._timeout
        if self._seconds_seen(storage, branch) > grace:
            return None
        return LockHeld(branch, owner, started)

    def release(self, lock: RefreshLock) -> None:
        """Drop the branch of a lock under which nothing will be published; failing does no harm."""
        try:
            iceberg.drop_branches(self._executor, lock.storage, [lock.branch])
        except StatementFailed:
            return

    def _seconds_seen(self, storage: TableName, branch: str) -> float:
        """For how long this process has known the branch: a clock of its own, and no minutes."""
        now = time.monotonic()
        return now - self._first_seen.setdefault((storage, branch), now)


def _highest(branches: Iterable[str], base: str) -> int:
    return max((number for branch in branches if (number := _number(branch, base))), default=0)


def _number(branch: str, base: str) -> int | None:
    match = BRANCH.match(branch)
    return int(match.group(2)) if match and match.group(1) == base else None
