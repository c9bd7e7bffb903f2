"""Queries in which a change touches whole groups of rows: aggregation, DISTINCT, windows, UNION.

Such a query computes each group from the rows with the group's key and from no others. So what a
change does is known once the keys of changed rows are: the groups of these keys, of before and of
now. That is right for every function of a group, and for groups that come, go and come back.

>>> from sqlglot import parse_one
>>> from dbt.adapters.spark_mv.ivm.algebra.terms import Context
>>> from dbt.adapters.spark_mv.ivm.delta.rules import Delta
>>> query = parse_one("SELECT o.day, MAX(o.total) AS most FROM mv_table_0 AS o GROUP BY o.day")
>>> context = Context(frozenset({"mv_table_0"}))
>>> print(delta(groups_of(query), Delta(context)).sql("spark"))
SELECT `mv_groups`.`day` AS `day`, `mv_groups`.`most` AS `most`, -1 AS mv_weight
FROM (SELECT o.day, MAX(o.total) AS most FROM mv_old_0 AS o WHERE EXISTS(SELECT 1
  FROM mv_keys_0 AS mv_keys WHERE o.day IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`)
  GROUP BY o.day) AS mv_groups
UNION ALL
SELECT `mv_groups`.`day` AS `day`, `mv_groups`.`most` AS `most`, 1 AS mv_weight
FROM (SELECT o.day, MAX(o.total) AS most FROM mv_table_0 AS o WHERE EXISTS(SELECT 1
  FROM mv_keys_0 AS mv_keys WHERE o.day IS NOT DISTINCT FROM `mv_keys`.`mv_key_0`)
  GROUP BY o.day) AS mv_groups
>>> print(context.named["mv_keys_0"].sql("spark"))
SELECT `mv_changed`.`mv_key_0`
FROM (SELECT o.day AS mv_key_0, `o`.`mv_weight` AS mv_weight
  FROM mv_changes_0 AS o) AS mv_changed
GROUP BY `mv_changed`.`mv_key_0`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates, rounding
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    WEIGHT,
    NotFast,
    Rule,
    all_of,
    both,
    column,
    derived,
    exists,
    named_columns,
    not_fast,
    same,
    ungrouped,
)
from dbt.adapters.spark_mv.ivm.algebra.written import as_written
from dbt.adapters.spark_mv.ivm.delta import row_order
from dbt.adapters.spark_mv.ivm.delta.pruning import pruned
from dbt.adapters.spark_mv.ivm.rewrite import grouping_sets

KEYS = "mv_keys"


@dataclass(frozen=True)
class Groups:
    """A query by groups: `keys` are expressions over its relations, or, for a set operation,
    names of its columns.

    If it only selects from the groups of another query, which return their keys, `inner` are those.
    `is_inexact` says that values below have inexact last digits, and decide about nothing.
    """

    query: exp.Query
    keys: tuple[exp.Expr, ...]
    inner: Groups | None = None
    is_inexact: bool = False


def groups_of(query: exp.Query) -> Groups | None:
    """The groups of a canonical query, None if it computes each row on its own.

    Raises `NotFast` if all of its rows are one group.
    """
    if isinstance(query, exp.SetOperation):
        return None if _is_union_all(query) else Groups(query, _columns(query))
    assert isinstance(query, exp.Select)
    if query.args.get("distinct"):
        return Groups(query, tuple(item.unalias() for item in query.expressions))
    if aggregates.is_grouped(query):
        return Groups(query, _group_keys(query))
    windows = [window for item in query.expressions for window in item.find_all(exp.Window)]
    return Groups(query, window_keys(query, windows)) if windows else _selected_groups(query)


def _selected_groups(query: exp.Select) -> Groups | None:
    """The groups of a query that a selection reads alone, if each is known by what it returns."""
    start = query.args.get("from_")
    relation = start.this if start else None
    alone = not (query.args.get("joins") or query.args.get("laterals") or query.find(exp.Exists))
    if not alone or not isinstance(relation, exp.Subquery):
        return None
    inner = groups_of(cast(exp.Query, relation.this))
    stored = returned_keys(inner) if inner is not None else None
    if inner is None or not stored:
        return None
    return Groups(query, tuple(column(relation.alias, name) for name in stored), inner)


def returned_keys(groups: Groups) -> list[str] | None:
    """The columns in which the query of the groups returns their keys; None if it does not."""
    if isinstance(groups.query, exp.SetOperation):
        return named_columns(groups.query)
    returned = {item.unalias(): item.alias_or_name for item in groups.query.expressions}
    return [returned[key] for key in groups.keys] if set(groups.keys) <= set(returned) else None


def _is_union_all(query: exp.SetOperation) -> bool:
    return isinstance(query, exp.Union) and not query.args.get("distinct")


def _columns(query: exp.Query) -> tuple[exp.Expr, ...]:
    return tuple(exp.column(name, quoted=True) for name in named_columns(query))


def _group_keys(query: exp.Select) -> tuple[exp.Expr, ...]:
    group = query.args.get("group")
    if group is None:
        raise one_group(query)
    return grouping_sets.keys_of(query)


def one_group(query: exp.Expr) -> NotFast:
    """The error for one group of all rows, with nothing beside it."""
    text = (
        "all rows are one group, so every change recomputes all of it; add a GROUP BY, "
        "or put it in a view of its own if it is COUNT, SUM, AVG, MIN and MAX"
    )
    return not_fast("ONE_GROUP", text, query)


def window_keys(query: exp.Select, windows: list[exp.Window]) -> tuple[exp.Expr, ...]:
    """The keys that windows of a selection share; raises `NotFast` if there are none."""
    named = {item.name.lower(): item for item in query.args.get("windows") or []}
    lists = []
    for window in windows:
        found = named.get(window.alias.lower(), window) if window.args.get("alias") else window
        lists.append(list(found.args.get("partition_by") or []))
    keys = [key for key in lists[0] if all(key in other for other in lists)]
    if not keys:
        text = (
            "without a column of PARTITION BY in all windows, each change affects all rows; "
            "add one, or put the windows in a view over the materialized view"
        )
        raise not_fast("WINDOW", text, windows[0])
    return tuple(keys)


def changed_keys(groups: Groups, rule: Rule) -> exp.Table | None:
    """A relation of the keys of changed rows, columns mv_key_<n>; None if there are none."""
    if groups.inner is not None:
        return changed_keys(groups.inner, rule)
    changes = _rows_of_groups(groups, rule)
    if changes is None:
        return None
    names = [f"mv_key_{number}" for number in range(len(groups.keys))]
    found = exp.Select(expressions=[column("mv_changed", name) for name in names])
    found = found.from_(derived(changes, "mv_changed"))
    found = found.group_by(*(column("mv_changed", name) for name in names))
    return rule.context.define("keys", found)


def _rows_of_groups(groups: Groups, rule: Rule) -> exp.Query | None:
    query = groups.query
    if isinstance(query, exp.SetOperation):
        sides = [rule.query(cast(exp.Query, side)) for side in (query.this, query.expression)]
        names = [f"mv_key_{number}" for number in range(len(groups.keys))]
        return all_of([_renamed(side, names) for side in sides if side is not None])
    assert isinstance(query, exp.Select)
    rows = ungrouped(query, groups.keys, "mv_key")
    return rule.query(pruned(rows) if rule.context.only_keys else rows)


def _renamed(query: exp.Query, names: list[str]) -> exp.Query:
    given = named_columns(query)
    outputs = [
        exp.alias_(column("mv_side", old), new) for old, new in zip(given, names, strict=False)
    ]
    return exp.Select(expressions=outputs).from_(derived(query, "mv_side"))


def restricted(groups: Groups, query: exp.Query, keys: exp.Table) -> exp.Query:
    """`query`, a version of the groups' query, with the groups of these keys only."""
    if isinstance(query, exp.SetOperation):
        found = query.copy()
        for side in ("this", "expression"):
            found.set(side, _restricted_side(cast(exp.Query, found.args[side]), keys))
        return found
    assert isinstance(query, exp.Select)
    return cast(exp.Query, query.copy().where(is_key(groups.keys, keys), copy=False))


def _restricted_side(side: exp.Query, keys: exp.Table) -> exp.Query:
    columns = [column("mv_side", name) for name in named_columns(side)]
    found = exp.Select(expressions=[item.copy() for item in columns])
    return found.from_(derived(side, "mv_side")).where(is_key(tuple(columns), keys))


def is_key(values: tuple[exp.Expr, ...], keys: exp.Table) -> exp.Expr:
    """Whether these values are one of the keys."""
    pairs = [
        same(value.copy(), column(KEYS, f"mv_key_{number}")) for number, value in enumerate(values)
    ]
    return exists(exp.alias_(keys.copy(), KEYS, table=True), both(pairs))


def delta(groups: Groups, rule: Rule) -> exp.Query | None:
    """The groups of changed keys: as they were, away; as they are, in."""
    refuse_order_dependent(groups.query, rule)
    keys = changed_keys(groups, rule)
    if keys is None:
        return None
    rule.context.subtracts = True
    known = _only_keys(groups, keys) if rule.context.only_keys else None
    if known is not None:
        return known
    before = restricted(groups, rule.context.old(groups.query), keys)
    after = restricted(groups, groups.query, keys)
    return all_of([weighted(before, -1), weighted(after, 1)])


def keys_not_returned(groups: Groups) -> NotFast:
    """The error for groups that depend on the order of rows, and whose keys are not returned."""
    keys = ", ".join(filter(None, (as_written(key) for key in groups.keys)))
    text = (
        "its value may be another one each time that it is computed, so that groups have to be "
        f"replaced as a whole, by their keys; return these, too ({keys})"
    )
    found = next(row_order.dependent(groups.query), None) or rounding.rounded(groups.query)
    return not_fast("ORDER_DEPENDENT", text, found)


def _only_keys(groups: Groups, keys: exp.Table) -> exp.Query | None:
    """The keys of changed groups in place of the groups; None if these return more than keys."""
    items = groups.query.selects
    if groups.inner is not None or any(item.unalias() not in groups.keys for item in items):
        return None
    values = [column(KEYS, f"mv_key_{groups.keys.index(item.unalias())}") for item in items]
    pairs = zip(values, named_columns(groups.query), strict=True)
    outputs = [exp.alias_(value, name, quoted=True) for value, name in pairs]
    outputs.append(exp.alias_(exp.Literal.number(1), WEIGHT))
    return exp.Select(expressions=outputs).from_(exp.alias_(keys.copy(), KEYS, table=True))


def refuse_order_dependent(query: exp.Query, rule: Rule) -> None:
    """Raise `NotFast` if what went, computed again, may not come out as it was stored."""
    found = row_order.out_of_order(query)
    if found is not None:
        text = (
            "a function of the order of rows stands below others; put it at the top, or in its "
            "own view"
        )
        raise not_fast("ORDER_DEPENDENT", text, found)
    found = None if rule.context.only_keys else rounding.rounded(query)
    if found is not None:
        text = (
            "its last digits depend on the order of rows, and others are computed from it; "
            "cast its argument to a decimal, or put it in its own view"
        )
        raise not_fast("ORDER_DEPENDENT", text, found)


def weighted(query: exp.Query, weight: int) -> exp.Query:
    """The groups of a query, each with this weight."""
    outputs: list[exp.Expr] = [
        exp.alias_(column("mv_groups", name), name, quoted=True) for name in named_columns(query)
    ]
    outputs.append(exp.alias_(exp.Literal.number(weight), WEIGHT))
    return exp.Select(expressions=outputs).from_(derived(rounding.guarded(query), "mv_groups"))
