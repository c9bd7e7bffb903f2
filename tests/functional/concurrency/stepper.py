"""Refreshes that go on from one failpoint to the next when they are told to."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.core import failpoints
from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.warehouse import Warehouse

_LONGEST = 120.0
_STOPS = (
    "lock.before",
    "lock.after",
    "write.before",
    "write.one",
    "write.after",
    "publish.before",
    "publish.after",
)


class Refresher:
    """A refresh in a thread and a command of its own; `at` is the failpoint at which it waits."""

    def __init__(self, lake: Warehouse, statement: str) -> None:
        self._command, self._statement = lake.command(), statement
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._may_go, self._moved = threading.Semaphore(0), threading.Condition()
        self._free = False
        self.at = ""
        self.error: Exception | None = None

    def _run(self) -> None:
        try:
            self._command.sql(self._statement)
        except Exception as error:
            self.error = error
        self._command.flush()
        self._stop("ended")

    def _stop(self, point: str) -> None:
        with self._moved:
            self.at = point
            self._moved.notify_all()

    def wait_at(self, point: str) -> None:
        """Called in its own thread, by a failpoint."""
        if not self._free:
            self._stop(point)
            self._may_go.acquire()

    def is_in(self, thread: threading.Thread) -> bool:
        """Whether it runs in this thread."""
        return self._thread is thread

    def advance(self, to: str) -> None:
        """Go on until it waits at `to`, has to observe again, or has ended."""
        deadline = time.monotonic() + _LONGEST
        while self.at not in (to, "ended"):
            with self._moved:
                before, self.at = self.at, ""
                if before:
                    self._may_go.release()
                else:
                    self._thread.start()
                assert self._moved.wait_for(lambda: self.at, deadline - time.monotonic())
            if self.at == "lock.before":
                return

    def finish(self) -> None:
        """Go on to the end, whatever comes."""
        self._free = True
        if self.at not in ("", "ended"):
            self._may_go.release()
        if self._thread.ident is not None:
            self._thread.join(_LONGEST)
            assert not self._thread.is_alive()


@contextmanager
def stepped(lake: Warehouse, refreshers: list[Refresher]) -> Iterator[None]:
    """Inside the block these wait at each failpoint of a refresh."""

    def pause(folder: Path) -> None:
        for refresher in refreshers:
            if refresher.is_in(threading.current_thread()):
                refresher.wait_at(folder.name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failpoints, "_pause", pause)
        with armed(lake, ";".join(f"{point}=pause:{point}" for point in _STOPS)):
            try:
                yield
            finally:
                for refresher in refreshers:
                    refresher.finish()
