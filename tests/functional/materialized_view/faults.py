"""Statements that are stopped, or fail, at a failpoint."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dbt.adapters.spark_mv.core import failpoints
from tests.functional.materialized_view.warehouse import Command, Rows, Warehouse

_LONGEST = 120.0


@contextmanager
def armed(lake: Warehouse, what: str, which: str = "run") -> Iterator[Command]:
    """A command under failpoints, such as `publish.before=raise`."""
    os.environ.update({failpoints.FAILPOINTS: what, failpoints.TESTING: "1"})
    try:
        command = lake.command(which)
        assert command.core is not None  # reads the failpoints
        yield command
    finally:
        for key in (failpoints.FAILPOINTS, failpoints.TESTING):
            os.environ.pop(key, None)
        failpoints.arm(lambda text: None)


class Paused:
    """A statement, or what else a command does, in a thread of its own, which waits at a failpoint.

    `more` are further failpoints, in force until it ends.
    """

    def __init__(
        self,
        lake: Warehouse,
        point: str,
        statement: str | Callable[[Command], Rows],
        which: str = "run",
        more: str = "",
    ) -> None:
        self._folder = Path(tempfile.mkdtemp())
        self._armed, self._more = ExitStack(), more
        self._points = ";".join(filter(None, (f"{point}=pause:{self._folder}", more)))
        self._lake, self._point = lake, point
        self._statement, self._which = statement, which
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.rows: Rows = []
        self.error: Exception | None = None

    def start(self) -> Paused:
        """Run the statement until it waits at the failpoint."""
        self.command = self._armed.enter_context(armed(self._lake, self._points, self._which))
        self._thread.start()
        deadline = time.monotonic() + _LONGEST
        while not (self._folder / "reached").exists():
            assert self._thread.is_alive(), f"ended before {self._point}: {self.error}"
            assert time.monotonic() < deadline
            time.sleep(0.02)
        if not self._more:
            self._armed.close()
        self.command.flush()
        return self

    def _run(self) -> None:
        try:
            if isinstance(self._statement, str):
                self.rows = self.command.sql(self._statement)
            else:
                self.rows = self._statement(self.command)
        except Exception as error:
            self.error = error
        self.command.flush()

    def go(self) -> None:
        """Let it go on."""
        (self._folder / "go").touch()

    def end(self) -> Exception | None:
        """Let it go on and wait until it has ended; returns what it raised."""
        self.go()
        if self._thread.ident is not None:
            self._thread.join(_LONGEST)
        self._armed.close()
        assert not self._thread.is_alive()
        return self.error

    def __enter__(self) -> Paused:
        return self.start()

    def __exit__(self, *what: Any) -> None:
        self.end()
