"""Partitions of years, months, days and hours as ranges of the column that they are made from.

Every table evaluates a range of a column rightly, whatever it is partitioned by, and leaves out
as many files by it as by the function of Iceberg's.
"""

from __future__ import annotations

import re

_MICROS_PER_HOUR = 3_600_000_000
_MOST_MICROS = 2**63 - 1
_DATE = re.compile(r"(?P<year>[+-]?\d+)-(?P<month>\d+)-(?P<day>\d+)")


def in_range(column: str, column_type: str, transform: str, text: str) -> str:
    """SQL of the condition that a column of this Spark type is in one year, month, day or hour.

    `text` is the partition's value as Iceberg counts it: years, months or hours since 1970, or the
    date of a day. Raises `ValueError` if it is none.
    """
    first, end = (hour * _MICROS_PER_HOUR for hour in _hours(transform, text))
    lower = f"{column} >= {_moment(column_type, first)}"
    if end > _MOST_MICROS and column_type != "date":
        return lower  # the last moment that there is comes before the end
    return f"{lower} AND {column} < {_moment(column_type, end)}"


def _hours(transform: str, text: str) -> tuple[int, int]:
    """The first hour of a partition, and the first after it, counted from 1970."""
    if transform == "hours":
        return int(text), int(text) + 1
    if transform == "days":
        found = _DATE.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no date")
        day = days_since_1970(int(found["year"]), int(found["month"]), int(found["day"]))
        return day * 24, (day + 1) * 24
    months = int(text) * (12 if transform == "years" else 1)
    size = 12 if transform == "years" else 1
    return _month_start(months) * 24, _month_start(months + size) * 24


def _month_start(months: int) -> int:
    year, month = divmod(months, 12)
    return days_since_1970(1970 + year, month + 1, 1)


def days_since_1970(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of the proleptic Gregorian calendar, of any year.

    The years are counted from March, so that the leap day is the last (Howard Hinnant,
    "chrono-Compatible Low-Level Date Algorithms", days_from_civil).

    >>> days_since_1970(2024, 3, 1) - days_since_1970(2024, 2, 28)
    2
    """
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def _moment(column_type: str, micros: int) -> str:
    """A moment as SQL of a constant of this type; no setting of a session changes its value."""
    if column_type == "timestamp":
        return f"timestamp_micros({micros})"
    days, rest = divmod(micros, 24 * _MICROS_PER_HOUR)
    start = f"date_from_unix_date({days})"
    if column_type == "date":
        return start
    hour = f" + make_dt_interval(0, {rest // _MICROS_PER_HOUR})" if rest else ""
    return f"(CAST({start} AS TIMESTAMP_NTZ){hour})"
