"""Ranges of one column: what comparisons with constants leave of its values.

Values of whole numbers and days are kept half-open, so that `<= 3` and `< 4` are one; those of
other types keep their bounds, open or closed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import DISCRETE, Moment, constant, day_of

_MOST_LISTED = 100
CLOCK_UNITS = ("HOUR", "MINUTE", "SECOND")


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

    @property
    def is_half_open(self) -> bool:
        """Whether its values are those from one on, or before another one, or both."""
        is_closed = self.high is not None and not self.high_open
        return self.among is None and not self.low_open and not is_closed

    def changed(self, change: Callable[[Any], Any]) -> Range:
        """The range with other bounds."""
        low, high = (None if one is None else change(one) for one in (self.low, self.high))
        return Range(low, self.low_open, high, self.high_open)

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


def starts_unit(value: Any, unit: str, type_name: str) -> bool:
    """Whether a day or moment is one at which a unit of time begins (DAY, MONTH, ..)."""
    if isinstance(value, Moment):
        local = datetime.fromisoformat(value.text)
    elif type_name == "date":
        local = datetime.combine(day_of(value), datetime.min.time())
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
