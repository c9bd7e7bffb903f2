"""Whether subqueries are joined by keys of one type.

A text and a number are compared after a cast, so several keys (`'1'`, `'01'`) can be equal to one
value, and what is computed for each key is not what belongs to the value.

>>> from sqlglot import parse_one
>>> equal = parse_one("c.id = o.customer")
>>> sides = [(equal.this, equal.expression, equal)]
>>> relations = exp.select().from_("customers AS c").join("orders AS o", join_type="cross")
>>> check(sides, relations, types_of=lambda sides: ["int", "bigint"])
>>> check(sides, relations, types_of=lambda sides: ["int", "string"])
Traceback (most recent call last):
dbt.adapters.spark_mv.ivm.algebra.terms.NotFast: CORRELATED: a subquery compares int with string;
  cast one to the type of the other: c.id = o.customer
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import measures
from dbt.adapters.spark_mv.ivm.algebra.terms import conjuncts, not_fast
from dbt.adapters.spark_mv.ivm.rewrite.scalar_subqueries import JOINED

# What are compared, and the comparison as it is to be shown.
Sides = tuple[exp.Expr, exp.Expr, exp.Expr]


def check_joined(tree: exp.Expr, types_of: Callable[[exp.Query], list[str]]) -> None:
    """Raises `NotFast` if a subquery that was a value is joined by keys of two types."""
    for join in tree.find_all(exp.Join):
        if join.args.get("on") is not None and join.alias_or_name.startswith(JOINED):
            sides = [(part.this, part.expression, part) for part in conjuncts(join.args["on"])]
            start = cast(exp.Expr, join.parent).args["from_"]
            check(sides, exp.Select(from_=start.copy(), joins=[join.copy()]), types_of)


def check(
    sides: Sequence[Sides],
    relations: exp.Select,
    types_of: Callable[[exp.Query], list[str]],
    is_cast_allowed: bool = True,
) -> None:
    """Raises `NotFast` if the two sides of an equality differ in their type.

    `relations` is a SELECT without columns, of all that the sides name. Types of whole numbers may
    differ if Spark may cast one side.
    """
    probe = relations.copy()
    for number, (*pair, _) in enumerate(sides):
        for place, side in enumerate(pair):
            probe.append("expressions", exp.alias_(side.copy(), f"mv_side_{number}_{place}"))
    types = types_of(probe)
    for (_, _, shown), one, two in zip(sides, types[::2], types[1::2], strict=True):
        is_cast_exact = measures.is_whole(one) and measures.is_whole(two)
        if one != two and not (is_cast_exact and is_cast_allowed):
            text = f"a subquery compares {one} with {two}; cast one to the type of the other"
            raise not_fast("CORRELATED", text, shown)
