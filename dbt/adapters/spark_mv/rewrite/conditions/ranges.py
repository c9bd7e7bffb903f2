"""Ranges of one column: what comparisons with constants leave of its values.

Values of whole numbers and days are kept half-open, so that `<= 3` and `< 4` are one; those of
other types keep their bounds, open or closed. Which constants of which types are read is a closed
list: what Spark converts before it compares is no range, but a condition like any other.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.days import day_text
from dbt.adapters.spark_mv.rewrite.conditions.time_units import FIRST_YEAR, LAST_YEAR
from dbt.adapters.spark_mv.rewrite.terms import Term

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?)?")
_LONGEST_NUMBER, _MOST_DIGITS = 18, 38
_MOST_LISTED = 100
CLOCK_UNITS = ("HOUR", "MINUTE", "SECOND")
_EPOCH = datetime(1970, 1, 1)
DISCRETE = ("whole", "date")


def family_of(type_name: str) -> str:
    """The family of types whose values are compared alike; empty if no range is made of them."""
    if type_name in _WHOLE:
        return "whole"
    if type_name in ("date", "string", "timestamp", "timestamp_ntz"):
        return type_name
    return type_name if _DECIMAL.fullmatch(type_name) else ""


@dataclass(frozen=True)
class Range:
    """Values between two bounds, None if there is none; or only those `among` some."""

    low: Any = None
    low_open: bool = False
    high: Any = None
    high_open: bool = False
    among: frozenset[Any] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no value is left."""
        if self.among is not None:
            return not self.among
        if self.low is None or self.high is None:
            return False
        is_open = self.low_open or self.high_open
        return bool(self.low > self.high or (self.low == self.high and is_open))

    @property
    def point(self) -> Any:
        """The one value that is left; None if there may be more."""
        if self.among is not None:
            return next(iter(self.among)) if len(self.among) == 1 else None
        found = self._listed() or ()
        return found[0] if len(found) == 1 else None

    def _listed(self) -> range | None:
        """Its values, if they are whole numbers or days and not too many."""
        if type(self.low) is not int or type(self.high) is not int:
            return None
        found = range(self.low + self.low_open, self.high + (not self.high_open))
        return found if len(found) <= _MOST_LISTED else None

    def holds(self, value: Any) -> bool:
        """Whether a value is in it."""
        if self.among is not None and value not in self.among:
            return False
        above = self.low is None or value > self.low or (value == self.low and not self.low_open)
        below = (
            self.high is None or value < self.high or (value == self.high and not self.high_open)
        )
        return above and below

    def meet(self, other: Range) -> Range:
        """The values that are in both."""
        values = [one.among for one in (self, other) if one.among is not None]
        if values:
            both = frozenset.intersection(*values)
            return Range(among=frozenset(v for v in both if self.holds(v) and other.holds(v)))
        low, low_open = _upper_of((self.low, self.low_open), (other.low, other.low_open), 1)
        high, high_open = _upper_of((self.high, self.high_open), (other.high, other.high_open), -1)
        return Range(low, low_open, high, high_open)

    def is_within(self, other: Range) -> bool:
        """Whether every value of it is in the other."""
        if self.is_empty:
            return True
        if self.among is not None:
            return all(other.holds(value) for value in self.among)
        if other.among is not None:
            found = self._listed()
            return found is not None and other.among.issuperset(found)
        return self.meet(other) == self


def _upper_of(one: tuple[Any, bool], two: tuple[Any, bool], sign: int) -> tuple[Any, bool]:
    """The bound that leaves less: the higher one, or with -1 the lower one."""
    if one[0] is None or two[0] is None:
        return two if one[0] is None else one
    if one[0] == two[0]:
        return one[0], one[1] or two[1]
    is_first = one[0] > two[0] if sign > 0 else one[0] < two[0]
    return one if is_first else two


def comparison(kind: type[exp.Expr], family: str, value: Any) -> Range:
    """The range of values that compare so with a constant: `kind` is EQ, LT (column < value),
    LTE, GT or GTE."""
    if kind is exp.EQ:
        is_value = family not in DISCRETE or value == math.floor(value)
        return Range(among=frozenset([_plain(family, value)] if is_value else []))
    if family not in DISCRETE:
        if kind in (exp.LT, exp.LTE):
            return Range(high=value, high_open=kind is exp.LT)
        return Range(low=value, low_open=kind is exp.GT)
    if kind is exp.LT:
        return Range(high=math.ceil(value), high_open=True)
    if kind is exp.LTE:
        return Range(high=math.floor(value) + 1, high_open=True)
    return Range(low=math.floor(value) + 1 if kind is exp.GT else math.ceil(value))


def _plain(family: str, value: Any) -> Any:
    return int(value) if family in DISCRETE else value


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
        return _day(text) if kind in ("string", "date") else None
    if family == "timestamp_ntz":
        return _moment(text, "UTC") if kind in ("string", "date", "timestamp_ntz") else None
    return _moment(text, zone) if kind in ("string", "date", "timestamp") else None


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
    found = _DECIMAL.fullmatch(type_name)
    if number is None or found is None:
        return None
    digits, scale = int(found.group(1)), int(found.group(2))
    places = max(0, -int(number.as_tuple().exponent))
    whole = max(digits - scale, len(number.as_tuple().digits) - places)
    return number if whole + max(scale, places) <= _MOST_DIGITS else None


def _day(text: str) -> int | None:
    # The day after the last one has no text.
    if not _DAY.fullmatch(text) or text >= "9999":
        return None
    try:
        return (date.fromisoformat(text) - _EPOCH.date()).days
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


def conditions(found: Range, column: exp.Expr, type_name: str) -> list[exp.Expr]:
    """The conditions on a column that leave the values of a range."""
    if found.among is not None:
        values = [constant(value, type_name) for value in sorted(found.among)]
        if len(values) == 1:
            return [exp.EQ(this=column.copy(), expression=values[0])]
        return [exp.In(this=column.copy(), expressions=values)]
    made: list[exp.Expr] = []
    if found.low is not None:
        kind = exp.GT if found.low_open else exp.GTE
        made.append(kind(this=column.copy(), expression=constant(found.low, type_name)))
    if found.high is not None:
        other = exp.LT if found.high_open else exp.LTE
        made.append(other(this=column.copy(), expression=constant(found.high, type_name)))
    return made


def constant(value: Any, type_name: str) -> exp.Expr:
    """A value of a column of this type as a literal."""
    family = family_of(type_name)
    if family == "whole" or family.startswith("decimal"):
        return exp.Literal.number(format(value, "f") if isinstance(value, Decimal) else str(value))
    if family == "string":
        return exp.Literal.string(value)
    if family == "date":
        return exp.cast(exp.Literal.string(str(_EPOCH.date() + timedelta(days=value))), "date")
    return exp.cast(exp.Literal.string(value.text), family)


def midnight(day: int, zone: str) -> Moment | None:
    """The moment at which a day begins, counted from 1970, in a zone; None if it is not known."""
    return _moment(str(_EPOCH.date() + timedelta(days=day)), zone)


def starts_unit(value: Any, unit: str, type_name: str) -> bool:
    """Whether a day or moment is one at which a unit of time begins (DAY, MONTH, ..)."""
    if isinstance(value, Moment):
        local = datetime.fromisoformat(value.text)
    elif type_name == "date":
        local = datetime.combine(_EPOCH.date() + timedelta(days=value), datetime.min.time())
    else:
        return False
    clock = (local.hour, local.minute, local.second, local.microsecond)
    if unit in CLOCK_UNITS:
        return not any(clock[CLOCK_UNITS.index(unit) + 1 :])
    return not any(clock) and {
        "DAY": True,
        "WEEK": local.weekday() == 0,
        "MONTH": local.day == 1,
        "QUARTER": local.day == 1 and local.month % 3 == 1,
        "YEAR": local.day == 1 and local.month == 1,
    }.get(unit, False)
