"""The time of day: what views are evaluated at, expire at and are due at.

Locks, timeouts and the log of events take the time of the machine itself: they are about processes,
of which not all need to have been started with the offset.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

from dbt.adapters.spark_mv.core.errors import InvalidOption

# Seconds by which tests and demonstrations shift the clock of a process.
OFFSET = "DBT_SPARK_MV_CLOCK_OFFSET"


def now() -> float:
    """Now, in epoch seconds."""
    return time.time() + offset()


def now_us() -> int:
    """Now, in epoch microseconds."""
    return time.time_ns() // 1000 + round(offset() * 1e6)


def machine_day() -> int:
    """Today in UTC by the clock of the machine itself, which nothing shifts for Spark, counted from
    1970."""
    return int(time.time() // 86400)


def announce(warn: Callable[[str], None]) -> None:
    """Warn if the clock is shifted: rows that it computes are those of another time."""
    if seconds := offset():
        warn(f"The clock is shifted by {seconds:,.0f} seconds, because {OFFSET} is set.")


def offset() -> float:
    """The seconds by which the clock is shifted; raises `InvalidOption` if they are no number."""
    text = os.environ.get(OFFSET, "").strip()
    try:
        found = float(text) if text else 0.0
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InvalidOption(
            f"{OFFSET} cannot be {text!r}.", "Expected a number of seconds, such as 7200 or -60."
        )
    return found
