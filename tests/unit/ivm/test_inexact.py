"""Sums of floating point numbers below joins: shown, they are replaced by key; else refused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast
from dbt.adapters.spark_mv.ivm.analysis import analyse
from dbt.adapters.spark_mv.ivm.delta import grouping, inexact, outer_joins, pruning
from dbt.adapters.spark_mv.ivm.program import Program
from tests.unit.ivm import formulas
from tests.unit.ivm.checks import ROUNDS, holds, is_noticed, sparse_versions, versions
from tests.unit.ivm.formulas import COLUMNS, TABLES, Engine, refresh_is_right, written

R, S, T = TABLES
# The engine's numbers are whole, so that sums are the same in any order; their type says otherwise.
REPLACED = {
    "left_join": f"select r.a, r.b, d.x from {R} r left join (select a, sum(v) x from {S} "
    "group by a) d on d.a = r.a",
    "inner_join": f"select r.a, r.b, d.x from {R} r join (select a, sum(v) x from {S} "
    "group by a) d on d.a = r.a where r.v > 1",
    "key_of_the_right_side": f"select d.a, r.b, d.x from {R} r left join (select a, sum(v) x "
    f"from {S} group by a) d on d.a = r.a",
    "right_join": f"select d.a, r.b, d.x from {R} r right join (select a, sum(v) x from {S} "
    "group by a) d on d.a = r.a",
    "full_join": f"select r.a, d.a da, d.x from {R} r full join (select a, sum(v) x from {S} "
    "group by a) d on d.a = r.a",
    "below_an_outer_join": f"select r.b, d.a, d.x from {R} r left join (select s.a, sum(t.v) x "
    f"from {T} t left join {S} s on s.b = t.b group by s.a) d on d.a = r.b",
    "key_that_an_outer_join_fills": f"select e.ra, f.x from (select r.b, d.a ra from {R} r left "
    f"join (select a, max(b) b from {S} group by a) d on d.a = r.a) e left join "
    f"(select a, sum(v) x from {T} group by a) f on f.a = e.ra",
    "two_groups": f"with o as (select a, min(b) f, count(b) n from {S} group by a), "
    f"p as (select s.a, sum(t.v) total from {T} t left join {S} s on t.b = s.b group by s.a) "
    f"select r.a, r.v, o.f, o.n, p.total from {R} r left join o on r.a = o.a "
    "left join p on r.a = p.a",
    "one_row": f"select r.a, d.x, e.one from {R} r left join (select a, sum(v) x from {S} "
    f"group by a) d on d.a = r.a cross join (select 1 as one, max(v) most from {T}) e",
    "groups_above": f"select r.a, sum(d.x) x, max(r.v) v from {R} r join (select a, sum(v) x "
    f"from {S} group by a) d on d.a = r.a group by r.a",
    "having_above": f"select r.a, sum(d.x) x from {R} r join (select a, sum(v) x from {S} "
    "group by a) d on d.a = r.a group by r.a having sum(d.x) > 3",
    "groups_of_groups": f"select a, max(x) most from (select a, b, sum(v) x from {R} "
    "group by a, b) d group by a",
    "window_above": f"select a, b, x, rank() over (partition by a order by x) k from "
    f"(select a, b, sum(v) x from {R} group by a, b) d",
    "union_below": f"select r.a, d.x from {R} r left join (select a, sum(v) x from {S} group by a "
    f"union all select b, sum(v) from {T} group by b) d on d.a = r.a",
    "exists": f"select r.a, d.x from {R} r join (select a, sum(v) x from {S} group by a) d "
    f"on d.a = r.a where exists (select 1 from {T} t where t.a = r.a)",
    "explode_to_nothing": f"select d.a, r.b, f.x from {R} r left join (select a, "
    f"explode(case when v > 1 then array(b) else array_remove(array(b), b) end) w from {S} "
    f"where b > 0) d on d.a = r.a left join (select a, sum(v) x from {T} group by a) f "
    "on f.a = d.a",
    "by_what_is_no_key": f"select d.n, e.x from (select a, count(*) n from {S} group by a) d "
    f"join (select a, sum(v) x from {T} group by a) e on e.a = d.n",
    "window_by_another_column": f"select r.a, d.n, e.x from {R} r join (select a, count(*) over "
    f"(partition by b) n from {S}) d on d.a = r.a left join (select a, sum(v) x from {T} "
    "group by a) e on e.a = r.a",
    "explode_below": f"select r.a, d.x from {R} r join (select e.a, sum(e.v) x from "
    f"(select a, explode(array(v, b)) v from {S}) e group by e.a) d on d.a = r.a",
}  # fmt: skip
REFUSED = {
    "in_where": f"select r.a, d.x from {R} r join (select a, sum(v) x from {S} group by a) d "
    "on d.a = r.a where d.x > 3",
    "in_having": f"select r.a, d.n from {R} r join (select a, count(*) n from {S} group by a "
    "having sum(v) > 3) d on d.a = r.a",
    "in_on": f"select r.a, d.x from {R} r join (select a, sum(v) x from {S} group by a) d "
    "on d.x = r.a",
    "in_group": f"select x, count(*) n from (select a, sum(v) x from {R} group by a) d group by x",
    "in_distinct": f"select r.a, d.x from {R} r join (select distinct x from (select a, sum(v) x "
    f"from {S} group by a) e) d on r.a > 1",
    "in_distinct_above": f"select distinct r.a, d.x from {R} r join (select a, sum(v) x from {S} "
    "group by a) d on d.a = r.a",
    "in_union": f"select r.a, d.x from {R} r join (select a, sum(v) x from {S} group by a "
    f"union select a, b from {T}) d on d.a = r.a",
    "in_a_window_below": f"select r.a, d.k from {R} r join (select a, rank() over (order by x) k "
    f"from (select a, sum(v) x from {S} group by a) e) d on d.a = r.a",
    "in_a_generator": f"select r.a, d.n from {R} r join (select a, explode(sequence(1, x)) n "
    f"from (select a, sum(v) x from {S} group by a) e) d on d.a = r.a",
    "in_exists": f"select r.a, d.x from {R} r join (select a, sum(v) x from {S} group by a) d "
    f"on d.a = r.a where exists (select 1 from (select a, sum(v) x from {T} group by a) t "
    "where t.a = r.a and t.x > 3)",
    "key_not_returned": f"select r.b, d.x from {R} r join (select a, sum(v) x from {S} "
    "group by a) d on d.a = r.a",
    "no_key": f"select max(x) m from (select a, sum(v) x from {R} group by a) d",
    "order_of_rows": f"select r.a, d.x from {R} r join (select a, first(v) x from {S} "
    "group by a) d on d.a = r.a",
}  # fmt: skip

_only_keys = grouping._only_keys


@cache
def _program_of(sql: str) -> Program:
    columns = dict.fromkeys(TABLES, COLUMNS)
    outputs = {f"c{n}": "double" for n in range(len(written(sql).named_selects))}
    return analyse(sql, columns, outputs, lambda query: ["double"] * len(query.named_selects))


@pytest.fixture(autouse=True)
def _floating(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(formulas, "program_of", _program_of)
    formulas.forget()
    yield
    formulas.forget()


@pytest.mark.parametrize("name", REPLACED)
def test_replaced_by_key(engine: Engine, name: str) -> None:
    """Rows of changed keys are computed anew, and no other is touched."""
    groups = _program_of(REPLACED[name]).groups
    assert groups is not None
    assert groups.is_inexact
    assert holds(refresh_is_right, engine, REPLACED[name], 2 * ROUNDS)


@pytest.mark.parametrize("name", REPLACED)
def test_replaced_after_one_row(engine: Engine, name: str) -> None:
    """No key is passed over of which a row changed because of another row."""
    assert holds(refresh_is_right, engine, REPLACED[name], 4 * ROUNDS, sparse_versions())


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """Where a value decides about rows, or no key is returned."""
    with pytest.raises(NotFast) as caught:
        _program_of(REFUSED[name])
    assert caught.value.reason.code in ("ORDER_DEPENDENT", "WINDOW", "ONE_GROUP")


@pytest.mark.parametrize(
    ("module", "name", "wrong", "query"),
    [
        (grouping, "_only_keys", lambda groups, keys: _only_keys(groups, keys).where("1 = 0"),
         "two_groups"),
        (outer_joins._Sides, "_shows", lambda self, relation: False, "key_of_the_right_side"),
        (pruning, "_makes_rows", lambda query: False, "one_row"),
        (pruning, "_is_needed", lambda item, read: item.alias_or_name.lower() in read,
         "window_by_another_column"),
        (pruning, "_makes_rows", lambda query: False, "explode_to_nothing"),
        (inexact, "_keeps_groups_whole", lambda query, output: True, "window_by_another_column"),
        (inexact, "_equal_keys", lambda query, keys: keys | {
            other: keys[one] for pair in inexact._equated(query)
            for one, other in (pair, pair[::-1]) if one in keys
        }, "key_that_an_outer_join_fills"),
    ],
)  # fmt: skip
def test_mutants(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, wrong: Any, query: str
) -> None:
    """Rules that are wrong on purpose are found."""
    monkeypatch.setattr(module, name, wrong)
    _program_of.cache_clear()
    rounds = [(40 * ROUNDS, sparse_versions()), (40 * ROUNDS, versions())]
    noticed = any(is_noticed(refresh_is_right, engine, REPLACED[query], *one) for one in rounds)
    _program_of.cache_clear()
    assert noticed
