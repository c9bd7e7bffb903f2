"""Aggregate functions that can be kept up to date by adding: which state each needs, and how.

Exactness, type by type, is in docs/decisions/0008. Sums of floating point numbers depend on their
order, so they are added to only if the owner of the view allows that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import not_fast, operand

ROWS, COUNT, SUM, MIN, MAX = "rows", "count", "sum", "min", "max"
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_FLOATING = ("float", "double")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
# AVG of whole numbers divides a sum of doubles, which is exact up to 2 to the power of 53.
EXACT_IN_DOUBLE = 2**53
# What absolute values of these are added up in; groups of smaller types never get that far.
SUMMED_AS = {"int": "bigint", "bigint": "decimal(20,0)"}
# Spark cuts digits after the point off products and sums of more than 38 digits, but never so that
# fewer than 6 are left.
_LONGEST_SUM, _LONGEST_AVERAGE, _KEPT_SCALE = 27, 18, 6
# Spark averages decimals of so few digits as doubles. Quotients of sums of at most so many have at
# least nine places more than an average, which a thousand million rows do not get between.
_SHORT, _ROUNDED_ONCE = 11, 15


@dataclass(frozen=True)
class Part:
    """One number that is kept for each group: a function of one argument, none for `rows`.

    `counted` is the expression whose values are counted beside a sum, if not the argument.
    """

    function: str
    argument: exp.Expr | None = None
    counted: exp.Expr | None = None

    @property
    def count(self) -> Part:
        """The part that counts the values of a sum."""
        return Part(COUNT, self.counted or self.argument)

    def call(self) -> exp.Expr:
        """The aggregate function that computes it."""
        if self.argument is None:
            return exp.Count(this=exp.Star(), big_int=True)
        if self.function == COUNT:
            return exp.Count(this=self.argument.copy(), big_int=True)
        kinds = {SUM: exp.Sum, MIN: exp.Min, MAX: exp.Max}
        return kinds[self.function](this=self.argument.copy())


@dataclass(frozen=True)
class Measure:
    """One call of an aggregate function, and the parts from which its value is computed."""

    call: exp.Expr
    parts: tuple[Part, ...]
    average: bool = False


def measure_of(call: exp.Expr) -> Measure:
    """How a call is kept up to date; raises `NotFast` if adding cannot do it."""
    rows = Part(ROWS)
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return Measure(call, (rows,))
    argument = call.this
    plain = isinstance(argument, exp.Expr) and not isinstance(argument, exp.Distinct)
    if not plain or call.args.get("expressions"):
        raise _no_measure(call)
    count = Part(COUNT, argument)
    if isinstance(call, exp.Count):
        return Measure(call, (count,))
    if isinstance(call, (exp.Sum, exp.Avg)):
        return Measure(call, (Part(SUM, argument), count), isinstance(call, exp.Avg))
    if isinstance(call, (exp.Min, exp.Max)):
        return Measure(call, (Part(MIN if isinstance(call, exp.Min) else MAX, argument), count))
    raise _no_measure(call)


def with_size(measure: Measure, type_name: str) -> tuple[Measure, dict[str, str]]:
    """An average of whole numbers with the sum of their absolute values, which tells whether a sum
    of doubles is exact whatever the order; and the type of its argument, by its text.

    The sum itself does not tell: what is added before may be beyond any double, and go again.
    """
    summed_as = SUMMED_AS.get(type_name)
    argument = measure.parts[0].argument
    if not measure.average or summed_as is None or argument is None:
        return measure, {}
    size = exp.func("abs", exp.cast(argument.copy(), summed_as))
    part = Part(SUM, size, counted=argument)
    return Measure(measure.call, (*measure.parts, part), average=True), {size.sql(): summed_as}


def check_type(measure: Measure, type_name: str, float_additive: bool) -> None:
    """Raise `NotFast` if adding is not exact for an argument of this Spark type, and not allowed
    nevertheless."""
    if measure.parts[0].function != SUM:
        return
    if type_name in _WHOLE or (float_additive and type_name in _FLOATING):
        return
    decimal = _DECIMAL.fullmatch(type_name)
    digits, scale = (int(decimal.group(1)), int(decimal.group(2))) if decimal else (0, 0)
    if decimal and measure.average and digits <= _LONGEST_AVERAGE:
        return
    if decimal and not measure.average and (digits <= _LONGEST_SUM or scale <= _KEPT_SCALE):
        return
    way_out = "set float_additive" if type_name in _FLOATING else "cast to a shorter decimal"
    text = (
        f"adding to it is not exact for the type {type_name}; {way_out}, "
        "or have its groups recomputed, which takes a GROUP BY"
    )
    raise not_fast("NOT_ADDITIVE", text, measure.call)


def weighted_sum(argument: exp.Expr, weight: exp.Expr, type_name: str) -> exp.Expr:
    """The change of a sum: the argument times its weight, in a type that loses nothing."""
    if type_name in _WHOLE:
        product = exp.Mul(this=exp.cast(argument, "bigint"), expression=weight)
    elif type_name in _FLOATING:
        product = exp.Mul(this=exp.cast(argument, "double"), expression=weight)
    else:
        product = exp.Mul(this=argument, expression=exp.cast(weight, "decimal(10,0)"))
    return exp.Sum(this=_not_lost(product, argument) if may_overflow(type_name) else product)


def _not_lost(product: exp.Expr, argument: exp.Expr) -> exp.Expr:
    """A product that ends the statement where Spark makes NULL of one that is too large."""
    is_lost = exp.Not(this=exp.Is(this=operand(argument.copy()), expression=exp.Null()))
    lost = exp.Case().when(is_lost, raised("a sum is too large for its type"))
    return exp.func("coalesce", product, lost)


def is_whole(type_name: str) -> bool:
    """Whether a Spark type is one of whole numbers."""
    return type_name in _WHOLE


def is_floating(type_name: str) -> bool:
    """Whether a Spark type is one of floating point numbers."""
    return type_name in _FLOATING


def may_overflow(type_name: str) -> bool:
    """Whether Spark makes sums of this type NULL that are too large for their type, and any
    number of rows can make one that is."""
    decimal = _DECIMAL.fullmatch(type_name)
    return decimal is not None and int(decimal.group(1)) > _LONGEST_SUM


def sum_type(type_name: str) -> str:
    """The type that Spark gives to a sum of this type."""
    if is_floating(type_name):
        return "double"
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal is None:
        return "bigint"
    precision, scale = int(decimal.group(1)), int(decimal.group(2))
    return f"decimal({min(38, precision + 10)},{scale})"


def average(
    total: exp.Expr, count: exp.Expr, type_name: str, size: exp.Expr | None = None
) -> exp.Expr:
    """AVG as Spark computes it, from the sum and the count of arguments of this type, and the sum
    of their absolute values, if that can be too large; NULL if there are none."""
    found = quotient(total, count, type_name)
    if not averages_in_doubles(type_name):
        return exp.Case().when(count.copy() > 0, found)
    largest = exp.func("abs", _units(total, type_name)) if size is None else size
    return (
        exp.Case()
        .when(total.is_(exp.null()), exp.null())
        .when(largest <= exp.Literal.number(EXACT_IN_DOUBLE), found)
        .else_(raised("an average needs a sum beyond 2 to the power of 53"))
    )


def averages_in_doubles(type_name: str) -> bool:
    """Whether Spark sums whole numbers, or units of the last place, as doubles for an AVG."""
    decimal = _DECIMAL.fullmatch(type_name)
    return type_name in _WHOLE or (decimal is not None and int(decimal[1]) <= _SHORT)


def quotient(total: exp.Expr, count: exp.Expr, type_name: str) -> exp.Expr:
    """AVG as Spark rounds it, from the sum and the count, which is not 0, of arguments of this
    type."""
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal is None:
        return exp.Div(this=exp.cast(total, "double"), expression=count.copy())
    digits, scale = int(decimal[1]), int(decimal[2])
    result = f"decimal({digits + 4},{scale + 4})"
    if digits <= _SHORT:
        mean = exp.Div(this=exp.cast(_units(total, type_name), "double"), expression=count.copy())
        unit = exp.cast(exp.Literal.number(10**scale), "double")
        return exp.cast(exp.Div(this=mean, expression=unit), result)
    exactly = exp.Div(
        this=operand(total.copy()), expression=exp.cast(count.copy(), "decimal(20,0)")
    )
    found = exp.cast(exactly, result)
    return found if digits <= _ROUNDED_ONCE else _rounded_once(found, total, count, scale + 4)


def _units(total: exp.Expr, type_name: str) -> exp.Expr:
    """A sum in units of the last place of its arguments."""
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal is None:
        return total.copy()
    product = exp.Mul(
        this=operand(total.copy()), expression=exp.Literal.number(10 ** int(decimal[2]))
    )
    return exp.cast(product, "decimal(38,0)")


def _rounded_once(mean: exp.Expr, total: exp.Expr, count: exp.Expr, places: int) -> exp.Expr:
    """A mean that was rounded to more places and then to these, as rounded to these alone: it may
    be too far from 0 by one unit, which is told by what its product with the count differs by."""
    many = exp.cast(count.copy(), "decimal(12,0)")
    unit = exp.Literal.number(f"0.{'1'.zfill(places)}")
    off = exp.paren(exp.Sub(this=exp.Mul(this=mean, expression=many), expression=operand(total)))
    twice, limit = exp.Add(this=off, expression=off.copy()), exp.Mul(this=many, expression=unit)
    return (
        exp.Case()
        .when(exp.GT(this=twice, expression=limit), exp.Sub(this=mean, expression=unit))
        .when(exp.LT(this=twice, expression=exp.Neg(this=exp.paren(limit))), mean + unit)
        .else_(mean)
    )


def too_many_went() -> exp.Expr:
    """Ends the statement: a count would fall below 0."""
    return raised("a change takes away more rows than there were")


def raised(text: str) -> exp.Expr:
    """Ends the statement: what is stored cannot be kept up to date by adding."""
    return exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(f"mv: {text}")])


def _no_measure(call: exp.Expr) -> Exception:
    text = "its value cannot be added to, only recomputed by group, which takes a GROUP BY"
    return not_fast("NOT_ADDITIVE", text, call)
