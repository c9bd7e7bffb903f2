"""The cells over the cinema: complete refreshes, and reads of one process; contents are checked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from dbt.adapters.spark_mv.planning.request import MANUAL, READ, Request
from tests.bench import tiers
from tests.bench.cell import READS, REFRESHES, Cell, budget, counted, limits_of
from tests.bench.figures import Spread
from tests.bench.measure import differences, measure, progress
from tests.bench.refresh_cells import CTAS, beyond
from tests.bench.world import SCHEMA, World

QUERY = """
select s.movie_id, date_trunc('DAY', s.start_time) as day, count(t.ticket_id) as tickets,
  sum(t.price) as revenue
from {cinema}.showtimes s
join {cinema}.orders o on o.showtime_id = s.showtime_id
left join {cinema}.tickets t on t.order_id = o.order_id
group by s.movie_id, date_trunc('DAY', s.start_time)
"""
NAMES = ("bench_1", "bench_2", "bench_3", "bench_4", "bench_5")
# Calls of some milliseconds are made often: the first ones of a process take longer.
_CALLS, _WARM_UP = 40, 10


def run_cinema(
    world: World, scales: tuple[int, ...], groups: list[str], rounds: int
) -> Iterator[list[Cell]]:
    """The cells of these groups, smallest data first."""
    for scale in scales:
        progress(f"cinema data x{scale}")
        cinema = world.cinema(scale)
        _build_chain(world, cinema)
        if REFRESHES in groups:
            progress(f"complete refresh x{scale}")
            yield [_complete_refresh(world, cinema, scale, rounds)]
        if READS in groups:
            _build_chain(world, cinema)
            progress(f"reads x{scale}")
            yield [_read_stored(world, cinema, scale, rounds)]
        if READS in groups and scale == 1:
            progress("the read path")
            yield [*_read_path(world, cinema), _nothing_to_do(world)]
            for readers in tiers.READERS:
                progress(f"{readers} concurrent readers")
                yield [_concurrent_readers(world, cinema, readers, rounds)]


def _build_chain(world: World, cinema: str) -> None:
    """Five views, each over the one before it."""
    world.run(
        f"create or replace materialized view {SCHEMA}.bench_1 as {QUERY.format(cinema=cinema)}"
    )
    for above, name in zip(NAMES, NAMES[1:], strict=False):
        world.run(
            f"create or replace materialized view {SCHEMA}.{name} as "
            f"select movie_id, max(day) as day, sum(tickets) as tickets, sum(revenue) as revenue "
            f"from {SCHEMA}.{above} group by movie_id"
        )


def _read_path(world: World, cinema: str) -> list[Cell]:
    """What the pipeline adds to a statement, before Spark sees it."""

    def cell(name: str, statement: str, most: float) -> Cell:
        label = "added by the pipeline"
        samples = measure(
            {label: lambda: world.core.pipeline.before(statement, world.context)}, _CALLS, _WARM_UP
        )
        limit = budget("added", Spread.of(samples[label]), most, " ms")
        return Cell(READS, name, "x1", samples, limits=limits_of(limit))

    return [
        cell(tiers.NO_VIEW, f"select * from {cinema}.orders where order_id = 1", 1),
        cell(tiers.ONE_VIEW, f"select * from {SCHEMA}.bench_1", 10),
        cell(tiers.CHAIN, f"select * from {SCHEMA}.bench_5", 10),
    ]


def _nothing_to_do(world: World) -> Cell:
    """A refresh with nothing to do."""
    name, request = world.name("bench_1"), Request(READ)
    before = _commits(world)
    samples = measure({"refresh": lambda: world.core.ddl.refresh(name, request)}, _CALLS, _WARM_UP)
    limits = (
        budget("refresh", Spread.of(samples["refresh"]), 15, " ms"),
        counted("commits to the metadata", _commits(world) - before, 0),
    )
    return Cell(READS, tiers.NOTHING_TO_DO, "x1", samples, limits=limits_of(*limits))


def _commits(world: World) -> int:
    world.core.services.log.flush()
    ((count,),) = world.sql("select count(*) from mv_metadata.mv_events.snapshots")
    return int(count)


def _complete_refresh(world: World, cinema: str, scale: int, rounds: int) -> Cell:
    """A complete refresh against CREATE OR REPLACE TABLE AS of the same query."""
    query, name = QUERY.format(cinema=cinema), world.name("bench_1")
    request = Request(MANUAL, "complete", explicit=True)
    table = f"{SCHEMA}.ctas"
    samples = measure(
        {
            "complete": lambda: world.core.ddl.refresh(name, request),
            CTAS: lambda: world.sql(f"create or replace table {table} as {query}"),
        },
        rounds,
    )
    return Cell(
        REFRESHES,
        tiers.complete_refresh(scale),
        f"x{scale}",
        samples,
        limits=limits_of(beyond(samples, "complete", CTAS, 1.05)),
        problems=_unlike_bench_1(world, f"select * from {table}"),
    )


def _read_stored(world: World, cinema: str, scale: int, rounds: int) -> Cell:
    """Reading the stored rows against running the query."""
    view = f"{SCHEMA}.plain_view_x{scale}"
    world.sql(f"create or replace view {view} as {QUERY.format(cinema=cinema)}")
    stored = "select count(*), sum(tickets) from {name}"
    samples = measure(
        {
            "materialized view": lambda: world.run(stored.format(name=f"{SCHEMA}.bench_1")),
            "view": lambda: world.run(stored.format(name=view)),
        },
        rounds,
    )
    cell = Cell(
        READS,
        tiers.read_stored(scale),
        f"x{scale}",
        samples,
        problems=_unlike_bench_1(world, f"select * from {view}"),
    )
    limit = budget("materialized view / view", cell.ratio("materialized view", "view"), 1)
    return cell.held_to(limit)


def _concurrent_readers(world: World, cinema: str, readers: int, rounds: int) -> Cell:
    """Readers of one stale view, one refresh for all, against the query for each."""
    query = QUERY.format(cinema=cinema)

    def stale() -> None:
        world.run(f"update {cinema}.tickets set price = price + 0 where ticket_id = 1")

    def in_threads(action: Callable[[], object]) -> None:
        threads = [threading.Thread(target=action) for _ in range(readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    contenders: dict[str, Callable[[], object]] = {
        "one refresh for all": lambda: in_threads(
            lambda: world.run(f"select count(*) from {SCHEMA}.bench_1")
        ),
        "the query each": lambda: in_threads(lambda: world.sql(f"select count(*) from ({query})")),
    }
    before = _builds(world)
    samples = measure(contenders, rounds, warm_up=1, prepare=stale)
    refreshes = (_builds(world) - before) / (rounds + 1)
    return Cell(
        READS,
        tiers.readers_of_one(readers),
        "x1",
        samples,
        limits=(counted("refreshes per change", refreshes, 1),),
        problems=_unlike_bench_1(world, query),
    )


def _builds(world: World) -> int:
    world.core.services.log.flush()
    ((count,),) = world.sql(
        "select count(*) from mv_metadata.mv_refresh_history "
        f"where table_schema = '{SCHEMA}' and table_name = 'bench_1' and state = 'SUCCEEDED'"
    )
    return int(count)


def _unlike_bench_1(world: World, query: str) -> tuple[str, ...]:
    return differences(world.session, f"select * from {SCHEMA}.bench_1", query)
