"""What is known of a column in one partition, and which expressions have one value there."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from dbt.adapters.spark_mv.ivm.partitions.transforms import PartitionValue, over_partitions

YEARS = PartitionValue("p", "years", "date")
MONTHS = PartitionValue("p", "months", "date")
DAYS = PartitionValue("p", "days", "timestamp_ntz")
HOURS = PartitionValue("p", "hours", "timestamp_ntz")
WHOLE = PartitionValue("p", "identity", "string")
PREFIX = PartitionValue("p", "truncate", "string", 3)
OF_YEAR = "CAST(ADD_MONTHS(CAST('1970-01-01' AS DATE), `p` * 12) AS DATE)"
OF_MONTH = "CAST(ADD_MONTHS(CAST('1970-01-01' AS DATE), `p`) AS DATE)"
OF_DAY = "CAST(`p` AS TIMESTAMP_NTZ)"
OF_HOUR = (
    "CAST((CAST('1970-01-01 00:00:00' AS TIMESTAMP_NTZ) + MAKE_DT_INTERVAL(0, `p`)) "
    "AS TIMESTAMP_NTZ)"
)


def over(expression: str, *values: PartitionValue) -> str | None:
    """The expression over partitions of which the column `at` has these values."""
    found = over_partitions(parse_one(expression, dialect="spark"), {"at": list(values)})
    return None if found is None else found.sql("spark")


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        ("at", WHOLE, "`p`"),
        ("AT || 'x'", WHOLE, "`p` || 'x'"),
        ("year(at)", YEARS, f"YEAR({OF_YEAR})"),
        ("year(at)", MONTHS, f"YEAR({OF_MONTH})"),
        ("month(at)", MONTHS, f"MONTH({OF_MONTH})"),
        ("year(at) * 100 + month(at)", MONTHS, f"YEAR({OF_MONTH}) * 100 + MONTH({OF_MONTH})"),
        ("cast(at as date)", DAYS, f"CAST({OF_DAY} AS DATE)"),
        ("year(at)", DAYS, f"YEAR({OF_DAY})"),
        ("hour(at)", HOURS, f"HOUR({OF_HOUR})"),
        ("day(at)", HOURS, f"DAY({OF_HOUR})"),
        ("year(cast((at) as date))", DAYS, f"YEAR(CAST(({OF_DAY}) AS DATE))"),
        ("extract(month from at)", DAYS, f"EXTRACT(MONTH FROM {OF_DAY})"),
        ("datepart('YEAR', at)", DAYS, f"DATEPART('YEAR', {OF_DAY})"),
        ("left(at, 3)", PREFIX, "LEFT(`p`, 3)"),
        ("substring(at, 1, 2)", PREFIX, "SUBSTRING(`p`, 1, 2)"),
    ],
)
def test_one_value(expression: str, value: PartitionValue, expected: str) -> None:
    """The partition stands in for the column."""
    assert over(expression, value) == expected


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("at", DAYS),
        ("at", PREFIX),
        ("other", WHOLE),
        ("at || other", WHOLE),
        ("of_mine('year', at)", DAYS),
        ("date_part('minute', at)", HOURS),
        ("month(at)", YEARS),
        ("day(at)", MONTHS),
        ("hour(at)", DAYS),
        ("minute(at)", HOURS),
        ("cast(at as date)", YEARS),
        ("year(at + interval 1 day)", MONTHS),
        ("date_trunc('minute', at)", HOURS),
        ("left(at, 4)", PREFIX),
        ("left(at, -1)", PREFIX),
        ("left(at, n)", PREFIX),
        ("left('x', at)", PREFIX),
        ("substring(at, 2, 1)", PREFIX),
        ("substring(at, 1)", PREFIX),
        ("upper(at)", PREFIX),
        ("left(at, 1)", PartitionValue("p", "truncate", "string")),
        ("left(at, 1)", PartitionValue("p", "truncate", "int", 3)),
        ("left(at, 1)", PartitionValue("p", "truncate", "binary", 3)),
        ("left(at, 1)", PartitionValue("p", "truncate", "varchar(9)", 3)),
        ("left(at, 1)", PartitionValue("p", "bucket", "string", 3)),
        ("year(at)", PartitionValue("p", "years", "timestamp")),
        ("year(at)", PartitionValue("p", "years", "string")),
    ],
)
def test_several_values(expression: str, value: PartitionValue) -> None:
    """Rows of one partition may differ, so nothing stands in."""
    assert over(expression, value) is None


def test_times_by_a_clock_in_utc() -> None:
    """Partitions of timestamps are days of UTC, which those of the session are then, too."""
    value = PartitionValue("p", "days", "timestamp", in_utc=True)
    assert over("year(at)", value) == "YEAR(CAST(`p` AS TIMESTAMP))"


def test_the_first_that_is_fine_enough() -> None:
    """A column may have several values in a spec."""
    assert over("month(at)", YEARS, MONTHS) == f"MONTH({OF_MONTH})"
    assert over("day(at)", YEARS, MONTHS) is None
