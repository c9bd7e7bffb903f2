"""The cells of time and of live views: ticks of the clock, and reads of any client of Spark."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from dbt.adapters.spark_mv.core.clock import OFFSET
from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from tests.bench import tiers
from tests.bench.cell import READS, REFRESHES, Cell, goal, limits_of
from tests.bench.figures import Spread
from tests.bench.measure import differences, measure, progress
from tests.bench.world import SCHEMA, World

EVENTS = "events"
# Of each day so many partitions' worth; dear enough that a read of it is felt.
_DAYS = 100
_QUERY = (
    "select day, k, count(*) as n, count(distinct v) as different, max(sha2(text, 512)) as last "
    "from {table} group by day, k"
)
_YEAR = 365 * 86_400
_TICK = 3_600
_NOW = 1_767_225_600  # the first instant of 2026
_WINDOW = (
    "select shop, count(*) as n, sum(amount) as total from {table} "
    "where at > now() - interval 365 days and at <= now() group by shop"
)


def run_passing(world: World, rows: int, groups: list[str], rounds: int) -> Iterator[list[Cell]]:
    """The cells of these groups, over tables of so many rows."""
    if REFRESHES in groups:
        progress(f"ticks of the clock, {rows:,} rows")
        yield [_tick(world, rows, rounds)]
    if READS in groups:
        progress(f"live views, {rows:,} rows")
        yield list(_live(world, rows, rounds))


def _unlike_its_query(world: World, view: str) -> tuple[str, ...]:
    """What differs from the query at the instant of the last refresh."""
    world.core.choice.target_schema = SCHEMA
    ((_, result, *counts),) = world.core.operation("verify")(view=view).rows
    return () if result == "OK" else (f"{view} differs: {result} {counts}",)


def _sold(world: World, rows: int) -> str:
    """Sales of two years, of which one is past."""
    table = f"{SCHEMA}.sold"
    world.sql(f"drop table if exists {table}")
    world.sql(
        f"create table {table} using iceberg partitioned by (days(at)) as "
        f"select timestamp_seconds({_NOW} - {_YEAR} + id * {2 * _YEAR} div {rows}) as at, "
        f"cast(id % 1000 as int) as shop, id % 50 as amount from range({rows})"
    )
    return table


def _events(world: World, rows: int) -> str:
    """Events of a hundred days."""
    table = f"{SCHEMA}.{EVENTS}"
    world.sql(f"drop table if exists {table}")
    world.sql(
        f"create table {table} using iceberg partitioned by (day) as "
        f"select date_add(date'2026-01-01', cast(id % {_DAYS} as int)) as day, "
        f"cast(id % 20 as int) as k, id % 1000 as v, cast(id as string) as text from range({rows})"
    )
    return table


def _tick(world: World, rows: int, rounds: int) -> Cell:
    """Refreshes an hour after the one before, of a window of a year."""
    table, view = _sold(world, rows), f"{SCHEMA}.window"
    now = [float(_NOW)]

    def after_an_hour(method: str) -> Callable[[], object]:
        def refresh() -> object:
            now[0] += _TICK
            os.environ[OFFSET] = str(now[0] - time.time())
            request = Request(MANUAL, method, explicit=True)
            return world.core.ddl.refresh(world.name("window"), request)

        return refresh

    os.environ[OFFSET] = str(now[0] - time.time())
    try:
        world.run(f"create or replace materialized view {view} as {_WINDOW.format(table=table)}")
        samples = measure({m: after_an_hour(m) for m in ("fast", "complete")}, rounds, warm_up=2)
        wrong = _unlike_its_query(world, "window")
    finally:
        os.environ.pop(OFFSET)
    world.run(f"drop materialized view {view}")
    cell = Cell(REFRESHES, tiers.TICK, f"{rows:,}", samples, problems=wrong)
    return cell.held_to(goal("fast / complete", cell.ratio("fast", "complete"), 0.1))


def _live(world: World, rows: int, rounds: int) -> Iterator[Cell]:
    """Reads when nothing has changed, and when one partition has."""
    table, view = _events(world, rows), f"{SCHEMA}.by_day"
    query = _QUERY.format(table=table)
    world.run(f"create or replace materialized view {view} options (live = true) as {query}")
    live = f"select * from {view}__live"
    total = "select count(*), sum(n), sum(different) from {rows}"
    readers = {
        "stored rows": lambda: world.sql(total.format(rows=view)),
        "live view": lambda: world.sql(total.format(rows=f"{view}__live")),
        "the query": lambda: world.sql(total.format(rows=f"({query})")),
    }
    yield _fresh(readers, rows, rounds, differences(world.session, live, query))
    world.sql(f"insert into {table} values (date'2026-01-01', 1, 1, 'new')")
    changed = measure(
        {label: readers[label] for label in ("live view", "the query")}, rounds, warm_up=1
    )
    cell = Cell(
        READS,
        tiers.LIVE_CHANGED,
        f"{rows:,}",
        changed,
        problems=differences(world.session, live, query),
    )
    yield cell.held_to(goal("live / query", cell.ratio("live view", "the query"), 0.5))
    world.run(f"drop materialized view {view}")


def _fresh(
    readers: dict[str, Callable[[], object]],
    rows: int,
    rounds: int,
    problems: tuple[str, ...],
) -> Cell:
    """Reads when nothing has changed."""
    samples = measure(readers, rounds, warm_up=1)
    pairs = zip(samples["live view"], samples["stored rows"], strict=True)
    added = goal("added to stored rows", Spread.of([one - two for one, two in pairs]), 500, " ms")
    limits = limits_of(added)
    return Cell(READS, tiers.LIVE_FRESH, f"{rows:,}", samples, limits=limits, problems=problems)
