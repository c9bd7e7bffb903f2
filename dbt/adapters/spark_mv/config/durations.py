"""BigQuery's interval texts, and ISO 8601 durations, as seconds.

Source: BigQuery's documentation of the INTERVAL type (literal with one part, with a range of
parts, and the canonical `Y-M D H:M:S`). A month counts as 30 days, a year as 365.
"""

from __future__ import annotations

import re
from datetime import timedelta

import isodate

_SECONDS = {
    "SECOND": 1,
    "MINUTE": 60,
    "HOUR": 3600,
    "DAY": 86400,
    "WEEK": 7 * 86400,
    "MONTH": 30 * 86400,
    "YEAR": 365 * 86400,
}
_SINGLE = re.compile(r"^(?:INTERVAL\s+)?['\"]?(\d+)['\"]?\s+([A-Z]+?)S?$", re.IGNORECASE)
_RANGE = re.compile(
    r"^INTERVAL\s+['\"]([\d:\- ]+)['\"]\s+(YEAR|MONTH|DAY|HOUR|MINUTE)\s+TO\s+"
    r"(MONTH|DAY|HOUR|MINUTE|SECOND)$",
    re.IGNORECASE,
)
_CANONICAL = re.compile(r"^(\d+)-(\d+)\s+(\d+)\s+(\d+):(\d+):(\d+)$")
# Numbers of hundreds of digits are no times, and no floats.
_LONGEST = 100
_RANGE_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


def interval_seconds(text: str) -> float | None:
    """Length of an interval text in seconds, or None if it is not one.

    >>> interval_seconds('INTERVAL "4:30:0" HOUR TO SECOND')
    16200.0
    """
    stripped = text.strip()
    if len(stripped) > _LONGEST:
        return None
    single = _SINGLE.match(stripped)
    if single:
        unit = single.group(2).upper()
        return float(int(single.group(1)) * _SECONDS[unit]) if unit in _SECONDS else None
    canonical = _CANONICAL.match(stripped)
    if canonical:
        return _sum(canonical.groups(), _RANGE_UNITS)
    ranged = _RANGE.match(stripped)
    if ranged:
        first = _RANGE_UNITS.index(ranged.group(2).upper())
        last = _RANGE_UNITS.index(ranged.group(3).upper())
        units = _RANGE_UNITS[first : last + 1]
        numbers = re.findall(r"\d+", ranged.group(1))
        return _sum(tuple(numbers), units) if len(numbers) == len(units) else None
    return _iso_seconds(stripped)


def _sum(numbers: tuple[str, ...], units: tuple[str, ...]) -> float:
    return float(sum(int(n) * _SECONDS[unit] for n, unit in zip(numbers, units, strict=True)))


def _iso_seconds(text: str) -> float | None:
    try:
        duration = isodate.parse_duration(text)
    except (isodate.ISO8601Error, TypeError, OverflowError):
        return None
    return duration.total_seconds() if isinstance(duration, timedelta) else None
