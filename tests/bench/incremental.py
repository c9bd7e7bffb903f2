"""`dbt run` of a view that is refreshed against the same model as a table, and as an incremental
model of dbt-spark, as somebody writes it who knows that lines only come with new orders."""

from __future__ import annotations

from functools import partial

from tests.bench import tpch_views
from tests.bench.cells import progress
from tests.bench.measure import Cell, assert_same_rows, measure
from tests.bench.projects import run, write_project
from tests.bench.tpch import TABLES, Checkpoint, Stream
from tests.bench.tpch_project import storages
from tests.bench.world import World

_NEW = "l_orderkey > (select max({key}) from {{{{ this }}}})"
# New groups only, so that they can be appended.
_BY_ORDER = f"""
{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
select l_orderkey, count(*) as line_count, sum(l_extendedprice) as total,
  max(l_shipdate) as last_day
from {{s}}.lineitem
{{% if is_incremental() %}} where {_NEW.format(key="l_orderkey")} {{% endif %}}
group by l_orderkey
"""
# Groups that are there, so that what is stored of them has to be added; and the last order seen.
_DAY_MODE = f"""
{{{{ config(materialized='incremental', incremental_strategy='merge',
  unique_key=['l_shipdate', 'l_shipmode']) }}}}
with added as (
  select l_shipdate, l_shipmode, count(*) as line_count, sum(l_extendedprice) as price,
    max(l_discount) as top_discount, max(l_orderkey) as last_order
  from {{s}}.lineitem
  {{% if is_incremental() %}} where {_NEW.format(key="last_order")} {{% endif %}}
  group by l_shipdate, l_shipmode
)
{{% if is_incremental() %}}
select a.l_shipdate, a.l_shipmode, a.line_count + coalesce(t.line_count, 0) as line_count,
  cast(a.price + coalesce(t.price, 0) as decimal(25, 2)) as price,
  greatest(a.top_discount, t.top_discount) as top_discount, a.last_order
from added a left join {{{{ this }}}} t
  on t.l_shipdate = a.l_shipdate and t.l_shipmode = a.l_shipmode
{{% else %}} select * from added {{% endif %}}
"""
MODELS = {"by_order": _BY_ORDER, "day_mode": _DAY_MODE}


def beside_incremental(
    world: World, schema: str, stream: Stream, fraction: float, rounds: int
) -> list[Cell]:
    """A cell for each model; a run of each contender builds first."""
    return [_cell(world, schema, name, stream, fraction, rounds) for name in MODELS]


def _cell(
    world: World, schema: str, name: str, stream: Stream, fraction: float, rounds: int
) -> Cell:
    view, by_hand = f"{name}_view", f"{name}_incremental"
    query = tpch_views.VIEWS[name].format(s=schema)
    for project, model in ((view, query), (by_hand, MODELS[name].replace("{s}", schema))):
        write_project(world, world.folder / project, project, {name: model}, "materialized_view")
    contenders = {
        "spark_mv": partial(run, world.folder / view, "ours"),
        "dbt-spark table": partial(run, world.folder / view, "stock"),
        "dbt-spark incremental": partial(run, world.folder / by_hand, "stock"),
    }
    for label, contender in contenders.items():
        progress(f"{name}: first run, {label}")
        contender()
    stored = [*storages(world, f"{view}_ours"), f"{by_hand}_stock.{name}"]
    checkpoint = Checkpoint(world, [f"{schema}.{table}" for table in TABLES] + stored)

    def change() -> None:
        progress(f"{name} by dbt run")
        checkpoint.restore()
        stream.apply(world, schema, fraction)

    title = f"dbt run of {name}, {stream.name} {100 * fraction:g}%"
    cell = measure(title, "as incremental", contenders, rounds, warm_up=0, prepare=change)
    columns = ", ".join(row[0] for row in world.sql(f"describe {view}_stock.{name}"))
    for shown in (f"{view}_ours.{name}", f"{by_hand}_stock.{name}"):
        assert_same_rows(
            world.session,
            f"select {columns} from {shown}",
            f"select {columns} from {view}_stock.{name}",
        )
    checkpoint.restore()
    return cell
