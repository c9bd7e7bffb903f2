"""What the search for views adds to statements that none answers, with many registered views.

Ten views are created. Of the others, the table of the metadata knows nothing: their events are
only in the memory of the command, each that of a created view under another name. So many of them
as one statement is held against, at most, are in the catalog, too, each with the properties of a
created view, and its storage table. What is measured is what happens in dbt's process before Spark
gets the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt.adapters.spark_mv.glue.container import Container
from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import new_event
from dbt.adapters.spark_mv.metadata.projection import apply
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.storage_sql import create_view
from tests.bench import tiers
from tests.bench.cell import REWRITING, Cell, goal
from tests.bench.figures import Spread
from tests.bench.measure import Contender, measure, progress
from tests.bench.rewriting import OFF, ON, Desk
from tests.bench.world import SCHEMA, World

_FEW, _TRIED = 10, 64
_CALLS, _WARM_UP = 100, 10
_BASE, _OTHER, _SMALL = f"{SCHEMA}.searched", f"{SCHEMA}.unsearched", f"{SCHEMA}.small"
_ROWS = (
    "select id, id % 7 as shop, date_add(date'2024-01-01', cast(id % 366 as int)) as day, "
    "cast(id % 1000 as decimal(12, 2)) as amount from range({rows})"
)
_VIEW = (
    "select shop, day, sum(amount + {n}) as total, count(*) as n from {table} group by shop, day"
)
_UNANSWERED = (
    "select day, id % 10 as part, max(amount) as most, count(*) as n from {table} "
    "where amount > 5 and day >= '2024-02-01' group by day, id % 10 order by day limit 10"
)
# Milliseconds, and how much more they may be with many views than with few.
_MOST = {tiers.NO_TABLE: 0.05, tiers.NO_MATCH: 10.0, tiers.MANY_NO_MATCH: 10.0}
_GROWTH = 1.5


def overheads(world: World) -> list[Cell]:
    """A cell for each kind of statement."""
    progress("views for the overhead of rewriting")
    for table in (_BASE, _OTHER):
        world.sql(f"create table {table} using iceberg as {_ROWS.format(rows=2000)}")
    # Of those without a build the first ones by name are tried.
    names = [f"searched_{n:04}" for n in range(_FEW + _TRIED)]
    for n, name in enumerate(names[:_FEW]):
        world.run(f"create materialized view {SCHEMA}.{name} as {_VIEW.format(n=n, table=_BASE)}")
    world.core.services.log.flush()
    few, spread, same = (_core(world) for _ in range(3))
    _register(world, spread, [f"elsewhere_{n}" for n in range(tiers.REGISTERED - _FEW)], "else")
    _copy_in_catalog(world, names[_FEW:])
    _register(world, same, [f"searched_{n:04}" for n in range(_FEW, tiers.REGISTERED)], "searched")
    cells = [
        _cell(tiers.NO_TABLE, _UNANSWERED.format(table=_OTHER), few, spread),
        _cell(tiers.NO_MATCH, _UNANSWERED.format(table=_BASE), few, spread),
        _cell(tiers.MANY_NO_MATCH, _UNANSWERED.format(table=_BASE), few, same),
    ]
    for name in names[_FEW:]:
        world.sql(f"drop view {SCHEMA}.{name}")
    for name in names[:_FEW]:
        world.run(f"drop materialized view {SCHEMA}.{name}")
    return cells


def _core(world: World) -> Container:
    """A command that looks at statements however little they read."""
    return world.new_core(query_rewrite_min_rows=0)


def _register(world: World, core: Container, names: Sequence[str], table: str) -> None:
    """More views, in memory; of a name like `else` each has a base table of its own."""
    state = core.services.log.state()
    payload = dict(state.views[world.name("searched_0000")].payload)
    for number, name in enumerate(names):
        shared = table == "searched"
        source = ["local", SCHEMA, table if shared else f"{table}_{number}"]
        made = {**payload, "parts": ["local", SCHEMA, name], "sources": [{"parts": source}]}
        full = f"local.{SCHEMA}.{name}"
        event = new_event(kinds.CREATED, f"id_{name}", full, invocation_id="", payload=made)
        apply(state, event)


def _copy_in_catalog(world: World, names: Sequence[str]) -> None:
    """More views in the catalog."""
    resolver = world.core.services.resolver
    view = load_view(resolver, world.name("searched_0000"))
    for name in names:
        copied = replace(view, id=f"id_{name}", name=TableName("local", (SCHEMA,), name))
        world.sql(create_view(copied))


def _cell(statement: str, query: str, few: Container, many: Container) -> Cell:
    """What is added with few views and with many."""

    def before(core: Container, rewrites: bool) -> Contender:
        def call() -> None:
            context = core.context()
            context.rewrites_reads = rewrites
            core.pipeline.before(query, context)

        return call

    labels = {f"{_FEW} views": few, f"{tiers.REGISTERED:,} views": many}
    found = measure(
        {
            f"{label}, {how}": before(core, how == ON)
            for label, core in labels.items()
            for how in (ON, OFF)
        },
        _CALLS,
        _WARM_UP,
    )
    added = {
        label: Spread.of(
            [a - b for a, b in zip(found[f"{label}, {ON}"], found[f"{label}, {OFF}"], strict=True)]
        )
        for label in labels
    }
    first, last = labels
    growth = added[last].times(1 / max(added[first].value, 0.001))
    cell = Cell(REWRITING, tiers.overhead(statement), f"{tiers.REGISTERED:,} views", found)
    return cell.held_to(
        goal(f"added, {last}", added[last], _MOST[statement], " ms"),
        goal(f"added, {last} / {first}", growth, _GROWTH),
    )


def small_table(world: World, rounds: int) -> Cell:
    """A statement that reads too little to be rewritten, though a view could answer it."""
    progress("a small table")
    world.sql(f"create table {_SMALL} using iceberg as {_ROWS.format(rows=5000)}")
    view = f"{SCHEMA}.of_small"
    world.run(f"create materialized view {view} as {_VIEW.format(n=0, table=_SMALL)}")
    world.core.services.log.flush()
    desk = Desk(world, world.new_core(), {})
    query = f"select shop, count(*) as n from {_SMALL} group by shop"
    contenders: dict[str, Contender] = {
        ON: lambda: desk.send(query),
        OFF: lambda: desk.send(query, enabled=False),
    }
    samples = measure(contenders, max(rounds, 20), _WARM_UP)
    passage = desk.core.pipeline.before(query, desk.core.context())
    left = () if getattr(passage, "sql", "") == query else ("the statement was rewritten",)
    cell = Cell(
        REWRITING,
        tiers.SMALL_TABLE,
        "5,000 rows",
        samples,
        problems=(*desk.unlike(query), *left),
    )
    world.run(f"drop materialized view {view}")
    return cell.held_to(goal(f"{ON} / off", cell.ratio(ON, OFF), 1.05))
