"""Columns in place of what functions return, so that comparisons with constants say ranges of that.

`lower(city) = 'rome'` and `lower(city) <> 'oslo'` are then about one column: what is right for any
column of its type is right for it. Such a column is in no table, and is never printed.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import family_of
from dbt.adapters.spark_mv.rewrite.conditions.number_types import number_type
from dbt.adapters.spark_mv.rewrite.conditions.time_units import (
    FIRST_YEAR,
    LAST_YEAR,
    is_day,
    oddities,
)
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, column_term, digest, replaced

_NO_TABLE = -1
_TEXTS = (exp.Upper, exp.Lower, exp.Trim, exp.Initcap, exp.Substring, exp.Left, exp.Right)
# Numbers of so many digits are no two of them one value of the type. Its values have an order, in
# which NaN is the last and both zeros are one, so comparisons with such numbers follow from others
# as those of decimals do.
_DIGITS = {"double": 15, "float": 7}
_NUMBER = "decimal(38,18)"
_COMPUTED = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Abs)
_NUMERIC = {*_DIGITS, "tinyint", "smallint", "int", "bigint", "decimal"}


def stand_in(term: Term, type_name: str) -> Term:
    """A column of no table, in place of what a function returns."""
    return column_term(ColumnOf(_NO_TABLE, digest(term.key), type_name))


def with_stand_ins(term: Term, zone: str) -> Term:
    """A condition with columns in place of all functions of which the type is known, and of columns
    of floating point; moments are of a time zone."""
    return replaced(term, lambda part: _column_of(part, term, zone))


def _column_of(part: Term, condition: Term, zone: str) -> Term | None:
    digits = _DIGITS.get(_floating(part))
    if digits is not None and _most_digits(condition) <= digits:
        return stand_in(part, _NUMBER)
    if part.column is not None:
        return part
    is_odd = is_day(part) and _has_odd_days(part, condition, zone)
    type_name = "" if is_odd else _type_of(part)
    return stand_in(part, type_name) if type_name else None


def _floating(term: Term) -> str:
    """The type of a column of floating point, or of what is computed of such and other numbers."""
    if isinstance(term.node, _COMPUTED):
        types = {column.type.split("(")[0] for column in term.columns}
        is_plain = all(isinstance(part.node, _COMPUTED) or not part.args for part in term.walk())
        floating = types & _DIGITS.keys() if is_plain and types <= _NUMERIC else set()
        return min(floating, default="")
    return term.column.type if term.column is not None else ""


def _has_odd_days(day: Term, condition: Term, zone: str) -> bool:
    """Whether Spark may compare a day of moments as another one than IN does: it makes a range of
    moments of the one, which a day is not where clocks go back over midnight. What they did in
    other centuries is not asked."""
    if not any(column.type == "timestamp" for column in day.columns):
        return False
    years = [text[:4] for text in _literals(condition)]
    is_known = all(str(FIRST_YEAR) <= year < str(LAST_YEAR) for year in years)
    return oddities(zone).any or not is_known


def _type_of(term: Term) -> str:
    """The type of what a function returns; empty if that is not known."""
    if term.is_constant or not term.args:
        return ""
    if isinstance(term.node, _TEXTS):
        return "string" if all(column.type == "string" for column in term.columns) else ""
    if is_day(term):
        return "date"
    if isinstance(term.node, exp.Cast) and not term.node.args.get("safe"):
        to = term.node.args["to"].sql("spark").lower()
        return to if family_of(to) and not to.startswith("timestamp") else ""
    return number_type(term)


def _most_digits(condition: Term) -> int:
    return max((sum(map(str.isdigit, text)) for text in _literals(condition)), default=0)


def _literals(condition: Term) -> list[str]:
    return [part.node.name for part in condition.walk() if isinstance(part.node, exp.Literal)]
