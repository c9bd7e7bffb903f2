"""Selections whose subqueries return no more than is read of them."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.terms import GENERATORS
from dbt.adapters.spark_mv.sql.reads import relations_of


def pruned(query: exp.Select) -> exp.Select:
    """A copy of a canonical selection, in which each subquery of FROM and JOIN returns what is
    read of it, and windows, by which a row depends on others.

    >>> from sqlglot import parse_one
    >>> query = "SELECT d.a FROM (SELECT r.a, SUM(r.b) AS s FROM r GROUP BY r.a) AS d"
    >>> print(pruned(parse_one(query)).sql("spark"))
    SELECT d.a FROM (SELECT r.a FROM r GROUP BY r.a) AS d
    """
    found = query.copy()
    for relation in relations_of(found):
        inner = relation.this if isinstance(relation, exp.Subquery) else None
        if not isinstance(inner, exp.Select):
            continue
        if not _makes_rows(inner):
            alias = relation.alias_or_name
            read = {c.name.lower() for c in found.find_all(exp.Column) if c.table == alias}
            kept = [item for item in inner.expressions if _is_needed(item, read)]
            inner.set("expressions", kept or inner.expressions[:1])
        relation.set("this", pruned(inner))
    return found


def _is_needed(item: exp.Expr, read: set[str]) -> bool:
    # Without its windows it would be no query by groups: a row would change for itself only.
    return item.alias_or_name.lower() in read or item.find(exp.Window) is not None


def _makes_rows(query: exp.Select) -> bool:
    """Whether what it returns decides how many rows it has, and so whether it has any."""
    if query.args.get("distinct") or any(item.find(*GENERATORS) for item in query.expressions):
        return True
    return aggregates.is_grouped(query) and query.args.get("group") is None
