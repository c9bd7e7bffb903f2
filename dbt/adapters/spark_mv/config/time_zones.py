"""Time zones by the names that Spark gives them."""

from __future__ import annotations

from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_of(name: str) -> tzinfo | None:
    """The time zone of a name such as Europe/Berlin, `+01:00` or `UTC+1`; None if it is none."""
    try:
        return ZoneInfo(name)
    # Names of folders of the database raise what opening a folder raises.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return _offset(name)


def _offset(name: str) -> tzinfo | None:
    """Spark's other spellings: `+01:00`, `UTC+1`, `GMT-03:30`."""
    text = name.upper().removeprefix("UTC").removeprefix("GMT")
    sign, digits = text[:1], text[1:]
    hours, _, minutes = digits.partition(":")
    if sign not in ("+", "-") or not digits:
        return None
    try:
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        return timezone(offset if sign == "+" else -offset)
    except ValueError:
        return None
