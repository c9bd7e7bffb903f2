"""Due times: slots on a grid that only scheduled refreshes move along."""

from __future__ import annotations

from datetime import datetime

import pytest

from dbt.adapters.spark_mv.config.options import Options
from dbt.adapters.spark_mv.config.schedule import (
    Schedule,
    schedule_from_json,
    schedule_json,
    schedule_of,
)

MINUTE = 60_000_000


def at(text: str) -> int:
    return int(datetime.fromisoformat(text + "+00:00").timestamp() * 1_000_000)


@pytest.mark.behaviour("D20")
@pytest.mark.parametrize(
    ("start", "created", "last", "due"),
    [
        (None, "2026-01-01 10:00", None, "2026-01-01 10:30"),
        (None, "2026-01-01 10:00", "2026-01-01 10:30", "2026-01-01 11:00"),
        (None, "2026-01-01 10:00", "2026-01-01 10:47", "2026-01-01 11:00"),
        # Rounds that were missed are not caught up one by one.
        (None, "2026-01-01 10:00", "2026-01-03 10:47", "2026-01-03 11:00"),
        ("2026-01-01 12:00", "2026-01-01 10:00", None, "2026-01-01 12:00"),
        ("2026-01-01 09:50", "2026-01-01 10:00", None, "2026-01-01 10:20"),
        ("2026-01-01 12:00", "2026-01-01 10:00", "2026-01-01 12:00", "2026-01-01 12:30"),
    ],
)
def test_next_due(start, created, last, due) -> None:
    schedule = Schedule(start and at(start), 30 * MINUTE)
    assert schedule.next_due(at(created), last and at(last)) == at(due)


@pytest.mark.parametrize(
    ("text", "zone", "moment"),
    [
        ("2026-01-31 06:00:00", "UTC", "2026-01-31 06:00"),
        ("2026-01-31 06:00:00", "Europe/Berlin", "2026-01-31 05:00"),
        ("2026-07-31 06:00:00", "Europe/Berlin", "2026-07-31 04:00"),
        ("2026-01-31 06:00:00", "+01:00", "2026-01-31 05:00"),
        ("2026-01-31 06:00:00", "GMT-03:30", "2026-01-31 09:30"),
        ("2026-01-31 06:00:00", "UTC+1", "2026-01-31 05:00"),
        ("2026-01-31 06:00:00+02:00", "America/New_York", "2026-01-31 04:00"),
        ("2026-01-31", "UTC", "2026-01-31 00:00"),
    ],
)
def test_start_in_a_time_zone(text, zone, moment) -> None:
    schedule = schedule_of(Options(refresh_start=text, refresh_interval_minutes=5), zone)
    assert schedule == Schedule(at(moment), 5 * MINUTE)
    assert schedule_from_json(schedule_json(schedule)) == schedule


@pytest.mark.parametrize("stored", [{}, {"start_us": "x", "interval_us": 1}, {"start_us": None}])
def test_unreadable_schedule(stored) -> None:
    assert schedule_from_json(stored) is None
