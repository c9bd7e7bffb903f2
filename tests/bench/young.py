"""Refreshes of one command, in a process of its own: the first ones run in a young JVM.

Run as a module it is that process: it prints milliseconds and processor seconds of each refresh.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.bench import tiers, tpch_views
from tests.bench.cell import COMMANDS, Cell, goal
from tests.bench.figures import Spread
from tests.bench.measure import differences, progress
from tests.bench.processes import run
from tests.bench.tpch import TABLES, Checkpoint
from tests.bench.world import SCHEMA, World

_VIEW = "young"
_ADDED = 300
# Processor seconds that a refresh of this number may take.
_MOST = {1: 8, 18: 0.8}


def young_command(world: World, schema: str, scale: str, rounds: int) -> list[Cell]:
    """The cell of the refreshes of one command; contents are checked after the last."""
    query = tpch_views.VIEWS["q1"].format(s=schema)
    world.run(f"create materialized view {SCHEMA}.{_VIEW} as {query}")
    checkpoint = Checkpoint(world, [f"{schema}.{table}" for table in TABLES])
    folder = world.folder / _VIEW
    folder.mkdir()
    samples: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    problems: list[str] = []
    for number in range(rounds):
        progress(f"refreshes of one command, round {number + 1} of {rounds}")
        checkpoint.restore()
        world.run(f"refresh materialized view {SCHEMA}.{_VIEW}")
        run([sys.executable, "-m", __name__, str(world.folder), schema], folder, folder)
        measured = json.loads((folder / "printed.txt").read_text().splitlines()[-1])
        for at in tiers.YOUNG_NUMBERS:
            samples.setdefault(f"number {at}", []).append(measured[at - 1][0])
            cpu.setdefault(f"number {at}", []).append(measured[at - 1][1])
        problems += differences(world.session, f"select * from {SCHEMA}.{_VIEW}", query)
    checkpoint.restore()
    cell = Cell(COMMANDS, tiers.YOUNG, scale, samples, cpu, problems=tuple(problems))
    return [
        cell.held_to(
            *(
                goal(
                    f"processor, number {at}",
                    Spread.of(cpu[f"number {at}"]).times(1000),
                    most * 1000,
                    " ms",
                )
                for at, most in _MOST.items()
            )
        )
    ]


def refreshes(world: World, schema: str, count: int) -> list[tuple[float, float]]:
    """Milliseconds and processor seconds of each of some refreshes, rows added before each."""
    found = []
    for _ in range(count):
        world.sql(f"insert into {schema}.lineitem select * from {schema}.lineitem limit {_ADDED}")
        began, cpu = time.perf_counter(), world.cpu_seconds()
        world.run(f"refresh materialized view {SCHEMA}.{_VIEW} fast")
        elapsed = (time.perf_counter() - began) * 1000
        found.append((elapsed, world.cpu_seconds() - cpu))
    return found


def main(folder: str, schema: str) -> None:
    """Refresh as often as is shown."""
    world = World(Path(folder), archive=True)
    measured = refreshes(world, schema, max(tiers.YOUNG_NUMBERS))
    world.core.close()
    print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
