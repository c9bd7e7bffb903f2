"""Projects run by this adapter and by dbt-spark on the same session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from dbt.adapters.spark import session as stock
from dbt.cli.main import dbtRunner

from dbt.adapters.spark_mv.spark.clients import SessionExecutor
from dbt.adapters.spark_mv.spark.session import SessionConnection
from tests.bench import tiers
from tests.bench.cell import PROJECT, Cell, budget, counted, goal
from tests.bench.measure import differences, measure
from tests.bench.world import World

_RATIO, _STATEMENTS = "spark_mv / dbt-spark", "statements more than dbt-spark's"


def models_without_views(world: World, rounds: int) -> list[Cell]:
    """Table models through each adapter, in this process; statements are counted."""
    folder = world.folder / "project"
    numbers = range(tiers.TABLES_OF_PROJECT)
    models = {f"m{index}": f"select {index} as a, id from range(10)" for index in numbers}
    write_project(world, folder, "bench", models, "table")
    samples = measure(
        {"spark_mv": lambda: run(folder, "ours"), "dbt-spark": lambda: run(folder, "stock")},
        rounds,
    )
    problems = [
        text
        for name in models
        for text in differences(
            world.session, f"select * from bench_ours.{name}", f"select * from bench_stock.{name}"
        )
    ]
    cell = Cell(PROJECT, tiers.tables_only(), "", samples, problems=tuple(problems))
    measured = cell.ratio("spark_mv", "dbt-spark")
    with _counted((SessionConnection, "execute"), (SessionExecutor, "query")) as of_ours:
        run(folder, "ours")
    with _counted((stock.Cursor, "execute")) as of_stock:
        run(folder, "stock")
    more = of_ours[0] - of_stock[0]
    # A few statements for a run are a small part of a large project, and a large one of this: of
    # the budgets the one says that there is none for each model, the other allows for the few.
    return [
        cell.held_to(
            goal(_RATIO, measured, 1.03),
            budget(_RATIO, measured, 1.25),
            counted(_STATEMENTS, more, 0, is_goal=True),
            counted(_STATEMENTS, more, tiers.TABLES_OF_PROJECT - 1),
        )
    ]


def run(folder: Path, target: str) -> None:
    """`dbt run` of a project in this process."""
    words = ["--quiet", "run", "--project-dir", str(folder), "--profiles-dir", str(folder)]
    words += ["--target", target, "--target-path", str(folder / f"target_{target}")]
    result = dbtRunner().invoke(words)
    if not result.success:
        raise RuntimeError(f"dbt run failed on {target}: {result.exception or result.result}")


@contextmanager
def _counted(*methods: tuple[Any, str]) -> Iterator[list[int]]:
    """Counts how often these methods of classes are called."""
    count = [0]

    def counting(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            count[0] += 1
            return original(*arguments, **named)

        return call

    with ExitStack() as stack:
        for owner, name in methods:
            stack.enter_context(patch.object(owner, name, counting(getattr(owner, name))))
        yield count


def write_project(
    world: World, folder: Path, name: str, models: Mapping[str, str], materialized: str
) -> None:
    """A project with these models: `materialized` on target ours, tables on target stock."""
    (folder / "models").mkdir(parents=True, exist_ok=True)
    credentials = world.credentials
    ours = {
        "type": "spark_mv",
        "method": "embedded",
        "path": credentials.path,
        "schema": f"{name}_ours",
        "threads": 1,
        "spark_conf": dict(credentials.spark_conf),
    }
    other = {
        "type": "spark",
        "method": "session",
        "host": "NA",
        "schema": f"{name}_stock",
        "threads": 1,
    }
    profile = {name: {"target": "ours", "outputs": {"ours": ours, "stock": other}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    chosen = f"{{{{ '{materialized}' if target.name == 'ours' else 'table' }}}}"
    project = {
        "name": name,
        "version": "1.0",
        "profile": name,
        "models": {"+materialized": chosen, "+file_format": "iceberg"},
        "flags": {"send_anonymous_usage_stats": False},
    }
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
    for model, query in models.items():
        (folder / "models" / f"{model}.sql").write_text(query)
    os.environ.setdefault("DBT_NO_VERSION_CHECK", "1")
