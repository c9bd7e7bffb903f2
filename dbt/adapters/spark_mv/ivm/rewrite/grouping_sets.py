"""GROUPING SETS, ROLLUP and CUBE: which sets of keys they mean, and what stands in their place.

At the top, where groups are added to, the sets stay, and the number of the set that made a row
(GROUPING_ID) is one more key. Elsewhere they are UNION ALL of one GROUP BY for each set.

>>> from sqlglot import parse_one
>>> query = "SELECT day, GROUPING(day), SUM(total) FROM orders GROUP BY ROLLUP (day, city)"
>>> print(plain(parse_one(query)).sql("spark"))
SELECT day, CAST((SHIFTRIGHT(GROUPING_ID(day, city), 1)) & 1 AS TINYINT), SUM(total)
FROM orders GROUP BY GROUPING SETS ((day, city), (day), ())
"""

from __future__ import annotations

from itertools import combinations, product
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast, all_of, not_fast

_PARTS = ("grouping_sets", "rollup", "cube")
_NODES = (exp.GroupingSets, exp.Rollup, exp.Cube)
Keys = list[exp.Expr]


def has_sets(query: exp.Expr) -> bool:
    """Whether a selection is grouped by several sets of keys."""
    group = query.args.get("group") if isinstance(query, exp.Select) else None
    if group is None:
        return False
    return any(group.args.get(part) for part in _PARTS) or any(
        isinstance(item, _NODES) for item in group.expressions
    )


def write_out_all(tree: exp.Expr) -> None:
    """Make GROUP BY ALL one of what is returned and has no aggregates; unless that is a number,
    which would be the place of a column.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT city, SUM(total) AS total FROM orders GROUP BY ALL")
    >>> write_out_all(query)
    >>> print(query.sql("spark"))
    SELECT city, SUM(total) AS total FROM orders GROUP BY city
    """
    for query in tree.find_all(exp.Select):
        group = query.args.get("group")
        if group is None or not group.args.get("all") or group.expressions:
            continue
        keys = [item.unalias() for item in query.expressions if not aggregates.calls(item)]
        if not any(isinstance(key, exp.Literal) and not key.is_string for key in keys):
            written = exp.Group(expressions=[key.copy() for key in keys])
            query.set("group", written if keys else None)


def keys_of(query: exp.Select) -> tuple[exp.Expr, ...]:
    """The expressions that a selection is grouped by, in the order that GROUPING_ID has."""
    group = query.args.get("group")
    if group is None:
        return ()
    if group.args.get("all") or group.args.get("totals"):
        text = "GROUP BY ALL has a number among its keys; write them out"
        raise not_fast("GROUPING_SETS", text, group)
    if not has_sets(query):
        return tuple(group.expressions)
    named = [item for item in group.expressions if not isinstance(item, _NODES)]
    ordered = named if group.args.get("grouping_sets") else []
    sets = [key for keys in _sets(group) for key in keys]
    in_order = [key for item in group.expressions for keys in _meant(item) for key in keys]
    return tuple(dict.fromkeys(_resolved(query, key) for key in [*ordered, *in_order, *sets]))


def sets_of(query: exp.Select) -> list[Keys]:
    """The sets of keys, one for each GROUP BY that they stand for."""
    found = [[_resolved(query, key) for key in keys] for keys in _sets(query.args["group"])]
    return [list(dict.fromkeys(keys)) for keys in found]


def _resolved(query: exp.Select, key: exp.Expr) -> exp.Expr:
    """A key; that of an ordinal is the column of this number."""
    if isinstance(key, exp.Literal) and not key.is_string:
        return cast(exp.Expr, query.expressions[int(key.name) - 1].unalias())
    return key


def _sets(group: exp.Group) -> list[Keys]:
    if group.args.get("grouping_sets"):
        # The expressions before it only say which keys there are.
        return [keys for item in group.args["grouping_sets"] for keys in _meant(item)]
    factors = [_meant(item) for item in group.expressions]
    for part, node in (("rollup", exp.Rollup), ("cube", exp.Cube)):
        for item in group.args.get(part) or []:
            # WITH ROLLUP is of all keys.
            if not item.expressions:
                return _meant(node(expressions=[key.copy() for key in group.expressions]))
            factors.append(_meant(item))
    return [[key for keys in chosen for key in keys] for chosen in product(*factors)]


def _meant(item: exp.Expr) -> list[Keys]:
    """The sets that one element of GROUP BY stands for."""
    if isinstance(item, exp.GroupingSets):
        return [keys for inner in item.expressions for keys in _meant(inner)]
    if isinstance(item, (exp.Rollup, exp.Cube)):
        elements = [_meant(inner)[0] for inner in item.expressions]
        sizes = range(len(elements), -1, -1)
        if isinstance(item, exp.Rollup):
            chosen = [elements[:size] for size in sizes]
        else:
            chosen = [list(some) for size in sizes for some in combinations(elements, size)]
        return [[key for keys in some for key in keys] for some in chosen]
    if isinstance(item, exp.Tuple):
        return [list(item.expressions)]
    return [[item.unnest()]]


def number(keys: tuple[exp.Expr, ...]) -> exp.Expr:
    """The number of the set that made a row: for each key, the first highest, a bit that is 1 if
    the set lacks it."""
    return exp.GroupingId(expressions=[key.copy() for key in keys])


def lacks(keys: tuple[exp.Expr, ...], set_number: exp.Expr, key: exp.Expr) -> exp.Expr:
    """1 if the set of a number lacks a key, else 0."""
    place = exp.Literal.number(len(keys) - 1 - keys.index(key))
    shifted = exp.BitwiseRightShift(this=set_number.copy(), expression=place)
    return exp.BitwiseAnd(this=exp.paren(shifted), expression=exp.Literal.number(1))


def plain(query: exp.Select) -> exp.Select:
    """The selection with its sets written out, and GROUPING computed from GROUPING_ID."""
    if not has_sets(query):
        return query
    written = keys_of(query)
    sets = [exp.Tuple(expressions=[key.copy() for key in keys]) for keys in sets_of(query)]
    query.set("group", exp.Group(expressions=[exp.GroupingSets(expressions=sets)]))
    keys = keys_of(query)
    unused = next((key for key in written if key not in keys), None)
    if unused is not None:
        raise not_fast("GROUPING_SETS", "a key is in no set; return NULL instead", unused)

    def replaced(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Grouping):
            return exp.cast(lacks(keys, number(keys), node.expressions[0]), "tinyint")
        if not isinstance(node, exp.GroupingId):
            return node
        if keys == written:
            return number(keys)
        bits = [
            exp.Mul(
                this=exp.cast(lacks(keys, number(keys), key), "bigint"),
                expression=exp.Literal.number(2 ** (len(keys) - 1 - place)),
            )
            for place, key in enumerate(written)
        ]
        return exp.paren(sum(bits[1:], start=cast(exp.Expr, bits[0])))

    for part in ("expressions", "having"):
        value = query.args.get(part)
        if isinstance(value, list):
            query.set(part, [item.transform(replaced) for item in value])
        elif value is not None:
            query.set(part, value.transform(replaced))
    return query


def are_distinct(query: exp.Select) -> bool:
    """Whether no set is there twice."""
    found = [frozenset(keys) for keys in sets_of(query)]
    return len(found) == len(set(found))


def spread(query: exp.Query) -> exp.Query:
    """UNION ALL of one selection for each set; raises `NotFast` if one of them is empty.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT day, city, SUM(total) FROM orders GROUP BY day, ROLLUP (city)")
    >>> print(spread(query).sql("spark"))
    SELECT day, city, SUM(total) FROM orders GROUP BY day, city
    UNION ALL
    SELECT day, MIN(CASE WHEN FALSE THEN city END), SUM(total) FROM orders GROUP BY day
    """
    if not isinstance(query, exp.Select) or not has_sets(query):
        return query
    sets = sets_of(query)
    if not all(sets):
        raise empty_set(query)
    return cast(exp.Query, all_of([_of_one_set(query, keys) for keys in sets]))


def empty_set(query: exp.Select) -> NotFast:
    """The error for a total over all rows that would have to be recomputed."""
    text = (
        "a total of all rows is among the sets, and is added to only if the sets are at the top, "
        "of COUNT, SUM, AVG, MIN and MAX; leave it out, and put it in another view"
    )
    return not_fast("GROUPING_SETS", text, query.args["group"])


def _of_one_set(query: exp.Select, chosen: Keys) -> exp.Select:
    found, keys = query.copy(), keys_of(query)
    bits = "".join("0" if key in chosen else "1" for key in keys)

    def replaced(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.GroupingId):
            return exp.cast(exp.Literal.number(int(bits, 2)), "bigint")
        if aggregates.is_call(node) or node in chosen:
            return node.copy()
        if node in keys:
            # NULL of the key's type.
            return exp.Min(this=exp.Case().when(exp.false(), node.copy()))
        return node

    found.set("group", exp.Group(expressions=[key.copy() for key in chosen]))
    found.set("expressions", [item.transform(replaced) for item in found.expressions])
    having = found.args.get("having")
    if having is not None:
        found.set("having", having.transform(replaced))
    return found
