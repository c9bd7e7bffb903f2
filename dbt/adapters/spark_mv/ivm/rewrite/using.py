"""Columns that joins share by USING, or as NATURAL ones, as Spark has them.

sqlglot takes the first value that is not NULL of all relations joined so far. Spark takes the value
of the side that is kept as a whole, and only for a full join the first of both.

>>> from sqlglot import parse_one
>>> from sqlglot.optimizer.qualify import qualify
>>> schema = {"orders": {"day": "date"}, "days": {"day": "date"}}
>>> query = parse_one("SELECT day FROM orders RIGHT JOIN days USING (day)")
>>> mark(query)
>>> query = qualify(query, schema=schema, quote_identifiers=False)
>>> print(query.sql("spark"))
SELECT COALESCE(orders.day, days.day) AS day FROM orders AS orders
RIGHT JOIN days AS days ON orders.day = days.day
>>> resolve(query)
>>> print(query.sql("spark"))
SELECT days.day AS day FROM orders AS orders RIGHT JOIN days AS days ON orders.day = days.day
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.annotations import Annotation
from dbt.adapters.spark_mv.ivm.algebra.terms import both, conjuncts, not_fast

_HAS_SHARED_COLUMNS: Annotation[bool] = Annotation("mv_using")
# For each item of a selection the relation of its `a.*`, None if it is no star.
_STARS: Annotation[list[str | None]] = Annotation("mv_stars")


def mark(tree: exp.Expr) -> None:
    """Remember in a parsed tree which joins share columns, which qualification makes conditions."""
    for join in tree.find_all(exp.Join):
        is_so = bool(join.args.get("using")) or join.method == "NATURAL"
        _HAS_SHARED_COLUMNS.put(join, is_so)
    for select in tree.find_all(exp.Select):
        if not any(isinstance(item, exp.Star) for item in select.expressions):
            stars = [item.table.lower() if item.is_star else None for item in select.expressions]
            _STARS.put(select, stars)


def resolve(tree: exp.Expr) -> None:
    """Give the joins of a qualified tree that were marked, and what reads their columns, the values
    that Spark has; raises `NotFast`."""
    for select in tree.find_all(exp.Select):
        joins = [join for join in select.args.get("joins") or [] if _HAS_SHARED_COLUMNS.of(join)]
        if joins:
            _resolve(select, joins)


def _resolve(select: exp.Select, joins: list[exp.Join]) -> None:
    shared: dict[str, exp.Expr] = {}
    first: dict[str, list[str]] = {}
    for join in joins:
        if join.method:
            raise not_fast("NOT_PARSED", "a NATURAL join shares no columns; write CROSS JOIN", join)
        conditions: list[exp.Expr] = []
        owned: dict[str, list[str]] = {}
        for pair in conjuncts(join.args.get("on")):
            joined, name = pair.args["expression"], pair.args["expression"].name
            left = shared.get(name, pair.this)
            if name not in shared and isinstance(left, exp.Coalesce):
                left = left.this
            conditions.append(exp.EQ(this=left.copy(), expression=joined.copy()))
            shared[name] = _value(join, left, joined)
            for column in (*left.find_all(exp.Column), joined):
                owned.setdefault(column.table, []).append(name)
        first |= {relation: [*names, *first.get(relation, [])] for relation, names in owned.items()}
        join.set("on", both(conditions))
    for call in list(select.find_all(exp.Coalesce)):
        columns = [call.this, *call.expressions]
        value = shared.get(columns[0].name)
        same = all(isinstance(c, exp.Column) and c.name == columns[0].name for c in columns)
        if value is not None and same and call.find_ancestor(exp.Select) is select:
            call.replace(value.copy())
    _order_stars(select, first)


def _order_stars(select: exp.Select, first: Mapping[str, Sequence[str]]) -> None:
    """Have the columns that are shared first in what `a.*` was made of, as Spark has them."""
    items = list(select.expressions)
    found: list[exp.Expr] = []
    for star in _STARS.of(select) or []:
        if star is None:
            found += items[:1]
            del items[:1]
            continue
        own: dict[str, exp.Expr] = {}
        while items and _is_of(items[0], star) and items[0].alias_or_name not in own:
            item = items.pop(0)
            own[item.alias_or_name] = item
        names = [name for name in dict.fromkeys(first.get(star, [])) if name in own]
        found += [own[name] for name in dict.fromkeys((*names, *own))]
    if found and not items:
        select.set("expressions", found)


def _is_of(item: exp.Expr, relation: str) -> bool:
    column = item.unalias()
    return (
        isinstance(column, exp.Column)
        and column.table == relation
        and column.name == item.alias_or_name
    )


def _value(join: exp.Join, left: exp.Expr, joined: exp.Expr) -> exp.Expr:
    if join.side == "FULL":
        return exp.Coalesce(this=left.copy(), expressions=[joined.copy()])
    return joined if join.side == "RIGHT" else left
