"""Whether the owner of a refresh lock lives: real processes, no fakes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.executor import BranchFacts
from dbt.adapters.spark_mv.metadata import events
from dbt.adapters.spark_mv.metadata.events import REFRESH_STARTED, Event, host, new_event
from dbt.adapters.spark_mv.refresh import lock_owner
from dbt.adapters.spark_mv.refresh.lock_owner import (
    Owner,
    owner_is_gone,
    owner_of,
    process_start,
    this_process,
)

WAIT = "import sys; sys.stdin.read()"


@contextmanager
def process() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", WAIT], stdin=subprocess.PIPE)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def started(**payload: Any) -> Event:
    return new_event(REFRESH_STARTED, "id", "local.a.v", invocation_id="", payload=payload)


def minutes_ago(minutes: int) -> int:
    return int(time.time() // 60) - minutes


def test_this_process_lives() -> None:
    start = process_start(os.getpid())
    assert isinstance(start, float) and start < time.time()
    assert not this_process().is_dead(3600)
    assert not owner_is_gone(started(owner_host=host(), owner_pid=os.getpid(), owner_started=start))


def test_process_that_ended() -> None:
    with process() as child:
        owner = Owner(this_process().host, child.pid, minutes_ago(0))
        event = started(
            owner_host=host(), owner_pid=child.pid, owner_started=process_start(child.pid)
        )
        assert not owner.is_dead(3600) and not owner_is_gone(event)
    assert owner.is_dead(3600) and owner_is_gone(event)


def test_zombie_is_gone() -> None:
    """It has ended, but its parent has not asked for its exit code."""
    with process() as child:
        owner = Owner(this_process().host, child.pid, minutes_ago(0))
        event = started(owner_host=host(), owner_pid=child.pid, owner_started=None)
        child.kill()
        deadline = time.monotonic() + 30
        while process_start(child.pid) is not None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert owner.is_dead(3600) and owner_is_gone(event)


def test_number_of_another_process() -> None:
    """The owner ended long ago, and its number belongs to a process that began after it."""
    with process() as child:
        assert Owner(this_process().host, child.pid, minutes_ago(10)).is_dead(3600)
        start = process_start(child.pid)
        assert start is not None
        event = started(owner_host=host(), owner_pid=child.pid, owner_started=start - 3600)
        assert owner_is_gone(event)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="version 0.1 wrote none here")
def test_start_as_version_0_1_wrote_it() -> None:
    """In ticks of the kernel, as text: a process that began when the machine did was another."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    for ticks, gone in ((fields[19], False), ("0", True)):
        event = started(owner_host=host(), owner_pid=os.getpid(), owner_started=ticks)
        assert owner_is_gone(event) == gone


@pytest.mark.parametrize("start", [None, "zombie", ""])
def test_start_that_says_nothing(start: str | None) -> None:
    """Where nobody could tell it the process counts as alive."""
    event = started(owner_host=host(), owner_pid=os.getpid(), owner_started=start)
    assert not owner_is_gone(event)


def test_another_host() -> None:
    """Only time tells: its processes cannot be seen from here."""
    event = started(owner_host="elsewhere", owner_pid=2**22 - 1, owner_started=1.0)
    assert not owner_is_gone(event)
    other = Owner((this_process().host + 1) % 512, 2**22 - 1, minutes_ago(1))
    assert not other.is_dead(3600) and other.is_dead(-120)


@pytest.mark.parametrize("seconds", [-86_000, -60, -1, 0, 1, 59, 60, 3_000, 86_000])
def test_clocks_that_differ(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    """A branch that was made by a clock that is ahead is not one of weeks ago."""
    now = 29_901_600 * 60.0
    monkeypatch.setattr(lock_owner.time, "time", lambda: now - seconds)
    kept = this_process().kept_minutes()
    monkeypatch.setattr(lock_owner.time, "time", lambda: now)
    owner = owner_of(BranchFacts("1", kept))
    assert owner is not None and owner.since == int((now - seconds) // 60)


def test_containers_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of another one is none that has ended, whatever its number."""
    hosts = []
    for link in ("pid:[4026531836]", "pid:[4026532001]", "pid:[4026532002]"):
        monkeypatch.setattr(os, "readlink", lambda path, link=link: link)
        events._container.cache_clear()
        hosts.append(host())
    events._container.cache_clear()
    assert hosts == [hosts[0], f"{hosts[0]}/4026532001", f"{hosts[0]}/4026532002"]
