"""What this process knows of the metadata: loaded once, kept up to date, appended in batches.

Events are appended by one background thread, those of half a second at a time (group commit), so
that no refresh waits for its history; `flush` waits for them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from tenacity import Retrying, stop_after_attempt, wait_random_exponential

from dbt.adapters.spark_mv.core.errors import NotRecorded
from dbt.adapters.spark_mv.metadata.events import (
    ASKED,
    MARKED_STALE,
    Event,
    is_routine,
    new_event,
    same_rows,
)
from dbt.adapters.spark_mv.metadata.projection import State, ViewState, apply, fold
from dbt.adapters.spark_mv.metadata.store import MetadataStore, corrupt
from dbt.adapters.spark_mv.sql.names import TableName

# So many seconds an event waits for others, to be written with them in one commit.
_LINGER = 0.5
# So many seconds whoever has to know waits for a commit.
PATIENCE = 120.0
# And so many after a commit that took longer, or an interrupt.
_IMPATIENCE = 1.0
_STUCK = (
    "Some metadata events of materialized views are not written yet: the catalog does not answer, "
    "or holds a lock of a process that was killed.\nThe views are right without them; see the "
    "recipes in docs/operations.md."
)
StoreOpener = Callable[[], AbstractContextManager[MetadataStore]]


class MetadataLog:
    """The folded state, shared by all threads of a command."""

    def __init__(
        self, open_store: StoreOpener, warn: Callable[[str], None], invocation_id: str
    ) -> None:
        self.open_store = open_store
        self._warn = warn
        self.invocation_id = invocation_id
        self._lock = threading.RLock()
        self._state: State | None = None
        self._version: str | None = None
        self._pending: list[Event] = []
        self._wake = threading.Condition(self._lock)
        self._batch: list[Event] = []
        self._waiting = 0
        self._is_stuck = False
        self._lost: list[Event] = []
        self._thread: threading.Thread | None = None

    def state(self) -> State:
        """What is known now; loads the metadata at first use."""
        with self._lock:
            if self._state is None:
                self._load()
            assert self._state is not None
            return self._state

    @property
    def exists(self) -> bool:
        """Whether there was any metadata when it was loaded."""
        with self._lock:
            self.state()
            return self._version is not None

    def reload_if_moved(self, timeout: float = 0.0) -> None:
        """Load again if another process has appended since. Not while events are being written, of
        which it is not known who has them; for their end it waits `timeout` seconds."""
        with self._wake:
            is_written = self._wake.wait_for(lambda: not self._batch, self._patience(timeout))
            if self._state is None or not is_written:
                return
            with self.open_store() as store:
                if store.version() != self._version:
                    self._state = None
                    self._load(store)
                    for event in self._pending:
                        apply(self.state(), event)

    def view(self, name: TableName) -> ViewState | None:
        """The registered view of this name; raises `CorruptMetadata` if its row is unreadable."""
        view = self.state().views.get(name)
        if view is not None and view.corrupt is not None:
            with self.open_store() as store:
                raise corrupt(store.events, view.corrupt)
        return view

    def _load(self, store: MetadataStore | None = None) -> None:
        if store is None:
            with self.open_store() as opened:
                self._load(opened)
            return
        self._version = store.version()
        self._state = fold(store.load()) if self._version is not None else State()

    def record(self, event: Event) -> None:
        """Apply an event here and hand it to the background writer."""
        with self._lock:
            apply(self.state(), event)
            self._pending.append(event)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._write, daemon=True, name="mv-events")
                self._thread.start()
            self._wake.notify_all()

    def same_as(self, table: TableName, snapshot_id: str) -> set[str]:
        """Snapshots of a base table that are known to have the same rows as this one."""
        with self._lock:
            return self.state().same_as(table, snapshot_id)

    def equate(self, view: TableName, table: TableName, old: str, new: str) -> None:
        """Remember that two snapshots of a base table have the same rows, for a registered view:
        the older one may be expired at the next reading."""
        with self._lock:
            known = self.state().views.get(view)
            if known is not None and new not in self.state().same_as(table, old):
                parts, by = table.parts, self.invocation_id
                self.record(same_rows(known.id, view.full, parts, old, new, by))

    def dependents_of(self, name: TableName) -> list[TableName]:
        """The registered views that read a relation, directly or through others."""
        with self._lock:
            return [view.name for view in self.state().dependents_of(name)]

    def mark_dependents(self, name: TableName, cause: str) -> list[TableName]:
        """Mark every dependent of a written relation stale, unless it is already."""
        with self._lock:
            marked = [view for view in self.state().dependents_of(name) if not view.is_stale]
            for view in marked:
                self.record(
                    new_event(
                        MARKED_STALE,
                        view.id,
                        view.name.full,
                        invocation_id=self.invocation_id,
                        payload={"source": str(name), "cause": cause, "stale": True},
                    )
                )
            return [view.name for view in marked]

    def flush(self, timeout: float = PATIENCE) -> None:
        """Wait until every recorded event is in the table, shortly if that was in vain before."""
        done = False
        with self._wake:
            was_stuck = self._is_stuck
            self._waiting += 1
            self._wake.notify_all()
            try:
                done = self._wake.wait_for(
                    lambda: not self._pending and not self._batch, self._patience(timeout)
                )
            finally:
                self._waiting -= 1
                self._is_stuck = not done
        if not done and not was_stuck:
            self._warn(_STUCK)

    def flush_asked(self) -> None:
        """The same; raises `NotRecorded` if what somebody asked for is not in the table."""
        self.flush()
        with self._lock:
            missing = [*self._lost, *self._batch, *self._pending]
            names = {event.view_name: None for event in missing if event.kind in ASKED}
        if names:
            raise NotRecorded(
                f"{', '.join(names)}: the operation could not be written to the metadata.",
                "Run it again, when the catalog takes commits; see the warning for its error.",
            )

    def _patience(self, timeout: float) -> float:
        return min(timeout, _IMPATIENCE) if self._is_stuck else timeout

    def flush_unless_routine(self) -> None:
        """The same, unless all that is recorded are refreshes that go well, which the storage
        tables tell, too."""
        with self._lock:
            routine = all(is_routine(event) for event in (*self._batch, *self._pending))
        if not routine:
            self.flush()

    def _append(self, batch: list[Event]) -> None:
        with self.open_store() as store:
            version, before = store.append(batch)
        with self._lock:
            # Events of other processes in between are not known here: load again.
            self._version = version if before == self._version else "moved"
            self._is_stuck = False

    def _write(self) -> None:
        while True:
            with self._wake:
                idle = not self._wake.wait_for(lambda: bool(self._pending), timeout=10.0)
                if idle:
                    self._thread = None
                    return
                self._wake.wait_for(lambda: bool(self._waiting), timeout=_LINGER)
                batch, self._pending = self._pending, []
                self._batch = batch
            try:
                # Ids of events are derived, so appending again after a lost reply is harmless.
                for attempt in Retrying(
                    stop=stop_after_attempt(5), wait=wait_random_exponential(0.1, 2), reraise=True
                ):
                    with attempt:
                        self._append(batch)
            except Exception as error:  # the history must never fail a refresh
                self._lost += batch
                self._warn(
                    f"{len(batch)} events of materialized views could not be written: {error}"
                )
            finally:
                with self._wake:
                    self._batch = []
                    self._wake.notify_all()
