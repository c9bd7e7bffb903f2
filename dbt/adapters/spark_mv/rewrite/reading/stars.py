"""Reads stars in SELECT."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Output
from dbt.adapters.spark_mv.rewrite.reading.scopes import Columns
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched


def starred(node: exp.Expr, relations: list[Columns]) -> list[Output]:
    """The columns of a star, which may be that of one relation; raises `Unmatched`."""
    star = node if isinstance(node, exp.Star) else node.this
    if any(value for value in star.args.values()):
        raise Unmatched(QUERY, "a star leaves columns out", node.sql("spark"))
    if any(one.merged for one in relations):
        return _using(node, relations)
    qualifier: tuple[str, ...] = ()
    if isinstance(node, exp.Column):
        qualifier = tuple(part.name.lower() for part in node.parts[:-1])
    found = [one for one in relations if not qualifier or qualifier in one.called]
    pairs = [pair for one in found for pair in zip(one.names, one.terms, strict=True)]
    if not pairs:
        raise Unmatched(QUERY, "a star is that of no relation", node.sql("spark"))
    return [Output(name, term) for name, term in pairs]


def _using(node: exp.Expr, relations: list[Columns]) -> list[Output]:
    """The columns of two relations that USING joins: what they have in common comes first."""
    if len(relations) != 2 or isinstance(node, exp.Column):
        raise Unmatched(QUERY, "a star is that of several joins with USING", node.sql("spark"))
    left, right = (list(zip(one.names, one.terms, strict=True)) for one in relations)
    common = relations[1].merged
    by_name = {name.lower(): (name, term) for name, term in left}
    if len(by_name) != len(left):
        raise Unmatched(QUERY, "a star has two columns of one name", node.sql("spark"))
    shown = [by_name[name] for name in relations[1].using]
    shown += [pair for pair in left if pair[0].lower() not in common]
    shown += [pair for pair in right if pair[0].lower() not in common]
    return [Output(name, term) for name, term in shown]
