"""A change within one of the 84 months of TPC-H's lines, against a view that is stored by month."""

from __future__ import annotations

import time
from collections.abc import Callable

from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from tests.bench.cells import progress
from tests.bench.measure import Cell, assert_same_rows, cell_of
from tests.bench.world import SCHEMA, World

METHODS = ("partition", "complete", "auto")
LINES, HAND, CTAS = f"{SCHEMA}.lines_by_month", f"{SCHEMA}.month_by_hand", f"{SCHEMA}.month_ctas"
BY_MONTH = "using iceberg partitioned by (months(l_shipdate))"
QUERY = f"""
select l_orderkey, l_shipdate, sum(l_extendedprice) as price, max(l_comment) as note
from {LINES} group by l_orderkey, l_shipdate
"""


def one_partition(world: World, schema: str, rounds: int) -> list[Cell]:
    """Refreshes after prices of some days changed, of another month in each round."""
    progress("a view stored by month")
    _create(world, schema)
    samples: dict[str, list[float]] = {}
    chosen: list[str] = []
    for number in range(rounds):
        progress(f"one month of 84, round {number + 1} of {rounds}")
        month = f"l_shipdate >= date'1995-{number + 1:02}-01' and "
        month += f"l_shipdate < date'1995-{number + 2:02}-01'"
        world.sql(
            f"update {LINES} set l_extendedprice = l_extendedprice + 1 "
            f"where {month} and day(l_shipdate) <= 5"
        )
        for label, contender in _contenders(world, month, chosen).items():
            began = time.perf_counter()
            contender()
            samples.setdefault(label, []).append((time.perf_counter() - began) * 1000)
            world.core.services.log.flush()
    for shown in (*(f"{SCHEMA}.month_{method}" for method in METHODS), HAND):
        assert_same_rows(world.session, f"select * from {shown}", f"select * from {CTAS}")
    cell = cell_of("one month of 84", "<= 0.025", samples)
    least = {label: cell.contenders[label]["min_ms"] for label in METHODS}
    best = min(least["partition"], least["complete"])
    cell.notes = {"auto chose": chosen[-1], "auto / best": round(least["auto"] / best, 3)}
    return [cell]


def _create(world: World, schema: str) -> None:
    world.sql(
        f"create table {LINES} {BY_MONTH} as select * from {schema}.lineitem order by l_shipdate"
    )
    for method in METHODS:
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
            chosen.extend([outcome.method] if method == "auto" else [])

        return run

    by_hand = QUERY.replace("group by", f"where {month} group by")
    return {
        **{method: refresh(method) for method in METHODS},
        "by hand": lambda: world.sql(f"insert into {HAND} replace where {month} {by_hand}"),
        "CTAS": lambda: world.sql(f"create or replace table {CTAS} {BY_MONTH} as {QUERY}"),
    }
