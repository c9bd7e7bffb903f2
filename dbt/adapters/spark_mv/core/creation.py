"""Creations that several commands may be at in the same moment."""

from __future__ import annotations

from tenacity import (
    retry,
    retry_if_exception,
    stop_after_attempt,
    wait_incrementing,
    wait_random_exponential,
)

from dbt.adapters.spark_mv.core.errors import StatementFailed

_RACES = ("updated concurrently", "AlreadyExists", "ALREADY_EXISTS", "CommitFailed")
_ATTEMPTS, _PAUSE = 8, 0.05

# Of what another command creates, too, a catalog may say that it failed, with IF NOT EXISTS and
# OR REPLACE as without; the next attempt finds it.
beside_others = retry(
    stop=stop_after_attempt(5), wait=wait_random_exponential(0.2, max=2), reraise=True
)


def _is_race(error: BaseException) -> bool:
    return isinstance(error, StatementFailed) and any(text in str(error) for text in _RACES)


# Of two commands that replace a view in the same moment one fails, and may try again.
replacing_beside_others = retry(
    retry=retry_if_exception(_is_race),
    stop=stop_after_attempt(_ATTEMPTS),
    wait=wait_incrementing(_PAUSE, _PAUSE),
    reraise=True,
)
