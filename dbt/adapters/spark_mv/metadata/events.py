"""Events: what happened to a materialized view, appended and never changed."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

CREATED, REPLACED, OPTIONS_CHANGED = "CREATED", "REPLACED", "OPTIONS_CHANGED"
DROPPED, MARKED_STALE = "DROPPED", "MARKED_STALE"
REFRESH_STARTED, REFRESH_SUCCEEDED = "REFRESH_STARTED", "REFRESH_SUCCEEDED"
REFRESH_SKIPPED, REFRESH_FAILED = "REFRESH_SKIPPED", "REFRESH_FAILED"
REFRESH_ABANDONED, REFRESH_CANCELLED = "REFRESH_ABANDONED", "REFRESH_CANCELLED"
CANCEL_REQUESTED = "CANCEL_REQUESTED"
SUSPENDED, RESUMED = "SUSPENDED", "RESUMED"
INVALIDATED = "INVALIDATED"
STORAGE_DROPPED = "STORAGE_DROPPED"
SAME_ROWS = "SAME_ROWS"
# The number that Linux gives to the processes of the machine itself, PROC_PID_INIT_INO.
_NO_CONTAINER = "4026531836"
# What somebody asked for who has to know whether others will see it.
ASKED = (CANCEL_REQUESTED, SUSPENDED, RESUMED, INVALIDATED)
# A statement that does not name the view was answered by it.
REWRITTEN = "REWRITTEN"
# A test has found that a constraint holds for base tables at some versions.
HELD = "HELD"
MAX_ERROR_LENGTH = 2000


def host() -> str:
    """Name of this machine, as it appears in the history, with the number of the container if
    processes have numbers of their own there: other containers may have the name, too."""
    return socket.gethostname() + _container()


@cache
def _container() -> str:
    try:
        number = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:  # no Linux
        return ""
    return "" if number == _NO_CONTAINER else f"/{number}"


def writer() -> str:
    """Who appends: host and process."""
    return f"{host()}:{os.getpid()}"


@dataclass(frozen=True)
class Event:
    """One event; `at` is epoch microseconds, `view_name` is catalog.schema.name."""

    event_id: str
    at: int
    view_id: str
    view_name: str
    kind: str
    refresh_id: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    invocation_id: str = ""
    writer: str = ""

    @property
    def payload_json(self) -> str:
        """The payload as it is stored."""
        return json.dumps(dict(self.payload), sort_keys=True, default=str)


def same_rows(
    view_id: str, view_name: str, table: Sequence[str], old: str, new: str, invocation_id: str
) -> Event:
    """Two snapshots of a base table were found to have the same rows; said again, nothing new."""
    payload = {"table": list(table), "old": old, "new": new}
    event = new_event(SAME_ROWS, view_id, view_name, invocation_id=invocation_id, payload=payload)
    identity = "|".join((SAME_ROWS, view_id, *table, old, new))
    return replace(event, event_id=_digest(identity))


def held(name: str, payload: Mapping[str, Any], invocation_id: str) -> Event:
    """A constraint of a table was found to hold; said again of the same versions, nothing new."""
    event = new_event(HELD, "", name, invocation_id=invocation_id, payload=payload)
    return replace(event, event_id=_digest(f"{HELD}|{event.payload_json}"))


def is_routine(event: Event) -> bool:
    """Whether it is of a refresh that goes well, or of what follows from that."""
    if event.kind == MARKED_STALE:
        return event.payload.get("cause") == "REFRESH"
    return event.kind in (REFRESH_STARTED, REFRESH_SUCCEEDED, REFRESH_SKIPPED, REWRITTEN, HELD)


def new_event(
    kind: str,
    view_id: str,
    view_name: str,
    *,
    invocation_id: str,
    refresh_id: str | None = None,
    payload: Mapping[str, Any] | None = None,
) -> Event:
    """An event of now. Its id follows from kind, view and refresh (or the time), so that a second
    event that says the same changes nothing."""
    at = time.time_ns() // 1000
    identity = "|".join((kind, view_id, refresh_id or str(at)))
    return Event(
        event_id=_digest(identity),
        at=at,
        view_id=view_id,
        view_name=view_name,
        kind=kind,
        refresh_id=refresh_id,
        payload=payload or {},
        invocation_id=invocation_id,
        writer=writer(),
    )


def _digest(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
