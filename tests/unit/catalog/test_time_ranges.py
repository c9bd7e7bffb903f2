"""Partitions of time as ranges: every moment is in one of them, and in its own."""

from __future__ import annotations

from datetime import date, timedelta

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.spark_mv.catalog.time_ranges import days_since_1970, in_range

EPOCH = date(1970, 1, 1)


@given(st.dates())
def test_days(day: date) -> None:
    assert days_since_1970(day.year, day.month, day.day) == (day - EPOCH).days


def test_days_of_far_years() -> None:
    """The calendar repeats every 400 years."""
    for year in (-4713, -1, 0, 1970, 9999, 10000, 290000):
        later = days_since_1970(year + 400, 3, 1)
        assert later - days_since_1970(year, 3, 1) == 146097


def _contains(transform: str, text: str, day: date) -> bool:
    """Whether a date is in the range that is written for a partition, read by another engine."""
    sql = in_range("d", "date", transform, text)
    sql = sql.replace("date_from_unix_date(", "(DATE '1970-01-01' + ").replace("d >=", "? >=")
    found = duckdb.execute(f"select {sql.replace('AND d <', 'AND ? <')}", [day, day]).fetchone()
    assert found is not None
    return bool(found[0])


@pytest.mark.parametrize("offset", [-1, 0, 1])
@given(day=st.dates(min_value=date(1800, 1, 1), max_value=date(2200, 12, 31)))
def test_ranges(day: date, offset: int) -> None:
    months = (day.year - 1970) * 12 + day.month - 1
    assert _contains("years", str(day.year - 1970 + offset), day) is (offset == 0)
    assert _contains("months", str(months + offset), day) is (offset == 0)
    assert _contains("days", str(day + timedelta(days=offset)), day) is (offset == 0)


def test_constants_do_not_depend_on_the_session() -> None:
    assert in_range("t", "timestamp", "hours", "0") == (
        "t >= timestamp_micros(0) AND t < timestamp_micros(3600000000)"
    )
    assert in_range("t", "timestamp_ntz", "hours", "-1") == (
        "t >= (CAST(date_from_unix_date(-1) AS TIMESTAMP_NTZ) + make_dt_interval(0, 23)) "
        "AND t < (CAST(date_from_unix_date(0) AS TIMESTAMP_NTZ))"
    )


def test_the_last_partition_has_no_end() -> None:
    for kind in ("timestamp", "timestamp_ntz"):
        assert "<" not in in_range("t", kind, "years", str(294247 - 1970))


def test_dates_have_no_last_partition() -> None:
    """They go on after the last moment of a timestamp."""
    assert "d < date_from_unix_date(" in in_range("d", "date", "years", str(294247 - 1970))


def test_what_is_no_partition() -> None:
    with pytest.raises(ValueError):
        in_range("d", "date", "days", "soon")
