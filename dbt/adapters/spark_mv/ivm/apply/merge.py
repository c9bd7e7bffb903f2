"""All groups after a change: what is stored of them, with what the change adds.

One GROUP BY over both, so that nothing is joined; groups without changed rows keep what is stored.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import measures
from dbt.adapters.spark_mv.ivm.algebra.measures import COUNT, MAX, MIN, ROWS, SUM, Part
from dbt.adapters.spark_mv.ivm.algebra.stored import Replaced
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    WEIGHT,
    Rule,
    all_of,
    both,
    column,
    derived,
    exists,
    same,
    ungrouped,
)
from dbt.adapters.spark_mv.ivm.apply.additive import (
    MERGED,
    UNCHANGED,
    Additive,
    kept_outputs,
    merged,
    outputs,
    part_name,
)
from dbt.adapters.spark_mv.ivm.rewrite import grouping_sets
from dbt.adapters.spark_mv.views.definition import STORED

_CHANGE, _RESCUED, _ROWS = "mv_change", "mv_rescued", "mv_rows"
_SIDES, _GROUPS = "mv_sides", "mv_groups"
_CHANGED, _STORED, _GONE = "mv_changed", "_stored", "_gone"


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
    only_adds = rule.context.only_adds
    sums = [
        item for part in additive.parts for item in _added(additive, part, arguments, only_adds)
    ]
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


def _added(
    additive: Additive, part: Part, arguments: list[exp.Expr], only_adds: bool
) -> list[exp.Expr]:
    """What changed rows add to a part; without weights if none of them went."""
    name, weight = part_name(additive, part), column(_ROWS, WEIGHT)
    value = None
    if part.argument is not None:
        value = column(_ROWS, f"mv_input_{len(additive.row_keys) + arguments.index(part.argument)}")
    if only_adds:
        return [exp.alias_(Part(part.function, value).call(), name)]
    if part.argument is None or value is None:
        return [exp.alias_(exp.Sum(this=weight), name)]
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
        exp.alias_(extreme(this=gone), name + _GONE),
    ]


def merged_rows(
    additive: Additive, rule: Rule, in_part: bool = False
) -> tuple[exp.Query, Replaced | None] | None:
    """The stored rows after the change of the rows that are grouped; None without changes.

    If `in_part`, only those of changed groups, and the stored rows that they replace; there are
    always all of them if there is but one group.
    """
    change = changed_groups(additive, rule)
    if change is None:
        return None
    replaced = _replaced(additive, change) if in_part and additive.keys else None
    may_lose = bool(_extremes(additive)) and not rule.context.only_adds
    groups = _groups(additive, change, may_lose, replaced)
    found = _with_rescued(additive, rule, groups) if may_lose else groups
    rows = exp.Select(expressions=outputs(additive)).from_(derived(found, MERGED))
    if additive.keys:
        rows = rows.where(merged(additive, Part(ROWS)) > 0)
    return rows, replaced


def _replaced(additive: Additive, change: exp.Table) -> Replaced:
    keys = range(len(additive.keys))
    return Replaced(change.name, {additive.names[n]: f"mv_key_{n}" for n in keys})


def _as(table: exp.Table, alias: str) -> exp.Expr:
    return exp.alias_(table.copy(), alias, table=True)


def _groups(
    additive: Additive, change: exp.Table, may_lose: bool, replaced: Replaced | None
) -> exp.Select:
    """All groups, or those that are replaced, of which one with fewer than no rows, or a sum that
    cannot be told, raises."""
    extremes = _extremes(additive) if may_lose else []
    stored = _stored_side(additive, extremes)
    if replaced is not None:
        stored = stored.where(replaced.condition())
    sides = all_of([stored, _change_side(additive, change, extremes)])
    assert sides is not None
    keys = [column(_SIDES, f"mv_key_{n}") for n in range(len(additive.keys))]
    columns: list[exp.Expr] = [exp.alias_(key.copy(), key.name) for key in keys]
    for part in additive.parts:
        columns.append(exp.alias_(_added_up(additive, part), part_name(additive, part)))
    for part in extremes:
        for suffix in (_STORED, _GONE):
            name = part_name(additive, part) + suffix
            columns.append(exp.alias_(Part(part.function, column(_SIDES, name)).call(), name))
    for kept in kept_outputs(additive):
        any_value = exp.IgnoreNulls(this=exp.AnyValue(this=column(_SIDES, kept)))
        columns.append(exp.alias_(any_value, kept))
    columns.append(exp.alias_(_is_unchanged(), UNCHANGED))
    return exp.Select(expressions=columns).from_(derived(sides, _SIDES)).group_by(*keys)


def _stored_side(additive: Additive, extremes: list[Part]) -> exp.Select:
    columns: list[exp.Expr] = []
    for number in range(len(additive.keys)):
        columns.append(exp.alias_(column(STORED, additive.names[number]), f"mv_key_{number}"))
    for part in additive.parts:
        columns.append(exp.alias_(column(STORED, additive.names[part]), part_name(additive, part)))
    for part in extremes:
        name = part_name(additive, part)
        columns.append(exp.alias_(column(STORED, additive.names[part]), name + _STORED))
        columns.append(exp.alias_(exp.null(), name + _GONE))
    for kept, name in kept_outputs(additive).items():
        columns.append(exp.alias_(column(STORED, name), kept))
    columns.append(exp.alias_(exp.Literal.number(0), _CHANGED))
    return exp.Select(expressions=columns).from_(exp.to_table(STORED))


def _change_side(additive: Additive, change: exp.Table, extremes: list[Part]) -> exp.Select:
    columns: list[exp.Expr] = [
        column(_CHANGE, f"mv_key_{number}") for number in range(len(additive.keys))
    ]
    columns += [column(_CHANGE, part_name(additive, part)) for part in additive.parts]
    for part in extremes:
        name = part_name(additive, part)
        columns += [exp.alias_(exp.null(), name + _STORED), column(_CHANGE, name + _GONE)]
    columns += [exp.alias_(exp.null(), kept) for kept in kept_outputs(additive)]
    columns.append(exp.alias_(exp.Literal.number(1), _CHANGED))
    return exp.Select(expressions=columns).from_(_as(change, _CHANGE))


def _is_unchanged() -> exp.Expr:
    """Whether no row of the group has changed."""
    return exp.Max(this=column(_SIDES, _CHANGED)).eq(0)


def _added_up(additive: Additive, part: Part) -> exp.Expr:
    """The part of a group, from what is stored of it and what its change adds."""
    value = column(_SIDES, part_name(additive, part))
    if part.function in (ROWS, COUNT):
        count = exp.Sum(this=value)
        return exp.Case().when(count < 0, measures.too_many_went()).else_(count.copy())
    if part.function == SUM:
        return _checked_sum(additive, part, value)
    return Part(part.function, value).call()


def _checked_sum(additive: Additive, part: Part, value: exp.Expr) -> exp.Expr:
    assert part.argument is not None
    type_name = additive.types[part.argument.sql()]
    count = column(_SIDES, part_name(additive, part.count))
    total = exp.cast(exp.Sum(this=value), measures.sum_type(type_name))
    wrong: exp.Expr = total.copy().is_(exp.null())
    text = "a sum does not fit its type"
    if measures.is_floating(type_name):
        # What is infinite, or no number, cannot be taken away again.
        wrong, text = exp.Not(this=exp.paren(total * 0).eq(0)), "a sum is no finite number"
    elif measures.may_overflow(type_name):
        # One side was too large for its type already.
        lost = exp.and_(value.copy().is_(exp.null()), count.copy().neq(0))
        wrong = exp.or_(wrong, exp.Max(this=exp.Case().when(lost, 1).else_(0)).eq(1))
    return (
        exp.Case()
        .when(_is_unchanged(), total.copy())
        .when(exp.Sum(this=count).eq(0), exp.null())
        .when(wrong, measures.raised(text))
        .else_(total)
    )


def _extremes(additive: Additive) -> list[Part]:
    return [part for part in additive.parts if part.function in (MIN, MAX)]


def _with_rescued(additive: Additive, rule: Rule, groups: exp.Select) -> exp.Query:
    """The groups, with extremes recomputed for those that may have lost theirs."""
    named = rule.context.define("groups", groups)
    extremes = _extremes(additive)
    lost = {part_name(additive, part): _is_lost(additive, part) for part in extremes}
    keys = [column(_GROUPS, f"mv_key_{n}") for n in range(len(additive.keys))]
    flagged = exp.Select(expressions=keys or [exp.Literal.number(1)])
    flagged = flagged.from_(_as(named, _GROUPS)).where(exp.or_(*lost.values()))
    rescued = _rescued(additive, rule.context.define("lost", flagged))
    columns: list[exp.Expr] = []
    for name in groups.named_selects:
        value: exp.Expr = column(_GROUPS, name)
        if name in lost:
            value = exp.Case().when(lost[name].copy(), column(_RESCUED, name)).else_(value)
        columns.append(exp.alias_(value, name))
    found = exp.Select(expressions=columns).from_(_as(named, _GROUPS))
    joined = _as(rule.context.define("rescued", rescued), _RESCUED)
    return found.join(joined, on=_same_group(additive) or exp.true(), join_type="left")


def _same_group(additive: Additive) -> exp.Expr | None:
    names = [f"mv_key_{number}" for number in range(len(additive.keys))]
    return both(same(column(_GROUPS, name), column(_RESCUED, name)) for name in names)


def _is_lost(additive: Additive, part: Part) -> exp.Expr:
    """Whether the stored extreme, or one that has come since, may have gone."""
    name = part_name(additive, part)
    stored, gone = column(_GROUPS, name + _STORED), column(_GROUPS, name + _GONE)
    beaten = gone <= stored if part.function == MIN else gone >= stored
    known = exp.Not(this=gone.copy().is_(exp.null()))
    return exp.paren(exp.and_(known, exp.or_(stored.copy().is_(exp.null()), beaten)))


def _rescued(additive: Additive, lost: exp.Table) -> exp.Query:
    """Smallest and largest values, recomputed, of the groups that may have lost theirs."""
    found = additive.query.copy()
    columns = [exp.alias_(key.copy(), f"mv_key_{n}") for n, key in enumerate(additive.keys)]
    columns += [exp.alias_(part.call(), part_name(additive, part)) for part in _extremes(additive)]
    found.set("expressions", columns)
    return found.where(exists(_as(lost, "mv_lost"), both(_in_lost_group(additive))))


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
