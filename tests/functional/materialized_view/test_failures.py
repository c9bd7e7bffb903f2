"""Base tables that are gone, refreshes that fail, and what is left then."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same


@pytest.fixture
def view(lake: Warehouse) -> Any:
    lake.spark("create or replace table @.base (k int, v int) using iceberg")
    lake.spark("insert into @.base values (1, 10), (2, 20)")
    lake.sql("create materialized view @.v as select k, 100 / v as part from @.base")
    yield "v"
    lake.sql("drop materialized view if exists @.v")
    lake.spark("drop table if exists @.base")


def status(lake: Warehouse) -> tuple[Any, ...]:
    (found,) = lake.spark(
        "select status, status_reason, consecutive_failures from @meta.mv_status "
        f"where table_name = 'v' and table_schema = '{lake.schema}'"
    )
    return found


@pytest.mark.behaviour("B11", "X6", "X7")
def test_base_table_dropped(lake: Warehouse, view: str) -> None:
    """Reads serve the stored rows, a refresh fails, the view can be dropped."""
    lake.sql("drop table @.base")
    assert sorted(lake.sql("select k from @.v")) == [(1,), (2,)]
    with pytest.raises(Exception, match=r"v could not be refreshed.*base"):
        lake.sql("refresh materialized view @.v")
    assert status(lake)[0] == "BROKEN"
    assert sorted(lake.sql("select k from @.v")) == [(1,), (2,)]
    lake.sql("drop materialized view @.v")
    assert [name for _, name in lake.relations() if name.startswith("v")] == []


@pytest.mark.behaviour("B11")
def test_base_table_back_again(lake: Warehouse, view: str) -> None:
    """It heals when a table of the name is back, with its rows."""
    lake.spark("drop table @.base")
    lake.sql("select k from @.v")
    lake.spark("create table @.base (k int, v int) using iceberg")
    lake.spark("insert into @.base values (5, 50)")
    assert lake.sql("select k from @.v") == [(5,)]
    assert status(lake)[0] == "READY"


def test_base_table_dropped_and_when_stale_fail(lake: Warehouse, view: str) -> None:
    """With when_stale 'fail' the read names the table."""
    lake.sql("alter materialized view @.v set options (when_stale = 'fail')")
    lake.spark("drop table @.base")
    with pytest.raises(Exception, match="base"):
        lake.sql("select k from @.v")


def test_logical_view_dropped(lake: Warehouse, view: str) -> None:
    """The same for a view between the base table and the materialized view."""
    lake.sql("create or replace view @.midway as select k from @.base")
    lake.sql("create materialized view @.w as select k from @.midway")
    lake.spark("drop view @.midway")
    assert sorted(lake.sql("select k from @.w")) == [(1,), (2,)]
    with pytest.raises(Exception, match="midway"):
        lake.sql("refresh materialized view @.w")
    lake.sql("create view @.midway as select k from @.base where k > 1")
    assert lake.sql("select k from @.w") == [(2,)]
    lake.sql("drop materialized view @.w")


@pytest.mark.behaviour("A21", "A22", "D10", "D44")
def test_failing_refresh_and_repair(lake: Warehouse, view: str) -> None:
    """Rows, flag and label stay; each read tries again; repair makes it work."""
    lake.sql("drop materialized view @.v")
    lake.sql(
        "create materialized view @.v as "
        "select k, case when v = 0 then raise_error('no zero') else 100 / v end as part from @.base"
    )
    build = lake.build_of("v")
    lake.sql("insert into @.base values (3, 0)")
    for attempt in (1, 2, 3):
        with pytest.raises(Exception, match=r"(?s)\.v could not be refreshed.*no zero") as caught:
            lake.sql("select * from @.v")
        assert "\tat " not in str(caught.value)
        assert lake.flag("v")
        assert status(lake) == ("BROKEN", status(lake)[1], 1), "of one command"
        assert lake.history("v").count(("FAILED",)) >= attempt
    assert "no zero" in status(lake)[1]
    assert lake.build_of("v") == build
    assert lake.spark(f"select name from {lake.storage('v')}.refs") == [("main",)]
    lake.sql("update @.base set v = 5 where k = 3")
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", "select k, 100 / v from @.base")
    assert status(lake) == ("READY", None, 0)
    states = [state for (state,) in lake.history("v")]
    assert states[-4:] == ["FAILED"] * 3 + ["SUCCEEDED"]


@pytest.mark.behaviour("D11", "D31")
def test_failed_creation_leaves_nothing(lake: Warehouse) -> None:
    """No table, no view, no entry but the history's; the same statement works later."""
    lake.spark("create or replace table @.shaky (v int) using iceberg")
    lake.spark("insert into @.shaky values (0)")
    query = "select case when v = 0 then raise_error('no zero') else v end as v from @.shaky"
    before = lake.relations()
    with pytest.raises(Exception, match="no zero"):
        lake.sql(f"create materialized view @.s as {query}")
    assert lake.relations() == before
    assert lake.spark("select * from @meta.mv_status where table_name = 's'") == []
    assert lake.history("s", "`trigger`, state, error like '%no zero%'") == [
        ("DBT_RUN", "FAILED", True)
    ]
    lake.spark("insert overwrite @.shaky values (1)")
    lake.sql(f"create materialized view @.s as {query}")
    assert lake.spark("select * from @.s") == [(1,)]
    lake.sql("drop materialized view @.s")


def test_column_of_the_base_table_dropped(lake: Warehouse, view: str) -> None:
    """A query that no longer holds: the reader is told, old rows stay, repair helps."""
    lake.spark("alter table @.base rename column v to w")
    with pytest.raises(Exception, match=r"(?s)\.v could not be refreshed.*v"):
        lake.sql("select * from @.v")
    assert lake.value("select count(*) from @.v") == 2
    lake.spark("alter table @.base rename column w to v")
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", "select k, 100 / v from @.base")


def test_upstream_fails(lake: Warehouse, view: str) -> None:
    """A view over a broken one fails with the name of the one that is broken."""
    lake.sql(
        "create materialized view @.inner_one as "
        "select case when v < 0 then raise_error('negative') else v end as v from @.base"
    )
    lake.sql("create materialized view @.outer_one as select max(v) as v from @.inner_one")
    lake.spark("insert into @.base values (4, -1)")
    with pytest.raises(Exception, match=r"inner_one could not be refreshed"):
        lake.sql("select * from @.outer_one")
    assert lake.value("select v from @.outer_one") == 20
    for name in ("outer_one", "inner_one"):
        lake.sql(f"drop materialized view @.{name}")
