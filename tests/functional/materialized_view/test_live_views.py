"""Live views: any client of Spark reads the rows of the query as they are at its own read."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.live_reads import (
    CACHED,
    EVENTS,
    FORMS,
    READERS,
    happens,
    make_sales,
    make_views,
    query_of,
    reader,
)
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import WHOLE, sample_of


@pytest.fixture(scope="module")
def sales(lake: Warehouse) -> Warehouse:
    make_views(lake)
    return lake


@pytest.fixture
def fresh(sales: Warehouse) -> Iterator[Warehouse]:
    yield sales
    sales.spark("drop table @.sales")
    make_sales(sales)
    sales.spark("insert overwrite @.shops values (1, 'rome'), (2, 'oslo')")
    sales.operation("refresh")


@pytest.mark.behaviour("E25", "E26", "E28")
@pytest.mark.parametrize(
    "event",
    sample_of(
        EVENTS,
        (
            "duplicate",
            "delete a partition",
            "delete NULL partition",
            "merge",
            "overwrite",
            "two commits",
            "partitioned by more",
            "appended and rolled back",
            "renamed away and back",
            "update of the key",
            "truncate",
            "property",
            "branch",
            "other table emptied",
        ),
    ),
)
def test_every_event(fresh: Warehouse, event: str) -> None:
    """Whatever happened to a base table, its rows are those of the query, in every session."""
    happens(fresh, event)
    for number, (name, settings) in enumerate(READERS.items()):
        read = reader(fresh, settings)
        for view in FORMS if WHOLE else list(FORMS)[number :: len(READERS)]:
            found = read(f"select * from @.{view}__live")
            assert found == read(query_of(view)), (event, view, name)


@pytest.mark.behaviour("E25")
def test_a_fresh_read_reads_stored_rows_only(fresh: Warehouse) -> None:
    """Spark learns that nothing has changed before it begins to read a base table."""

    def scans() -> str:
        frame = fresh._outside.sql(fresh.text("select * from @.by_shop__live"))
        frame.collect()
        plan = frame._jdf.queryExecution().executedPlan().toString()
        final = str(plan).partition("Initial Plan")[0]
        return "".join(name for name in ("by_shop__mv", "sales[") if f".{name}" in final)

    fresh.restart()
    fresh.sql("select * from @.by_shop")
    assert scans() == "by_shop__mv"
    happens(fresh, "append")
    assert scans() == "sales["
    fresh.restart()
    fresh.sql("select * from @.by_shop")
    assert scans() == "by_shop__mv"


@pytest.mark.behaviour("E25")
def test_only_partitions_that_changed(fresh: Warehouse) -> None:
    """Of the base table those that have changed are read, and none if the others are asked for."""

    def scanned(where: str) -> str:
        frame = fresh._outside.sql(fresh.text(f"select * from @.by_day__live where {where}"))
        frame.collect()
        plan = str(frame._jdf.queryExecution().executedPlan().toString())
        final = plan.partition("Initial Plan")[0]
        return "".join(line for line in final.splitlines() if ".sales[" in line)

    fresh.restart()
    fresh.sql("select * from @.by_day")
    assert scanned("true") == ""
    happens(fresh, "append")
    changed = fresh.value("select datediff(date'2026-01-05', date'1970-01-01')")
    assert f"day IN ({changed})" in scanned("true")
    assert scanned("day = date'2026-01-02'") == ""
    assert_same(fresh, "select * from @.by_day__live", query_of("by_day"))


def test_a_client_with_a_cache(fresh: Warehouse) -> None:
    """Its tables are up to half a minute old, and so are the rows; no read fails."""
    read = reader(fresh, {CACHED: "true"})
    before = read("select * from @.by_day__live")
    happens(fresh, "append")
    fresh.apart("select * from @.by_day")
    assert read("select * from @.by_day__live") in (before, read(query_of("by_day")))


@pytest.mark.behaviour("E25")
def test_rows_of_a_hand(fresh: Warehouse) -> None:
    """Stored rows that something else has written are not served."""
    fresh.spark(f"insert into {fresh.storage('by_day')} select * from {fresh.storage('by_day')}")
    assert_same(fresh, "select * from @.by_day__live", query_of("by_day"))


def test_nothing_is_refreshed_by_a_live_read(fresh: Warehouse) -> None:
    """Not even by one through dbt, nor is it ever stale."""
    happens(fresh, "append")
    before = fresh.build_of("by_day"), len(fresh.history("by_day"))
    fresh.restart()
    assert sorted(fresh.sql("select * from @.by_day__live"), key=str) == sorted(
        fresh.spark(query_of("by_day")), key=str
    )
    assert (fresh.build_of("by_day"), len(fresh.history("by_day"))) == before


@pytest.mark.behaviour("E25", "E27")
def test_stale_reads_by_the_live_view(fresh: Warehouse) -> None:
    """`when_stale: live` answers a stale read through dbt without a refresh."""
    fresh.sql("alter materialized view @.by_shop set options (when_stale = 'live')")
    happens(fresh, "append")
    before = len(fresh.history("by_shop"))
    fresh.restart()
    for sql in ("select * from @.by_shop", "select s.* from @.by_shop s where s.n > 0"):
        found = fresh.sql(sql)
        assert sorted(found, key=str) == sorted(fresh.spark(query_of("by_shop")), key=str)
    assert len(fresh.history("by_shop")) == before
    fresh.operation("refresh", view="by_shop")
    assert len(fresh.history("by_shop")) == before + 1
    fresh.sql("alter materialized view @.by_shop set options (when_stale = 'refresh')")


def test_a_file_that_is_there_twice(fresh: Warehouse) -> None:
    """As no statement adds it; digests of files must not cancel out."""
    table = fresh.loaded("sales")
    file = table.currentSnapshot().addedDataFiles(table.io()).iterator().next()
    for _ in range(2):
        table.newFastAppend().appendFile(file).commit()
    assert_same(fresh, "select * from @.by_day__live", query_of("by_day"))


@pytest.mark.behaviour("E25")
def test_a_process_that_died_before_the_renewal(fresh: Warehouse) -> None:
    """A text that is behind is right and slow; the next read through dbt renews it."""
    happens(fresh, "append")
    said: list[str] = []
    with armed(fresh, "live.before=raise") as command:
        command.core.services.warn = said.append
        command.sql("select * from @.by_day")
        command.flush()
    assert any("by_day__live could not be renewed: failpoint live.before" in text for text in said)
    assert fresh.freshness("by_day") == "FRESH"
    show = "show tblproperties @.by_day__live ('mv.live_state')"
    behind = fresh.spark(show)
    assert_same(fresh, "select * from @.by_day__live", query_of("by_day"))
    fresh.apart("select * from @.by_day")
    assert fresh.spark(show) != behind
    assert_same(fresh, "select * from @.by_day__live", query_of("by_day"))


@pytest.mark.behaviour("E12", "E25")
def test_time_passes(lake: Warehouse) -> None:
    """At the instant at which a stored row is another one, without any write."""
    lake.spark("create table @.shows (id int, starts timestamp) using iceberg")
    lake.spark(
        "insert into @.shows select id, now() + make_interval(0, 0, 0, 0, 0, 0, s) "
        "from values (1, 10), (2, 3600) as v(id, s)"
    )
    query = "select id from @.shows where starts > now()"
    lake.sql(f"create materialized view @.coming_shows options (live = true) as {query}")
    before = lake.spark("select * from @.coming_shows__live")
    time.sleep(11)
    assert sorted(before) == [(1,), (2,)]
    assert lake.spark("select * from @.coming_shows") == before
    assert lake.spark("select * from @.coming_shows__live") == [(2,)]
