from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.config.durations import interval_seconds

HOUR, DAY = 3600, 86400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("INTERVAL 4 HOUR", 4 * HOUR),
        ("interval '4' hours", 4 * HOUR),
        ('INTERVAL "30" MINUTE', 1800),
        ("INTERVAL 1 DAY", DAY),
        ("INTERVAL 2 WEEK", 14 * DAY),
        ("INTERVAL 1 MONTH", 30 * DAY),
        ("INTERVAL 1 YEAR", 365 * DAY),
        ("90 seconds", 90),
        ("INTERVAL 0 SECOND", 0),
        ('INTERVAL "4:30:0" HOUR TO SECOND', 4.5 * HOUR),
        ('INTERVAL "1 2" DAY TO HOUR', DAY + 2 * HOUR),
        ("INTERVAL '1-6' YEAR TO MONTH", 545 * DAY),
        ("0-0 0 4:0:0", 4 * HOUR),
        ("1-2 3 4:5:6", 365 * DAY + 60 * DAY + 3 * DAY + 4 * HOUR + 5 * 60 + 6),
        ("PT4H", 4 * HOUR),
        ("P1DT12H", 1.5 * DAY),
        ("  INTERVAL 4 HOUR  ", 4 * HOUR),
    ],
)
def test_intervals(text: str, seconds: float) -> None:
    assert interval_seconds(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "4",
        "INTERVAL HOUR",
        "INTERVAL x HOUR",
        "INTERVAL 4 FORTNIGHT",
        "4:0:0",
        "INTERVAL '4' HOUR TO",
        'INTERVAL "4:30" HOUR TO SECOND',
        "-4 HOUR",
        "INTERVAL -4 HOUR",
    ],
)
def test_no_intervals(text: str) -> None:
    assert interval_seconds(text) is None
