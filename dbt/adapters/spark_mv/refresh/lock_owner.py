"""The process that runs a refresh: as a branch names it, and whether it still lives."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass

import psutil

from dbt.adapters.spark_mv.core.executor import BranchFacts
from dbt.adapters.spark_mv.metadata.events import Event, host

# A branch is kept for so many minutes and more: until long after nobody cares. Plain SQL takes no
# number of milliseconds, and Iceberg none of more than 63 bits.
_AT_LEAST = 2**46
_HOST, _PID, _SINCE = 2**9, 2**22, 2**15
# A process that began so many seconds after the branch was made is another of the same number.
_SLACK = 120.0
# In minutes: no two clocks are said to differ by more.
_AHEAD = 24 * 60
# Clocks are set: so many seconds apart two starts of one process number may be the same.
_SAME = 5.0


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
        began = process_start(self.pid)
        is_other = began is not None and began > made + _SLACK
        return is_other or not _lives(self.pid)

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
    age = (now - minute) % _SINCE
    # The clock of who made it may be ahead of this one.
    return Owner(found, pid, now - (age if age < _SINCE - _AHEAD else age - _SINCE))


def owner_is_dead(started: Event, timeout: float) -> bool:
    """Whether the process that recorded this start is gone, or over its time."""
    return time.time() - started.at / 1e6 > timeout or owner_is_gone(started)


def owner_is_gone(started: Event) -> bool:
    """Whether the process that recorded this start is known to have ended; only on its own host."""
    payload = started.payload
    if payload.get("owner_host") != host():
        return False
    pid, start = int(payload.get("owner_pid", 0)), _recorded_start(payload.get("owner_started"))
    began = process_start(pid)
    is_other = start is not None and began is not None and abs(began - start) > _SAME
    return is_other or not _lives(pid)


def process_start(pid: int) -> float | None:
    """When a process began, in epoch seconds; None if it is gone, or nobody can tell.

    A zombie counts as gone: it will never publish.
    """
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def _recorded_start(recorded: object) -> float | None:
    """When a process began, in epoch seconds, as an event has it; None if it does not say.

    Version 0.1 wrote the ticks of the kernel since the machine was started, as text.
    """
    if isinstance(recorded, float):
        return recorded
    if not isinstance(recorded, str) or not recorded.isdecimal() or not hasattr(os, "sysconf"):
        return None
    return psutil.boot_time() + int(recorded) / os.sysconf("SC_CLK_TCK")


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:  # a process of another user
        return True


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _HOST
