"""Projects run by this adapter and by dbt-spark on the same session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner

from dbt.adapters.spark_mv.spark import session as sessions
from tests.bench.measure import Cell, assert_same_rows, measure
from tests.bench.world import World

MODELS = 10


def models_without_views(world: World) -> list[Cell]:
    """Ten table models through each adapter; statements are counted."""
    folder = world.folder / "project"
    models = {f"m{index}": f"select {index} as a, id from range(10)" for index in range(MODELS)}
    write_project(world, folder, "bench", models, "table")
    cell = measure(
        f"dbt run of {MODELS} tables, no views",
        "<= 1.03",
        {"spark_mv": lambda: run(folder, "ours"), "dbt-spark": lambda: run(folder, "stock")},
        runs=5,
        warm_up=2,
    )
    for name in models:
        assert_same_rows(
            world.session, f"select * from bench_ours.{name}", f"select * from bench_stock.{name}"
        )
    cell.notes["statements of spark_mv in one run"] = _count(lambda: run(folder, "ours"))
    return [cell]


def run(folder: Path, target: str) -> list[Any]:
    """`dbt run` of a project in this process; returns the results of its nodes."""
    words = ["--quiet", "run", "--project-dir", str(folder), "--profiles-dir", str(folder)]
    words += ["--target", target, "--target-path", str(folder / f"target_{target}")]
    result = dbtRunner().invoke(words)
    if not result.success:
        raise RuntimeError(f"dbt run failed on {target}: {result.exception or result.result}")
    return list(result.result.results)


def _count(action: Any) -> int:
    count = 0
    original = sessions.SessionConnection.execute

    def counting(self: Any, sql: str, bindings: Any = None) -> None:
        nonlocal count
        count += 1
        original(self, sql, bindings)

    sessions.SessionConnection.execute = counting  # type: ignore[method-assign]
    try:
        action()
    finally:
        sessions.SessionConnection.execute = original  # type: ignore[method-assign]
    return count


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
    stock = {
        "type": "spark",
        "method": "session",
        "host": "NA",
        "schema": f"{name}_stock",
        "threads": 1,
    }
    profile = {name: {"target": "ours", "outputs": {"ours": ours, "stock": stock}}}
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
