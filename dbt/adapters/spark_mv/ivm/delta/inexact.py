"""Queries in which values with inexact last digits stand below joins, and decide about nothing.

Sums of floating point numbers come out a little different each time, so a group below others cannot
be taken away by computing it again. If such values are only shown, and decide neither which rows
there are nor where they belong, the rows of the view can be replaced as a whole by a key that is
exact: the keys of changed rows do not depend on these values, and the rows of a key are computed
from the tables.

>>> from sqlglot import parse_one
>>> query = parse_one('''
...     SELECT c.id, p.spread FROM mv_table_0 AS c LEFT JOIN (
...         SELECT p.customer, STDDEV(p.amount) AS spread FROM mv_table_1 AS p GROUP BY p.customer
...     ) AS p ON p.customer = c.id
... ''')
>>> [key.sql() for key in groups_of(query, None).keys]
['c.id']
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates, rounding
from dbt.adapters.spark_mv.ivm.algebra.terms import GENERATORS, conjuncts, exists, same, ungrouped
from dbt.adapters.spark_mv.ivm.delta import grouping, row_order
from dbt.adapters.spark_mv.ivm.delta.grouping import KEYS, Groups, returned_keys
from dbt.adapters.spark_mv.sql.reads import relations_of

_DECIDING = ("where", "having", "qualify", "group", "windows", "laterals", "limit", "offset")
_Columns = frozenset[tuple[str, str]]


class _Decides(Exception):
    """An inexact value decides which rows there are."""


def groups_of(query: exp.Query, groups: Groups | None) -> Groups | None:
    """The groups by which the rows of a canonical query can be replaced although values below them
    are inexact; None if these decide about rows, or no key is returned.

    `groups` are those that the query has by itself.
    """
    if not isinstance(query, exp.Select) or query.args.get("distinct"):
        return None
    keys = _joined_outputs(query) if groups is None else groups.keys
    found = Groups(query, keys, groups.inner if groups else None, is_inexact=True)
    lowest = found
    while lowest.inner is not None:
        lowest = lowest.inner
    if not keys or not isinstance(lowest.query, exp.Select) or not returned_keys(found):
        return None
    rows = ungrouped(lowest.query, lowest.keys, "mv_key")
    # Such a value may be shown by rows of several keys, which have to agree.
    if row_order.out_of_order(rows) is not None:
        return None
    try:
        return None if any(_inexact_outputs(rows)) else found
    except _Decides:
        return None


def _inexact_outputs(query: exp.Query) -> list[bool]:
    """Which columns of a query are inexact; raises `_Decides`."""
    if isinstance(query, exp.SetOperation):
        sides = [_inexact_outputs(cast(exp.Query, s)) for s in (query.this, query.expression)]
        found = [any(pair) for pair in zip(*sides, strict=True)]
        if any(found) and not (isinstance(query, exp.Union) and not query.args.get("distinct")):
            raise _Decides
        return found
    assert isinstance(query, exp.Select)
    columns = frozenset(
        (relation.alias_or_name.lower(), name.lower())
        for relation in relations_of(query)
        if isinstance(relation, exp.Subquery)
        for name, inexact in zip(
            relation.this.named_selects,
            _inexact_outputs(cast(exp.Query, relation.this)),
            strict=True,
        )
        if inexact
    )
    if any(_is_inexact(part, columns) for part in _deciding(query)):
        raise _Decides
    outputs = [_is_inexact(item, columns) for item in query.expressions]
    if any(outputs) and query.args.get("distinct"):
        raise _Decides
    return outputs


def _deciding(query: exp.Select) -> Iterator[exp.Expr]:
    """The parts of a selection that decide which rows it has, and which of them belong together."""
    for name in _DECIDING:
        part = query.args.get(name)
        yield from part if isinstance(part, list) else [part] if part is not None else []
    for join in query.args.get("joins") or []:
        yield from (join.args[name] for name in ("on", "using") if join.args.get(name) is not None)
    for item in query.expressions:
        yield from item.find_all(*GENERATORS)
    for window in query.find_all(exp.Window):
        if window.find_ancestor(exp.Select) is query:
            parts = [*(window.args.get("partition_by") or []), window.args.get("order")]
            yield from (part for part in parts if part is not None)


def _is_inexact(part: exp.Expr, columns: _Columns) -> bool:
    if rounding.rounded(part) is not None:
        return True
    names = {name for _, name in columns}
    return any(
        (one.table.lower(), one.name.lower()) in columns
        or (not one.table and one.name.lower() in names)
        for one in part.find_all(exp.Column)
    )


def _joined_outputs(query: exp.Select) -> tuple[exp.Expr, ...]:
    """The columns that a selection returns and that it, or one below it, joins by."""
    found = [item.unalias() for item in query.expressions]
    return tuple(dict.fromkeys(c for c in found if isinstance(c, exp.Column) and _joins(query, c)))


def _joins(query: exp.Query, column: exp.Column) -> bool:
    if not isinstance(query, exp.Select):
        return False
    if any(column in pair for pair in _equated(query)):
        return True
    for relation in relations_of(query):
        if relation.alias_or_name == column.table and isinstance(relation, exp.Subquery):
            inner = _output(cast(exp.Query, relation.this), column.name)
            return isinstance(inner, exp.Column) and _joins(cast(exp.Query, relation.this), inner)
    return False


def _equated(query: exp.Select) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    for join in query.args.get("joins") or []:
        for part in conjuncts(join.args.get("on")):
            inner = part.unnest()
            if isinstance(inner, (exp.EQ, exp.NullSafeEQ)):
                yield inner.this, inner.expression


def _output(query: exp.Query, name: str) -> exp.Expr | None:
    return next(
        (item.unalias() for item in query.selects if item.alias_or_name.lower() == name.lower()),
        None,
    )


def restricted(groups: Groups, keys: exp.Table) -> exp.Query:
    """The query of groups with those of these keys only; so are the groups below that are joined
    by a key, or Spark would compute all of them first."""
    found = grouping.restricted(groups, groups.query, keys)
    names = {key: f"mv_key_{number}" for number, key in enumerate(groups.keys)}
    _narrow(cast(exp.Select, found), names, keys)
    return found


def _narrow(query: exp.Select, keys: dict[exp.Expr, str], by: exp.Table) -> set[exp.Expr]:
    """Let the relations of a selection, in place, return only rows that can belong to the keys.

    `keys` are its expressions that are restricted to a column of the relation `by`, with the name
    of that column. Returns those expressions by which a relation of it is narrowed: asking for the
    same again above it would cost Spark another join, and take away nothing.
    """
    known = _equal_keys(query, keys)
    narrowed: set[exp.Expr] = set()
    for relation in relations_of(query):
        inner = relation.this if isinstance(relation, exp.Subquery) else None
        if not isinstance(inner, exp.Select):
            continue
        outputs = {
            value: output
            for value in known
            if isinstance(value, exp.Column)
            and value.table == relation.alias_or_name
            and (output := _output(inner, value.name)) is not None
            and _keeps_groups_whole(inner, output)
        }
        own = {output: known[value] for value, output in outputs.items()}
        below = _narrow(inner, own, by) if own else set()
        for output, name in own.items():
            if output not in below:
                key = same(output.copy(), exp.column(name, table=KEYS, quoted=True))
                inner.where(exists(exp.alias_(by.copy(), KEYS, table=True), key), copy=False)
        narrowed.update(outputs)
    return narrowed


def _equal_keys(query: exp.Select, keys: dict[exp.Expr, str]) -> dict[exp.Expr, str]:
    """The keys by which relations of a selection can be narrowed: columns, and what they equal.

    A relation that an outer join may fill with NULLs is narrowed by what it is joined with only:
    without some of its rows others would be filled, and have the key NULL.
    """
    sides = {join.side.upper() for join in query.args.get("joins") or []}
    if sides - {"", "LEFT"}:
        return {}
    known = dict(keys)
    if "LEFT" in sides:
        kept = query.args["from_"].this.alias_or_name
        known = {k: n for k, n in keys.items() if isinstance(k, exp.Column) and k.table == kept}
    for pair in _equated(query):
        for value, equal in (pair, pair[::-1]):
            if value in known:
                known.setdefault(equal, known[value])
    return known


def _keeps_groups_whole(query: exp.Select, output: exp.Expr) -> bool:
    """Whether a condition on what a selection returns can stand below its groups and windows."""
    windows = [window for item in query.expressions for window in item.find_all(exp.Window)]
    if any(output not in (window.args.get("partition_by") or []) for window in windows):
        return False
    group = query.args.get("group")
    if group is None:
        return not aggregates.is_grouped(query) and output.find(*GENERATORS) is None
    return output in group.expressions
