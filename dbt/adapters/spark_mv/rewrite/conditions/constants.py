"""Constants that columns are compared with: which are read, as which values, how they are written.

Which constants of which types are read is a closed list: what Spark converts before it compares is
no range, but a condition like any other.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.days import day_text, midnight_text
from dbt.adapters.spark_mv.rewrite.conditions.time_units import (
    FIRST_YEAR,
    LAST_YEAR,
    day_number,
    numbered_day,
    oddities,
)
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
# The digits of the type, and how many of them are after the point; Spark has so many at most.
DECIMAL, MOST_DIGITS = re.compile(r"decimal\((\d+),\s*(\d+)\)"), 38
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?)?")
_LAST_OF_SECOND = ".999999"
_LONGEST_NUMBER = 18
# Beside more of them IN and COALESCE have no room for all whole numbers, and round.
_MOST_PLACES = 18
DISCRETE = ("whole", "date")
_EPOCH = datetime(1970, 1, 1)


def family_of(type_name: str) -> str:
    """The family of types whose values are compared alike; empty if no range is made of them."""
    if type_name in _WHOLE:
        return "whole"
    if type_name in ("date", "string", "timestamp", "timestamp_ntz"):
        return type_name
    found = DECIMAL.fullmatch(type_name)
    return type_name if found is not None and int(found[2]) <= _MOST_PLACES else ""


def is_of_its_type(constant: Term, column: ColumnOf) -> bool:
    """Whether a constant that is compared with values of a column is converted to none, and makes
    none of them NULL: `n = ''` is NULL for all whole numbers."""
    node = constant.node.this if isinstance(constant.node, exp.Neg) else constant.node
    if isinstance(node, exp.Boolean):
        return column.type == "boolean"
    is_number = isinstance(node, exp.Literal) and not node.is_string
    if column.type in ("double", "float"):
        return is_number
    return value_of(constant, column.type, "UTC") is not None


def value_of(term: Term, type_name: str, zone: str) -> Any:
    """The value of a constant that is compared with a column of this type, in a session of this
    time zone; None if it is not read.

    Days count from 1970, moments are microseconds since then.
    """
    family = family_of(type_name)
    text, kind = _literal(term)
    if text is None or not family:
        return None
    if family == "whole":
        return _number(text) if kind == "number" else None
    if family.startswith("decimal"):
        return _fitting(_number(text) if kind == "number" else None, family)
    if family == "string":
        return text if kind == "string" else None
    if family == "date":
        is_day = kind in ("string", "date") or (kind == "midnight" and not oddities(zone).any)
        return day_in(text) if is_day else None
    if family == "timestamp_ntz":
        return _moment(text, "UTC") if kind in ("string", "date", "timestamp_ntz") else None
    return _moment(text, zone) if kind in ("string", "date", "timestamp", "midnight") else None


def _literal(term: Term) -> tuple[str | None, str]:
    """The text of a constant, and its kind."""
    node = term.node
    if isinstance(node, exp.Literal):
        return node.name, "string" if node.is_string else "number"
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return ("" if node.this.is_string else f"-{node.this.name}") or None, "number"
    is_cast = isinstance(node, exp.Cast) and not node.args.get("safe") and len(term.args) == 1
    inner = term.args[0].node if is_cast else None
    day = day_text(term)
    if day is not None:
        return day, "date"
    day = midnight_text(term)
    if day is not None:
        return day, "midnight"
    if isinstance(inner, exp.Literal) and inner.is_string:
        to = node.args["to"].sql("spark").lower()
        return inner.name, "timestamp" if to in ("timestamp", "timestamp_ltz") else to
    return None, ""


def _number(text: str) -> Decimal | None:
    if not re.fullmatch(r"-?\d*\.?\d+", text) or len(text) > _LONGEST_NUMBER:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _fitting(number: Decimal | None, type_name: str) -> Decimal | None:
    """The number, if Spark has a type for all values of both: it makes NULL of those that do not
    fit."""
    found = DECIMAL.fullmatch(type_name)
    if number is None or found is None:
        return None
    digits, scale = int(found.group(1)), int(found.group(2))
    places = max(0, -int(number.as_tuple().exponent))
    whole = max(digits - scale, len(number.as_tuple().digits) - places)
    return number if whole + max(scale, places) <= MOST_DIGITS else None


def day_in(text: str) -> int | None:
    """The day that a text is, counted from 1970; None if it is none."""
    # The day after the last one has no text.
    if not _DAY.fullmatch(text) or text >= "9999":
        return None
    try:
        return day_number(date.fromisoformat(text))
    except ValueError:
        return None


class Moment(int):
    """An instant that orders moments of one zone; only Spark knows for certain which it is, so that
    it is written as the `text` that it was read from."""

    text: str


def _moment(text: str, zone: str) -> Moment | None:
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    day, time, fraction = found.groups()
    try:
        local = datetime.fromisoformat(f"{day} {time or '00:00:00'}")
        where = ZoneInfo(zone)
    except (ValueError, ZoneInfoNotFoundError):
        return None
    if not FIRST_YEAR <= local.year <= LAST_YEAR:
        return None
    offset = local.replace(tzinfo=where).utcoffset() or timedelta()
    seconds = (local - _EPOCH) - offset
    digits = int((fraction or "").ljust(6, "0") or 0)
    moment = Moment(int(seconds / timedelta(microseconds=1)) + digits)
    moment.text = str(local + timedelta(microseconds=digits))
    return moment


def following(moment: Moment, zone: str) -> Moment | None:
    """The next moment after the last one of a second, in microseconds; None for others, and where
    clocks change between the two."""
    if not moment.text.endswith(_LAST_OF_SECOND):
        return None
    local = datetime.fromisoformat(moment.text) + timedelta(microseconds=1)
    found = _moment(str(local), zone)
    return found if found == moment + 1 else None


def constant(value: Any, type_name: str) -> exp.Expr:
    """A value of a column of this type as a literal."""
    family = family_of(type_name)
    if family == "whole" or family.startswith("decimal"):
        return exp.Literal.number(format(value, "f") if isinstance(value, Decimal) else str(value))
    if family == "string":
        return exp.Literal.string(value)
    if family == "date":
        return exp.cast(exp.Literal.string(str(numbered_day(value))), "date")
    return exp.cast(exp.Literal.string(value.text), family)


def midnight(day: int, zone: str) -> Moment | None:
    """The moment at which a day begins, counted from 1970, in a zone; None if it is not known."""
    return _moment(str(numbered_day(day)), zone)


def day_of(value: Any) -> date:
    """The day that a value of a column of days is, or on which a moment is in its zone."""
    if isinstance(value, Moment):
        return date.fromisoformat(value.text[:10])
    return numbered_day(value)
