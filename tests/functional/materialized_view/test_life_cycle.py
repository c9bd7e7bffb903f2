"""Create, read, write to base tables, refresh, drop: rows A and B of the reference systems."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import UnknownMaterializedView
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"


@pytest.fixture
def totals(lake: Warehouse) -> Any:
    lake.sql(f"create or replace materialized view @.totals as {QUERY}")
    lake.sql("refresh materialized view @.totals complete")
    yield "totals"
    lake.sql("drop materialized view if exists @.totals")


def insert(lake: Warehouse, amount: int = 1) -> None:
    lake.sql(f"insert into @.orders values (9, 'cy', {amount})")


@pytest.mark.behaviour("A1")
def test_rows_are_stored(lake: Warehouse, totals: str) -> None:
    """The rows are in a table of their own; reading them reads no base table."""
    (plan,) = lake.spark(f"explain extended select * from @.{totals}")[0]
    assert "totals__mv_" in plan
    physical = plan.split("== Physical Plan ==")[1]
    assert "orders" not in physical
    ((provider,),) = [
        (row[1],)
        for row in lake.spark(f"describe extended {lake.storage(totals)}")
        if row[0] == "Provider"
    ]
    assert provider == "iceberg"


@pytest.mark.behaviour("A2", "E8")
def test_writes_only_mark(lake: Warehouse, totals: str) -> None:
    """Five writes to a base table set the flag and compute nothing."""
    before = lake.build_of(totals)
    for _ in range(5):
        insert(lake)
    assert lake.build_of(totals) == before and lake.flag(totals)


@pytest.mark.behaviour("A3", "A9", "X2")
def test_write_marks_read_refreshes(lake: Warehouse, totals: str) -> None:
    """The flag is set by a write and cleared by the read that brings new rows."""
    assert not lake.flag(totals)
    insert(lake)
    assert lake.flag(totals)
    rows = lake.sql(f"select * from @.{totals}")
    assert not lake.flag(totals)
    assert sorted(rows) == sorted(lake.spark(QUERY))
    assert_same(lake, f"select * from @.{totals}", QUERY)


@pytest.mark.behaviour("A7")
def test_registered_at_creation(lake: Warehouse, totals: str) -> None:
    """Query, base tables and time of refresh are in the metadata, and the view is not stale."""
    ((definition, status),) = lake.spark(
        f"select definition, status from @meta.mv_status where table_name = '{totals}'"
    )
    assert (definition, status) == (lake.text(QUERY), "READY")
    edges = lake.spark(
        "select source_schema, source_name, source_kind, depth from @meta.mv_dependencies_graph "
        f"where table_name = '{totals}'"
    )
    assert edges == [(lake.schema, "orders", "TABLE", 1)]
    assert not lake.flag(totals)


@pytest.mark.behaviour("A8")
def test_unrelated_writes_mark_nothing(lake: Warehouse, totals: str) -> None:
    """A write to another table changes neither flag nor metadata."""
    lake.sql("create or replace table @.unrelated (id int) using iceberg")
    events = lake.value("select count(*) from @meta.mv_events")
    lake.sql("insert into @.unrelated values (1)")
    assert not lake.flag(totals)
    assert lake.value("select count(*) from @meta.mv_events") == events


@pytest.mark.behaviour("A10")
def test_fresh_read_does_nothing(lake: Warehouse, totals: str) -> None:
    """Two reads of a fresh view change neither rows nor metadata, and make no relation."""
    lake.restart()
    before = lake.build_of(totals), lake.history(totals), lake.state()
    last = "select last_refresh_time from @meta.materialized_views where table_name = 'totals'"
    at = lake.value(last)
    for _ in range(2):
        lake.sql(f"select * from @.{totals}")
        lake.restart()
    assert (lake.build_of(totals), lake.history(totals), lake.state()) == before
    assert lake.value(last) == at


@pytest.mark.behaviour("A11")
def test_refresh_of_fresh_view(lake: Warehouse, totals: str) -> None:
    """An explicit refresh ignores the flag; with nothing new it moves only the time."""
    last = "select last_refresh_time from @meta.materialized_views where table_name = 'totals'"
    at, build = lake.value(last), lake.build_of(totals)
    lake.sql(f"refresh materialized view @.{totals}")
    assert lake.value(last) > at
    assert lake.build_of(totals) == build
    assert lake.history(totals)[-1] == ("SKIPPED",)
    lake.sql(f"refresh materialized view @.{totals} complete")
    assert lake.build_of(totals) != build
    assert lake.history(totals)[-1] == ("SUCCEEDED",)


@pytest.mark.behaviour("A13", "X5")
def test_watermark_is_not_newer_than_the_rows(lake: Warehouse, totals: str) -> None:
    """The rows are the query's at the pinned version; the watermark is its time."""
    insert(lake)
    lake.sql(f"select * from @.{totals}")
    ((watermark, refreshed),) = lake.spark(
        "select refresh_watermark, last_refresh_time from @meta.materialized_views "
        f"where table_name = '{totals}'"
    )
    assert watermark <= refreshed
    ((pinned,),) = lake.spark(
        f"select pinned_version from @meta.mv_dependencies_graph where table_name = '{totals}'"
    )
    committed = f"select committed_at from @.orders.snapshots where snapshot_id = {pinned}"
    assert watermark == lake.value(committed)
    lake.spark("insert into @.orders values (10, 'dan', 5)")
    pinned_query = QUERY.replace("@.orders", f"@.orders version as of {pinned}")
    assert_same(lake, f"select * from @.{totals}", pinned_query)


@pytest.mark.behaviour("X5")
def test_watermark_of_several_tables(lake: Warehouse) -> None:
    """Of several versions that were read the watermark is the time of the oldest."""
    times = []
    for table in ("older", "newer"):
        lake.spark(f"create or replace table @.{table} (k int) using iceberg")
        lake.spark(f"insert into @.{table} values (1)")
        times.append(lake.value(f"select max(committed_at) from @.{table}.snapshots"))
    lake.sql(
        "create or replace materialized view @.both as "
        "select n.k from @.newer n join @.older o on n.k = o.k"
    )
    assert times[0] < times[1]
    watermark = "select refresh_watermark from @meta.materialized_views where table_name = 'both'"
    assert lake.value(watermark) == times[0]
    lake.sql("drop materialized view @.both")


@pytest.mark.behaviour("A17", "X13", "E9")
def test_value_of_refresh_time(lake: Warehouse) -> None:
    """current_timestamp is that of the refresh; only an explicit one moves it."""
    lake.sql(
        "create or replace materialized view @.stamped as "
        "select max(id) as id, current_timestamp() as at from @.orders"
    )
    ((_, first),) = lake.sql("select * from @.stamped")
    assert lake.sql("select at from @.stamped") == [(first,)]
    time.sleep(0.01)
    lake.sql("refresh materialized view @.stamped")
    ((second,),) = lake.sql("select at from @.stamped")
    assert second > first


@pytest.mark.behaviour("A18", "E18")
def test_one_refresh_for_many_writes(lake: Warehouse, totals: str) -> None:
    """Five writes and one read are one more refresh."""
    before = lake.builds(totals)
    for amount in range(5):
        insert(lake, amount)
    lake.sql(f"select * from @.{totals}")
    assert lake.builds(totals) == before + 1


@pytest.mark.behaviour("B1", "B10", "D32")
def test_each_step_is_recorded(lake: Warehouse) -> None:
    """Creation, refreshes with method and trigger, removal."""
    lake.sql(f"create materialized view @.steps as {QUERY}")
    insert(lake)
    lake.sql("select * from @.steps")
    lake.apart("call bq.refresh_materialized_view('@.steps')", "run-operation")
    lake.sql("refresh materialized view @.steps complete")
    found = lake.history("steps", "`trigger`, requested_method, method, state")
    assert found == [
        ("DBT_RUN", "auto", "complete", "SUCCEEDED"),
        ("READ", "auto", "complete", "SUCCEEDED"),
        ("MANUAL", "auto", "none", "SKIPPED"),
        ("DBT_RUN", "complete", "complete", "SUCCEEDED"),
    ]
    lake.sql("drop materialized view @.steps")
    assert lake.value("select count(*) from @meta.mv_status where table_name = 'steps'") == 0
    assert [name for _, name in lake.relations() if name.startswith("steps")] == []


@pytest.mark.behaviour("B24")
def test_second_write_marks_nothing_more(lake: Warehouse, totals: str) -> None:
    """The first write appends one mark, the second none."""
    marks = "select count(*) from @meta.mv_events where kind = 'MARKED_STALE'"
    before = lake.value(marks)
    insert(lake)
    assert lake.value(marks) == before + 1
    insert(lake)
    assert lake.value(marks) == before + 1


@pytest.mark.behaviour("B21", "E27")
def test_view_named_twice_is_refreshed_once(lake: Warehouse, totals: str) -> None:
    """A self join of a stale view refreshes it once."""
    insert(lake)
    before = lake.builds(totals)
    lake.sql(f"select * from @.{totals} a join @.{totals} b on a.customer = b.customer")
    assert lake.builds(totals) == before + 1


@pytest.mark.behaviour("B18", "B20")
@pytest.mark.parametrize(
    "statement",
    [
        "drop materialized view @.nothing",
        "drop materialized view @.orders",
        "drop materialized view if exists @.orders",
        "refresh materialized view @.nothing",
        "refresh materialized view @.orders",
        "explain materialized view @.orders",
        "alter materialized view @.orders set options (enable_refresh = false)",
    ],
)
def test_not_a_materialized_view(lake: Warehouse, statement: str) -> None:
    """Verbs on something else fail and change nothing."""
    before = lake.state()
    with pytest.raises(Exception) as caught:
        lake.sql(statement)
    assert isinstance(
        caught.value.__cause__, UnknownMaterializedView
    ) or "materialized view" in str(caught.value)
    assert lake.state() == before


@pytest.mark.behaviour("B18")
def test_drop_if_exists_of_nothing(lake: Warehouse) -> None:
    """IF EXISTS of a free name is no error."""
    lake.sql("drop materialized view if exists @.nothing")


@pytest.mark.behaviour("B20")
def test_reading_tables_adds_no_history(lake: Warehouse, totals: str) -> None:
    """A read of a plain table does nothing to any view."""
    events = lake.value("select count(*) from @meta.mv_events")
    lake.sql("select * from @.orders")
    assert lake.value("select count(*) from @meta.mv_events") == events


@pytest.mark.behaviour("B26")
def test_rows_and_bytes_follow(lake: Warehouse, totals: str) -> None:
    """Row count, bytes and rows written are those of the last build."""
    insert(lake)
    lake.sql(f"select * from @.{totals}")
    count = lake.value(f"select count(*) from @.{totals}")
    ((rows, size),) = lake.spark(
        f"select `rows`, bytes from @meta.mv_status where table_name = '{totals}'"
    )
    assert rows == count and size > 0
    assert lake.history(totals, "rows_inserted")[-1] == (count,)


@pytest.mark.behaviour("B23", "X8", "E33")
def test_three_levels_are_fresh_after_one_read(lake: Warehouse, totals: str) -> None:
    """A write marks every level; one read refreshes them, inner first."""
    lake.sql(f"create materialized view @.level2 as select * from @.{totals} where total > 0")
    lake.sql("create materialized view @.level3 as select sum(total) as total from @.level2")
    insert(lake, 70)
    assert [lake.flag(name) for name in (totals, "level2", "level3")] == [True] * 3
    lake.sql("select * from @.level3")
    assert_same(lake, "select * from @.level3", "select sum(amount) from @.orders")
    assert [lake.freshness(n) for n in (totals, "level2", "level3")] == ["FRESH"] * 3
    assert [lake.flag(name) for name in (totals, "level2", "level3")] == [False] * 3
    ended = [lake.history(n, "ended_at")[-1] for n in (totals, "level2", "level3")]
    assert ended == sorted(ended)
    for name in ("level3", "level2"):
        lake.sql(f"drop materialized view @.{name}")


@pytest.mark.behaviour("B25")
@pytest.mark.parametrize("seed", range(3))
def test_stale_exactly_after_a_write_to_a_base_table(
    lake: Warehouse, totals: str, seed: int
) -> None:
    """Whatever is written, in any order and how often, the flag tells whether it matters."""
    lake.spark("create table if not exists @.apart (id int, customer string, amount int)")
    chosen = random.Random(seed).choices(["orders", "apart"], weights=[1, 5], k=4)
    for count, table in enumerate(chosen, 1):
        lake.sql(f"insert into @.{table} values (1, 'x', 1)")
        assert lake.flag(totals) is ("orders" in chosen[:count])
    assert (lake.freshness(totals) == "STALE") is ("orders" in chosen)
