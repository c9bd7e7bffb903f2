"""The process that runs a refresh: as a branch names it, and whether it still lives."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.spark_mv.core.executor import BranchFacts
from dbt.adapters.spark_mv.metadata.events import Event, host

_ZOMBIE = "zombie"
# A branch is kept for so many minutes and more: until long after nobody cares. Plain SQL takes no
# number of milliseconds, and Iceberg none of more than 63 bits.
_AT_LEAST = 2**46
_HOST, _PID, _SINCE = 2**9, 2**22, 2**15
# A process that began so many seconds after the branch was made is another of the same number.
_SLACK = 120.0


@dataclass(frozen=True)
class Owner:
    """Who holds a branch, and since which minute (counted from 1970).

    It is written into the retention of the branch, in the commit that makes it. `host` is a digest
    of the host's name: two hosts that share one can take over from each other, and only lose time.
    """

    host: int
    pid: int
    since: int

    @property
    def is_here(self) -> bool:
        """Whether it is a process of this host."""
        return self.host == _digest(host())

    def is_dead(self, timeout: float) -> bool:
        """Whether the process is known to have ended, or is over its time, in seconds."""
        made = self.since * 60.0
        if time.time() - made > timeout + 60:
            return True
        if not self.is_here:
            return False
        began = _began(self.pid)
        is_other = began is not None and began > made + _SLACK
        return is_other or not _exists(self.pid) or process_start(self.pid) == _ZOMBIE

    def kept_minutes(self) -> int:
        """How it is written: the minutes that its branch is kept."""
        return _AT_LEAST + (self.host * _PID + self.pid % _PID) * _SINCE + self.since % _SINCE


def this_process() -> Owner:
    """This process, from now on."""
    return Owner(_digest(host()), os.getpid(), int(time.time() // 60))


def owner_of(branch: BranchFacts) -> Owner | None:
    """Who made a branch; None if it does not say so."""
    if branch.kept_minutes is None or branch.kept_minutes < _AT_LEAST:
        return None
    rest, minute = divmod(branch.kept_minutes - _AT_LEAST, _SINCE)
    found, pid = divmod(rest, _PID)
    now = int(time.time() // 60)
    return Owner(found, pid, now - (now - minute) % _SINCE)


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
    return _ZOMBIE if fields[0] == "Z" else fields[19]


def _began(pid: int) -> float | None:
    """When a process began, in epoch seconds; None if nobody can tell."""
    ticks = process_start(pid)
    try:
        lines = Path("/proc/stat").read_text().splitlines()
    except OSError:
        return None
    booted = next((line.split()[1] for line in lines if line.startswith("btime ")), None)
    if ticks is None or not ticks.isdigit() or booted is None:
        return None
    return int(booted) + int(ticks) / os.sysconf("SC_CLK_TCK")


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _HOST
