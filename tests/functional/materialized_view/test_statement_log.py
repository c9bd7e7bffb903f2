"""What refreshes send to Spark stands in dbt's log, with the node for which it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner

from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse

MV = "{{ config(materialized='bq_materialized_view') }}\n"
FILES = {
    "models/totals.sql": MV
    + "select customer, sum(amount) as total from {{ source('raw', 'orders') }} group by customer",
    "models/report.sql": "{{ config(materialized='table') }} select * from {{ ref('totals') }}",
    "models/broken.sql": MV
    + "select cast(raise_error(string(id)) as int) as e from {{ source('raw', 'orders') }}",
}


@pytest.fixture
def project(lake: Warehouse, tmp_path: Path) -> DbtProject:
    made = DbtProject(tmp_path, lake)
    made.write(FILES)
    made.dbt("run", "--exclude", "broken")
    lake.spark("insert into @.orders values (300, 'log', 1)")
    return made


def logged(project: DbtProject, *words: str) -> list[tuple[str, str, str]]:
    """Of each statement of a command: its node, its text, and how it ended."""
    events: list[Any] = []
    folder = str(project.folder)
    runner = dbtRunner(callbacks=[events.append])
    runner.invoke([*words, "--project-dir", folder, "--profiles-dir", folder])
    found: list[tuple[str, str, str]] = []
    open_ones: dict[str, list[tuple[str, str]]] = {}
    for event in events:
        thread = event.info.thread
        if event.info.name == "SQLQuery":
            open_ones.setdefault(thread, []).append(
                (event.data.node_info.unique_id, event.data.sql)
            )
        if event.info.name == "SQLQueryStatus":
            found.append((*open_ones[thread].pop(), event.data.status))
    return found


@pytest.mark.parametrize("node", ["totals", "report"])
@pytest.mark.parametrize("client", ["by the catalog", "by statements"])
def test_refresh(
    project: DbtProject, node: str, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if client == "by statements":
        reach_by_statements(monkeypatch)
    storage = project.warehouse.storage("totals").split(".")[-1]
    written = [
        (of, how)
        for of, text, how in logged(project, "run", "--select", node)
        if text.startswith(("INSERT", "MERGE")) and storage in text
    ]
    assert written == [(f"model.test.{node}", "OK")]


def test_failure(project: DbtProject) -> None:
    found = logged(project, "run", "--select", "broken")
    assert [of for of, text, how in found if how == "ERROR" and "raise_error" in text.lower()] == [
        "model.test.broken"
    ]
