"""Types of sums, differences and products of numbers, as far as all their values have a type.

Digits of decimals are counted as Spark does (DecimalPrecision), or are more than those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import DECIMAL, MOST_DIGITS
from dbt.adapters.spark_mv.rewrite.terms import Term

_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_LITERAL = re.compile(r"(\d{1,18})(?:\.(\d{1,18}))?")
_INTEGERS = (
    *(exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear),
    *(exp.WeekOfYear, exp.Hour, exp.Minute, exp.Second, exp.Length, exp.DateDiff),
)
_SAME = (exp.Neg, exp.Abs)


@dataclass(frozen=True)
class _Number:
    """Digits before and after the point, of a whole number or a decimal."""

    whole: int
    scale: int
    is_whole: bool

    @property
    def has_type(self) -> bool:
        """Whether Spark has a type for all of them."""
        return self.is_whole or self.whole + self.scale <= MOST_DIGITS


def number_type(term: Term) -> str:
    """The type of an expression of numbers, or a wider one; empty if it is none, or not exact.

    Whole numbers that overflow are others of their type.
    """
    if term.column is not None or term.is_constant:
        return ""
    found = _number(term)
    if found is None:
        return ""
    return "bigint" if found.is_whole else f"decimal({found.whole + found.scale},{found.scale})"


def _number(term: Term) -> _Number | None:
    if term.column is not None:
        return _of_type(term.column.type)
    if not term.args:
        return _of_literal(term.node)
    if isinstance(term.node, _INTEGERS):
        return _Number(_DIGITS["int"], 0, True)
    if isinstance(term.node, _SAME) and len(term.args) == 1:
        return _number(term.args[0])
    if type(term.node) not in (exp.Add, exp.Sub, exp.Mul) or len(term.args) != 2:
        return None
    one, other = map(_number, term.args)
    if one is None or other is None:
        return None
    is_whole = one.is_whole and other.is_whole
    if isinstance(term.node, exp.Mul):
        made = _Number(one.whole + other.whole + 1, one.scale + other.scale, is_whole)
    else:
        made = _Number(max(one.whole, other.whole) + 1, max(one.scale, other.scale), is_whole)
    return made if made.has_type else None


def _of_type(name: str) -> _Number | None:
    if name in _DIGITS:
        return _Number(_DIGITS[name], 0, True)
    found = DECIMAL.fullmatch(name)
    if found is None:
        return None
    digits, scale = map(int, found.groups())
    return _Number(digits - scale, scale, False)


def _of_literal(node: exp.Expr) -> _Number | None:
    number = node.this if isinstance(node, exp.Neg) else node
    found = _LITERAL.fullmatch(number.name) if isinstance(number, exp.Literal) else None
    if found is None or number.args.get("is_string"):
        return None
    is_whole = found[2] is None
    # A whole number is an INT, unless Spark gives it the type of its digits.
    whole = max(len(found[1]), _DIGITS["int"]) if is_whole else len(found[1])
    return _Number(whole, len(found[2] or ""), is_whole)
