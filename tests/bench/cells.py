"""The comparisons; each returns cells and checks the contents of what it timed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import new_event
from dbt.adapters.spark_mv.metadata.projection import State, apply
from dbt.adapters.spark_mv.operations.selection import Selection
from dbt.adapters.spark_mv.planning.request import MANUAL, READ, Request
from tests.bench.measure import Cell, assert_same_rows, measure
from tests.bench.world import SCHEMA, World

QUERY = """
select s.movie_id, date_trunc('DAY', s.start_time) as day, count(t.ticket_id) as tickets,
  sum(t.price) as revenue
from {cinema}.showtimes s
join {cinema}.orders o on o.showtime_id = s.showtime_id
left join {cinema}.tickets t on t.order_id = o.order_id
group by s.movie_id, date_trunc('DAY', s.start_time)
"""
CHAIN = ("bench_1", "bench_2", "bench_3", "bench_4", "bench_5")


def build_chain(world: World, cinema: str) -> None:
    """Five views, each over the one before it."""
    world.run(
        f"create or replace materialized view {SCHEMA}.bench_1 as {QUERY.format(cinema=cinema)}"
    )
    for above, name in zip(CHAIN, CHAIN[1:], strict=False):
        world.run(
            f"create or replace materialized view {SCHEMA}.{name} as "
            f"select movie_id, max(day) as day, sum(tickets) as tickets, sum(revenue) as revenue "
            f"from {SCHEMA}.{above} group by movie_id"
        )


def read_path(world: World, cinema: str) -> list[Cell]:
    """What the pipeline adds to a statement, before Spark sees it."""

    def before(statement: str) -> Callable[[], object]:
        return lambda: world.core.pipeline.before(statement, world.context)

    statements = {
        "no materialized view named": (
            f"select * from {cinema}.orders where order_id = 1",
            "<= 1 ms",
        ),
        "one fresh materialized view": (f"select * from {SCHEMA}.bench_1", "<= 10 ms"),
        "a fresh chain of five": (f"select * from {SCHEMA}.bench_5", "<= 10 ms"),
    }
    return [
        measure(
            f"read: {name}", budget, {"added by the pipeline": before(sql)}, runs=40, warm_up=10
        )
        for name, (sql, budget) in statements.items()
    ]


def no_op_refresh(world: World) -> list[Cell]:
    """A refresh with nothing to do."""
    request = Request(READ)
    name = world.name("bench_1")
    return [
        measure(
            "refresh: nothing to do",
            "<= 15 ms, no commit",
            {"refresh": lambda: world.core.ddl.refresh(name, request)},
            runs=40,
            warm_up=10,
        )
    ]


def complete_refresh(world: World, cinema: str, scale: int) -> list[Cell]:
    """A complete refresh against CREATE OR REPLACE TABLE AS of the same query."""
    query, name = QUERY.format(cinema=cinema), world.name("bench_1")
    request = Request(MANUAL, "complete", explicit=True)
    cell = measure(
        f"complete refresh, cinema x{scale}",
        "<= 1.05 x CTAS + 400 ms",
        {
            "refresh": lambda: world.core.ddl.refresh(name, request),
            "CTAS": lambda: world.sql(f"create or replace table {SCHEMA}.ctas as {query}"),
        },
        runs=5 if scale == 1 else 3,
    )
    assert_same_rows(
        world.session, f"select * from {SCHEMA}.bench_1", f"select * from {SCHEMA}.ctas"
    )
    allowed = 1.05 * cell.contenders["CTAS"]["min_ms"] + 400
    cell.notes["within budget"] = cell.contenders["refresh"]["min_ms"] <= allowed
    return [cell]


def read_against_view(world: World, cinema: str, scale: int) -> list[Cell]:
    """Reading the stored rows against running the query."""
    view = f"{SCHEMA}.plain_view_x{scale}"
    world.sql(f"create or replace view {view} as {QUERY.format(cinema=cinema)}")
    stored = f"select count(*), sum(tickets) from {SCHEMA}.bench_1"
    cell = measure(
        f"read view / read materialized view, x{scale}",
        "> 1",
        {
            "view": lambda: world.run(stored.replace("bench_1", f"plain_view_x{scale}")),
            "materialized view": lambda: world.run(stored),
        },
        runs=5 if scale == 1 else 3,
    )
    assert_same_rows(world.session, f"select * from {SCHEMA}.bench_1", f"select * from {view}")
    return [cell]


def concurrent_readers(world: World, cinema: str, readers: int) -> list[Cell]:
    """Readers of one stale view, one refresh for all, against a refresh each."""
    name, query = world.name("bench_1"), QUERY.format(cinema=cinema)

    def stale() -> None:
        world.run(f"update {cinema}.tickets set price = price + 0 where ticket_id = 1")

    def in_threads(action: Callable[[], object]) -> None:
        threads = [threading.Thread(target=action) for _ in range(readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def collapsed() -> None:
        stale()
        in_threads(lambda: world.run(f"select count(*) from {SCHEMA}.bench_1"))

    def each() -> None:
        stale()
        in_threads(lambda: world.sql(f"select count(*) from ({query})"))

    before = _builds(world)
    cell = measure(
        f"{readers} readers of one stale view",
        "one refresh",
        {"collapsed": collapsed, "each its own": each},
        runs=3,
        warm_up=1,
    )
    cell.notes["refreshes per change"] = (_builds(world) - before) / 4
    assert_same_rows(world.session, f"select * from {name.sql}", query)
    return [cell]


def _builds(world: World) -> int:
    world.core.services.log.flush()
    ((count,),) = world.sql(
        "select count(*) from mv_metadata.mv_refresh_history "
        f"where table_schema = '{SCHEMA}' and table_name = 'bench_1' and state = 'SUCCEEDED'"
    )
    return int(count)


def many_views(count: int = 1000) -> list[Cell]:
    """Planning and marking with many registered views, in memory."""
    state = State()
    for index in range(count):
        above = ["local", SCHEMA, f"v{index - 1}"] if index % 10 else ["local", SCHEMA, "base"]
        payload = {
            "parts": ["local", SCHEMA, f"v{index}"],
            "sources": [{"parts": above}],
            "options": {"tags": []},
        }
        event = new_event(
            kinds.CREATED,
            f"id{index}",
            f"local.{SCHEMA}.v{index}",
            invocation_id="",
            payload=payload,
        )
        apply(state, event)
    base = next(iter(state.views.values())).sources[0]

    def plan() -> None:
        assert len(Selection(state, SCHEMA, ()).of_project()) == count

    def mark() -> None:
        assert len(state.dependents_of(base)) == count

    return [
        measure(f"{count:,} views: order of refresh", "<= 200 ms", {"plan": plan}, runs=5),
        measure(f"{count:,} views: find all dependents", "one append", {"mark": mark}, runs=5),
    ]


def progress(text: str) -> None:
    """One line for whoever watches."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)
