"""Refreshes by partition: which partitions a change touches, and the rows that are read for them,
against the query itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import Context, NotFast, derived
from dbt.adapters.spark_mv.ivm.partitions import lineage
from dbt.adapters.spark_mv.ivm.partitions.lineage import changed_keys, key_rows, restricted
from dbt.adapters.spark_mv.ivm.partitions.transforms import PartitionValue, over_partitions
from dbt.adapters.spark_mv.ivm.rewrite import nested_joins
from dbt.adapters.spark_mv.ivm.rewrite.canonical import canonical, parsed
from tests.unit.ivm.checks import ROUNDS, holds, is_noticed
from tests.unit.ivm.formulas import Engine, Rows, tree_of, with_named

# Each returns its partition column as p.
QUERIES = {
    "filter": "select a as p, v from mv_table_0 where v > 1",
    "group": "select a + 1 as p, sum(v) as total from mv_table_0 group by a + 1, b",
    "join": "select r.a as p, s.b from mv_table_0 r join mv_table_1 s on r.b = s.a",
    "other side": "select s.b as p, r.a from mv_table_0 r join mv_table_1 s on r.b = s.a",
    "both sides": "select r.a + s.b as p, r.v from mv_table_0 r join mv_table_1 s on r.b = s.a",
    "left": "select r.a as p, s.v from mv_table_0 r left join mv_table_1 s on r.b = s.a",
    "left, other side": "select coalesce(s.b, 9) as p, r.v from mv_table_0 r "
    "left join mv_table_1 s on r.b = s.a and s.v > 1",
    "right": "select r.a as p, s.v from mv_table_0 r right join mv_table_1 s on r.b = s.a",
    "full": "select coalesce(r.a, s.b) as p, r.v, s.v as w from mv_table_0 r "
    "full join mv_table_1 s on r.b = s.a",
    "three": "select r.a as p, t.v from mv_table_0 r left join mv_table_1 s on r.b = s.a "
    "join mv_table_2 t on t.a = s.b",
    "itself": "select r.a as p, s.v from mv_table_0 r join mv_table_0 s on r.b = s.a",
    "its own rows": "select r.a as p, count(*) as n from mv_table_0 r join mv_table_0 s "
    "on r.a = s.a group by r.a",
    "exists": "select a as p, v from mv_table_0 r where exists "
    "(select 1 from mv_table_1 s where s.a = r.b)",
    "not in": "select a as p, v from mv_table_0 where b not in (select a from mv_table_1)",
    "in itself": "select a as p, v from mv_table_0 where b in (select a from mv_table_0)",
    "union": "select a as p from mv_table_0 union select b from mv_table_1",
    "union all": "select a as p, v from mv_table_0 union all select b, v from mv_table_1",
    "except": "select a as p, v from mv_table_0 except all select b, v from mv_table_1",
    "distinct": "select distinct a as p, b from mv_table_0",
    "window": "select a as p, v, sum(v) over (partition by a, b) as s from mv_table_0",
    "nested": "select p, max(n) as most from (select a as p, b, count(*) as n from mv_table_0 "
    "group by a, b) q group by p having max(n) > 1",
    "ranked below": "select p, count(*) as n from (select a as p, b, row_number() over "
    "(partition by a order by v, b) as k from mv_table_0) q where k = 1 group by p",
    "grouped, joined": "select q.p, s.v from (select a as p, sum(v) as total from mv_table_0 "
    "group by a) q join mv_table_1 s on q.total = s.a",
    "constant": "select 1 as p, v from mv_table_0",
}


def partitions_are_right(
    engine: Engine, sql: str, old: Mapping[str, Rows], new: Mapping[str, Rows], tidy: bool
) -> bool:
    """Whether all rows that came or went are in partitions that are found, and whether the rows
    of these partitions are computed from the rows that are read for them."""
    tree = tree_of(sql)
    place = tree.named_selects.index("p")
    context = Context(engine.load(old, new, tidy))
    keys = set()
    for query in changed_keys(tree, ["p"], context):
        keys |= {row[0] for row in engine.rows(with_named(query, context.named))}
    before, after = engine.rows(context.old(tree)), engine.rows(tree)
    touched = {row[place] for row in (before - after) + (after - before)}
    found = engine.rows(
        restricted(tree, ["p"], lambda table, values: _only(table, values[0], keys))
    )
    return touched <= keys and _in(found, place, keys) == _in(after, place, keys)


def _in(rows: Counter[tuple[Any, ...]], place: int, keys: set[Any]) -> Counter[tuple[Any, ...]]:
    return Counter({row: n for row, n in rows.items() if row[place] in keys})


def _only(table: exp.Table, value: exp.Expr, keys: set[Any]) -> exp.Expr:
    known = [exp.Literal.number(key) for key in keys if key is not None]
    condition = exp.or_(
        exp.In(this=value.copy(), expressions=known) if known else exp.false(),
        value.copy().is_(exp.null()) if None in keys else exp.false(),
    )
    inner = exp.select("*").from_(table.copy()).where(condition)
    return derived(inner, table.alias_or_name)


@pytest.mark.behaviour("C10")
@pytest.mark.parametrize("name", QUERIES)
def test_partitions(engine: Engine, name: str) -> None:
    """Every partition that changes is found, and computed from what is read for it."""
    assert holds(partitions_are_right, engine, QUERIES[name])


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) as p, a from mv_table_0 group by a",
        "select rank() over (partition by a order by v) as p from mv_table_0",
        "select b as p, rank() over (partition by a order by v) as k from mv_table_0",
        "select p, sum(n) over (partition by p) as s from (select a, b as p, "
        "row_number() over (partition by a order by v) as n from mv_table_0 "
        "union all select a, a, b from mv_table_1) q join mv_table_1 s on q.a = s.a",
    ],
)
def test_partitions_are_put_together(sql: str) -> None:
    """Aggregates, and windows over more than a partition."""
    with pytest.raises(NotFast) as caught:
        rows = key_rows(tree_of(sql), ["p"])
        lineage.Delta(Context(frozenset({"mv_table_0", "mv_table_1"}))).query(rows)
    assert caught.value.reason.code in ("PARTITION_COLUMN", "ORDER_DEPENDENT")


MUTANTS: dict[str, tuple[Any, str, Any, str]] = {
    "both sides of an outer join are kept": (
        nested_joins,
        "has_outer_join",
        lambda query: False,
        "select coalesce(s.b, 9) as p, r.v from mv_table_0 r left join mv_table_1 s on r.b = s.a",
    ),
    "windows put nothing together": (
        lineage,
        "_covers",
        lambda keys, value: True,
        "select b as p, sum(v) over (partition by a) as s from mv_table_0",
    ),
    "a table is owned if one place is": (
        lineage,
        "owned_tables",
        lambda query, names: dict.fromkeys(["mv_table_0"], [[exp.column("a", quoted=True)]]),
        "itself",
    ),
    "only rows of now": (
        lineage,
        "CHANGES",
        "mv_table_",
        "filter",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_found(engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each rule is needed."""
    owner, attribute, wrong, query = MUTANTS[name]
    monkeypatch.setattr(owner, attribute, wrong)
    sql = QUERIES.get(query, query)
    assert is_noticed(partitions_are_right, engine, sql, 20 * ROUNDS)


_DAYS = [PartitionValue("p0", "days", "date")]
_MONTHS = [PartitionValue("p0", "months", "timestamp", in_utc=True)]
_LOCAL = [PartitionValue("p0", "days", "timestamp")]
_PREFIX = [PartitionValue("p0", "truncate", "string", 3)]
_WALL_HOURS = [PartitionValue("p0", "hours", "timestamp_ntz")]
_UTC_HOURS = [PartitionValue("p0", "hours", "timestamp", in_utc=True)]
_LOCAL_HOURS = [PartitionValue("p0", "hours", "timestamp")]


@pytest.mark.behaviour("C8")
@pytest.mark.parametrize(
    ("expression", "values", "is_mapped"),
    [
        ("year(a)", _DAYS, True),
        ("date_part('YEAR', a)", _DAYS, True),
        ("extract(month from a)", _DAYS, True),
        ("date_trunc('WEEK', a)", _DAYS, True),
        ("trunc(a, 'MM')", _DAYS, True),
        ("date_trunc('HOUR', a)", _DAYS, False),
        ("a", _DAYS, False),
        ("(a)", _DAYS, False),
        ("concat(a, 'x')", _DAYS, False),
        ("year(a) * 100 + month(a)", _DAYS, True),
        ("year(a) * 100 + length(a)", _DAYS, False),
        ("quarter(a)", _MONTHS, True),
        ("last_day(a)", _MONTHS, True),
        ("day(a)", _MONTHS, False),
        ("to_date(a)", _MONTHS, False),
        ("year(a)", _LOCAL, False),
        ("left(a, 3)", _PREFIX, True),
        ("substring(a, 1, 2)", _PREFIX, True),
        ("left(a, 4)", _PREFIX, False),
        ("substring(a, 2, 2)", _PREFIX, False),
        ("substring(a, 1)", _PREFIX, False),
        ("a || 'x'", [PartitionValue("p0", "identity", "string")], True),
        ("a", [PartitionValue("p0", "bucket", "bigint", 4)], False),
        ("year(b)", _DAYS, False),
        ("date_trunc('HOUR', a)", _WALL_HOURS, True),
        ("cast(a as date)", _WALL_HOURS, True),
        ("date_trunc('MINUTE', a)", _WALL_HOURS, False),
        ("date_trunc('HOUR', a)", _UTC_HOURS, True),
        ("date_trunc('HOUR', a)", _LOCAL_HOURS, False),
    ],
)
def test_values_of_partitions(
    expression: str, values: list[PartitionValue], is_mapped: bool
) -> None:
    """What is the same for every row of a partition is said in the partition's values."""
    tree = canonical(
        parsed(f"select {expression} as p from mv_table_0", {"mv_table_0": ["a", "b"]})
    )
    found = over_partitions(tree.expressions[0].unalias(), {"a": values})
    assert (found is not None) is is_mapped
    if found is not None:
        assert {item.name for item in found.find_all(exp.Column)} == {"p0"}


@pytest.mark.parametrize(("values", "type_name"), [(_WALL_HOURS, "NTZ"), (_UTC_HOURS, "")])
def test_hours_are_those_of_their_clock(values: list[PartitionValue], type_name: str) -> None:
    """The first moment of an hour is made of hours alone: an instant that is cast to a clock on the
    wall would be one of the session's zone."""
    tree = canonical(parsed("select cast(a as date) as p from mv_table_0", {"mv_table_0": ["a"]}))
    found = over_partitions(tree.expressions[0].unalias(), {"a": values})
    assert found is not None
    text = found.sql("spark").upper()
    assert "MAKE_DT_INTERVAL(0, `P0`)" in text and "TIMESTAMP_SECONDS" not in text
    assert f"'1970-01-01 00:00:00' AS TIMESTAMP{'_' if type_name else ''}{type_name})" in text
