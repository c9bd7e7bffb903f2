"""Whole commands of dbt, each in a new process: what a user waits for.

One view, stale and fresh, against the same query as a table of dbt-spark, and as an incremental
model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.bench import tiers, tpch_views
from tests.bench.cell import COMMANDS, Cell, goal
from tests.bench.incremental_models import MODELS
from tests.bench.measure import Contender, Rounds, differences, progress
from tests.bench.processes import dbt, methods_of_run, wait_for_class_archive, write_spark_conf
from tests.bench.projects import write_project
from tests.bench.tpch import TABLES, Checkpoint
from tests.bench.tpch_project import storages
from tests.bench.world import World

OURS, TABLE, INCREMENTAL = "spark_mv", "dbt-spark table", "dbt-spark incremental"
_RUN = ("--quiet", "run")
_OF_TABLE = 0.9


@dataclass(frozen=True)
class _Models:
    """One query as a view and a table, in one project, and as an incremental model in another."""

    name: str
    view: Path
    incremental: Path

    def show(self) -> tuple[str, ...]:
        return ("--quiet", "show", "--inline", f"select * from {{{{ ref('{self.name}') }}}}")

    def by_label(self) -> dict[str, Contender]:
        return {
            OURS: partial(dbt, self.view, "ours", *_RUN),
            TABLE: partial(dbt, self.view, "stock", *_RUN),
            INCREMENTAL: partial(dbt, self.incremental, "stock", *_RUN),
        }


def whole_commands(
    world: World, schema: str, scale: str, name: str, rounds: int, every: bool
) -> list[Cell]:
    """The cells of one view: `dbt run` after a change, and the other commands if `every`."""
    models = _write(world, schema, name)
    for label, contender in models.by_label().items():
        progress(f"{name}: first run, {label}")
        contender()
    wait_for_class_archive(models.view)
    stored = [*storages(world, f"{name}_view_ours"), f"{name}_incremental_stock.{name}"]
    checkpoint = Checkpoint(world, [f"{schema}.{table}" for table in TABLES] + stored)
    stale = tiers.run_stale(name)
    others = _of_fresh(models) if every else {}
    found = {cell: Rounds() for cell in (stale, *others)}
    problems: list[str] = []
    methods: list[str] = []
    stream, fraction = tiers.CHANGE
    for number in range(rounds):
        progress(f"{name}: commands, round {number + 1} of {rounds}")
        checkpoint.restore()
        stream.apply(world, schema, fraction)
        found[stale].run(models.by_label())
        methods += methods_of_run(models.view, "ours")
        problems += _differences(world, name)
        for cell, contenders in others.items():
            found[cell].run(contenders)
    checkpoint.restore()
    return [
        _cell(stale, scale, found[stale], models.by_label(), problems, methods),
        *(_cell(cell, scale, found[cell], others[cell]) for cell in others),
    ]


def _write(world: World, schema: str, name: str) -> _Models:
    view, incremental = f"{name}_view", f"{name}_incremental"
    models = _Models(name, world.folder / view, world.folder / incremental)
    query = tpch_views.VIEWS[name].format(s=schema)
    write_project(world, models.view, view, {name: query}, "materialized_view")
    by_hand = MODELS[name].replace("{s}", schema)
    write_project(world, models.incremental, incremental, {name: by_hand}, "table")
    for folder in (models.view, models.incremental):
        write_spark_conf(world, folder)
    return models


def _of_fresh(models: _Models) -> dict[str, dict[str, Contender]]:
    """Cells and contenders after a run: nothing has changed since."""
    status = partial(dbt, models.view, "ours", "--quiet", "run-operation", "status")
    return {
        tiers.run_fresh(models.name): models.by_label(),
        tiers.show(models.name): {
            OURS: partial(dbt, models.view, "ours", *models.show()),
            TABLE: partial(dbt, models.view, "stock", *models.show()),
        },
        tiers.STATUS: {OURS: status},
    }


def _differences(world: World, name: str) -> list[str]:
    table = f"{name}_view_stock.{name}"
    columns = ", ".join(row[0] for row in world.sql(f"describe {table}"))
    return [
        text
        for shown in (f"{name}_view_ours.{name}", f"{name}_incremental_stock.{name}")
        for text in differences(
            world.session, f"select {columns} from {shown}", f"select {columns} from {table}"
        )
    ]


def _cell(
    name: str,
    scale: str,
    found: Rounds,
    contenders: Mapping[str, Contender],
    problems: Sequence[str] = (),
    methods: Sequence[str] = (),
) -> Cell:
    notes = {"methods": list(methods)} if methods else {}
    samples = found.in_order(contenders)
    cell = Cell(COMMANDS, name, scale, samples, found.cpu, notes=notes, problems=tuple(problems))
    bounds = ((TABLE, _OF_TABLE), (INCREMENTAL, 1))
    return cell.held_to(
        *(goal(f"{OURS} / {other}", cell.ratio(OURS, other), most) for other, most in bounds)
    )
