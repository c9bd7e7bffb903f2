"""Reads stars in SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Output
from dbt.adapters.spark_mv.rewrite.reading.scopes import Columns
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched


def starred(node: exp.Expr, relations: list[Columns]) -> list[Output]:
    """The columns of a star, which may be that of one relation; raises `Unmatched`."""
    star = node if isinstance(node, exp.Star) else node.this
    if any(value for name, value in star.args.items() if name != "except_"):
        raise Unmatched(QUERY, "a star is of an unknown form", node.sql("spark"))
    qualifier: tuple[str, ...] = ()
    if isinstance(node, exp.Column):
        qualifier = tuple(part.name.lower() for part in node.parts[:-1])
    found = [one.pairs for one in relations if qualifier in one.called]
    pairs = chain.from_iterable(found if qualifier else (one.shown for one in relations))
    outputs = [Output(name, term) for name, term in pairs]
    if not outputs:
        raise Unmatched(QUERY, "a star is that of no relation", node.sql("spark"))
    return _without(star.args.get("except_") or (), outputs)


def _without(left_out: Sequence[exp.Expr], outputs: list[Output]) -> list[Output]:
    """Without the columns of EXCEPT, each of which has to be one of the star."""
    names = [output.name.lower() for output in outputs]
    unwanted = set()
    for column in left_out:
        name = column.name.lower()
        is_plain = isinstance(column, exp.Column) and len(column.parts) == 1
        if not is_plain or names.count(name) != 1 or name in unwanted:
            text = "a star leaves out what is not one column"
            raise Unmatched(QUERY, text, column.sql("spark"))
        unwanted.add(name)
    kept = [output for output in outputs if output.name.lower() not in unwanted]
    if not kept:
        raise Unmatched(QUERY, "a star leaves out all columns")
    return kept
