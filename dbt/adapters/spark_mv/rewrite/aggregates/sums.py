"""Sums that are had from other sums: which, times what, and of which type Spark makes them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import DECIMAL, MOST_DIGITS, family_of
from dbt.adapters.spark_mv.rewrite.terms import Term, bracketed, made
from dbt.adapters.spark_mv.rewrite.unmatched import NOT_DERIVABLE, Unmatched

# Sums of decimals of so many digits have room for those of ten thousand million rows.
LONGEST_SUM, LONGEST_ARGUMENT = 28, 18
ZERO, ONE, _MINUS_ONE = (made(exp.Literal.number(number)) for number in (0, 1, -1))
# Averages of these are exact in sums of doubles for so many rows.
EXACT_ROWS = {"tinyint": 2**46, "smallint": 2**38, "int": 2**22}
_MORE_OF_SUM, _DIGITS_OF_INT, _DIGITS_OF_BIGINT = 10, 10, 20
# Of ones beside decimals, whose type they get.
SUM_OF_ONES = f"decimal({_DIGITS_OF_INT + _MORE_OF_SUM},0)"
_FACTOR = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?")


@dataclass(frozen=True)
class Multiple:
    """A sum of the type `type_name` that is `factor` times the sum of another argument."""

    factor: exp.Expr
    argument: Term
    type_name: str

    def of(self, summed: exp.Expr) -> exp.Expr:
        """It, by the sum of the argument."""
        product = exp.Mul(this=bracketed(self.factor), expression=bracketed(summed))
        return exp.cast(product, self.type_name)


def multiple_of(argument: Term) -> Multiple | None:
    """What a sum is a multiple of: one of decimals with a factor or a sign, which Spark multiplies
    without rounding, or of a constant."""
    digits = _digits(argument)
    if digits is not None and argument.key != ONE.key:
        type_name = _summed(*digits) if digits[1] else "bigint"
        return Multiple(argument.node.copy(), ONE, type_name)
    if isinstance(argument.node, exp.Neg) and argument.args:
        found = _decimal_column(argument.args[0])
        return None if found is None else _times(_MINUS_ONE, argument.args[0], *found)
    for factor, value in _operands(argument):
        digits, found = _digits(factor), _decimal_column(value)
        if digits is not None and found is not None:
            return _times(factor, value, digits[0] + found[0] + 1, digits[1] + found[1])
    return None


def _operands(product: Term) -> list[tuple[Term, ...]]:
    is_product = isinstance(product.node, exp.Mul)
    return [product.args, product.args[::-1]] if is_product else []


def _times(factor: Term, value: Term, digits: int, scale: int) -> Multiple | None:
    if digits > LONGEST_SUM:
        return None
    return Multiple(factor.node.copy(), value, _summed(digits, scale))


def _summed(digits: int, scale: int) -> str:
    return f"decimal({digits + _MORE_OF_SUM},{scale})"


def _digits(term: Term) -> tuple[int, int] | None:
    """How many digits a number has, and how many of them after the point."""
    number = term.node.this if isinstance(term.node, exp.Neg) else term.node
    is_number = isinstance(number, exp.Literal) and not number.is_string and not term.args
    found = _FACTOR.fullmatch(number.name) if is_number else None
    if found is None:
        return None
    whole, places = found[1].lstrip("0"), found[2] or ""
    return max(len(whole) + len(places), 1), len(places)


def _decimal_column(term: Term) -> tuple[int, int] | None:
    found = DECIMAL.fullmatch(term.column.type) if term.column is not None else None
    return None if found is None else (int(found[1]), int(found[2]))


def summed_type(type_name: str) -> str:
    """The type of a sum of values of a type that is had from one value and their number; empty if
    none is."""
    if family_of(type_name) == "whole":
        return "bigint"
    found = DECIMAL.fullmatch(type_name)
    # Times a BIGINT it has more digits than those of the sum, of which Spark has 38.
    is_short = found is not None and int(found[1]) <= MOST_DIGITS - _DIGITS_OF_BIGINT - 1
    return _summed(int(found[1]), int(found[2])) if found is not None and is_short else ""


def widest_sum(types: Collection[str]) -> str:
    """The type of a sum of values of which Spark makes one type, by those of sums of each; empty if
    that may not hold the sum."""
    if len(types) < 2:
        return next(iter(types), "")
    found = [one for name in types if (one := DECIMAL.fullmatch(name)) is not None]
    if len(found) < len(types):
        return ""
    scale = max(int(one[2]) for one in found)
    digits = max(int(one[1]) - int(one[2]) for one in found) + scale
    return f"decimal({digits},{scale})" if digits <= LONGEST_SUM else ""


def places_of_zero(term: Term) -> int | None:
    """How many digits a zero has after the point; None if it is none."""
    found = _FACTOR.fullmatch(term.node.name) if isinstance(term.node, exp.Literal) else None
    is_zero = found is not None and not term.node.args.get("is_string") and not float(found[0])
    return len(found[2] or "") if found is not None and is_zero else None


def with_zeros(summed: str, places: int = 0) -> str:
    """The type of a sum of values and of zeros of so many digits after the point, by that of the
    sum of the values; empty if that may not hold the sum."""
    if summed == "bigint" and not places:
        return summed
    decimal = DECIMAL.fullmatch(summed)
    if decimal is None:
        return ""
    digits, scale = int(decimal.group(1)) - _MORE_OF_SUM, int(decimal.group(2))
    # Before the point a whole number has the digits of its type, and another zero none.
    whole = 0 if places else _DIGITS_OF_INT
    if not places and digits == MOST_DIGITS - _MORE_OF_SUM and digits - scale >= whole:
        # Spark has no longer type, whatever that of the values is.
        return summed
    scale, whole = max(scale, places), max(digits - scale, whole)
    wider = whole + scale + _MORE_OF_SUM
    return f"decimal({wider},{scale})" if wider <= LONGEST_SUM else ""


def is_longest(type_name: str) -> bool:
    """Whether a sum of the type may be NULL because it was too large."""
    return type_name.startswith(f"decimal({MOST_DIGITS},")


def averaged_type(argument: Term, summed: str, most_rows: int | None) -> str:
    """The type of the values whose average is had from their sum, by the type of that; raises
    `Unmatched` if Spark rounds it by the order of the rows, of which there are `most_rows`."""
    decimal = DECIMAL.fullmatch(summed)
    if decimal is not None:
        digits = int(decimal.group(1)) - _MORE_OF_SUM
        if 0 < digits <= LONGEST_ARGUMENT:
            return f"decimal({digits},{decimal.group(2)})"
    type_name = argument.column.type if argument.column is not None else ""
    most = EXACT_ROWS.get(type_name)
    if most is None or most_rows is None or most_rows > most:
        raise Unmatched(
            NOT_DERIVABLE, "Spark rounds this average by the order of rows", str(argument)
        )
    return type_name
