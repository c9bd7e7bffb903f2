"""The history of refreshes, folded from events in memory."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from dbt.adapters.spark_mv.metadata.events import (
    MARKED_STALE,
    REFRESH_FAILED,
    REFRESH_STARTED,
    REFRESH_SUCCEEDED,
    Event,
)
from dbt.adapters.spark_mv.metadata.refreshes import refreshes
from dbt.adapters.spark_mv.sql.names import TableName

WHO = {"table_catalog": "local", "table_schema": "a.b", "table_name": "v", "trigger": "READ"}


def event(kind: str, refresh: str | None, at: int, **payload: Any) -> Event:
    return Event(f"{kind}{refresh}{at}", at, "v", "local.a.v", kind, refresh, payload)


def test_running_then_over() -> None:
    """The end says more than the beginning, and what it does not say is as it began."""
    start = event(REFRESH_STARTED, "r", 1, **WHO, method="fast", reason="A: a", started_us=5)
    (running,) = refreshes([start])
    assert (running.state, running.method, running.seconds) == ("RUNNING", "fast", None)
    assert running.view == TableName("local", ("a", "b"), "v")
    assert running.started_at == datetime.fromtimestamp(0).replace(microsecond=5)
    end = event(REFRESH_SUCCEEDED, "r", 2, method="complete", seconds=1, rows_inserted=3)
    (over,) = refreshes([start, end])
    assert (over.state, over.method, over.reason) == ("SUCCEEDED", "complete", "A: a")
    assert (over.seconds, over.rows_inserted, over.rows_deleted) == (1.0, 3, None)


def test_two_ends() -> None:
    """Closed as dead, and not dead after all: the later counts."""
    ends = [event("REFRESH_ABANDONED", "r", 1, **WHO), event(REFRESH_FAILED, "r", 2, error="e")]
    (found,) = refreshes(ends)
    assert (found.state, found.error, found.trigger) == ("FAILED", "e", "READ")


def test_order_and_others() -> None:
    events = [
        event(REFRESH_SUCCEEDED, "late", 1, started_us=9_000_000),
        event(MARKED_STALE, None, 2),
        event("CANCEL_REQUESTED", "early", 3),
        event(REFRESH_SUCCEEDED, "early", 4, started_us=1_000_000),
        event(REFRESH_SUCCEEDED, "timeless", 5),
    ]
    starts = [found.started_at for found in refreshes(events)]
    assert starts[0] is None and [one.second for one in starts[1:] if one] == [1, 9]


@pytest.mark.parametrize("wrong", ["x", [1], {"a": 1}, True, None, 10**30, float("nan")])
def test_values_written_by_hand(wrong: Any) -> None:
    """What is not of its type is nothing; texts are shown as they are."""
    keys = ("started_us", "rows_inserted", "error", "table_name")
    (found,) = refreshes([event(REFRESH_FAILED, "r", 1, **dict.fromkeys(keys, wrong))])
    assert found.started_at is None
    assert found.rows_inserted in (None, 10**30)
    assert found.error is None or isinstance(found.error, str)
