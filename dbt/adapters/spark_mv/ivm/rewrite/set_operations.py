"""Queries that are groups in another form, as one GROUP BY, whose groups can be added to.

A selection from groups is groups again: its condition is one of rows if it is of keys, else HAVING.
Rows of DISTINCT and UNION are groups by all columns; those of INTERSECT and EXCEPT are too, of
which HAVING says on which sides they are.

>>> from sqlglot import parse_one
>>> query = "SELECT id FROM orders EXCEPT SELECT order_id FROM bills"
>>> print(as_groups(parse_one(query)).sql("spark"))
SELECT `mv_distinct_rows`.`id` AS `id`
FROM (SELECT `mv_side`.`id`, 1 AS `mv_on_left`, CAST(NULL AS INT) AS `mv_on_right`
  FROM (SELECT id FROM orders) AS mv_side
  UNION ALL
  SELECT `mv_side`.`order_id`, CAST(NULL AS INT) AS `mv_on_left`, 1 AS `mv_on_right`
  FROM (SELECT order_id FROM bills) AS mv_side) AS mv_distinct_rows
GROUP BY `mv_distinct_rows`.`id`
HAVING COUNT(`mv_distinct_rows`.`mv_on_left`) > 0
  AND COUNT(`mv_distinct_rows`.`mv_on_right`) = 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import cast

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.scopes import is_shaped
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    GENERATORS,
    all_of,
    column,
    conjuncts,
    derived,
    named_columns,
    not_fast,
    operand,
)
from dbt.adapters.spark_mv.ivm.rewrite import grouping_sets

_ROWS, _SIDE = "mv_distinct_rows", "mv_side"
_SIDES = ("mv_on_left", "mv_on_right")
_CUTTING = ("limit", "offset", "qualify")
_UNUSUAL = ("by_name", "side", "kind", "on", *_CUTTING)


def as_groups(query: exp.Query) -> exp.Select | None:
    """A parsed query as a GROUP BY; None if it has no such form, or is one already.

    >>> from sqlglot import parse_one
    >>> query = '''
    ...     SELECT g.city, g.n FROM (SELECT city, COUNT(*) AS n FROM orders GROUP BY city) AS g
    ...     WHERE g.n > 1 AND g.city <> 'Bern'
    ... '''
    >>> print(as_groups(parse_one(query)).sql("spark"))
    SELECT city AS `city`, COUNT(*) AS `n` FROM orders
    WHERE city <> 'Bern' GROUP BY city HAVING COUNT(*) > 1
    """
    found = query.unnest()
    if isinstance(found, exp.SetOperation):
        return _of_sides(found)
    if not isinstance(found, exp.Select) or any(found.args.get(key) for key in _CUTTING):
        return None
    if found.args.get("distinct"):
        return None if found.args["distinct"].args.get("on") else _by_all(_as_rows(found))
    return _selected(found)


def with_common_types(query: exp.Query, types_of: Callable[[exp.Query], list[str]]) -> exp.Query:
    """A copy in which each branch of a set operation returns the types of the whole: a query of
    some branches alone would return their own. Raises `NotFast`.

    >>> from sqlglot import parse_one
    >>> union = parse_one("SELECT id, 1 AS x FROM a UNION ALL SELECT id, price AS x FROM b")
    >>> types_of = lambda query: ["int", "int" if "1" in query.sql() else "double"]
    >>> print(with_common_types(union, types_of).sql("spark"))
    SELECT id, 1 AS x FROM a
    UNION ALL SELECT `mv_side`.`id` AS `id`, CAST(`mv_side`.`x` AS INT) AS `x`
    FROM (SELECT id, price AS x FROM b) AS mv_side
    """
    found = query.copy()
    for whole in list(found.find_all(exp.SetOperation)):
        around = whole.parent
        while isinstance(around, exp.Subquery) and not around.alias:
            around = around.parent
        if not isinstance(around, exp.SetOperation):
            try:
                _cast_branches(whole, types_of)
            except StatementFailed:
                text = "take it out of the subquery that names columns outside"
                raise not_fast("CORRELATED", text, whole) from None
    return found


def _cast_branches(whole: exp.SetOperation, types_of: Callable[[exp.Query], list[str]]) -> None:
    wanted = types_of(whole)
    if all(types_of(branch) == wanted for branch in _branches(whole)):
        return
    for key in ("this", "expression"):
        branch = cast(exp.Query, whole.args[key])
        inner = branch.unnest()
        if isinstance(inner, exp.SetOperation):
            _cast_branches(inner, types_of)
        types = types_of(cast(exp.Query, inner))
        if types != wanted:
            whole.set(key, _cast_to(branch, types, wanted))


def _branches(query: exp.Expr) -> Iterator[exp.Query]:
    """Those of a set operation that are none themselves."""
    inner = query.unnest()
    if isinstance(inner, exp.SetOperation):
        yield from _branches(inner.this)
        yield from _branches(inner.expression)
    else:
        yield cast(exp.Query, inner)


def _cast_to(branch: exp.Query, types: Sequence[str], wanted: Sequence[str]) -> exp.Select:
    """A selection from a branch, with those columns cast that have another type."""
    if not _are_named(branch) or len(wanted) != len(named_columns(branch)):
        text = "its branches return columns of several types; cast them, and name each"
        raise not_fast("SET_OPERATION", text, branch)
    outputs = [
        exp.alias_(_as_type(column(_SIDE, name), one, other), name, quoted=True)
        for name, one, other in zip(named_columns(branch), types, wanted, strict=True)
    ]
    return exp.Select(expressions=outputs).from_(derived(branch, _SIDE))


def _as_type(value: exp.Expr, given: str, wanted: str) -> exp.Expr:
    if given == wanted:
        return value
    with suppress(SqlglotError, ValueError):
        kind = exp.DataType.build(wanted, dialect="spark")
        if kind.sql("spark").lower().replace(" ", "") == wanted.lower().replace(" ", ""):
            return exp.cast(value, kind)
    text = f"a branch returns {given} and the whole {wanted}; cast it"
    raise not_fast("SET_OPERATION", text, value)


def _by_all(rows: exp.Query) -> exp.Select | None:
    """Each of these rows once; None if columns have the same name."""
    if not _are_named(rows):
        return None
    keys = [column(_ROWS, name) for name in named_columns(rows)]
    outputs = [exp.alias_(key.copy(), key.name, quoted=True) for key in keys]
    return exp.Select(expressions=outputs).from_(derived(rows, _ROWS)).group_by(*keys)


def _are_named(query: exp.Query) -> bool:
    """Whether each column is known by its name."""
    names = [name.lower() for name in named_columns(query)]
    return len(set(names)) == len(names)


def _as_rows(query: exp.Query) -> exp.Query:
    """The same rows, some maybe more often."""
    found = cast(exp.Query, query.unnest().copy())
    if any(found.args.get(key) for key in _UNUSUAL):
        return found
    if isinstance(found, exp.Union):
        found.set("distinct", False)
        for side in ("this", "expression"):
            found.set(side, _as_rows(cast(exp.Query, found.args[side])))
    elif isinstance(found, exp.Select) and found.args.get("distinct"):
        if not found.args["distinct"].args.get("on"):
            found.set("distinct", None)
    return found


def _of_sides(query: exp.SetOperation) -> exp.Select | None:
    if not query.args.get("distinct") or any(query.args.get(key) for key in _UNUSUAL):
        return None
    if isinstance(query, exp.Union):
        return _by_all(_as_rows(query))
    sides = [_as_rows(cast(exp.Query, side)) for side in (query.this, query.expression)]
    if not all(_are_named(side) for side in sides):
        return None
    rows = all_of([_marked(side, number) for number, side in enumerate(sides)])
    assert rows is not None
    found = _by_all(rows)
    if found is None:
        return None
    # The marks are neither returned nor keys.
    found.set("expressions", found.expressions[: -len(_SIDES)])
    found.set("group", exp.Group(expressions=found.args["group"].expressions[: -len(_SIDES)]))
    left, right = (exp.Count(this=column(_ROWS, name), big_int=True) for name in _SIDES)
    on_right = right > 0 if isinstance(query, exp.Intersect) else right.eq(0)
    return found.having(exp.and_(left > 0, on_right))


def _marked(side: exp.Query, number: int) -> exp.Query:
    """The rows of one side with a mark of it, and none of the other."""
    columns: list[exp.Expr] = [column(_SIDE, name) for name in named_columns(side)]
    for place, name in enumerate(_SIDES):
        mark = exp.Literal.number(1) if place == number else exp.cast(exp.null(), "int")
        columns.append(exp.alias_(mark, name, quoted=True))
    return exp.Select(expressions=columns).from_(derived(side, _SIDE))


def _selected(query: exp.Select) -> exp.Select | None:
    """A selection from groups alone as those groups."""
    start = query.args.get("from_")
    relation = start.this if start else None
    if query.args.get("joins") or is_shaped(query) or not isinstance(relation, exp.Subquery):
        return None
    if any(relation.args.get(key) for key in ("sample", "pivots")) or relation.alias_column_names:
        return None
    where = query.args.get("where")
    if any(_is_more(part) for part in (*query.expressions, where) if part is not None):
        return None
    body = cast(exp.Query, relation.this)
    groups = _plain_groups(body) or as_groups(body)
    return _of_groups(query, relation.alias_or_name, groups) if groups is not None else None


def _is_more(part: exp.Expr) -> bool:
    """Whether it does more than compute a value from those of one row."""
    return bool(aggregates.calls(part)) or part.find(exp.Window, exp.Query, *GENERATORS) is not None


def _plain_groups(query: exp.Query) -> exp.Select | None:
    """The query, if it is a GROUP BY with nothing above it."""
    found = query.unnest()
    if not isinstance(found, exp.Select) or not aggregates.is_grouped(found):
        return None
    above = ("distinct", "windows", *_CUTTING)
    if any(found.args.get(key) for key in above) or found.find(exp.Window, *GENERATORS):
        return None
    group = found.args.get("group")
    # An ordinal names a column by its place.
    if group is not None and any(not literal.is_string for literal in group.find_all(exp.Literal)):
        return None
    return found


def _of_groups(query: exp.Select, alias: str, groups: exp.Select) -> exp.Select:
    values = {item.alias_or_name: item.unalias() for item in groups.expressions}

    def behind(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.table == alias:
            value = values[node.name].copy()
            return operand(value) if node.parent is not None else value
        return node

    outputs = [
        exp.alias_(item.unalias().copy().transform(behind), item.alias_or_name, quoted=True)
        for item in query.expressions
    ]
    found = groups.copy()
    found.set("expressions", outputs)
    by_key = found.args.get("group") is not None and not grouping_sets.has_sets(found)
    for part in conjuncts(query.args.get("where")):
        condition = part.copy().transform(behind)
        if by_key and not aggregates.calls(condition):
            found.where(condition, copy=False)
        else:
            found.having(condition, copy=False)
    return found
