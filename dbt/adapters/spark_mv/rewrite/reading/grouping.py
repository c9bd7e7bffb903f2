"""Reads GROUP BY, and what HAVING asks of groups and of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, Output
from dbt.adapters.spark_mv.rewrite.conditions.constants import family_of
from dbt.adapters.spark_mv.rewrite.reading.expressions import read
from dbt.adapters.spark_mv.rewrite.reading.scopes import Columns, column_in, known_column
from dbt.adapters.spark_mv.rewrite.terms import Term, made, replaced
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched

_OF_GROUP = frozenset({"expressions", "all", "rollup", "cube", "grouping_sets"})
_OF_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)


def keys_of(
    select: exp.Select, items: Sequence[Output], relations: list[Columns]
) -> tuple[tuple[Term, ...] | None, tuple[Term, ...]]:
    """The keys of GROUP BY, None without one, and its parts if these are sets of keys.

    Raises `Unmatched` if it cannot be read."""
    group = select.args.get("group")
    if group is None:
        return None, ()
    if any(value for name, value in group.args.items() if name not in _OF_GROUP):
        raise Unmatched(QUERY, "it has a GROUP BY of another kind", group.sql("spark"))
    if group.args.get("all"):
        if any(_is_mixed(item.term) for item in items):
            raise Unmatched(QUERY, "it groups by parts of its columns", group.sql("spark"))
        return _distinct(item.term for item in items if not item.term.has_calls), ()
    parts = tuple(_part(node, items, relations) for node in _written(group))
    if group.args.get("grouping_sets"):
        listed = {_part(node, items, relations).key for node in group.expressions}
        if listed != {key.key for part in parts for key in _keys_in(part)}:
            raise Unmatched(QUERY, "a key of it is in none of its sets", group.sql("spark"))
    if not any(isinstance(part.node, _OF_SETS) for part in parts):
        return _distinct(parts), ()
    return _distinct(key for part in parts for key in _keys_in(part)), parts


def _written(group: exp.Group) -> list[exp.Expr]:
    """The parts of GROUP BY; `a, b WITH ROLLUP` is `ROLLUP (a, b)`, and `a, b GROUPING SETS (..)`
    is this without the list."""
    if group.args.get("grouping_sets"):
        return list(group.args["grouping_sets"])
    for name, kind in (("rollup", exp.Rollup), ("cube", exp.Cube)):
        if group.args.get(name):
            return [kind(expressions=[one.copy() for one in group.expressions])]
    return list(group.expressions)


def with_ids(block: Block) -> Block:
    """The block with the keys of its sets as arguments of GROUPING_ID, which are so without one."""
    keys = block.keys or ()

    def named(term: Term) -> Term | None:
        if not isinstance(term.node, exp.GroupingId) or term.args:
            return None
        return made(exp.GroupingId(), keys, (("expressions", True),) * len(keys))

    return block.changed(lambda term: replaced(term, named)) if block.sets else block


def _keys_in(part: Term) -> Iterator[Term]:
    if not isinstance(part.node, _OF_SETS):
        yield part
        return
    for arg in part.args:
        yield from _keys_in(arg)


def _part(node: exp.Expr, items: Sequence[Output], relations: list[Columns]) -> Term:
    """A key, or a set of keys."""
    if not isinstance(node, _OF_SETS):
        return _key(node, items, relations)
    keys = [_part(one, items, relations) for one in node.expressions]
    return made(type(node)(), keys, (("expressions", True),) * len(keys))


def _is_mixed(term: Term) -> bool:
    """Whether columns are in it both in calls and outside of them."""
    if term.call or not term.has_calls:
        return False
    return any(arg.columns and not arg.has_calls or _is_mixed(arg) for arg in term.args)


def _key(node: exp.Expr, items: Sequence[Output], relations: list[Columns]) -> Term:
    node = node.unnest()
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        number = int(node.name)
        if not 0 < number <= len(items):
            raise Unmatched(QUERY, "GROUP BY has a number that is none of a column", node.name)
        return items[number - 1].term

    def columns(column: exp.Column) -> Term:
        found = column_in(relations, column)
        if found is None and column is node and len(column.parts) == 1:
            named = [one.term for one in items if one.name.lower() == column.name.lower()]
            found = named[0] if len(named) == 1 else None
        return found if found is not None else known_column(relations, column)

    return read(node, columns)


def _distinct(terms: Iterable[Term]) -> tuple[Term, ...]:
    return tuple({term.key: term for term in terms}.values())


def with_having(block: Block, having: tuple[Term, ...]) -> Block:
    """The block with conditions on groups. What holds for all rows of a group is asked of rows."""
    if block.keys is None and having:
        block = replace(block, keys=())
    may_move = block.keys and not block.sets
    of_rows = [term for term in having if may_move and _is_of_rows(term)]
    return replace(
        block,
        conditions=(*block.conditions, *of_rows),
        having=(*block.having, *(term for term in having if term not in of_rows)),
    )


def _is_of_rows(term: Term) -> bool:
    # Values of floating point may be equal in a group, and not the same.
    return not term.has_calls and all(family_of(column.type) for column in term.columns)
