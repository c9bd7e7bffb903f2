"""The clock as a change: fast refreshes by the rows that crossed a moment, and by partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog.change_sets import COMPARED, Change
from dbt.adapters.spark_mv.expiry.crossings import Clock, changed_with_clock
from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import inputs
from tests.functional.materialized_view.clocks import Shift
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE, sample_of

NOON = "2026-03-01 12:00:00"
EVERY_FORM = {
    "filter": "select id, starts from @.shows where starts > now()",
    "week": "select id from @.shows where starts > now() and starts - now() < interval 7 days",
    "flag": "select id, starts <= now() as over, hall from @.shows",
    "label": "select case when starts < now() then 'over' when starts < now() + interval 1 day "
    "then 'soon' else 'later' end as state, count(*) as n from @.shows group by 1",
    "sums": "select hall, count(*) as n, sum(case when starts > now() then seats end) as seats, "
    "count_if(starts <= current_timestamp) as gone from @.shows group by hall",
    "extremes": "select hall, min(starts) as next, max(seats) as most from @.shows "
    "where starts > now() group by hall",
    "distinct": "select distinct hall, seats from @.shows where starts > now() - interval 36 hours",
    "joined": "select s.id, h.name from @.shows s join @.halls h on h.id = s.hall "
    "where s.starts >= now() and h.opens <= current_date()",
    "outer": "select h.id, h.name, s.starts from @.halls h left join @.shows s on s.hall = h.id "
    "and s.starts > now()",
    "exists": "select id, name from @.halls h where exists "
    "(select 1 from @.shows s where s.hall = h.id and s.starts > now())",
    "not_exists": "select id from @.halls h where not exists "
    "(select 1 from @.shows s where s.hall = h.id and starts between now() and now() + "
    "interval 1 day)",
    "ranked": "select id, hall, row_number() over (partition by hall order by starts, id) as place "
    "from @.shows where starts > now()",
    "next_three": "select id, starts from @.shows where starts > now() order by starts, id limit 3",
    "derived": "with s as (select id, starts, hall as place from @.shows) "
    "select place, count(*) as n from s where starts > now() group by place",
    "filled": "select h.id, coalesce(s.starts > now(), true) as a, s.starts is null or s.starts > "
    "now() as b from @.halls h left join @.shows s on s.hall = h.id and s.seats > 5",
    "union": "select id from @.shows where starts > now() union all select id from @.halls "
    "where opens > current_date()",
    "days": "select id, opens from @.halls where datediff(current_date(), opens) <= 7",
    "nulls": "select id, coalesce(starts > now(), false) as ahead, starts is null as no_time "
    "from @.shows",
    "nulled": "select id, opens < nullif(current_date(), date'2026-03-02') as f from @.halls "
    "where opens > nullif(current_date(), date'2026-03-08') or opens is not null",
    "between": "select s.id, h.opens between date'2026-02-01' and current_date() as f from @.shows "
    "s left join @.halls h on h.id = s.hall where not (s.starts between now() and s.starts)",
    "keys": "select not (starts > now()) as f, starts > now() as g, count(*) as n, "
    "count_if(not starts > now()) as m from @.shows group by starts > now()",
    "two": "select d.i, d.st > now() as f, d.bt > now() as g from (select a.id as i, b.id as j, "
    "a.starts as st, b.starts as bt from @.shows a join @.shows b on a.hall = b.hall) d",
    "seconds": "select id from @.shows where unix_timestamp() - unix_timestamp(starts) < 7200",
}
FORMS = sample_of(
    EVERY_FORM, "flag distinct days seconds union week extremes not_exists nulls".split()
)
# A time, and what another program has done by then.
STEPS: tuple[tuple[str, str], ...] = (
    ("2026-03-01 12:30:00", ""),
    (
        "2026-03-01 13:00:00",
        "insert into @.shows values (20, timestamp'2026-03-01 14:00:00Z', 1, 5),"
        " (21, timestamp'2026-03-01 12:45:00Z', 2, 5), (22, timestamp'2026-03-05 12:00:00Z', 2, 5)",
    ),
    ("2026-03-01 14:00:00", "delete from @.shows where id in (2, 20)"),
    ("2026-03-01 14:00:01", ""),
    ("2026-03-02 20:00:00", "update @.shows set starts = starts - interval 2 days where hall = 1"),
    ("2026-03-02 21:00:00", "update @.halls set opens = date'2026-03-02' where id = 2"),
    ("2026-03-08 12:00:00", "insert into @.shows values (23, null, 1, 2)"),
    ("2026-03-08 13:00:00", ""),
    ("2026-09-01 00:00:00", ""),
)


@pytest.fixture
def shows(lake: Warehouse) -> Iterator[Warehouse]:
    for run in (lake.sql, lake.spark):
        run("set time zone 'UTC'")
    lake.spark("create table @.shows (id int, starts timestamp, hall int, seats int) using iceberg")
    lake.spark("create table @.halls (id int, name string, opens date) using iceberg")
    lake.spark(
        "insert into @.shows values (1, timestamp'2026-03-01 12:00:00Z', 1, 10), "
        "(2, timestamp'2026-03-01 12:30:00Z', 1, 10), (3, timestamp'2026-03-01 13:00:00Z', 2, 7), "
        "(4, timestamp'2026-03-02 20:00:00Z', 2, 7), (4, timestamp'2026-03-02 20:00:00Z', 2, 7), "
        "(5, timestamp'2026-03-08 12:00:00Z', 1, 3), (7, null, 2, 1), "
        "(6, timestamp'2026-03-08 13:00:00Z', null, 3), (8, timestamp'2026-02-01 00:00:00Z', 1, 9)"
    )
    lake.spark(
        "insert into @.halls values (1, 'red', date'2026-01-01'), (2, 'blue', date'2026-03-02'), "
        "(3, 'green', null)"
    )
    yield lake
    lake.spark("drop table @.shows purge")
    lake.spark("drop table @.halls purge")


def name_of(form: str) -> str:
    return f"clock_{form}"


def refreshed(lake: Warehouse, views: list[str], method: str) -> None:
    lake.operation("refresh", view=views, method=method)
    for row in lake.operation("verify", view=views).rows:
        assert row[1] == "OK", row


@pytest.mark.behaviour("E12", "E19")
def test_rows_that_crossed(shows: Warehouse, clock: Shift) -> None:
    """At each instant, with and without writes in between, what is stored is what the query
    returns, and no refresh was complete. In the sample every other view has its turn at one,
    and all have at the last one."""
    clock(NOON)
    views = [name_of(form) for form in FORMS]
    for form, query in FORMS.items():
        options = "options (refresh_method = 'fast')"
        shows.sql(f"create materialized view @.{name_of(form)} {options} as {query}")
    steps = STEPS if WHOLE else (*STEPS[:3], *STEPS[4::2])
    for number, (at, write) in enumerate(steps):
        if write:
            shows.spark(write)
        clock(at)
        has_all = WHOLE or at == steps[-1][0]
        refreshed(shows, views if has_all else views[number % 2 :: 2], "fast")
    done = shows.methods()
    assert {method for view in views for method, _ in done[view][1:]} <= {"fast", "none"}
    assert all(("fast", "SUCCEEDED") in done[view][1:] for view in views)
    for view in views:
        shows.sql(f"drop materialized view @.{view}")


def swapped(clock: Clock, table: str, change: Change, columns: Any, at: Any, nets: bool) -> str:
    return changed_with_clock(clock, table, change, columns, at[::-1], nets)


def without_crossed(
    clock: Clock, table: str, change: Change, columns: Any, at: Any, nets: bool
) -> str:
    written = replace(change, crossed=0, way=COMPARED)
    return changed_with_clock(clock, table, written, columns, at, nets)


@pytest.mark.parametrize("mutant", [swapped, without_crossed])
def test_mutants(
    shows: Warehouse, clock: Shift, mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong rows by the clock are seen by `verify`, as the other tests ask it."""
    monkeypatch.setattr(inputs, "changed_with_clock", mutant)
    clock(NOON)
    query = EVERY_FORM["filter"]
    options = "options (refresh_method = 'fast')"
    shows.sql(f"create or replace materialized view @.mutant {options} as {query}")
    clock("2026-03-01 13:30:00")
    shows.operation("refresh", view="mutant")
    assert shows.history("mutant", "method")[-1] == ("fast",)
    assert shows.operation("verify", view="mutant").rows[0][1] != "OK"
    shows.sql("drop materialized view @.mutant")


def test_nothing_crossed(shows: Warehouse, clock: Shift) -> None:
    """A tick by which no row is another one moves the label, and writes no row."""
    clock(NOON)
    shows.sql(
        "create materialized view @.soon options (refresh_method = 'fast', "
        "max_age = 'INTERVAL 10 MINUTES') as select id from @.shows where starts > now()"
    )
    clock("2026-03-01 12:15:00")
    assert shows.freshness("soon") == "STALE"
    before = shows.spark(f"select file_path from {shows.storage('soon')}.files")
    shows.operation("refresh", view="soon")
    assert shows.freshness("soon") == "FRESH"
    assert shows.spark(f"select file_path from {shows.storage('soon')}.files") == before
    assert shows.history("soon", "method")[-1] == ("fast",)
    shows.sql("drop materialized view @.soon")


@pytest.mark.behaviour("E12")
def test_partitions_of_a_window(shows: Warehouse, clock: Shift) -> None:
    """Days that enter a window are computed, days that leave it go."""
    shows.spark("create table @.clicks (day date, n int) using iceberg partitioned by (day)")
    shows.spark(
        "insert into @.clicks select date_add(date'2026-02-15', cast(id as int)), 1 from range(30)"
    )
    clock(NOON)
    shows.sql(
        "create materialized view @.window partitioned by (day) options "
        "(refresh_method = 'partition') as select day, sum(n) as n from @.clicks "
        "where day >= current_date() - 7 and day <= current_date() group by day"
    )
    for at, new in (("2026-03-02 00:00:00", "2026-03-02"), ("2026-03-05 10:00:00", "2026-03-05")):
        clock(at)
        refreshed(shows, ["window"], "partition")
        assert str(shows.value("select max(day) from @.window")) == new
        assert shows.value("select count(*) from @.window") == 8
    assert shows.history("window", "method")[1:] == [("partition",)] * 2
    shows.sql("drop materialized view @.window")
    shows.spark("drop table @.clicks purge")


def test_partitions_that_the_clock_says(shows: Warehouse, clock: Shift) -> None:
    """Rows move from one partition to another, as time passes."""
    clock(NOON)
    shows.sql(
        "create materialized view @.by_state partitioned by (state) options "
        "(refresh_method = 'partition') as select case when starts < now() then 'over' "
        "when starts < now() + interval 1 day then 'soon' else 'later' end as state, "
        "hall, count(*) as n from @.shows group by 1, 2"
    )
    for at, write in STEPS[:5]:
        if write:
            shows.spark(write)
        clock(at)
        refreshed(shows, ["by_state"], "partition")
    assert {row[0] for row in shows.history("by_state", "method")[1:]} == {"none", "partition"}
    shows.sql("drop materialized view @.by_state")


REFUSED = {
    "select id, now() as loaded_at from @.shows": "CLOCK",
    "select id, datediff(current_date(), opens) as age from @.halls": "CLOCK",
    "select hall, max(starts) as m from @.shows group by hall having max(starts) > now()": "CLOCK",
    "select n from (select hall, count(*) as n, max(starts) as m from @.shows group by hall) "
    "where m > now()": "CLOCK_OVER_GROUPS",
    "select opens, opens <= current_date() as o, count(*) as n from @.halls group by opens": ""
    "CLOCK_OVER_GROUPS",
    "select s.id, current_date() between h.opens and date'2026-02-01' as f from @.shows s "
    "left join @.halls h on h.id = s.hall": "CLOCK",
    "select s.id from @.shows s join @.halls h on h.id = s.hall "
    "where s.starts > now() or h.opens > current_date()": None,
    "select s.id from @.shows s join @.halls h on h.id = s.hall "
    "where datediff(current_date(), h.opens) > s.seats": "CLOCK",
    "select h.id, nvl2(s.starts, 1, 2) > unix_timestamp() as f from @.halls h "
    "left join @.shows s on s.hall = h.id": "CLOCK",
}


@pytest.mark.parametrize("query", REFUSED)
def test_refused(shows: Warehouse, clock: Shift, query: str) -> None:
    """What is no comparison with rows of one table is refreshed as a whole, and says so."""
    clock(NOON)
    options = "options (refresh_method = 'fast')"
    create = f"create or replace materialized view @.never {options} as {query}"
    code = REFUSED[query]
    if code is None:
        shows.sql(create)
        shows.sql("drop materialized view @.never")
        return
    with pytest.raises(MaterializedViewFailure, match=f"cannot be refreshed fast: {code}: "):
        shows.sql(create)
