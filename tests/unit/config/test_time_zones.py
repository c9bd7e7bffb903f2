"""Names of time zones mean what Spark means by them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from dbt.adapters.spark_mv.config.time_zones import zone_of

SUMMER = datetime(2026, 7, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("Europe/Berlin", "2:00"),
        ("UTC", "0:00"),
        ("UT", "0:00"),
        ("Z", "0:00"),
        # Short names of Java's; those of the first three are in the database too.
        ("EST", "-5:00"),
        ("MST", "-7:00"),
        ("HST", "-10:00"),
        ("PST", "-7:00"),
        ("CST", "-5:00"),
        ("AST", "-8:00"),
        ("IST", "5:30"),
        ("BST", "6:00"),
        ("SST", "11:00"),
        ("+1", "1:00"),
        ("+01:00", "1:00"),
        ("+01:5", "1:05"),
        ("+0130", "1:30"),
        ("-013015", "-1:30:15"),
        ("+01:00:30", "1:00:30"),
        ("UTC+1", "1:00"),
        ("UT+1", "1:00"),
        ("GMT-03:30", "-3:30"),
        ("+18:00", "18:00"),
        ("-18", "-18:00"),
    ],
)
def test_zone(name: str, offset: str) -> None:
    hours, minutes, seconds = map(int, f"{offset.strip('-')}:0:0".split(":")[:3])
    expected = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    expected *= -1 if offset.startswith("-") else 1
    zone = zone_of(name)
    assert zone is not None and SUMMER.astimezone(zone).utcoffset() == expected


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Mars/Olympus",
        "Europe",
        "XST",
        "1",
        "+",
        "+-1",
        "+ 1",
        "+1_0",
        "+130",
        "+01:3015",
        "+01:99",
        "+01:",
        "+18:01",
        "-19",
        "+١",
        "UTCGMT+1",
        "UTC 1",
        "PST+1",
    ],
)
def test_no_zone(name: str) -> None:
    assert zone_of(name) is None
