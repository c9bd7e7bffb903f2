"""`make bench`: what dbt takes with materialized views, and without; contents are checked.

Prints the cells and writes bench.jsonl. Absolute times say little; the contenders of a cell run in
turn, on one machine, in one run. The exit code is not 0 if contents differ or a budget is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tests.bench import record, refresh_cells, report, tpch
from tests.bench.cell import COMMANDS, GROUPS, PROJECT, READS, REFRESHES, REWRITING, Cell
from tests.bench.cinema import run_cinema
from tests.bench.commands import whole_commands
from tests.bench.growth import growth
from tests.bench.measure import progress
from tests.bench.one_partition import one_partition
from tests.bench.passing import run_passing
from tests.bench.projects import models_without_views
from tests.bench.refreshes import Ring
from tests.bench.registry import many_views
from tests.bench.rewriting import rewriting
from tests.bench.rewriting_overhead import overheads, small_table
from tests.bench.shops import shop
from tests.bench.tiers import INSERTS, OTHERS, SHOPS, TIERS, Tier
from tests.bench.tpch_project import project
from tests.bench.tpch_views import VIEWS
from tests.bench.world import World
from tests.bench.young import young_command


def main(words: Sequence[str] | None = None) -> int:
    """Run the cells of a tier."""
    arguments = _parser().parse_args(words)
    tier = _tier(arguments)
    groups = [group for group in GROUPS if group in (arguments.only or GROUPS)]
    about = record.header(arguments.tier, tier.scale, tier.rounds, groups)
    began = time.monotonic()
    results: list[Cell] = []
    with tempfile.TemporaryDirectory(prefix="mv-bench-") as folder:
        progress("starting Spark")
        world = World(Path(folder), tier.memory)
        for more in _cells(world, tier, groups, arguments.tpch_data):
            results += more
            took = {"minutes": round((time.monotonic() - began) / 60, 1)}
            record.write(arguments.output, about | took, results)
            print(report.brief(more), flush=True)
        world.core.close()
    said, has_failed = report.verdict(results)
    print("", report.table(results), *report.of_all(results), said, sep="\n")
    progress(f"written to {arguments.output}")
    return int(has_failed)


def _tier(arguments: argparse.Namespace) -> Tier:
    """The tier that is asked for, or the part of it."""
    tier = TIERS[arguments.tier]
    views, changes = arguments.views or tier.views, arguments.changes
    found = replace(
        tier,
        rounds=arguments.rounds or tier.rounds,
        scale=arguments.scale or tier.scale,
        views=tuple(view for view in tier.views if view in views),
        changes=tuple(
            change
            for change in tier.changes
            if not changes or change[0].title(change[1]) in changes
        ),
    )
    if not (found.views and found.changes):
        raise SystemExit(f"The tier {arguments.tier} has none of these views or changes.")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--tier", choices=TIERS, default="standard")
    parser.add_argument("--only", choices=GROUPS, nargs="+", help="some groups of the cells")
    titles = [stream.title(fraction) for stream, fraction in (*INSERTS, *OTHERS)]
    parser.add_argument("--views", choices=VIEWS, nargs="+", help="those that are refreshed")
    parser.add_argument("--changes", choices=titles, nargs="+", help="after which they are")
    parser.add_argument(
        "--tpch-data",
        type=Path,
        default=os.environ.get("DBT_SPARK_MV_BENCH_TPCH"),
        help="folder with the parquet files of the tier's TPC-H; they are generated if not given",
    )
    parser.add_argument("--scale", type=float, help="of TPC-H, if not that of the tier")
    parser.add_argument("--rounds", type=int, help="how often a cell is measured")
    parser.add_argument("--output", type=Path, default=Path("bench.jsonl"))
    return parser


def _cells(world: World, tier: Tier, groups: list[str], data: Path | None) -> Iterator[list[Cell]]:
    """Cells as they are measured: whole commands, the project, refreshes, reads."""
    rounds, scale = tier.rounds, f"SF{tier.scale:g}"
    schema = ""
    if {COMMANDS, PROJECT, REFRESHES} & set(groups):
        progress(f"TPC-H data, {scale}")
        schema = tpch.load(world, tier.scale, data)
    if COMMANDS in groups:
        for name in tier.commands:
            every = name == tier.commands[0]
            yield whole_commands(world, schema, scale, name, rounds, every)
        yield young_command(world, schema, scale, rounds)
    if PROJECT in groups:
        progress("models of a project without materialized views")
        yield models_without_views(world, rounds)
        for name in SHOPS:
            yield shop(world, name, tier.orders, rounds)
    if PROJECT in groups and tier.with_project:
        yield project(world, schema, scale, rounds)
    if REFRESHES in groups:
        yield from _refreshes(world, schema, tier)
    if REFRESHES in groups and tier.with_project:
        yield one_partition(world, schema, scale, rounds)
    if REFRESHES in groups:
        yield growth(world, *tier.grown, rounds)
    if READS in groups:
        progress("many registered views")
        yield many_views(rounds)
    if {REFRESHES, READS} & set(groups):
        yield from run_cinema(world, tier.cinema, groups, rounds)
        yield from run_passing(world, tier.events, groups, rounds)
    if REWRITING in groups:
        yield from rewriting(world, tier.scale, data, rounds)
        yield overheads(world)
        yield [small_table(world, rounds)]


def _refreshes(world: World, schema: str, tier: Tier) -> Iterator[list[Cell]]:
    """Refreshes after each change, the first one once before anything is timed."""
    ring = Ring(world, schema, tier.views)
    ring.rounds(*tier.changes[0], 1)
    for stream, fraction in tier.changes:
        bouts = ring.rounds(stream, fraction, tier.rounds)
        yield [refresh_cells.cell(tier.scale, bout) for bout in bouts]
    ring.restore()


if __name__ == "__main__":
    sys.exit(main())
