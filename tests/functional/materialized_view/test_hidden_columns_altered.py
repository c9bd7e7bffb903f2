"""Columns of base tables that only hidden columns of the storage table have get other types."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample

# The type of a column then and now, and values that are others in the two.
WIDENED = {
    "float": ("float", "double", "0.1D", "cast(cast(0.1 as float) as double)"),
    "int": ("int", "bigint", "3L", "30000000000L"),
    "decimal": ("decimal(4, 2)", "decimal(12, 2)", "1.25", "1234567890.25"),
}
# No view returns `x`; its groups, counts, extremes and sums are in hidden columns.
VIEWS = {
    "key": "select k, count(*) as n, sum(v) as s from {t} group by k, x",
    "keys alone": "select count(*) as n from {t} group by x",
    "having": "select k, count(*) as n from {t} group by k having max(x) >= 1",
    "sum in having": "select k, count(*) as n from {t} group by k having sum(x) > 1",
    "expression": "select k, max(x) > 1 as big, count(*) as n from {t} group by k",
    "of two": "select r.name, count(*) as n from {t} as t join @.names r on r.k = t.k "
    "group by r.name, t.x",
}
ALTERED = {
    "alter": "alter table @.t alter column x type {now}",
    "replaced": "create or replace table @.t using iceberg as "
    "select k, v, cast(x as {now}) as x from @.t",
}
OTHERS = [("int", "alter"), ("int", "replaced"), ("float", "replaced"), ("decimal", "alter")]


@pytest.fixture
def base(lake: Warehouse, road: str) -> Warehouse:
    for number in range(len(VIEWS)):
        lake.sql(f"drop materialized view if exists @.m{number}")
    lake.spark(
        "create or replace table @.names using iceberg as select id as k, 'a' as name from range(2)"
    )
    return lake


@pytest.mark.parametrize(
    ("kind", "how"), sample([("float", "alter"), ("decimal", "replaced")], OTHERS)
)
def test_of_later_types(base: Warehouse, kind: str, how: str) -> None:
    """The storage table is made anew, so that its hidden columns tell values of now apart."""
    then, now, one, other = WIDENED[kind]
    base.spark(f"create or replace table @.t (k bigint, v bigint, x {then}) using iceberg")
    base.spark(f"insert into @.t select id % 2, id, cast(id % 3 as {then}) from range(30)")
    taken = sample(["key", "sum in having"], VIEWS.keys() - {"key", "sum in having"})
    views = {f"m{n}": VIEWS[name].format(t="@.t") for n, name in enumerate(taken)}
    for name, query in views.items():
        base.sql(f"create materialized view @.{name} as {query}")
    base.restart()
    base.spark(ALTERED[how].format(now=now))
    for number, step in enumerate(("read", "fast", "complete", "fast")):
        base.spark(f"insert into @.t values (0, {10**number}, {one}), (1, 2, {other})")
        if number == 1:
            base.restart()
        for name, query in views.items():
            if step != "read":
                report = base.operation("refresh", view=f"{base.schema}.{name}", method=step)
                assert not report.failures, report.failures
            wanted = Counter(base.spark(query))
            assert Counter(base.sql(f"select * from @.{name}")) == wanted, (step, query)
            assert base.freshness(name) == "FRESH"


def test_of_earlier_versions(base: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A storage table that was kept after its base table had been altered is not refreshed fast."""
    base.spark("create or replace table @.t (v int, x float) using iceberg")
    base.spark("insert into @.t select id, id % 3 from range(30)")
    query = "select count(*) as n, sum(v) as s from @.t group by x"
    base.sql(f"create materialized view @.m0 as {query}")
    base.spark("alter table @.t alter column x type double")
    base.spark("insert into @.t values (1, 0.1D), (2, cast(cast(0.1 as float) as double))")
    base.restart()
    with monkeypatch.context() as patch:
        patch.setattr(
            "dbt.adapters.spark_mv.planning.analyzer.Analyzer.fits", lambda *_, **__: True
        )
        base.sql("select * from @.m0")
        base.spark("insert into @.t values (10, 0.1D)")
        base.operation("refresh", view=f"{base.schema}.m0", method="fast")
        wrong = Counter(base.spark("select * from @.m0"))
        assert wrong != Counter(base.spark(query)), "the mutant is not caught"
    base.restart()
    base.spark("insert into @.t values (100, 0.1D)")
    (failure,) = base.operation("refresh", view=f"{base.schema}.m0", method="fast").failures
    assert "OTHER_LAYOUT" in failure
    assert not base.operation("refresh", view=f"{base.schema}.m0", method="complete").failures
    assert Counter(base.spark("select * from @.m0")) == Counter(base.spark(query))
    base.spark("insert into @.t values (1000, 0.1D)")
    assert not base.operation("refresh", view=f"{base.schema}.m0", method="fast").failures
    assert Counter(base.spark("select * from @.m0")) == Counter(base.spark(query))


def test_altered_and_not_written(base: Warehouse) -> None:
    """A refresh may find columns under which nothing has been written: the next one says so."""
    base.spark("create or replace table @.t (k int, x int) using iceberg")
    base.spark("insert into @.t values (1, 1)")
    query = "select k, count(*) as n from @.t group by k"
    base.sql(f"create materialized view @.m0 as {query}")
    base.spark("alter table @.t alter column x type bigint")
    base.sql("select * from @.m0")
    base.spark("insert into @.t values (1, 2)")
    base.restart()
    (failure,) = base.operation("refresh", view=f"{base.schema}.m0", method="fast").failures
    assert "SCHEMA_CHANGED: the columns of" in failure
    assert Counter(base.sql("select * from @.m0")) == Counter(base.spark(query))
    base.spark("insert into @.t values (2, 2)")
    assert not base.operation("refresh", view=f"{base.schema}.m0", method="fast").failures
    assert Counter(base.spark("select * from @.m0")) == Counter(base.spark(query))
