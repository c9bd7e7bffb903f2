"""A project of materialized views over TPC-H against the same models as tables of dbt-spark."""

from __future__ import annotations

from collections import Counter
from functools import partial

from tests.bench import tpch_views
from tests.bench.cells import progress
from tests.bench.measure import Cell, Contender, assert_same_rows, measure
from tests.bench.projects import run, write_project
from tests.bench.tpch import TABLES, Checkpoint, Stream
from tests.bench.world import World

NAME = "tpch"

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


def project(world: World, schema: str, stream: Stream, fraction: float, rounds: int) -> list[Cell]:
    """`dbt run` of all models after a change, by each adapter; the first run of both builds."""
    folder = world.folder / NAME
    models = {name: query.replace("{s}", schema) for name, query in MODELS.items()}
    write_project(world, folder, NAME, models, "materialized_view")
    methods: Counter[str] = Counter()

    def ours() -> None:
        results = run(folder, "ours")
        methods.clear()
        methods.update(result.adapter_response.get("method") for result in results)

    contenders: dict[str, Contender] = {
        "spark_mv": ours,
        "dbt-spark tables": partial(run, folder, "stock"),
    }
    for label, contender in contenders.items():
        progress(f"project: first run, {label}")
        contender()
    checkpoint = Checkpoint(
        world, [f"{schema}.{table}" for table in TABLES] + storages(world, f"{NAME}_ours")
    )

    def change() -> None:
        progress("project: dbt run")
        checkpoint.restore()
        stream.apply(world, schema, fraction)

    title = f"dbt run of {len(models)} views, {stream.name} {100 * fraction:g}%"
    cell = measure(title, "<= 0.35", contenders, rounds, warm_up=0, prepare=change)
    for name in models:
        assert_same_rows(
            world.session,
            f"select * from {NAME}_ours.{name}",
            f"select * from {NAME}_stock.{name}",
        )
    cell.notes["methods"] = dict(methods)
    return [cell]


def storages(world: World, schema: str) -> list[str]:
    """The storage tables of a schema."""
    tables = [row[1] for row in world.sql(f"show tables in {schema}")]
    return [f"{schema}.{table}" for table in tables if "__mv_" in table]
