"""The sessions that this process keeps: the only sessions that outlive a command."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

SessionKey = tuple[tuple[str, str], ...]


class ProcessSessions:
    """One session for each profile, and those of Spark Connect that are never collected; `retries`
    are the policies of its servers, by their addresses.

    A session of Spark Connect closes itself when it is collected, for which it waits for locks: for
    ever, if the collector runs in the thread that holds them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_profile: dict[SessionKey, Any] = {}
        self._kept: list[Any] = []
        self.retries: dict[str, Any] = {}

    def of_profile(self, key: SessionKey, start: Callable[[], Any]) -> Any:
        """The session of a profile; `start` makes it if there is none, or if it was stopped."""
        with self._lock:
            session = self._by_profile.get(key)
            if session is None or _is_stopped(session):
                session = self._by_profile[key] = start()
            return session

    def keep(self, session: Any) -> None:
        """Keep a session of Spark Connect until the process ends."""
        self._kept.append(session)


def _is_stopped(session: Any) -> bool:
    if getattr(session, "is_stopped", False):  # of Spark Connect
        return True
    context = getattr(session, "_sc", None)
    return context is not None and context._jsc is None


def has_spark() -> bool:
    """Whether a Spark runs in this process, whoever has started it."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return context is not None and context._active_spark_context is not None


SESSIONS = ProcessSessions()
