"""The process that runs a refresh: as a branch names it, and whether it still lives."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.spark_mv.executor import BranchFacts
from dbt.adapters.spark_mv.metadata.events import Event, host

# In minutes, so that plain SQL can say it; so long that no branch expires by it.
_AT_LEAST = 2**41
_HOST_BITS, _START_BITS = 40, 12


@dataclass(frozen=True)
class Owner:
    """Who holds a branch, and since when (epoch seconds).

    It is written into the retention of the branch, in the commit that makes it: a refresh branch
    does not live until any of that matters. `host` and `start` are digests of the host's name and
    of the start of the process.
    """

    host: int
    pid: int
    start: int
    since: int

    @property
    def is_here(self) -> bool:
        """Whether it is a process of this host."""
        return self.host == _host_digest(host())

    def is_dead(self, timeout: float) -> bool:
        """Whether the process is known to have ended, or is over its time, in seconds."""
        if time.time() - self.since > timeout:
            return True
        return self.is_here and not (
            _exists(self.pid) and _start_digest(process_start(self.pid)) in (0, self.start)
        )

    def retention(self) -> tuple[int, int, int]:
        """How it is written: minutes that a branch is kept, snapshots, minutes of snapshots."""
        return _AT_LEAST + self.host, self.pid, (self.since << _START_BITS) + self.start


def this_process() -> Owner:
    """This process, from now on."""
    pid = os.getpid()
    return Owner(_host_digest(host()), pid, _start_digest(process_start(pid)), int(time.time()))


def owner_of(branch: BranchFacts) -> Owner | None:
    """Who made a branch; None if it does not say so."""
    kept, pid, snapshots = branch.kept_minutes, branch.kept_snapshots, branch.snapshot_minutes
    if kept is None or pid is None or snapshots is None or kept < _AT_LEAST:
        return None
    since, start = divmod(snapshots, 1 << _START_BITS)
    return Owner(kept - _AT_LEAST, pid, start, since)


def owner_is_dead(started: Event, timeout: float) -> bool:
    """Whether the process that recorded this start is gone, or over its time."""
    return time.time() - started.at / 1e6 > timeout or owner_is_gone(started)


def owner_is_gone(started: Event) -> bool:
    """Whether the process that recorded this start is known to have ended; only on its own host."""
    payload = started.payload
    if payload.get("owner_host") != host():
        return False
    pid, start = int(payload.get("owner_pid", 0)), payload.get("owner_started")
    return not (_exists(pid) and (start is None or process_start(pid) in (None, start)))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OSError):
        return True
    return True


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


def _host_digest(name: str) -> int:
    return _digest(name) % (1 << _HOST_BITS)


def _start_digest(start: str | None) -> int:
    """0 if nobody can tell when a process began."""
    return 0 if start is None else 1 + _digest(start) % ((1 << _START_BITS) - 1)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
