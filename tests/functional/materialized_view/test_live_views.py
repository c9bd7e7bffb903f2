"""Live views: any client of Spark reads the rows of the query as they are at its own read."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.live_reads import (
    ANSI,
    CACHED,
    EVENTS,
    READERS,
    happens,
    make_sales,
    reader,
)
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import WHOLE, sample_of

# Views, and their queries as another program would run them.
EVERY_FORM = {
    "by_day": "select day, count(*) as n, sum(amount) as total from @.sales group by day",
    "by_shop": "select shop, count(*) as n, sum(amount) as total from @.sales group by shop",
    "of_all": "select count(*) as n, max(amount) as most from @.sales",
    "rows": "select id, amount * 2 as twice, day from @.sales where amount > 5",
    "joined": "select s.day, h.city, s.amount from @.sales s left join @.shops h on h.id = s.shop",
    "ranked": "select day, id, row_number() over (partition by day order by id, amount) as place "
    "from @.sales",
    "cte": "with big as (select * from @.sales where amount >= 20) "
    "select day, (select count(*) from @.shops) as shops, count(distinct id) as ids from big "
    "where exists (select 1 from @.shops h where h.id = big.shop) group by day",
    "both": "select id from @.sales union all select id from @.shops",
    "qualified": "select sales.day, sum(@.sales.amount) as total from @.sales group by 1",
    "through": "select day, n from @.named where n > 0",
    "above": "select sum(total) as total, count(*) as days from {mv}",
}
FORMS = sample_of(EVERY_FORM, ("rows", "joined", "both", "through"))


@pytest.fixture(scope="module")
def sales(lake: Warehouse) -> Warehouse:
    make_sales(lake)
    lake.spark("create table @.shops (id int, city string) using iceberg")
    lake.spark("insert into @.shops values (1, 'rome'), (2, 'oslo')")
    lake.spark("create view @.named as select day, count(*) as n from @.sales group by day")
    for view, query in FORMS.items():
        text = query.format(mv="@.by_day")
        lake.sql(f"create materialized view @.{view} options (live = true) as {text}")
    return lake


@pytest.fixture
def fresh(sales: Warehouse) -> Iterator[Warehouse]:
    yield sales
    sales.spark("drop table @.sales")
    make_sales(sales)
    sales.spark("insert overwrite @.shops values (1, 'rome'), (2, 'oslo')")
    sales.operation("refresh")


def query_of(view: str) -> str:
    return FORMS[view].format(mv=f"({FORMS['by_day']})").replace("@.sales.amount", "sales.amount")


@pytest.mark.behaviour("E25", "E26", "E28")
@pytest.mark.parametrize(
    "event",
    sample_of(
        EVENTS,
        (
            "duplicate",
            "delete a partition",
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
    assert f"runtimeFilters=(day IN ({changed})" in scanned("true")
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


def test_time_zones_and_modes(lake: Warehouse) -> None:
    """What depends on a session fails in another one, as soon as its query would run."""
    lake.sql("set time zone 'Asia/Kolkata'")
    lake.spark("create table @.clicks (at timestamp, n int) using iceberg")
    lake.spark("insert into @.clicks values (timestamp'2026-01-01 22:00:00Z', 1)")
    lake.sql(
        "create materialized view @.by_date options (live = true) as "
        "select cast(at as date) as day, sum(n) as n from @.clicks group by 1"
    )
    lake.sql(
        "create materialized view @.sizes options (live = true) as "
        "select size(array(n)) as s, coalesce(n, '1') as t from @.clicks"
    )
    other, same = reader(lake, {}), reader(lake, {"spark.sql.session.timeZone": "Asia/Kolkata"})
    ansi = reader(lake, {ANSI: "true"})
    stored = {"(datetime.date(2026, 1, 2), 1)": 1}
    assert other("select * from @.by_date__live") == stored
    assert ansi("select * from @.sizes__live") == {"(1, '1')": 1}
    lake.spark("insert into @.clicks values (timestamp'2026-01-01 22:00:00Z', 1)")
    assert same("select n from @.by_date__live") == {"(2,)": 1}
    with pytest.raises(Exception, match=r"Set spark.sql.session.timeZone = Asia/Kolkata"):
        other("select * from @.by_date__live")
    with pytest.raises(Exception, match=r"Set spark.sql.ansi.enabled = false"):
        ansi("select * from @.sizes__live")
    lake.sql("set time zone 'UTC'")


def test_names_and_drops(sales: Warehouse) -> None:
    """The live view goes with its view, and when it is not wanted any more."""
    create = "create or replace materialized view @.coming {} as select id from @.shops"
    sales.sql(create.format("options (live = true)"))
    assert ("v", "coming__live") in sales.relations()
    sales.sql("alter materialized view @.coming set options (live = false)")
    assert ("v", "coming__live") not in sales.relations()
    sales.sql(create.format("options (live = true)"))
    sales.sql(create.format(""))
    assert ("v", "coming__live") not in sales.relations()
    sales.sql("alter materialized view @.coming set options (live = true)")
    with pytest.raises(MaterializedViewFailure, match="which is a live view"):
        sales.sql("create materialized view @.over as select * from @.coming__live")
    sales.sql("drop materialized view @.coming")
    assert [name for _, name in sales.relations() if name.startswith("coming")] == []


def test_a_live_view_that_was_left(sales: Warehouse) -> None:
    """A sweep drops those of views that are gone."""
    sales.sql("create materialized view @.gone options (live = true) as select id from @.shops")
    sales.spark("drop view @.gone")
    report = sales.operation("sweep")
    assert any(row[0].startswith("live view") and "gone__live" in row[0] for row in report.rows)
    assert ("v", "gone__live") not in sales.relations()
    assert ("v", "by_day__live") in sales.relations()


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
        "from values (1, 4), (2, 3600) as v(id, s)"
    )
    query = "select id from @.shows where starts > now()"
    lake.sql(f"create materialized view @.coming_shows options (live = true) as {query}")
    before = lake.spark("select * from @.coming_shows__live")
    time.sleep(5)
    assert sorted(before) == [(1,), (2,)]
    assert lake.spark("select * from @.coming_shows") == before
    assert lake.spark("select * from @.coming_shows__live") == [(2,)]


REFUSED = {
    "select id, rand() as r from @.shops": "calls rand",
    "select id, now() as loaded_at from @.shops": "shows when its rows were computed",
    "select id, _file as f from @.shops": "where rows are stored",
    "select id from spark_catalog.default.live_files": "has no versions",
}


@pytest.mark.parametrize("query", REFUSED)
def test_refused(sales: Warehouse, query: str) -> None:
    """What could not be right is refused at creation, and changes nothing."""
    files = "spark_catalog.default.live_files"
    sales.spark(f"create table if not exists {files} (id int) using parquet")
    before = sales.state()
    with pytest.raises(MaterializedViewFailure, match=REFUSED[query]):
        sales.sql(f"create materialized view @.never options (live = true) as {query}")
    assert sales.state() == before


def test_a_name_that_is_taken(sales: Warehouse) -> None:
    """Nothing of somebody else's is replaced."""
    sales.spark("create table @.taken__live (id int) using iceberg")
    with pytest.raises(MaterializedViewFailure, match="taken__live exists, and is no live view"):
        sales.sql(
            "create materialized view @.taken options (live = true) as select id from @.shops"
        )
