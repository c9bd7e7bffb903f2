"""Time zones by the names that Spark gives them."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# Names of the zone whose clock never changes.
UTC_NAMES = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")
# Spark reads names with Java's `ZoneId.SHORT_IDS`; the database has few of them.
_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "UT": "UTC",
    "VST": "Asia/Ho_Chi_Minh",
    "Z": "UTC",
}
_OFFSETS = tuple(
    re.compile(r"(?:UTC|GMT|UT)?([+-])" + digits, re.ASCII | re.IGNORECASE)
    for digits in (
        r"(\d\d?)(?::([0-5]?\d))?()",
        r"(\d\d?):([0-5]\d):([0-5]\d)",
        r"(\d\d)([0-5]\d)([0-5]\d)?",
    )
)
_FARTHEST = timedelta(hours=18)


def zone_of(name: str) -> tzinfo | None:
    """The time zone of a name such as Europe/Berlin, `PST`, `+01:00` or `UTC+1`; None if it is
    none."""
    name = _SHORT.get(name, name)
    try:
        return ZoneInfo(name)
    # Names of folders of the database raise what opening a folder raises.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return _offset(name)


def _offset(name: str) -> tzinfo | None:
    """Spark's other spellings: `+01:00`, `+0130`, `UTC+1`, `GMT-03:30`."""
    found = next((match for o in _OFFSETS if (match := o.fullmatch(name))), None)
    if found is None:
        return None
    sign, *digits = found.groups()
    hours, minutes, seconds = (int(part or 0) for part in digits)
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if offset > _FARTHEST:
        return None
    return timezone(offset if sign == "+" else -offset)
