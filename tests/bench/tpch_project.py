"""A project of materialized views over TPC-H against the same models as tables of dbt-spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from tests.bench import tiers, tpch_views
from tests.bench.cell import PROJECT, Cell, goal
from tests.bench.measure import Contender, Rounds, differences, progress
from tests.bench.processes import dbt, methods_of_run, wait_for_class_archive, write_spark_conf
from tests.bench.projects import write_project
from tests.bench.tpch import TABLES, Checkpoint
from tests.bench.world import World

NAME = "tpch"
_GOAL = 0.35

MODELS = {
    **tpch_views.VIEWS,
    "big_orders": "select * from {s}.orders where o_totalprice > 300000",
    "supplier": "select l_suppkey, count(*) as line_count, sum(l_quantity) as quantity, "
    "min(l_shipdate) as first_day from {s}.lineitem group by l_suppkey",
    "priority_month": "select o_orderpriority, trunc(o_orderdate, 'MM') as order_month, "
    "count(*) as order_count, sum(o_totalprice) as total "
    "from {s}.orders group by o_orderpriority, trunc(o_orderdate, 'MM')",
    "returns_customer": "select o_custkey, count(*) as line_count, sum(l_extendedprice) as price "
    "from {s}.orders join {s}.lineitem on l_orderkey = o_orderkey "
    "where l_returnflag = 'R' group by o_custkey",
    "segment_month": "select c_mktsegment, trunc(o_orderdate, 'MM') as order_month, "
    "avg(l_discount) as discount, sum(l_quantity) as quantity from {s}.lineitem "
    "join {s}.orders on o_orderkey = l_orderkey join {s}.customer on c_custkey = o_custkey "
    "group by c_mktsegment, trunc(o_orderdate, 'MM')",
    "customers_nation": "select n_name, count(*) as customers from {s}.customer "
    "join {s}.nation on n_nationkey = c_nationkey group by n_name",
    "day": "select l_shipdate, sum(line_count) as line_count, sum(price) as price "
    "from {{ ref('day_mode') }} group by l_shipdate",
    "mode": "select l_shipmode, sum(line_count) as line_count, max(top_discount) as top_discount "
    "from {{ ref('day_mode') }} group by l_shipmode",
    "ship_year": "select year(l_shipdate) as ship_year, sum(price) as price "
    "from {{ ref('day') }} group by year(l_shipdate)",
    "nation": "select n_name, sum(revenue) as revenue, sum(line_count) as line_count "
    "from {{ ref('nation_year') }} group by n_name",
    "best_customers": "select c_name, total from {{ ref('customer') }} "
    "join {s}.customer on c_custkey = o_custkey where total > 4000000",
    "late_mode_month": "select l_shipmode, trunc(l_receiptdate, 'MM') as receipt_month, "
    "count(*) as line_count from {{ ref('late_lines') }} "
    "group by l_shipmode, trunc(l_receiptdate, 'MM')",
    "late_customer": "select o_custkey, count(distinct l_orderkey) as late_orders "
    "from {{ ref('late_lines') }} group by o_custkey",
    "big_nation": "select n_name, count(*) as order_count from {{ ref('big_orders') }} "
    "join {s}.customer on c_custkey = o_custkey join {s}.nation on n_nationkey = c_nationkey "
    "group by n_name",
}


@dataclass(frozen=True)
class Case:
    """A project: its models by name, the tables that they read and how these are changed; for each
    cell the number of threads, and what part of dbt-spark's time is the goal."""

    name: str
    models: Mapping[str, str]
    tables: tuple[str, ...]
    change: Contender
    threads: Mapping[str, int]
    goal: float


def project(world: World, schema: str, scale: str, rounds: int) -> list[Cell]:
    """A cell for each number of threads of the project over TPC-H."""
    stream, fraction = tiers.CHANGE
    case = Case(
        NAME,
        {name: query.replace("{s}", schema) for name, query in MODELS.items()},
        tuple(f"{schema}.{table}" for table in TABLES),
        partial(stream.apply, world, schema, fraction),
        {tiers.project_run(threads): threads for threads in tiers.THREADS},
        _GOAL,
    )
    return run_case(world, case, scale, rounds)


def run_case(world: World, case: Case, scale: str, rounds: int) -> list[Cell]:
    """`dbt run` of all models after a change, by each adapter, in new processes; both build first.

    A cell for each number of threads.
    """
    folder = world.folder / case.name
    write_project(world, folder, case.name, case.models, "materialized_view")
    write_spark_conf(world, folder)
    for target in ("ours", "stock"):
        progress(f"{case.name}: first run, {target}")
        dbt(folder, target, *_run(max(case.threads.values())))
    wait_for_class_archive(folder)
    checkpoint = Checkpoint(world, [*case.tables, *storages(world, f"{case.name}_ours")])

    def change() -> None:
        progress(f"{case.name}: dbt run")
        checkpoint.restore()
        case.change()

    found = [_cell(world, case, cell, scale, rounds, change) for cell in case.threads]
    checkpoint.restore()
    return found


def _run(threads: int) -> tuple[str, ...]:
    return ("--quiet", "run", "--threads", str(threads))


def _cell(world: World, case: Case, name: str, scale: str, rounds: int, change: Contender) -> Cell:
    folder, threads = world.folder / case.name, case.threads[name]
    contenders: dict[str, Contender] = {
        "spark_mv": partial(dbt, folder, "ours", *_run(threads)),
        "dbt-spark tables": partial(dbt, folder, "stock", *_run(threads)),
    }
    found = Rounds()
    problems: list[str] = []
    for _ in range(rounds):
        change()
        found.run(contenders)
        for model in case.models:
            columns = shown_columns(world, f"{case.name}_stock.{model}")
            shown = (f"select {columns} from {case.name}_{t}.{model}" for t in ("ours", "stock"))
            problems += differences(world.session, *shown)
    cell = Cell(
        PROJECT,
        name,
        scale,
        found.in_order(contenders),
        found.cpu,
        notes={"models": len(case.models), "methods": methods_of_run(folder, "ours")},
        problems=tuple(problems),
    )
    measured = cell.ratio("spark_mv", "dbt-spark tables")
    return cell.held_to(goal("spark_mv / dbt-spark tables", measured, case.goal))


def shown_columns(world: World, table: str) -> str:
    """The columns of a table, rounded where sums of them depend on the order of the rows."""
    return ", ".join(
        f"round({name}, 6) as {name}" if kind in ("double", "float") else name
        for name, kind, *_ in world.sql(f"describe {table}")
        if name and not name.startswith("#")
    )


def storages(world: World, schema: str) -> list[str]:
    """The storage tables of a schema."""
    tables = [row[1] for row in world.sql(f"show tables in {schema}")]
    return [f"{schema}.{table}" for table in tables if "__mv_" in table]
