"""A change within one of the 84 months of TPC-H's lines, against a view that is stored by month."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from tests.bench import tiers
from tests.bench.cell import REFRESHES, Cell, goal, limits_of
from tests.bench.figures import ratio
from tests.bench.measure import Rounds, differences, progress
from tests.bench.refresh_cells import AUTO, BY_HAND, CHOSE, CTAS, of_auto
from tests.bench.world import SCHEMA, World

METHODS = ("partition", "complete")
LINES, HAND = f"{SCHEMA}.lines_by_month", f"{SCHEMA}.month_by_hand"
TABLE = f"{SCHEMA}.month_ctas"
BY_MONTH = "using iceberg partitioned by (months(l_shipdate))"
QUERY = f"""
select l_orderkey, l_shipdate, sum(l_extendedprice) as price, max(l_comment) as note
from {LINES} group by l_orderkey, l_shipdate
"""


def one_partition(world: World, schema: str, scale: str, rounds: int) -> list[Cell]:
    """Refreshes after prices of some days changed, of another month in each round."""
    progress("a view stored by month")
    _create(world, schema)
    found = Rounds()
    chosen: list[str] = []
    problems: list[str] = []
    for number in range(rounds):
        progress(f"one month of 84, round {number + 1} of {rounds}")
        month = f"l_shipdate >= date'1995-{number + 1:02}-01' and "
        month += f"l_shipdate < date'1995-{number + 2:02}-01'"
        world.sql(
            f"update {LINES} set l_extendedprice = l_extendedprice + 1 "
            f"where {month} and day(l_shipdate) <= 5"
        )
        contenders = _contenders(world, month, chosen)
        found.run(contenders, after=world.core.services.log.flush)
        problems += _differences(world)
    samples = found.in_order(contenders)
    of_partition = ratio(samples["partition"], samples["complete"])
    limits = (goal("partition / complete", of_partition, 0.025), of_auto(samples, METHODS))
    return [
        Cell(
            REFRESHES,
            tiers.ONE_MONTH,
            scale,
            samples,
            limits=limits_of(*limits),
            notes={CHOSE: chosen},
            problems=tuple(problems),
        )
    ]


def _differences(world: World) -> list[str]:
    shown = (*(f"{SCHEMA}.month_{method}" for method in (*METHODS, AUTO)), HAND)
    return [
        text
        for name in shown
        for text in differences(world.session, f"select * from {name}", f"select * from {TABLE}")
    ]


def _create(world: World, schema: str) -> None:
    world.sql(
        f"create table {LINES} {BY_MONTH} as select * from {schema}.lineitem order by l_shipdate"
    )
    for method in (*METHODS, AUTO):
        world.run(
            f"create materialized view {SCHEMA}.month_{method} "
            f"partitioned by (months(l_shipdate)) options (refresh_method = '{method}') as {QUERY}"
        )
    world.sql(f"create table {HAND} {BY_MONTH} as {QUERY}")


def _contenders(world: World, month: str, chosen: list[str]) -> dict[str, Callable[[], object]]:
    """What is timed; the method that auto takes is added to `chosen`."""

    def refresh(method: str) -> Callable[[], object]:
        def run() -> None:
            name = world.name(f"month_{method}")
            outcome = world.core.ddl.refresh(name, Request(MANUAL, method, explicit=True))
            chosen.extend([outcome.method] if method == AUTO else [])

        return run

    by_hand = QUERY.replace("group by", f"where {month} group by")
    return {
        **{method: refresh(method) for method in (*METHODS, AUTO)},
        BY_HAND: lambda: world.sql(f"insert into {HAND} replace where {month} {by_hand}"),
        CTAS: lambda: world.sql(f"create or replace table {TABLE} {BY_MONTH} as {QUERY}"),
    }
