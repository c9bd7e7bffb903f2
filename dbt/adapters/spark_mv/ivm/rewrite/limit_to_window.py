"""Subqueries with LIMIT or windows, LATERAL or as values, as rows of a relation that has them for
all keys.

What such a subquery does with the rows of one key, windows do with the rows of all: they are put
in parts by the key, and numbered. The subquery is left with conditions that a join can have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.scopes import outside
from dbt.adapters.spark_mv.ivm.algebra.terms import both, column, derived, not_fast
from dbt.adapters.spark_mv.ivm.rewrite import key_types
from dbt.adapters.spark_mv.ivm.rewrite.output_names import is_value
from dbt.adapters.spark_mv.ivm.rewrite.scalar_subqueries import Pair, Scalars, equalities

_NUMBERED, _NUMBER = "mv_numbered", "mv_number"
# Spark 4.1 takes such a LIMIT from the rows of all keys, in any order, before the condition.
_OF_SPARK = "for its LIMIT, compare with a plain column outside: compute it in a subquery of FROM"
# What no row makes of them is not what a row of NULL does.
_SETS = (exp.In, exp.Any, exp.All)
_OTHERS = ("group", "having", "distinct", "laterals", "windows")


def numbered(query: exp.Query, types_of: Callable[[exp.Query], list[str]]) -> exp.Query:
    """A copy of a parsed query without LIMIT and windows in correlated LATERAL subqueries, and
    without LIMIT 1 in those that are values.

    `types_of` gives the Spark types of a query's columns. Raises `NotFast` if a subquery is
    correlated by anything but equal keys of one type.

    >>> from sqlglot import parse_one
    >>> query = parse_one('''
    ...     SELECT c.name, x.id FROM customers AS c, LATERAL (
    ...       SELECT o.id FROM orders AS o WHERE o.customer = c.id ORDER BY o.total DESC LIMIT 3
    ...     ) AS x
    ... ''', dialect="spark")
    >>> print(numbered(query, types_of=lambda keys: ["int", "int"]).sql("spark"))
    SELECT c.name, x.id FROM customers AS c CROSS JOIN LATERAL (SELECT `mv_numbered`.`id` AS `id`
      FROM (SELECT o.id, o.customer AS mv_key_0,
        ROW_NUMBER() OVER (PARTITION BY o.customer ORDER BY o.total DESC) AS mv_number
        FROM orders AS o) AS mv_numbered
      WHERE c.id = `mv_numbered`.`mv_key_0` AND `mv_numbered`.`mv_number` <= 3) AS x
    """
    found = query.copy()
    for subquery in list(found.find_all(exp.Subquery)):
        body, outer = subquery.this, subquery.find_ancestor(exp.Select)
        if not isinstance(body, exp.Select) or outer is None or not _is_numbered(body):
            continue
        parent = subquery.parent
        if isinstance(parent, exp.Lateral):
            before = _before(outer, parent)
            subquery.set("this", _of_all_keys(body, outer, before, types_of))
        elif is_value(subquery) and not isinstance(parent, _SETS) and _is_of_one(body):
            subquery.set("this", _one(_of_all_keys(body, outer, _before(outer), types_of)))
    return found


def _before(outer: exp.Select, lateral: exp.Lateral | None = None) -> exp.Select:
    """A SELECT without columns from the relations before a LATERAL one, or from all."""
    joins = outer.args.get("joins") or []
    if lateral is not None:
        joins = joins[: [join.this for join in joins].index(lateral)]
    start = outer.args.get("from_")
    return exp.Select(from_=start and start.copy(), joins=[join.copy() for join in joins])


def _is_of_one(body: exp.Select) -> bool:
    limit = body.args.get("limit")
    return limit is not None and limit.expression == exp.Literal.number(1)


def _one(found: exp.Select) -> exp.Select:
    """The value of the one row that there is, if there is one."""
    (value,) = found.expressions
    found.set("expressions", [exp.alias_(exp.Max(this=value.unalias()), value.alias, quoted=True)])
    return found


def _is_numbered(body: exp.Select) -> bool:
    """Whether it selects rows by their place, from rows of equal keys."""
    shaped = any(body.args.get(key) for key in _OTHERS)
    shaped = shaped or any(aggregates.calls(item) for item in body.expressions)
    limits = [body.args[key].expression for key in ("limit", "offset") if body.args.get(key)]
    by_place = bool(limits) or any(item.find(exp.Window) for item in body.expressions)
    known = all(isinstance(limit, exp.Literal) for limit in limits)
    return by_place and known and not shaped and bool(outside(body))


def _of_all_keys(
    body: exp.Select,
    outer: exp.Select,
    before: exp.Select,
    types_of: Callable[[exp.Query], list[str]],
) -> exp.Select:
    names = list(body.named_selects)
    inner, pairs = Scalars(outer, _as_it_is).split_groups(body)
    if outside(inner) or not pairs:
        text = (
            "a LATERAL subquery has a form that is not followed; "
            "name columns outside only in equalities with its own"
        )
        raise not_fast("CORRELATED", text, body)
    is_limited = bool(inner.args.get("limit") or inner.args.get("offset"))
    if is_limited and not all(isinstance(value.unnest(), exp.Column) for _, value, _ in pairs):
        raise not_fast("CORRELATED", _OF_SPARK, body)
    _check_types(inner, pairs, before, types_of, is_cast_allowed=not is_limited)
    keys = [own for own, _, _ in pairs]
    for window in [found for item in inner.expressions for found in item.find_all(exp.Window)]:
        own = window.args.get("partition_by") or []
        window.set("partition_by", [*(key.copy() for key in keys), *own])
    conditions: list[exp.Expr] = [*equalities(_NUMBERED, pairs), *_numbers(inner, keys)]
    shown = [exp.alias_(column(_NUMBERED, name), name, quoted=True) for name in names]
    found = exp.Select(expressions=shown).from_(derived(inner, _NUMBERED))
    return found.where(both(conditions))


def _check_types(
    inner: exp.Select,
    pairs: Sequence[Pair],
    before: exp.Select,
    types_of: Callable[[exp.Query], list[str]],
    is_cast_allowed: bool,
) -> None:
    if outside(before):
        text = "take it out of the subquery that names columns outside"
        raise not_fast("CORRELATED", text, inner)
    before.append("joins", exp.Join(this=derived(inner.copy(), _NUMBERED), kind="CROSS"))
    sides = [
        (equal.this, equal.expression, kind(this=other.copy(), expression=own.copy()))
        for equal, (own, other, kind) in zip(equalities(_NUMBERED, pairs), pairs, strict=True)
    ]
    key_types.check(sides, before, types_of, is_cast_allowed)


def _as_it_is(query: exp.Query) -> exp.Query:
    return query


def _numbers(inner: exp.Select, keys: list[exp.Expr]) -> list[exp.Expr]:
    """What LIMIT and OFFSET ask of the number that each row now gets."""
    limit, offset = inner.args.get("limit"), inner.args.get("offset")
    order = inner.args.get("order")
    for part in ("limit", "offset", "order"):
        inner.set(part, None)
    if limit is None and offset is None:
        return []
    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[key.copy() for key in keys],
        order=_over_rows(inner, order),
    )
    inner.append("expressions", exp.alias_(window, _NUMBER))
    number, first = column(_NUMBERED, _NUMBER), offset.expression if offset else None
    last = limit.expression if limit else None
    found: list[exp.Expr] = []
    if first is not None:
        found.append(number > first.copy())
    if last is not None:
        found.append(number.copy() <= (last.copy() if first is None else first + last))
    return found


def _over_rows(inner: exp.Select, order: exp.Expr | None) -> exp.Expr | None:
    """ORDER BY with the expressions for which names of returned columns stand."""
    if order is None:
        return None
    named = {
        item.alias: item.unalias() for item in inner.expressions if isinstance(item, exp.Alias)
    }

    def replaced(node: exp.Expr) -> exp.Expr:
        known = isinstance(node, exp.Column) and not node.table and named.get(node.name)
        return known.copy() if known else node

    return order.copy().transform(replaced)
