"""Takes conditions apart into those that all have to be true."""

from __future__ import annotations

import re

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import DECIMAL
from dbt.adapters.spark_mv.rewrite.terms import Term, binary, connected, is_list

_WHOLE = ("int", "bigint")
_INTEGER, _NUMBER = re.compile(r"\d+"), re.compile(r"\d{1,9}(\.\d{1,9})?")
# Of so many digits, and of numbers as above, Spark has a type that has all values of both.
_LONGEST = 19


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The operands of a conjunction. What is said in each branch of an OR is said beside it; that a
    column is none of several values is that it is not each of them, where these are of its type."""
    return tuple(
        found for part in _parts(term) for one in _factored(part) for found in _without_list(one)
    )


def _parts(term: Term) -> tuple[Term, ...]:
    return term.args if type(term.node) is exp.And else (term,)


def _factored(term: Term) -> list[Term]:
    """`(a AND b) OR (a AND c)` as `a` and `b OR c`, which is the same for NULL, too."""
    if type(term.node) is not exp.Or:
        return [term]
    branches = [{part.key: part for part in _parts(branch)} for branch in term.args]
    common = set(branches[0]).intersection(*branches[1:])
    if not common:
        return [term]
    found = [part for key, part in branches[0].items() if key in common]
    rests = [[part for key, part in one.items() if key not in common] for one in branches]
    if all(rests):
        found += _factored(connected(exp.Or, [connected(exp.And, rest) for rest in rests]))
    return found


def _without_list(term: Term) -> tuple[Term, ...]:
    listed = term.args[0] if type(term.node) is exp.Not else None
    if listed is None or not is_list(listed.node) or len(listed.args) < 2:
        return (term,)
    first, *values = listed.args
    if first.column is None or not all(_is_of_type(one.node, first.column.type) for one in values):
        return (term,)
    return tuple(binary(exp.NEQ, first, one) for one in values)


def _is_of_type(node: exp.Expr, type_name: str) -> bool:
    """Whether a text or a number is compared with values of a type as in any list of such ones."""
    number = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(number, exp.Literal) or number.is_string:
        return isinstance(node, exp.Literal) and type_name == "string"
    text, digits = number.name.removeprefix("-"), DECIMAL.fullmatch(type_name)
    if type_name == "double" or (digits is not None and int(digits[1]) <= _LONGEST):
        return _NUMBER.fullmatch(text) is not None
    return type_name in _WHOLE and _INTEGER.fullmatch(text) is not None
