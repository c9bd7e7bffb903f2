"""Ranges of moments are those of instants: clocks that go forward or back do not mislead."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.unit.rewrite.harness import Tables, answered, stored_view

ZONE = "America/Los_Angeles"
# Where a view begins, where a query does, and whether the view has all of its rows. There are no
# minutes from 02:00 to 03:00 on 2024-03-10, and those from 01:00 to 02:00 are there twice on
# 2024-11-03.
BOUNDS = [
    ("2024-03-10 02:30:00", "2024-03-10 03:00:00", False),
    ("2024-03-10 02:30:00", "2024-03-10 03:29:59", False),
    ("2024-03-10 02:30:00", "2024-03-10 03:30:00", True),
    ("2024-03-10 03:30:00", "2024-03-10 02:30:00", True),
    ("2024-03-10 02:59:00", "2024-03-10 03:30:00", False),
    ("2024-11-03 01:30:00", "2024-11-03 01:59:59", True),
    ("2024-11-03 01:30:00", "2024-11-03 01:29:59", False),
    # Not read as moments: they are equal as texts, or nothing is known of them.
    ("2024-03-10 02:30", "2024-03-10 02:30", True),
    ("2024-03-10 02:30", "2024-03-10 03:30", False),
    ("1890-01-01 00:00:00", "1890-01-02 00:00:00", False),
]


def is_answered(view: str, query: str, zone: str) -> bool:
    stored = stored_view(view, ["int", "timestamp"], Tables(), zone)
    try:
        answered(query, stored, Tables())
    except Unmatched as error:
        assert error.reason.code == "ROWS_NOT_COVERED", error.reason
        return False
    return True


@pytest.mark.parametrize(("first", "asked", "expected"), BOUNDS)
def test_bounds(first: str, asked: str, expected: bool) -> None:
    view = f"select id, t from z where t >= '{first}'"
    query = f"select id from z where t >= '{asked}'"
    assert is_answered(view, query, ZONE) is expected


def test_a_zone_that_nobody_knows() -> None:
    """Of its moments only equal texts are the same."""
    view = "select id, t from z where t >= '2024-01-01 00:00:00'"
    assert is_answered(view, "select id from z where t >= '2024-01-01 00:00:00'", "No/Where")
    assert not is_answered(view, "select id from z where t >= '2024-01-02 00:00:00'", "No/Where")


@pytest.mark.parametrize("zone", ["America/Toronto", "Europe/Amsterdam", "EET", "Asia/Manila"])
def test_zones_that_are_odd_in_java(zone: str) -> None:
    """Days are no ranges of moments there: in 1919 a day of Toronto began half an hour late."""
    view = "select id, t from z where t >= '1919-03-31'"
    assert not is_answered(view, "select id from z where to_date(t) = '1919-03-31'", zone)
    assert is_answered(view, "select id from z where to_date(t) = '1919-03-31'", "UTC")
