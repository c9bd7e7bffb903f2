"""Ends a refresh when somebody asks for it: between its steps, and while Spark is writing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dbt.adapters.spark_mv.core.errors import RefreshCancelled
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.refresh.history import History
from dbt.adapters.spark_mv.refresh.run import RefreshRun
from dbt.adapters.spark_mv.sql.names import TableName

_POLL_SECONDS = 1.0
_INTERRUPTED = "an interrupt of its own command"


class CancellationWatch:
    """Watches for requests to cancel the refreshes of this process."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._interrupted = threading.Event()
        self._writing: dict[str, Executor] = {}
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def interrupt(self) -> None:
        """The command ends (Ctrl-C, `--fail-fast`): no refresh of this process may go on."""
        self._interrupted.set()

    def check(self, view: TableName, refresh_id: str) -> None:
        """Raise `RefreshCancelled` if this refresh is to end."""
        by = self.cancelled_by(refresh_id)
        if by is not None:
            raise RefreshCancelled(
                f"{view}: the refresh was cancelled by {by}.",
                "Its old rows are unchanged; refresh it again when it suits.",
            )

    def cancelled_by(self, refresh_id: str) -> str | None:
        """Who wants this refresh to end, None if nobody does."""
        if self._interrupted.is_set():
            return _INTERRUPTED
        request = self._history.cancel_request(refresh_id)
        return None if request is None else str(request.payload.get("by", request.writer))

    def end(self, run: RefreshRun) -> None:
        """Close the history of a refresh, and raise `RefreshCancelled`, if it is to end."""
        by = self.cancelled_by(run.id)
        if by is not None:
            self._history.cancelled(run, f"cancelled by {by}")
            self.check(run.view.name, run.id)

    @contextmanager
    def over(self, session: Executor, refresh_id: str) -> Iterator[None]:
        """While the block runs, interrupt `session` once somebody cancels the refresh."""
        with self._lock:
            self._writing[refresh_id] = session
            if self._thread is None:
                self._thread = threading.Thread(target=self._poll, daemon=True, name="mv-watch")
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                del self._writing[refresh_id]

    def _poll(self) -> None:
        while True:
            time.sleep(_POLL_SECONDS)
            with self._lock:
                writing = dict(self._writing)
            for refresh_id, session in writing.items():
                try:
                    if self.cancelled_by(refresh_id) is not None:
                        session.interrupt()
                except Exception:  # the metadata or the session is not there just now: try again
                    continue
