"""How long a Spark Connect server that does not answer is waited for.

PySpark asks for ten minutes, in silence and for each statement. A command that has to end has
several statements left, to mark what it did not finish: these give up at once.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

# After 0.05 s, and four times as long each time: somewhat more than a minute in all.
RETRIES = 6
_LOST_FOR = 120.0
_LONG_WAIT_MS = 1000


class ConnectRetries:
    """A retry policy of PySpark's for all sessions of one server; `tell` says that it waits."""

    name = "ConnectRetries"

    def __init__(self, policy: Any, tell: Callable[[str], None]) -> None:
        self._policy = policy
        self._tell = tell
        self._lost_at: float | None = None
        warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")

    def to_state(self) -> _Attempts:
        """What counts the attempts of one call."""
        return _Attempts(self, self._policy.to_state())

    def can_retry(self, exception: BaseException) -> bool:
        """Whether another attempt may succeed after this error."""
        return bool(self._policy.can_retry(exception))

    def next_wait(self, wait: int | None) -> int | None:
        """Milliseconds until the next attempt; None if there is none."""
        now = time.monotonic()
        if self._lost_at is not None and now - self._lost_at < _LOST_FOR:
            return None
        if wait is None:
            self._lost_at = now
        elif wait > _LONG_WAIT_MS:
            self._tell(f"Spark Connect does not answer; next attempt in {wait / 1000:.0f} s")
        return wait


class _Attempts:
    """Those of one call."""

    name = ConnectRetries.name

    def __init__(self, retries: ConnectRetries, state: Any) -> None:
        self._retries = retries
        self._state = state

    def can_retry(self, exception: BaseException) -> bool:
        return self._retries.can_retry(exception)

    def next_attempt(self, exception: BaseException | None = None) -> int | None:
        return self._retries.next_wait(self._state.next_attempt(exception))
