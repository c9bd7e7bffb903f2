"""Whether a value of the clock is only shown: then it says when the rows were computed. Pure.

>>> from sqlglot import parse_one
>>> tree = parse_one("SELECT * FROM (SELECT id, mv_clock_now AS loaded_at FROM t) AS s")
>>> [is_only_shown(value.clock, tree) for value in terms_of(tree) if isinstance(value, Value)]
[True]
>>> tree = parse_one("SELECT id FROM (SELECT id, mv_clock_now AS at FROM t) AS s WHERE at > ts")
>>> [is_only_shown(value.clock, tree) for value in terms_of(tree) if isinstance(value, Value)]
[False]
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.spark_mv.expiry.terms import Value, block_of, terms_of

__all__ = ["Value", "is_only_shown", "terms_of"]


def is_only_shown(clock: exp.Expr, tree: exp.Expr) -> bool:
    """Whether a value of the clock is a column of the rows that a query returns, and no part of it
    does anything with that column but return it."""
    item = clock.parent if isinstance(clock.parent, exp.Alias) else clock
    block = item.parent
    if not isinstance(block, exp.Select) or item.arg_key != "expressions":
        return False
    return _is_passed_on(block, block.expressions.index(item), item.alias, tree)


def _is_passed_on(block: exp.Select, place: int, name: str, tree: exp.Expr) -> bool:
    query: exp.Expr = block
    while isinstance(query.parent, exp.Union):
        query = query.parent
    if query is tree:
        return True
    around = query.parent
    if not isinstance(around, (exp.Subquery, exp.CTE)):
        return False
    names = [column.name for column in (around.args["alias"].columns if around.alias else [])]
    if names:
        if place >= len(names) or any(item.is_star for item in block.expressions[:place]):
            return False
        name = names[place]
    if not name:
        return False
    if isinstance(around, exp.Subquery):
        outer = block_of(around)
        is_relation = isinstance(around.parent, (exp.From, exp.Join))
        return is_relation and outer is not None and _only_returns(outer, name, tree)
    readers = [table for table in tree.find_all(exp.Table) if table.name == around.alias]
    blocks = [block_of(table) for table in readers]
    return all(found is not None and _only_returns(found, name, tree) for found in blocks)


def _only_returns(block: exp.Select, name: str, tree: exp.Expr) -> bool:
    """Whether a selection that reads a column of this name does no more than return it."""
    for join in block.args.get("joins") or []:
        using = [part.name.lower() for part in join.args.get("using") or []]
        if name.lower() in using or join.method.upper() == "NATURAL":
            return False
    uses = list(_uses(block, name))
    plain = [use for use in uses if _item_of(use, block) is not None]
    if len(plain) < len(uses):
        return False
    stars = [item for item in block.expressions if item.is_star]
    shown = [(_item_of(use, block), use) for use in plain]
    places = [
        (block.expressions.index(item), item.alias_or_name) for item, _ in shown if item is not None
    ]
    places += [(block.expressions.index(star), name) for star in stars]
    return all(_is_passed_on(block, place, output, tree) for place, output in places)


def _uses(block: exp.Select, name: str) -> Iterator[exp.Column]:
    """Columns of this name that belong to a selection, or to a subquery of its expressions."""
    for column in block.find_all(exp.Column):
        if column.name.lower() == name.lower():
            yield column


def _item_of(column: exp.Column, block: exp.Select) -> exp.Expr | None:
    """The item of a selection that is a column and nothing else, but for its name."""
    item = column.parent if isinstance(column.parent, exp.Alias) else column
    return item if item.parent is block and item.arg_key == "expressions" else None
