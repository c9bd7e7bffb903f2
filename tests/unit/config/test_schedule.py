"""Due times: slots on a grid that only scheduled refreshes move along."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from dbt.adapters.spark_mv.config.options import Options
from dbt.adapters.spark_mv.config.schedule import (
    CronTimes,
    Slots,
    check_time_zone,
    due_from_json,
    schedule_from_json,
    schedule_json,
    schedule_of,
)
from dbt.adapters.spark_mv.core.errors import InvalidOption

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
        ("1969-12-31 23:50", "2026-01-01 10:00", None, "2026-01-01 10:20"),
    ],
)
def test_next_due(start, created, last, due) -> None:
    schedule = Slots(start and at(start), 30 * MINUTE)
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
        ("1969-12-31", "UTC", "1969-12-31 00:00"),
        ("0001-01-01", "UTC", "0001-01-01 00:00"),
    ],
)
def test_start_in_a_time_zone(text, zone, moment) -> None:
    schedule = schedule_of(Options(refresh_start=text, refresh_interval_minutes=5), zone)
    assert schedule == Slots(at(moment), 5 * MINUTE)
    assert schedule_from_json(schedule_json(schedule, 0)) == schedule


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "",
        "cron",
        [],
        {},
        {"start_us": "x", "interval_us": 1},
        {"start_us": None},
        {"cron": "*"},
    ],
)
def test_unreadable_schedule(stored) -> None:
    assert schedule_from_json(stored) is None


@pytest.mark.parametrize(
    ("cron", "zone", "after", "due"),
    [
        ("0 6 * * *", "UTC", "2026-01-01 05:59", "2026-01-01 06:00"),
        ("0 6 * * *", "UTC", "2026-01-01 06:00", "2026-01-02 06:00"),
        ("0 6 * * *", "Europe/Berlin", "2026-01-01 04:00", "2026-01-01 05:00"),
        ("0 6 * * *", "Europe/Berlin", "2026-07-01 03:00", "2026-07-01 04:00"),
        ("0 6 * * *", "UTC+2", "2026-07-01 03:00", "2026-07-01 04:00"),
        # Times that were missed are not caught up one by one.
        ("*/10 * * * *", "UTC", "2026-01-03 10:47", "2026-01-03 10:50"),
    ],
)
def test_next_cron_time(cron: str, zone: str, after: str, due: str) -> None:
    times = CronTimes(cron, zone)
    assert times.next_due(at(after)) == at(due)
    kept = schedule_json(times, at(after))
    assert schedule_from_json(kept) == times and due_from_json(kept, None) == at(due)
    assert due_from_json(schedule_json(times, at(after), 7), None) == 7


def test_time_zone_of_a_cron_text() -> None:
    own = Options(schedule={"cron": "0 6 * * *", "time_zone_value": "Europe/Berlin"})
    assert schedule_of(own, "UTC") == CronTimes("0 6 * * *", "Europe/Berlin")
    views = Options(schedule={"cron": "0 6 * * *"})
    assert schedule_of(views, "Asia/Tokyo") == CronTimes("0 6 * * *", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("options", "way_out"),
    [
        (Options(schedule={"cron": "0 6 * * *"}), "time_zone_value"),
        (Options(refresh_start="2026-01-31 06:00:00"), "offset"),
    ],
)
def test_times_in_an_unknown_time_zone(options: Options, way_out: str) -> None:
    check_time_zone("db.v", options, "PST")
    with pytest.raises(InvalidOption, match="SystemV/PST8") as refused:
        check_time_zone("db.v", options, "SystemV/PST8")
    assert way_out in refused.value.way_out


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(schedule={"cron": "0 6 * * *", "time_zone_value": "UTC"}),
        Options(refresh_start="2026-01-31 06:00:00+00:00"),
    ],
)
def test_no_time_in_an_unknown_time_zone(options: Options) -> None:
    check_time_zone("db.v", options, "SystemV/PST8")


def kept(due: Any, cron: str = "0 6 * * *", zone: str = "UTC") -> dict[str, Any]:
    return {"cron": cron, "time_zone": zone, "due_us": due}


@pytest.mark.parametrize(
    ("defined", "refreshed", "due"),
    [
        (kept(5), None, 5),
        (kept(5), kept(9), 9),
        # The definition has seen a later refresh than this one.
        (kept(9), kept(5), 9),
        # That refresh began under another schedule.
        (kept(5), kept(9, cron="0 7 * * *"), 5),
        (kept(5), kept(9, zone="Asia/Tokyo"), 5),
        (kept(5), {"start_us": None, "interval_us": 9}, 5),
        (kept(5), kept(None), 5),
        (kept("soon"), kept(9), 9),
        (kept(-1), kept(10**18), None),
        (kept(None), None, None),
    ],
)
def test_recorded_due_time(defined: Any, refreshed: Any, due: int | None) -> None:
    assert due_from_json(defined, refreshed) == due
