"""Questions by dbt and by `spark-mv`, each in a new process: no JVM is started for an answer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.instant import cli
from dbt.adapters.spark_mv.instant.folder import QUESTIONS
from dbt.adapters.spark_mv.instant.profiles import Place, folder_of
from dbt.adapters.spark_mv.metadata.events import REFRESH_STARTED, host, new_event
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse

FILES = {
    "models/totals.sql": "{{ config(materialized='bq_materialized_view', "
    "error_after={'count': 1, 'period': 'hour'}) }} select customer, "
    "sum(amount) as total from {{ source('raw', 'orders') }} group by customer",
    "models/most.sql": "{{ config(materialized='bq_materialized_view') }} "
    "select max(total) as most from {{ ref('totals') }}",
}
# What a process says when it is over: what it printed, and whether a JVM was ever there.
ENDS = """
import contextlib, io, json, sys
printed = io.StringIO()
with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
    {run}
context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
print(json.dumps({{
    "printed": printed.getvalue(),
    "code": code,
    "jvm": context is not None and context._gateway is not None,
    "modules": [name for name in {names!r} if name in sys.modules],
}}))
"""
BY_DBT = """
    from dbt.cli.main import dbtRunner
    code = 0 if dbtRunner().invoke({words!r}).success else 1
"""
BY_PROGRAM = """
    from dbt.adapters.spark_mv.instant.cli import main
    code = main({words!r})
"""
WITHOUT = ("dbt.cli", "dbt_common", "dbt.adapters.base", "pyspark", "py4j", "agate", "networkx")


@pytest.fixture(scope="module", autouse=True)
def built(lake: Warehouse, project: DbtProject) -> None:
    project.dbt("run")


def in_a_process(project: DbtProject, way: str, *words: str) -> Any:
    folder = str(project.folder)
    given = [*words, "--project-dir", folder, "--profiles-dir", folder]
    program = ENDS.format(run=way.format(words=given).strip(), names=WITHOUT)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def table(printed: str) -> list[str]:
    """The lines of a report, without the times that dbt prints before each."""
    lines = [re.sub(r"^\d\d:\d\d:\d\d {1,2}", "", line).rstrip() for line in printed.splitlines()]
    return [line for line in lines if line]


@pytest.mark.parametrize("question", QUESTIONS)
def test_by_dbt(lake: Warehouse, project: DbtProject, question: str) -> None:
    """As many JVMs as questions would be three; the lines are those that Spark gives."""
    expected = [line.rstrip() for line in lake.operation(question).lines() if line]
    found = in_a_process(project, BY_DBT, "run-operation", question)
    assert (found["code"], found["jvm"]) == (0, False), found["printed"]
    lines = table(found["printed"])
    assert lines[-len(expected) :] == expected


@pytest.mark.parametrize("question", QUESTIONS)
def test_by_program(lake: Warehouse, project: DbtProject, question: str) -> None:
    """The same, and neither dbt nor pyspark is imported."""
    expected = [line.rstrip() for line in lake.operation(question).lines() if line]
    found = in_a_process(project, BY_PROGRAM, question)
    assert (found["code"], found["jvm"], found["modules"]) == (0, False, [])
    assert table(found["printed"]) == expected


def test_stale_for_too_long(
    lake: Warehouse, project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.spark("insert into @.orders values (900, 'eve', 1)")
    now = in_a_process(project, BY_PROGRAM, "check_staleness", "--json")
    (row,) = json.loads(now["printed"])["rows"]
    assert (now["code"], row["level"], row["freshness"]) == (cli.DONE, "pass", "STALE")
    monkeypatch.setenv("DBT_SPARK_MV_CLOCK_OFFSET", "3700")
    later = in_a_process(project, BY_PROGRAM, "check_staleness", "--json")
    assert (later["code"], later["jvm"]) == (cli.FAILED, False)
    assert '"level": "error"' in later["printed"] and "more than its" in later["printed"]
    monkeypatch.delenv("DBT_SPARK_MV_CLOCK_OFFSET")
    project.dbt("run")


def test_as_json(lake: Warehouse, project: DbtProject) -> None:
    report = lake.operation("history")
    found = in_a_process(project, BY_PROGRAM, "history", "--limit", "1", "--json")
    (row,) = json.loads(found["printed"])["rows"]
    expected = dict(zip(report.columns, report.rows[-1], strict=True))
    assert row == {**expected, "started_at": expected["started_at"].isoformat()}


def test_one_view(project: DbtProject) -> None:
    found = in_a_process(project, BY_PROGRAM, "status", "--view", "+most", "--json")
    rows = json.loads(found["printed"])["rows"]
    assert [row["view"].rpartition(".")[2] for row in rows] == ["totals", "most"]


def test_a_view_that_is_not_there(project: DbtProject) -> None:
    found = in_a_process(project, BY_PROGRAM, "status", "--view", "nobody")
    assert found["code"] == cli.FAILED
    assert len(table(found["printed"])) == 2 and "nobody" in found["printed"]


def test_schemas(lake: Warehouse, project: DbtProject) -> None:
    """Without a manifest the views are those of the target's schema, or all."""
    lake.spark(f"create schema if not exists {lake.schema}_more")
    lake.sql(f"create materialized view {lake.schema}_more.far as select id from @.orders")
    here = in_a_process(project, BY_PROGRAM, "status")["printed"]
    everywhere = in_a_process(project, BY_PROGRAM, "status", "--all")["printed"]
    assert ".far" not in here and ".totals" in here
    assert ".far" in everywhere and ".totals" in everywhere
    lake.sql(f"drop materialized view {lake.schema}_more.far")


def test_what_needs_spark(lake: Warehouse, project: DbtProject) -> None:
    """The program names the command of dbt, which starts Spark; then there is nothing left that
    would need it."""
    core = lake.command().core
    view = core.services.log.state().views[TableName("local", (lake.schema,), "totals")]
    payload = {
        "table_catalog": "local",
        "table_schema": lake.schema,
        "table_name": "totals",
        "owner_host": host(),
        "owner_pid": 2**22 - 1,
        "storage": ["local", lake.schema, "nothing"],
    }
    core.services.log.record(
        new_event(
            REFRESH_STARTED,
            view.id,
            view.name.full,
            invocation_id="i",
            refresh_id="dead",
            payload=payload,
        )
    )
    core.services.log.flush()
    found = in_a_process(project, BY_PROGRAM, "status", "--view", "totals")
    assert found["code"] == cli.NEEDS_SPARK and not found["jvm"]
    why, way_out = table(found["printed"])
    assert why.startswith("status needs Spark: ") and "dbt run-operation status --args" in way_out
    assert in_a_process(project, BY_DBT, "run-operation", "status")["jvm"]
    assert lake.history("totals")[0] == ("ABANDONED",)
    assert in_a_process(project, BY_PROGRAM, "status")["code"] == cli.DONE


def test_another_target(lake: Warehouse, project: DbtProject) -> None:
    """The profile of the project is understood as dbt understands it."""
    folder = str(project.folder)
    found = folder_of(Place(profiles_dir=folder, project_dir=folder))
    assert found.path == lake.credentials.warehouse_path
    # dbt-spark adds one of its own.
    assert found.settings.items() <= lake.credentials.server_side_parameters.items()
    assert len(found.settings) > 3
    profile = (project.folder / "profiles.yml").read_text()
    (project.folder / "profiles.yml").write_text(profile.replace("embedded", "session"))
    try:
        with pytest.raises(NeedsSpark):
            folder_of(Place(profiles_dir=folder, project_dir=folder))
    finally:
        (project.folder / "profiles.yml").write_text(profile)
