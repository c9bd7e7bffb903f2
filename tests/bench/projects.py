"""A project of plain table models, run by this adapter and by dbt-spark on the same session."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner

from dbt.adapters.spark_mv import session as sessions
from tests.bench.measure import Cell, assert_same_rows, measure
from tests.bench.world import World

MODELS = 10


def models_without_views(world: World) -> list[Cell]:
    """Ten table models through each adapter; statements are counted."""
    folder = world.folder / "project"
    _write_project(world, folder)
    runner = dbtRunner()

    def run(target: str) -> None:
        result = runner.invoke(
            [
                "--quiet",
                "run",
                "--project-dir",
                str(folder),
                "--profiles-dir",
                str(folder),
                "--target",
                target,
                "--target-path",
                str(folder / f"target_{target}"),
            ]
        )
        if not result.success:
            raise RuntimeError(f"dbt run failed on {target}: {result.exception or result.result}")

    cell = measure(
        f"dbt run of {MODELS} tables, no views",
        "<= 1.03",
        {"spark_mv": lambda: run("ours"), "dbt-spark": lambda: run("stock")},
        runs=5,
        warm_up=2,
    )
    for index in range(MODELS):
        assert_same_rows(
            world.session, f"select * from ours.m{index}", f"select * from stock.m{index}"
        )
    cell.notes["statements of spark_mv in one run"] = _count(lambda: run("ours"))
    return [cell]


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


def _write_project(world: World, folder: Path) -> None:
    (folder / "models").mkdir(parents=True, exist_ok=True)
    credentials = world.credentials
    ours = {
        "type": "spark_mv",
        "method": "embedded",
        "path": credentials.path,
        "schema": "ours",
        "threads": 1,
        "spark_conf": dict(credentials.spark_conf),
    }
    stock = {"type": "spark", "method": "session", "host": "NA", "schema": "stock", "threads": 1}
    profile = {"bench": {"target": "ours", "outputs": {"ours": ours, "stock": stock}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    project = {
        "name": "bench",
        "version": "1.0",
        "profile": "bench",
        "models": {"+materialized": "table", "+file_format": "iceberg"},
        "flags": {"send_anonymous_usage_stats": False},
    }
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
    for index in range(MODELS):
        (folder / "models" / f"m{index}.sql").write_text(f"select {index} as a, id from range(10)")
    os.environ.setdefault("DBT_NO_VERSION_CHECK", "1")
