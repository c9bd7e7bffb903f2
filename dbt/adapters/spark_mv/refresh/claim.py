"""The right to refresh: a branch whose name is derived from the main snapshot it starts from.

Creating a branch fails if it exists, so the branch is the mutex. It only saves work: the publish
itself is a compare-and-swap, so whoever wrongly believes to own the refresh can only lose there.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.spark_mv.base_tables import iceberg
from dbt.adapters.spark_mv.errors import StatementFailed
from dbt.adapters.spark_mv.executor import Executor
from dbt.adapters.spark_mv.metadata.events import Event, host
from dbt.adapters.spark_mv.sql.names import TableName

BRANCH = re.compile(r"^refresh_(\d+)_(\d+)$")
_UNKNOWN_OWNER_GRACE = 30.0


@dataclass(frozen=True)
class Claim:
    """A won right to refresh `storage` from main snapshot `base`, by writing to `branch`."""

    storage: TableName
    base: str
    branch: str
    leftovers: tuple[str, ...]


@dataclass(frozen=True)
class Busy:
    """Another refresh holds `branch`; `owner` is its REFRESH_STARTED, if that is known yet."""

    branch: str
    owner: Event | None


class Claims:
    """Claims, seen from one process. `started` finds the REFRESH_STARTED of a branch."""

    def __init__(
        self, executor: Executor, started: Callable[[str], Event | None], timeout: float
    ) -> None:
        self._executor = executor
        self._started = started
        self._timeout = timeout
        self._first_seen: dict[tuple[TableName, str], float] = {}

    def claim(self, storage: TableName, base: str) -> Claim | Busy:
        """Try to claim; `Busy` if a living owner has it."""
        branches = iceberg.branches(self._executor, storage)
        taken = _highest(branches, base)
        busy = self._holder(storage, base, taken)
        if busy is not None:
            return busy
        branch = f"refresh_{base}_{taken + 1}"
        try:
            iceberg.create_branch(self._executor, storage, branch, base)
        except StatementFailed:
            if branch not in iceberg.branches(self._executor, storage):
                raise
            return Busy(branch, None)
        leftovers = tuple(name for name in branches if BRANCH.match(name))
        return Claim(storage, base, branch, leftovers)

    def is_held(self, storage: TableName, base: str) -> bool:
        """Whether a living owner has the claim on `base`."""
        taken = _highest(iceberg.branches(self._executor, storage), base)
        return self._holder(storage, base, taken) is not None

    def _holder(self, storage: TableName, base: str, taken: int) -> Busy | None:
        branch = f"refresh_{base}_{taken}"
        owner = self._started(branch) if taken else None
        if not taken or self._is_dead(storage, branch, owner):
            return None
        return Busy(branch, owner)

    def release(self, claim: Claim) -> None:
        """Drop the branch of a claim that will not be published; failing does no harm."""
        try:
            iceberg.drop_branches(self._executor, claim.storage, [claim.branch])
        except StatementFailed:
            return

    def _is_dead(self, storage: TableName, branch: str, owner: Event | None) -> bool:
        if owner is None:
            first = self._first_seen.setdefault((storage, branch), time.monotonic())
            return time.monotonic() - first > min(self._timeout, _UNKNOWN_OWNER_GRACE)
        return owner_is_dead(owner, self._timeout)


def owner_is_dead(owner: Event, timeout: float) -> bool:
    """Whether the process that started a refresh is gone, or over its time."""
    return time.time() - owner.at / 1e6 > timeout or owner_is_gone(owner)


def owner_is_gone(owner: Event) -> bool:
    """Whether the process that started a refresh is known to have ended; only on its own host."""
    payload = owner.payload
    if payload.get("owner_host") != host():
        return False
    pid = int(payload.get("owner_pid", 0))
    return not process_is_alive(pid, payload.get("owner_started"))


def process_is_alive(pid: int, started: object = None) -> bool:
    """Whether the process lives; `started` tells it from a later one with the same number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OSError):
        return True
    return started is None or process_start(pid) in (None, started)


def process_start(pid: int) -> str | None:
    """Start time of a process in the kernel's ticks, None where there is no /proc.

    A zombie counts as gone: it will never publish.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return "zombie" if fields[0] == "Z" else fields[19]


def _highest(branches: Iterable[str], base: str) -> int:
    return max((number for branch in branches if (number := _number(branch, base))), default=0)


def _number(branch: str, base: str) -> int | None:
    match = BRANCH.match(branch)
    return int(match.group(2)) if match and match.group(1) == base else None
