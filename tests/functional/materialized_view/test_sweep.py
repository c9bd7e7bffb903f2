"""Cleaning up, and keeping tables small."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create or replace materialized view @.totals as {QUERY}")
    lake.restart()


def sweep(lake: Warehouse, **arguments: Any) -> dict[str, str]:
    return dict(lake.operation("sweep", **arguments).rows)


def branches(lake: Warehouse) -> set[str]:
    return {row[0] for row in lake.spark(f"select name from {lake.storage('totals')}.refs")}


def test_nothing_to_sweep(lake: Warehouse) -> None:
    report = lake.operation("sweep")
    assert report.rows == () and report.notes == ("nothing to clean up",)


def test_branches_are_dropped(lake: Warehouse) -> None:
    """Of older builds at once; of this build when nobody says for long that it is his."""
    storage = lake.storage("totals")
    old = f"refresh_{lake.build_of('totals')}_1"
    lake.spark(f"alter table {storage} create branch `{old}`")
    lake.spark(f"alter table {storage} create branch mine")
    lake.sql("insert into @.orders values (300, 'ann', 1)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dbt.adapters.spark_mv.refresh.lock._UNKNOWN_OWNER_GRACE", 0.5)
        lake.sql("select * from @.totals")
        new = f"refresh_{lake.build_of('totals')}_1"
        lake.spark(f"alter table {storage} create branch `{new}`")
        assert sweep(lake)[f"branch {new} of {lake.schema}.{storage.split('.')[1]}"] == "dropped"
    assert branches(lake) == {"main", "mine"}
    lake.spark(f"alter table {storage} drop branch mine")


def test_branch_of_a_running_refresh_stays(lake: Warehouse) -> None:
    with Paused(lake, "write.after", "refresh materialized view @.totals complete") as refresh:
        assert list(sweep(lake).values()) == ["kept: a refresh is running"]
        assert refresh.end() is None
    assert branches(lake) == {"main"}


def test_storage_tables(lake: Warehouse) -> None:
    """One that nobody knows may be under construction; one that was replaced is not."""
    mark = "tblproperties ('mv.storage_of' = 'local.sweep.totals')"
    lake.spark(f"create table @.totals__mv_0123abcd using iceberg {mark} as select 1 as x")
    replaced = lake.storage("totals")
    lake.sql(f"create or replace materialized view @.totals as {QUERY} order by total")
    found = sweep(lake)
    assert found[f"table {replaced}"] == "dropped"
    assert "under construction" in found[f"table {lake.schema}.totals__mv_0123abcd"]
    hasty = Warehouse({**lake.target, "refresh_timeout": 1}, lake.schema)
    time.sleep(1.1)
    assert sweep(hasty) == {f"table {lake.schema}.totals__mv_0123abcd": "dropped"}
    assert_same(lake, "select * from @.totals", QUERY)


def test_tables_of_others_stay(lake: Warehouse) -> None:
    """A name like that of a storage table makes no table one of ours; a label does, of old ones."""
    for digits in ("00000000", "11111111"):
        lake.spark(f"create table @.totals__mv_{digits} using iceberg as select 1 as x")
    label = "'snapshot-property.mv.refresh_id' = 'abc'"
    lake.spark(f"insert into @.totals__mv_11111111 with ({label}) values (2)")
    lake.spark("insert into @.totals__mv_11111111 values (3)")
    hasty = Warehouse({**lake.target, "refresh_timeout": 1}, lake.schema)
    time.sleep(1.1)
    found = sweep(hasty)
    assert found[f"table {lake.schema}.totals__mv_11111111"] == "dropped"
    assert f"table {lake.schema}.totals__mv_00000000" not in found
    assert lake.spark("select * from @.totals__mv_00000000") == [(1,)]
    lake.spark("drop table @.totals__mv_00000000")


def test_name_is_something_else_now(lake: Warehouse) -> None:
    """A view that another program replaced by a table is forgotten, and its storage goes."""
    lake.sql(f"create materialized view @.gone as {QUERY}")
    storage = lake.storage("gone")
    lake.spark("drop view @.gone")
    lake.spark("create table @.gone using iceberg as select 1 as x")
    found = sweep(lake)
    assert found[f"table {storage}"] == "dropped"
    assert found[f"view {lake.schema}.gone"].startswith("forgotten")
    assert sweep(lake) == {} and lake.spark("select * from @.gone") == [(1,)]
    lake.spark("drop table @.gone")


def test_storage_under_construction_stays(lake: Warehouse) -> None:
    """Its builder has said who it is, and lives."""
    create = f"create materialized view @.later as {QUERY}"
    with Paused(lake, "storage.after", create) as build:
        (what,) = (what for table, what in sweep(lake).items() if "later__mv_" in table)
        assert "under construction" in what
        assert build.end() is None
    assert sweep(lake) == {}
    assert_same(lake, "select * from @.later", QUERY)
    lake.sql("drop materialized view @.later")


@pytest.mark.behaviour("D32")
def test_view_dropped_by_another_program(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.gone as {QUERY}")
    storage = lake.storage("gone")
    lake.spark("drop view @.gone")
    found = sweep(lake)
    assert found[f"table {storage}"] == "dropped"
    assert found[f"view {lake.schema}.gone"].startswith("forgotten")
    assert sweep(lake) == {}
    assert lake.history("gone") != []


def snapshots(lake: Warehouse, table: str) -> int:
    return int(lake.value(f"select count(*) from {table}.snapshots"))


@pytest.mark.behaviour("D50")
def test_maintain(lake: Warehouse) -> None:
    """Small files are compacted, old snapshots expire; freshness, rows and history stay."""
    for number in range(7):
        lake.sql(f"insert into @.orders values ({400 + number}, 'c{number}', 1)")
        lake.sql("select * from @.totals")
    storage, before = lake.storage("totals"), lake.history("totals")
    for _ in range(3):
        report = lake.operation("maintain", view="totals", keep_hours=0)
        assert not report.failures and {row[1] for row in report.rows} == {"done"}
        assert lake.freshness("totals") == "FRESH"
    assert snapshots(lake, storage) <= 5
    assert snapshots(lake, f"{lake.metadata_schema}.mv_events") <= 20
    assert lake.value(f"select count(*) from {lake.metadata_schema}.mv_events.files") < 10
    assert branches(lake) == {"main"}
    assert lake.history("totals") == before
    assert any("oldest version of" in note and "orders" in note for note in report.notes)
    lake.restart()
    build = lake.build_of("totals")
    lake.sql("select * from @.totals")
    assert lake.build_of("totals") == build
    assert_same(lake, "select * from @.totals", QUERY)


def test_compacted_storage_keeps_its_label(lake: Warehouse) -> None:
    """The snapshot with the label stays, however small the rest is made."""
    lake.sql(
        "create or replace materialized view @.wide partitioned by (id) as "
        "select id, amount from @.orders"
    )
    lake.spark(f"alter table {lake.storage('wide')} set tblproperties ('x' = 'y')")
    lake.restart()
    lake.operation("maintain", view="wide", keep_hours=0)
    assert lake.freshness("wide") == "FRESH"
    lake.sql("drop materialized view @.wide")


@pytest.mark.behaviour("D6")
def test_maintain_beside_a_refresh(lake: Warehouse) -> None:
    """A refresh that is running is not undone: the view is left out."""
    lake.sql("insert into @.orders values (500, 'zoe', 1)")
    with Paused(lake, "publish.before", "select * from @.totals") as reader:
        report = lake.operation("maintain", view="totals", keep_hours=0)
        assert "a refresh is running" in report.rows[0][1]
        assert reader.end() is None
    assert lake.freshness("totals") == "FRESH"
    assert_same(lake, "select * from @.totals", QUERY)
