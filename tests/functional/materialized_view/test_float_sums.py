"""Sums of floating point numbers: added to only if the owner of the view says so; averages, which
Spark makes of such sums."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import plan
from dbt.adapters.spark_mv.planning.cost import Estimate
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

# Every sum of these is exact, so that there is one answer.
ROWS = "('a', 0.5D, 1.5F), ('a', 0.25D, null), ('b', null, 2.0F), (null, 4.0D, 8.0F)"
QUERY = "select k, sum(x) as s, avg(x) as m, sum(y) as t, count(*) as n from @.points group by k"
TOTAL = "select avg(x) as m, sum(y) as t from @.points"


@pytest.fixture(scope="module", autouse=True)
def points(lake: Warehouse) -> None:
    lake.spark("create table @.points (k string, x double, y float) using iceberg")
    lake.spark(f"insert into @.points values {ROWS}")


def test_not_by_itself(lake: Warehouse) -> None:
    """The error of a view that must be fast names the option."""
    with pytest.raises(MaterializedViewFailure, match="set float_additive"):
        lake.sql(f"create materialized view @.refused options (refresh_method = 'fast') as {TOTAL}")


@pytest.mark.parametrize(("name", "query"), [("by_key", QUERY), ("total", TOTAL)])
def test_added(lake: Warehouse, name: str, query: str) -> None:
    """Rows that come and go, of groups that come, go and come back."""
    lake.sql(
        f"create materialized view @.{name} options (refresh_method = 'fast', "
        f"float_additive = true) as {query}"
    )
    for statement in (
        "insert into @.points values ('a', 8.0D, -1.5F), ('c', -0.5D, 0.125F)",
        "delete from @.points where k = 'b'",
        "update @.points set x = x * 2, y = null where k is null",
        "insert into @.points values ('b', 1.0D, 1.0F)",
    ):
        lake.spark(statement)
        lake.restart()
        lake.sql(f"refresh materialized view @.{name}")
        assert_same(lake, f"select * from @.{name}", query)
    assert {row[0] for row in lake.history(name, "method")[1:]} == {"fast"}


def test_no_numbers(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is infinite cannot be taken away again: all is recomputed."""
    monkeypatch.setattr(Estimate, "is_worth_it", property(lambda self: True))
    monkeypatch.setattr(plan, "is_small", lambda rows: False)
    lake.sql(f"create materialized view @.odd options (float_additive = true) as {QUERY}")
    for statement, method in (
        ("insert into @.points values ('a', cast('Infinity' as double), 1.0F)", "complete"),
        ("delete from @.points where x = cast('Infinity' as double)", "complete"),
        ("insert into @.points values ('a', 1.0D, 1.0F)", "fast"),
        ("insert into @.points values ('a', 1.0D, cast('NaN' as float))", "complete"),
        ("insert into @.points values ('b', 1.0D, 1.0F)", "fast"),
    ):
        lake.spark(statement)
        lake.restart()
        lake.sql("refresh materialized view @.odd")
        assert_same(lake, "select * from @.odd", QUERY)
        assert lake.history("odd", "method")[-1] == (method,), statement


def test_option_is_changed(lake: Warehouse) -> None:
    """Adding needs columns that the storage table did not have: it is built anew."""
    lake.spark("delete from @.points where isnan(y)")
    lake.sql(f"create materialized view @.later as {QUERY}")
    with pytest.raises(MaterializedViewFailure, match="OR REPLACE"):
        lake.sql("alter materialized view @.later set options (float_additive = true)")
    lake.sql(
        f"create or replace materialized view @.later options (float_additive = true) as {QUERY}"
    )
    lake.spark("insert into @.points values ('d', 1.0D, 1.0F)")
    lake.restart()
    lake.sql("refresh materialized view @.later fast")
    lines = [row[0] for row in lake.sql("explain materialized view @.later")]
    assert any("changes are added to its groups" in line for line in lines), lines
    assert_same(lake, "select * from @.later", QUERY)


def test_averages_below_others(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went, computed again, could differ in its last digit: a complete refresh instead."""
    monkeypatch.setattr(Estimate, "is_worth_it", property(lambda self: True))
    monkeypatch.setattr(plan, "is_small", lambda rows: False)
    lake.spark("create table @.spans (id bigint, size int) using iceberg")
    lake.spark("insert into @.spans values (1, 1), (2, 1), (3, 2)")
    query = (
        "select max(mean) as m from (select size, avg(id) as mean from @.spans group by size "
        "union all select size, avg(id) over (partition by size) as mean from @.spans)"
    )
    lake.sql(f"create materialized view @.most as {query}")
    lake.spark("insert into @.spans values (9007199254740991, 80), (9007199254740990, 80)")
    lake.restart()
    with pytest.raises(MaterializedViewFailure, match="beyond 2 to the power of 53"):
        lake.sql("refresh materialized view @.most fast")
    lake.sql("refresh materialized view @.most")
    assert lake.history("most", "method, state")[-1] == ("complete", "SUCCEEDED")
    assert_same(lake, "select * from @.most", query)
