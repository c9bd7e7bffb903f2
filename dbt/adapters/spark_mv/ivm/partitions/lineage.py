"""What the values of some columns of a query, its partition columns, depend on.

Rows of a query are computed by partition if nothing that puts rows together (groups, windows, set
operations) puts rows of different partitions together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    CHANGES,
    TABLE,
    Context,
    NotFast,
    all_of,
    column,
    derived,
    named_columns,
    not_fast,
    ungrouped,
)
from dbt.adapters.spark_mv.ivm.delta import grouping
from dbt.adapters.spark_mv.ivm.delta.rules import Delta
from dbt.adapters.spark_mv.ivm.rewrite import grouping_sets, nested_joins

KEY = "mv_key_"
_INNER, _CHANGED = "mv_inner", "mv_changed"
# Given a table of a query and the partition columns as expressions over it: what to read instead.
Restrict = Callable[[exp.Table, list[exp.Expr]], "exp.Expr | None"]


def key_rows(query: exp.Query, names: Sequence[str]) -> exp.Query:
    """The rows that a canonical query puts together, or more, and for each the values of its
    partition columns `names`, as mv_key_<n>.

    So a row of the query can change only if a row with its values does. Raises `NotFast` if rows
    of different partitions are put together.

    >>> from sqlglot import parse_one
    >>> query = "SELECT o.day, SUM(o.total) AS total FROM mv_table_0 AS o GROUP BY o.day, o.city"
    >>> print(key_rows(parse_one(query), ["day"]).sql("spark"))
    SELECT o.day AS mv_key_0 FROM mv_table_0 AS o
    """
    return _rows(query, [exp.column(name, quoted=True) for name in names])


def restricted(query: exp.Query, names: Sequence[str], restrict: Restrict) -> exp.Query:
    """A copy in which tables of which each row belongs to one partition are replaced by what
    `restrict` returns for them.

    >>> from sqlglot import parse_one
    >>> query = "SELECT o.day, b.id FROM mv_table_0 AS o JOIN mv_table_1 AS b ON b.order_id = o.id"
    >>> def of_one_day(table, values):
    ...     rows = exp.select("*").from_(table.copy()).where(values[0].eq("2024-01-01"))
    ...     return rows.subquery(table.alias)
    >>> print(restricted(parse_one(query), ["day"], of_one_day).sql("spark"))
    SELECT o.day, b.id
    FROM (SELECT * FROM mv_table_0 AS o WHERE o.day = '2024-01-01') AS o
    JOIN mv_table_1 AS b ON b.order_id = o.id
    """
    found = query.copy()
    _visit(found, [exp.column(name, quoted=True) for name in names], restrict)
    return found


def owned_tables(query: exp.Query, names: Sequence[str]) -> dict[str, list[list[exp.Expr]]]:
    """The tables of a canonical query of which, wherever it reads them, each row belongs to one
    partition: for each place the partition columns as expressions over the table's columns."""
    found: dict[str, list[list[exp.Expr]]] = {}

    def note(table: exp.Table, values: list[exp.Expr]) -> None:
        found.setdefault(table.name, []).append([without_relation(value) for value in values])

    restricted(query, names, note)
    read = [table.name for table in query.find_all(exp.Table)]
    return {name: places for name, places in found.items() if read.count(name) == len(places)}


def changed_keys(
    query: exp.Query, names: Sequence[str], context: Context, known: Collection[str] = ()
) -> list[exp.Query]:
    """Queries that together return the values mv_key_<n> of every partition that the change of
    the context's tables can have touched, or more. Raises `NotFast`.

    Of a table each row of which belongs to one partition, its changed rows say which, unless these
    are `known`. What changes of the others do is what the delta rules say.

    >>> from sqlglot import parse_one
    >>> query = "SELECT o.day, b.id FROM mv_table_0 AS o JOIN mv_table_1 AS b ON b.order_id = o.id"
    >>> context = Context(frozenset({"mv_table_0", "mv_table_1"}))
    >>> for keys in changed_keys(parse_one(query), ["day"], context):
    ...     print(keys.sql("spark"))
    SELECT `day` AS mv_key_0 FROM mv_changes_0
    SELECT `mv_changed`.`mv_key_0`
    FROM (SELECT o.day AS mv_key_0, `b`.`mv_weight` AS mv_weight
      FROM mv_table_0 AS o JOIN mv_changes_1 AS b ON b.order_id = o.id) AS mv_changed
    """
    owned = owned_tables(query, names)
    found: list[exp.Query] = []
    for name in sorted((context.changed & owned.keys()) - set(known)):
        for values in owned[name]:
            changes = exp.to_table(CHANGES + name.removeprefix(TABLE))
            found.append(exp.Select(expressions=_numbered(values)).from_(changes))
    others = Context(context.changed - owned.keys(), named=context.named)
    rows = Delta(others).query(key_rows(query, names))
    if rows is not None:
        keys = [column(_CHANGED, f"{KEY}{number}") for number in range(len(names))]
        found.append(exp.Select(expressions=keys).from_(derived(rows, _CHANGED)))
    return found


def without_relation(value: exp.Expr) -> exp.Expr:
    """A value over columns that do not say which relation they are of."""
    return cast(exp.Expr, value.transform(lambda n: _output(n) if isinstance(n, exp.Column) else n))


def _rows(query: exp.Query, wanted: list[exp.Expr]) -> exp.Query:
    """`wanted` are expressions over the columns that the query returns."""
    if isinstance(query, exp.SetOperation):
        sides = [_rows(side, inside) for side, inside in _sides(query, wanted)]
        return cast(exp.Query, all_of(sides))
    assert isinstance(query, exp.Select)
    values = behind(query, wanted)
    below = _rows_below(query, values)
    return ungrouped(query, values, KEY.rstrip("_")) if below is None else below


def _rows_below(query: exp.Select, values: list[exp.Expr]) -> exp.Query | None:
    """As `_rows`, from the rows of the one query that a selection reads; None if it cannot be."""
    start = query.args.get("from_")
    relation = start.this if start else None
    columns = list(dict.fromkeys(c for value in values for c in value.find_all(exp.Column)))
    if query.args.get("joins") or query.args.get("laterals") or not columns:
        return None
    if not isinstance(relation, exp.Subquery):
        return None
    try:
        inner = _rows(cast(exp.Query, relation.this), [_output(item) for item in columns])
    except NotFast:
        return None
    numbers = {item: column(_INNER, f"{KEY}{number}") for number, item in enumerate(columns)}
    outer = [
        cast(exp.Expr, value.copy().transform(lambda node: numbers.get(node, node)))
        for value in values
    ]
    return exp.Select(expressions=_numbered(outer)).from_(derived(inner, _INNER))


def _numbered(values: list[exp.Expr]) -> list[exp.Expr]:
    return [exp.alias_(value.copy(), f"{KEY}{number}") for number, value in enumerate(values)]


def _output(item: exp.Column) -> exp.Expr:
    return exp.column(item.name, quoted=True)


def _sides(
    query: exp.SetOperation, wanted: list[exp.Expr]
) -> Iterator[tuple[exp.Query, list[exp.Expr]]]:
    names = named_columns(query)
    for side in (query.this, query.expression):
        inner = cast(exp.Query, side.unnest())
        own = dict(zip(names, named_columns(inner), strict=True))
        yield inner, [_renamed(value, own) for value in wanted]


def _renamed(value: exp.Expr, names: dict[str, str]) -> exp.Expr:
    return value.copy().transform(
        lambda node: (
            exp.column(names[node.name], quoted=True) if isinstance(node, exp.Column) else node
        )
    )


def behind(query: exp.Select, wanted: list[exp.Expr]) -> list[exp.Expr]:
    """`wanted` over the relations of a selection; raises `NotFast` if rows that are put together
    may have different values."""
    outputs = {item.alias_or_name: item.unalias() for item in query.expressions}

    def output(node: exp.Expr) -> exp.Expr:
        return outputs[node.name].copy() if isinstance(node, exp.Column) else node

    values = [value.copy().transform(output) for value in wanted]
    for value, item in zip(values, wanted, strict=True):
        if aggregates.calls(value) or value.find(exp.Window, exp.Query):
            raise _not_by_partition("is computed by an aggregate, window or subquery", item)
    if grouping_sets.has_sets(query):
        raise _not_by_partition("is left out of some of the GROUPING SETS", wanted[0])
    windows = [window for item in query.expressions for window in item.find_all(exp.Window)]
    if windows:
        keys = grouping.window_keys(query, windows)
        for value, item in zip(values, wanted, strict=True):
            if not _covers(keys, value):
                raise _not_by_partition("is not in PARTITION BY of every window", item)
    return values


def _covers(keys: Sequence[exp.Expr], value: exp.Expr) -> bool:
    """Whether a value is one of the keys, or made of some."""
    if value in keys:
        return True
    if isinstance(value, exp.Column):
        return False
    return all(_covers(keys, child) for child in value.iter_expressions())


def _visit(query: exp.Query, wanted: list[exp.Expr], restrict: Restrict) -> None:
    if isinstance(query, exp.SetOperation):
        for side, inside in _sides(query, wanted):
            _visit(side, inside, restrict)
        return
    assert isinstance(query, exp.Select)
    try:
        values = behind(query, wanted)
    except NotFast:
        return
    owners = {found.table for value in values for found in value.find_all(exp.Column)}
    relation = next((r for r in _kept_relations(query) if {r.alias_or_name} == owners), None)
    if isinstance(relation, exp.Subquery):
        inner = [without_relation(value) for value in values]
        _visit(cast(exp.Query, relation.this), inner, restrict)
    elif isinstance(relation, exp.Table):
        instead = restrict(relation, values)
        if instead is not None:
            relation.replace(instead)


def _kept_relations(query: exp.Select) -> list[exp.Expr]:
    """The relations of which every row of the product has a row."""
    start = query.args.get("from_")
    joins = query.args.get("joins") or []
    if start is None:
        return []
    if not nested_joins.has_outer_join(query):
        return [start.this, *(join.this for join in joins)]
    # In canonical form an outer join stands alone.
    kept = {"LEFT": [start.this], "RIGHT": [joins[0].this]}
    return kept.get(joins[0].side.upper(), [])


def _not_by_partition(why: str, item: exp.Expr) -> NotFast:
    names = ", ".join(found.name for found in item.find_all(exp.Column)) or item.sql("spark")
    return not_fast("PARTITION_COLUMN", f"its partition column {names} {why}")
