"""The cinema of the book (behaviours E): aggregates, flags and windows of time, by views."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.clocks import Shift
from tests.functional.materialized_view.warehouse import Warehouse

# At this moment a show begins, another is exactly a week ahead.
NOW = "2026-03-01 12:00:00"
TICKETS = """
select o.showtime_id, count(t.id) as purchased
from @.tickets t join @.ticket_orders o on o.id = t.order_id group by o.showtime_id
"""
SHOWTIMES = """
select s.id as showtime_id, m.name as movie, s.start_time, r.seats,
  s.start_time > now() and s.start_time - now() < interval 7 days as is_current,
  coalesce(p.purchased, 0) >= r.seats as sold_out
from @.screenings s join @.movies m on m.id = s.movie_id
  join @.auditoriums r on r.theatre_id = s.theatre_id and r.room = s.room
  left join @.purchases p on p.showtime_id = s.id
"""
OFFERED = "select movie, start_time from {showtimes} where is_current and not sold_out"
BUSY = "select showtime_id from @.purchases where purchased > 1"


@pytest.fixture(scope="module")
def cinema(lake: Warehouse) -> Warehouse:
    for run in (lake.sql, lake.spark):
        run("set time zone 'UTC'")
    for table, columns, rows in (
        ("movies", "id bigint, name string", "(1, 'Arrival'), (2, 'Brazil')"),
        ("auditoriums", "theatre_id bigint, room string, seats bigint", "(1, 'a', 3), (1, 'b', 1)"),
        (
            "screenings",
            "id bigint, movie_id bigint, theatre_id bigint, room string, start_time timestamp",
            """(1, 1, 1, 'a', timestamp'2026-03-01 12:00:00Z'),
               (2, 1, 1, 'a', timestamp'2026-03-02 20:00:00Z'),
               (3, 2, 1, 'b', timestamp'2026-03-03 20:00:00Z'),
               (4, 2, 1, 'a', timestamp'2026-03-08 12:00:00Z')""",
        ),
        ("ticket_orders", "id bigint, showtime_id bigint", "(1, 2), (2, 3), (3, 99)"),
        ("tickets", "id bigint, order_id bigint", "(1, 1), (2, 1), (3, 2), (4, 50)"),
    ):
        lake.spark(f"create table @.{table} ({columns}) using iceberg")
        lake.spark(f"insert into @.{table} values {rows}")
    return lake


def made(lake: Warehouse) -> None:
    for view, query in (
        ("purchases", TICKETS),
        ("showtimes", SHOWTIMES),
        ("busy", BUSY),
    ):
        lake.sql(f"create or replace materialized view @.{view} as {query}")
    lake.sql(f"create or replace view @.offered as {OFFERED.format(showtimes='@.showtimes')}")


@pytest.mark.behaviour("E3", "E30", "E38", "X26")
def test_flags(cinema: Warehouse, clock: Shift) -> None:
    """Every show has its flags; what has begun or is sold out is not offered."""
    clock(NOW)
    made(cinema)
    flags = cinema.apart("select showtime_id, is_current, sold_out from @.showtimes")
    assert sorted(flags) == [
        (1, False, False),  # has begun a moment ago
        (2, True, False),
        (3, True, True),  # as many tickets as seats
        (4, True, False),  # was a week ahead a moment ago
    ]
    assert sorted(cinema.apart("select movie from @.offered")) == [("Arrival",), ("Brazil",)]
    assert cinema.operation("verify", view="showtimes").rows[0][1] == "OK"


@pytest.mark.behaviour("E33", "E34", "E38")
def test_one_aggregate_serves_several_views(cinema: Warehouse, clock: Shift) -> None:
    """A ticket marks all that read the aggregate; it is computed once for both of them."""
    clock("2026-03-01 13:00:00")
    made(cinema)
    builds = {view: cinema.builds(view) for view in ("purchases", "showtimes", "busy")}
    cinema.sql("insert into @.tickets values (5, 2)")
    assert {view: cinema.flag(view) for view in builds} == dict.fromkeys(builds, True)
    rows = cinema.apart(
        "select s.showtime_id, s.sold_out from @.showtimes s join @.busy b using (showtime_id)"
    )
    assert sorted(rows) == [(2, False), (3, True)]
    assert {view: cinema.builds(view) - count for view, count in builds.items()} == {
        "purchases": 1,
        "showtimes": 1,
        "busy": 1,
    }


@pytest.mark.behaviour("E14", "E29")
def test_reads_between_sweeps(cinema: Warehouse, clock: Shift) -> None:
    """A refresh of everything leaves nothing stale; what changes afterwards a read still finds."""
    clock("2026-03-01 14:00:00")
    made(cinema)
    cinema.spark("insert into @.ticket_orders values (7, 4)")
    cinema.operation("refresh")
    assert {cinema.freshness(view) for view in ("purchases", "showtimes", "busy")} == {"FRESH"}
    builds = cinema.builds("showtimes")
    cinema.apart("select * from @.offered")
    assert cinema.builds("showtimes") == builds
    cinema.spark("insert into @.tickets values (8, 7)")
    ((purchased,),) = cinema.apart("select purchased from @.purchases where showtime_id = 4")
    assert purchased == 1
    clock("2026-03-03 20:00:01")
    report = cinema.operation("refresh", expired=True)
    assert [row[0].rpartition(".")[2] for row in report.rows] == ["showtimes"]
    builds = cinema.builds("showtimes")
    ids = [row[0] for row in cinema.apart("select showtime_id from @.showtimes where is_current")]
    assert (ids, cinema.builds("showtimes")) == ([4], builds)
