"""Commits of events that do not end: whoever waits for them does so once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event as Signal
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_mv.metadata import log as module
from dbt.adapters.spark_mv.metadata.events import new_event
from dbt.adapters.spark_mv.metadata.log import PATIENCE, MetadataLog


class Stuck:
    """A store whose first commit takes until it is let go."""

    def __init__(self) -> None:
        self.free, self.batches = Signal(), list[Any]()

    @contextmanager
    def opened(self) -> Iterator[Any]:
        yield SimpleNamespace(version=lambda: None, append=self._append)

    def _append(self, batch: Any) -> tuple[str, None]:
        assert self.free.wait(60)
        self.batches.append(batch)
        return "1", None


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    made = Stuck()
    yield made
    made.free.set()


def watched(store: Stuck, patch: pytest.MonkeyPatch) -> tuple[MetadataLog, list[str], list[float]]:
    """A log of one event; what it warns of, and how long its users were ready to wait."""
    warned, waited = list[str](), list[float]()
    log = MetadataLog(store.opened, warned.append, "i")
    log.record(new_event("REFRESH_STARTED", "id", "c.d.v", invocation_id="i", payload={}))
    wait_for = log._wake.wait_for

    def noted(condition: Callable[[], bool], timeout: float) -> bool:
        if timeout in (PATIENCE, module._IMPATIENCE):
            waited.append(timeout)
            timeout = 0.01 if not store.free.is_set() else 60
        return wait_for(condition, timeout)

    patch.setattr(log._wake, "wait_for", noted)
    return log, warned, waited


def test_waits_once(stuck: Stuck, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time it waits shortly and says nothing; after a commit it is patient again."""
    log, warned, waited = watched(stuck, monkeypatch)
    log.flush()
    log.flush()
    log.reload_if_moved(PATIENCE)
    assert waited == [PATIENCE, module._IMPATIENCE, module._IMPATIENCE]
    assert len(warned) == 1 and "killed" in warned[0]
    stuck.free.set()
    log.flush()
    log.record(new_event("REFRESH_FAILED", "id", "c.d.v", invocation_id="i", payload={}))
    log.flush()
    assert waited[-1] == PATIENCE and len(warned) == 1
    assert [len(batch) for batch in stuck.batches] == [1, 1]


def test_interrupted(stuck: Stuck, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who interrupts a command while it waits does not wait again at its end."""
    log, warned, waited = watched(stuck, monkeypatch)
    wait_for = log._wake.wait_for

    def interrupted(condition: Callable[[], bool], timeout: float) -> bool:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return wait_for(condition, timeout)

    monkeypatch.setattr(log._wake, "wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        log.flush()
    monkeypatch.setattr(log._wake, "wait_for", wait_for)
    log.flush()
    assert waited == [module._IMPATIENCE] and warned == []
