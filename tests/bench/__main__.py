"""`make bench`: ratios against stock dbt-spark and plain Spark, contents checked.

Prints a table and writes one JSON line per cell. Absolute times say little; the contenders of a
cell run in turn, in one process, on one Spark session.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.bench import cells, refreshes, tpch, tpch_views
from tests.bench.incremental import beside_incremental
from tests.bench.measure import Cell, table
from tests.bench.one_partition import one_partition
from tests.bench.projects import models_without_views
from tests.bench.tpch import DELETE, INSERT, LATE, UPDATE, Stream
from tests.bench.tpch_project import project
from tests.bench.world import World

FRACTIONS = (0.0001, 0.01, 0.1, 0.5)
OTHERS = ((DELETE, 0.01), (UPDATE, 0.01), (LATE, 0.01))


@dataclass(frozen=True)
class Tier:
    """How much is measured: scales of the cinema, and TPC-H with its views and changes."""

    cinema: tuple[int, ...]
    scale: float
    views: tuple[str, ...]
    changes: tuple[tuple[Stream, float], ...]
    rounds: int
    with_project: bool = False
    memory: str = "3g"


INSERTS = tuple((INSERT, fraction) for fraction in FRACTIONS)
TIERS = {
    "smoke": Tier((1,), 0.1, ("q1", "late_lines"), ((INSERT, 0.01),), 1),
    "standard": Tier((1, 10), 1, tuple(tpch_views.VIEWS), (*INSERTS, *OTHERS), 2, True),
    "large": Tier((1, 10), 10, ("q1", "day_mode"), INSERTS, 2, memory="6g"),
}


def main() -> None:
    """Run the cells of a tier."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--tier", choices=TIERS, default="standard")
    parser.add_argument("--only", choices=("cinema", "tpch"), help="one part of the cells")
    parser.add_argument(
        "--tpch-data",
        type=Path,
        default=os.environ.get("DBT_SPARK_MV_BENCH_TPCH"),
        help="folder with the parquet files of the tier's TPC-H; they are generated if not given",
    )
    parser.add_argument("--scale", type=float, help="of TPC-H, if not that of the tier")
    parser.add_argument("--rounds", type=int, help="how often each change to TPC-H is made")
    parser.add_argument("--output", type=Path, default=Path("bench.jsonl"))
    arguments = parser.parse_args()
    tier = TIERS[arguments.tier]
    tier = replace(
        tier, rounds=arguments.rounds or tier.rounds, scale=arguments.scale or tier.scale
    )
    results: list[Cell] = []
    with tempfile.TemporaryDirectory(prefix="mv-bench-") as folder:
        cells.progress("starting Spark")
        world = World(Path(folder), tier.memory)
        if arguments.only != "tpch":
            results += run_cinema(world, tier.cinema)
        if arguments.only != "cinema":
            for more in run_tpch(world, tier, arguments.tpch_data):
                results += more
                write(results, arguments.output)
                print(refreshes.summary(more), flush=True)
        world.core.close()
    print(table(results))
    print(refreshes.summary(results))
    write(results, arguments.output)
    print(f"written to {arguments.output}")
    sys.exit(any("FAILED" in cell.notes for cell in results))


def write(results: list[Cell], output: Path) -> None:
    """One JSON line per cell."""
    machine = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }
    lines = [json.dumps({**cell.to_json(), "machine": machine}) for cell in results]
    output.write_text("\n".join(lines) + "\n")


def run_tpch(world: World, tier: Tier, data: Path | None) -> Iterator[list[Cell]]:
    """Refreshes after each change, the first one once before anything is timed."""
    cells.progress(f"TPC-H data, SF{tier.scale:g}")
    schema = tpch.load(world, tier.scale, data)
    ring = refreshes.Ring(world, schema, tier.views)
    ring.rounds(*tier.changes[0], 1)
    for stream, fraction in tier.changes:
        bouts = ring.rounds(stream, fraction, tier.rounds)
        yield [refreshes.cell(tier.scale, bout) for bout in bouts]
    ring.restore()
    if tier.with_project:
        yield one_partition(world, schema, tier.rounds)
        yield beside_incremental(world, schema, INSERT, 0.01, tier.rounds)
        yield project(world, schema, INSERT, 0.01, 1)


def run_cinema(world: World, scales: tuple[int, ...]) -> list[Cell]:
    """Projects, reads and complete refreshes, smallest data first."""
    results: list[Cell] = []

    def add(text: str, make: Callable[[], list[Cell]]) -> None:
        cells.progress(text)
        results.extend(make())

    add("models of a project without materialized views", lambda: models_without_views(world))
    add("1,000 registered views", cells.many_views)
    for scale in scales:
        cells.progress(f"cinema data x{scale}")
        cinema = world.cinema(scale)
        cells.build_chain(world, cinema)
        add(f"complete refresh x{scale}", lambda: cells.complete_refresh(world, cinema, scale))  # noqa: B023
        cells.build_chain(world, cinema)
        add(f"reads x{scale}", lambda: cells.read_against_view(world, cinema, scale))  # noqa: B023
        if scale == 1:
            add("the read path", lambda: cells.read_path(world, cinema))  # noqa: B023
            add("refresh with nothing to do", lambda: cells.no_op_refresh(world))
            for readers in (4, 16):
                add(
                    f"{readers} concurrent readers",
                    lambda: cells.concurrent_readers(world, cinema, readers),  # noqa: B023
                )
    return results


if __name__ == "__main__":
    main()
