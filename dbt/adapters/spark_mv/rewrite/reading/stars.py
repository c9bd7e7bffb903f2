"""Reads stars in SELECT."""

from __future__ import annotations

from itertools import chain

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Output
from dbt.adapters.spark_mv.rewrite.reading.scopes import Columns
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched


def starred(node: exp.Expr, relations: list[Columns]) -> list[Output]:
    """The columns of a star, which may be that of one relation; raises `Unmatched`."""
    star = node if isinstance(node, exp.Star) else node.this
    if any(value for value in star.args.values()):
        raise Unmatched(QUERY, "a star leaves columns out", node.sql("spark"))
    qualifier: tuple[str, ...] = ()
    if isinstance(node, exp.Column):
        qualifier = tuple(part.name.lower() for part in node.parts[:-1])
    found = [one.pairs for one in relations if qualifier in one.called]
    pairs = chain.from_iterable(found if qualifier else (one.shown for one in relations))
    outputs = [Output(name, term) for name, term in pairs]
    if not outputs:
        raise Unmatched(QUERY, "a star is that of no relation", node.sql("spark"))
    return outputs
