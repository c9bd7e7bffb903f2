"""Columns that joins share by USING, or as NATURAL ones, as Spark has them.

sqlglot takes the first value that is not NULL of all relations joined so far. Spark takes the value
of the side that is kept as a whole, and only for a full join the first of both.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.tree import both, conjuncts, not_fast

_MARK = "mv_using"


def mark(tree: exp.Expr) -> None:
    """Remember in a parsed tree which joins share columns, which qualification makes conditions."""
    for join in tree.find_all(exp.Join):
        join.meta[_MARK] = bool(join.args.get("using")) or join.method == "NATURAL"


def resolve(tree: exp.Expr) -> None:
    """Give the joins of a qualified tree that were marked, and what reads their columns, the values
    that Spark has; raises `NotFast`."""
    for select in tree.find_all(exp.Select):
        joins = [join for join in select.args.get("joins") or [] if join.meta.get(_MARK)]
        if joins:
            _resolve(select, joins)


def _resolve(select: exp.Select, joins: list[exp.Join]) -> None:
    shared: dict[str, exp.Expr] = {}
    for join in joins:
        if join.method:
            raise not_fast("NOT_PARSED", "a NATURAL join of no columns; write CROSS JOIN", join)
        conditions: list[exp.Expr] = []
        for pair in conjuncts(join.args.get("on")):
            joined, name = pair.args["expression"], pair.args["expression"].name
            left = shared.get(name, pair.this)
            if name not in shared and isinstance(left, exp.Coalesce):
                left = left.this
            conditions.append(exp.EQ(this=left.copy(), expression=joined.copy()))
            shared[name] = _value(join, left, joined)
        join.set("on", both(conditions))
    for call in list(select.find_all(exp.Coalesce)):
        columns = [call.this, *call.expressions]
        value = shared.get(columns[0].name)
        same = all(isinstance(c, exp.Column) and c.name == columns[0].name for c in columns)
        if value is not None and same and call.find_ancestor(exp.Select) is select:
            call.replace(value.copy())


def _value(join: exp.Join, left: exp.Expr, joined: exp.Expr) -> exp.Expr:
    if join.side == "FULL":
        return exp.Coalesce(this=left.copy(), expressions=[joined.copy()])
    return joined if join.side == "RIGHT" else left
