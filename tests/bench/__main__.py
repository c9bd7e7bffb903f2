"""`make bench`: ratios against stock dbt-spark and plain Spark, contents checked.

Prints a table and writes one JSON line per cell. Absolute times say little; the contenders of a
cell run in turn, in one process, on one Spark session.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench import cells
from tests.bench.measure import Cell, table
from tests.bench.projects import models_without_views
from tests.bench.world import World


def main() -> None:
    """Run the cells of a tier."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--tier", choices=("smoke", "standard"), default="standard")
    parser.add_argument("--output", type=Path, default=Path("bench.jsonl"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mv-bench-") as folder:
        results = run(Path(folder), (1,) if arguments.tier == "smoke" else (1, 10))
    print(table(results))
    machine = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }
    lines = [json.dumps({**cell.to_json(), "machine": machine}) for cell in results]
    arguments.output.write_text("\n".join(lines) + "\n")
    print(f"written to {arguments.output}")


def run(folder: Path, scales: tuple[int, ...]) -> list[Cell]:
    """All cells, smallest data first."""
    cells.progress("starting Spark")
    world = World(folder)
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
    world.core.close()
    return results


if __name__ == "__main__":
    main()
