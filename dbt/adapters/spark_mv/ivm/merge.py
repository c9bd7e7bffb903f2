"""All groups after a change: what is stored of them, with what the change adds.

One full join, so that the changed rows are computed once; groups without any keep what is stored.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.ivm import grouping_sets, measures
from dbt.adapters.spark_mv.ivm.additive import (
    MERGED,
    STORED,
    UNCHANGED,
    Additive,
    kept_outputs,
    merged,
    outputs,
    part_name,
)
from dbt.adapters.spark_mv.ivm.measures import COUNT, MAX, MIN, ROWS, SUM, Part
from dbt.adapters.spark_mv.ivm.tree import (
    WEIGHT,
    Rule,
    both,
    column,
    derived,
    exists,
    same,
    ungrouped,
)

_CHANGE, _RESCUED, _ROWS = "mv_change", "mv_rescued", "mv_rows"


def changed_groups(additive: Additive, rule: Rule) -> exp.Table | None:
    """For each key of a changed row what is to be added to its parts; None without changes."""
    arguments = _arguments(additive)
    rows = ungrouped(additive.query, [*additive.row_keys, *arguments], "mv_input")
    if not rows.expressions:
        rows.set("expressions", [exp.alias_(exp.Literal.number(1), "mv_one")])
    changes = rule.query(rows)
    if changes is None:
        return None
    named = [
        exp.alias_(_of_input(additive, key), f"mv_key_{n}") for n, key in enumerate(additive.keys)
    ]
    sums = [item for part in additive.parts for item in _added(additive, part, arguments)]
    found = exp.Select(expressions=[*named, *sums]).from_(derived(changes, _ROWS))
    group = additive.query.args.get("group")
    found.set("group", _of_input(additive, group) if group is not None else None)
    return rule.context.define("change", found)


def _of_input(additive: Additive, tree: exp.Expr) -> exp.Expr:
    """An expression, or the GROUP BY, over the rows of the groups in place of their relations."""
    keys = list(additive.row_keys)

    def replaced(node: exp.Expr) -> exp.Expr:
        return column(_ROWS, f"mv_input_{keys.index(node)}") if node in keys else node

    return tree.copy().transform(replaced)


def _arguments(additive: Additive) -> list[exp.Expr]:
    found = [part.argument for part in additive.parts if part.argument is not None]
    return list(dict.fromkeys(found))


def _added(additive: Additive, part: Part, arguments: list[exp.Expr]) -> list[exp.Expr]:
    name, weight = part_name(additive, part), column(_ROWS, WEIGHT)
    if part.argument is None:
        return [exp.alias_(exp.Sum(this=weight), name)]
    value = column(_ROWS, f"mv_input_{len(additive.row_keys) + arguments.index(part.argument)}")
    if part.function == COUNT:
        present = exp.Case().when(value.is_(exp.null()), exp.Literal.number(0)).else_(weight)
        return [exp.alias_(exp.Sum(this=present), name)]
    if part.function == SUM:
        type_name = additive.types[part.argument.sql()]
        return [exp.alias_(measures.weighted_sum(value, weight, type_name), name)]
    extreme = exp.Min if part.function == MIN else exp.Max
    came = exp.Case().when(weight.copy() > 0, value.copy())
    gone = exp.Case().when(weight.copy() < 0, value.copy())
    return [
        exp.alias_(extreme(this=came), name),
        exp.alias_(extreme(this=gone), name + "_gone"),
    ]


def merged_rows(additive: Additive, rule: Rule) -> exp.Query | None:
    """The stored rows after the change of the rows that are grouped; None without changes."""
    change = changed_groups(additive, rule)
    if change is None:
        return None
    only_inserts = rule.context.inserts_only and not rule.context.subtracts
    rescued = None if only_inserts else _rescued(additive, rule, change)
    groups = _merge(additive, change, rescued)
    rows = exp.Select(expressions=outputs(additive)).from_(derived(groups, MERGED))
    if additive.keys:
        rows = rows.where(merged(additive, Part(ROWS)) > 0)
    return rows


def _as(table: exp.Table, alias: str) -> exp.Expr:
    return exp.alias_(table.copy(), alias, table=True)


def _same_group(additive: Additive, stored: str, other: str) -> exp.Expr | None:
    return both(
        same(column(stored, additive.names[n]), column(other, f"mv_key_{n}"))
        for n in range(len(additive.keys))
    )


def _merge(additive: Additive, change: exp.Table, rescued: exp.Table | None) -> exp.Select:
    columns: list[exp.Expr] = []
    for number in range(len(additive.keys)):
        key = column(_CHANGE, f"mv_key_{number}"), column(STORED, additive.names[number])
        columns.append(exp.alias_(exp.func("coalesce", *key), f"mv_key_{number}"))
    columns += [
        exp.alias_(_sum_of(additive, part, rescued is not None), part_name(additive, part))
        for part in additive.parts
    ]
    columns += [
        exp.alias_(column(STORED, name), kept) for kept, name in kept_outputs(additive).items()
    ]
    columns.append(exp.alias_(_is_unchanged(additive), UNCHANGED))
    found = exp.Select(expressions=columns).from_(exp.to_table(STORED))
    # The group of all rows is always stored.
    on = _same_group(additive, STORED, _CHANGE)
    found = found.join(
        _as(change, _CHANGE), on=on or exp.true(), join_type="full" if on else "left"
    )
    if rescued is not None:
        pairs = [
            same(column(_RESCUED, f"mv_key_{n}"), column(_CHANGE, f"mv_key_{n}"))
            for n in range(len(additive.keys))
        ]
        pairs.append(exp.Not(this=_is_unchanged(additive)))
        found = found.join(_as(rescued, _RESCUED), on=both(pairs), join_type="left")
    return found


def _is_unchanged(additive: Additive) -> exp.Expr:
    """Whether no row of the stored group has changed."""
    return column(_CHANGE, part_name(additive, Part(ROWS))).is_(exp.null())


def _sum_of(additive: Additive, part: Part, with_rescue: bool) -> exp.Expr:
    """The merged value of a part."""
    name = part_name(additive, part)
    stored, change = column(STORED, additive.names[part]), column(_CHANGE, name)
    if part.function in (ROWS, COUNT):
        return _checked_count(exp.func("coalesce", stored, 0) + exp.func("coalesce", change, 0))
    if part.function == SUM:
        return _checked_sum(additive, part, stored, change)
    least = exp.func("least" if part.function == MIN else "greatest", stored, change)
    if not with_rescue:
        return least
    lost = _is_lost(additive, part)
    return exp.Case().when(lost, column(_RESCUED, name)).else_(least)


def _checked_count(count: exp.Expr) -> exp.Expr:
    wrong = measures.too_many_went()
    return exp.Case().when(exp.paren(count) < 0, wrong).else_(count.copy())


def _checked_sum(additive: Additive, part: Part, stored: exp.Expr, change: exp.Expr) -> exp.Expr:
    assert part.argument is not None
    type_name = measures.sum_type(additive.types[part.argument.sql()])
    count = Part(COUNT, part.argument)
    name = part_name(additive, count)
    present = exp.paren(
        exp.func("coalesce", column(STORED, additive.names[count]), 0)
        + exp.func("coalesce", column(_CHANGE, name), 0)
    )
    total = exp.cast(exp.func("coalesce", stored, 0) + exp.func("coalesce", change, 0), type_name)
    wrong: exp.Expr = exp.paren(total).is_(exp.null())
    text = "a sum does not fit its type"
    if measures.is_floating(additive.types[part.argument.sql()]):
        # What is infinite, or no number, cannot be taken away again.
        wrong, text = exp.Not(this=exp.paren(total * 0).eq(0)), "a sum is no finite number"
    return (
        exp.Case()
        .when(_is_unchanged(additive), stored.copy())
        .when(present.eq(0), exp.null())
        .when(wrong, measures.raised(text))
        .else_(total.copy())
    )


def _is_lost(additive: Additive, part: Part) -> exp.Expr:
    """Whether the stored extreme, or one that came meanwhile, may have gone."""
    stored = column(STORED, additive.names[part])
    gone = column(_CHANGE, part_name(additive, part) + "_gone")
    beaten = gone <= stored if part.function == MIN else gone >= stored
    known = exp.Not(this=gone.copy().is_(exp.null()))
    return exp.paren(exp.and_(known, exp.or_(stored.copy().is_(exp.null()), beaten)))


def _rescued(additive: Additive, rule: Rule, change: exp.Table) -> exp.Table | None:
    """Smallest and largest values, computed anew, of the groups that may have lost theirs."""
    extremes = [part for part in additive.parts if part.function in (MIN, MAX)]
    if not extremes:
        return None
    keys = [column(_CHANGE, f"mv_key_{n}") for n in range(len(additive.keys))]
    lost = exp.Select(expressions=keys or [exp.Literal.number(1)])
    lost = lost.from_(_as(change, _CHANGE)).join(
        exp.to_table(STORED),
        on=_same_group(additive, STORED, _CHANGE) or exp.true(),
        join_type="left",
    )
    flagged = rule.context.define(
        "lost", lost.where(exp.or_(*(_is_lost(additive, part) for part in extremes)))
    )
    pairs = _in_lost_group(additive)
    found = additive.query.copy()
    columns = [exp.alias_(key.copy(), f"mv_key_{n}") for n, key in enumerate(additive.keys)]
    columns += [exp.alias_(part.call(), part_name(additive, part)) for part in extremes]
    found.set("expressions", columns)
    found = found.where(exists(_as(flagged, "mv_lost"), both(pairs)))
    return rule.context.define("rescued", found)


def _in_lost_group(additive: Additive) -> list[exp.Expr]:
    """Conditions for a row to be of a group that may have lost a value; rows of others in which
    a key is NULL only because their set lacks it make groups that nobody asks for."""
    pairs = []
    for number, key in enumerate(additive.row_keys):
        equal = same(key.copy(), column("mv_lost", f"mv_key_{number}"))
        if len(additive.keys) > len(additive.row_keys):
            lost = column("mv_lost", f"mv_key_{len(additive.row_keys)}")
            lacks = grouping_sets.lacks(additive.row_keys, lost, key)
            equal = exp.paren(exp.or_(lacks.eq(1), equal))
        pairs.append(equal)
    return pairs
