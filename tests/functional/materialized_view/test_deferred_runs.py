"""Runs of changed models only, whose other relations are those of another target (--defer), and
runs with --empty: what is built, what is kept, and what its tests say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest
import yaml

from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.registry import load_view
from tests.functional.materialized_view.dbt_project import DbtProject, Run
from tests.functional.materialized_view.warehouse import Warehouse

_VIEW = "{{ config(materialized='bq_materialized_view') }} "
FILES = {
    "models/parent.sql": "select customer, amount from {{ source('raw', 'orders') }}",
    "models/totals.sql": _VIEW + "select customer, sum(amount) as total from {{ ref('parent') }} "
    "group by customer",
    "models/over.sql": _VIEW + "select total from {{ ref('totals') }}",
    "models/child.sql": "select count(*) as n from {{ ref('over') }}",
    "models/schema.yml": """
        models:
          - name: totals
            data_tests: [is_fresh]
          - name: over
            data_tests: [is_fresh]
    """,
}


@pytest.fixture
def targets(lake: Warehouse, project: DbtProject) -> Iterator[tuple[str, str]]:
    """The schemas of production, which is built, and of a developer, which is empty."""
    prod, dev = f"{lake.schema}_prod", f"{lake.schema}_dev"
    outputs = {name: {**lake.target, "schema": name} for name in (prod, dev)}
    profile = json.loads(json.dumps({"test": {"target": dev, "outputs": outputs}}))
    (project.folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    project.write(FILES)
    project.dbt("--write-json", "build", "--target", prod)
    lake.spark(f"create schema if not exists {dev}")
    shutil.copytree(project.folder / "target", project.folder / "before", dirs_exist_ok=True)
    yield prod, dev
    for name in ("of_source.sql", "middle.sql", "prod.yml"):
        (project.folder / "models" / name).unlink(missing_ok=True)
    for schema in (prod, dev):
        for relation in ("child", "over", "totals", "parent", "of_source"):
            for row in lake.spark(f"show tables in {schema} like '{relation}*'"):
                lake.spark(f"drop table {schema}.{row[1]}")
            lake.spark(f"drop view if exists {schema}.{relation}")
            lake.spark(f"drop table if exists {schema}.{relation}")


def edit(project: DbtProject, number: int) -> None:
    text = FILES["models/totals.sql"].replace("sum(amount)", f"sum(amount) + {number}")
    project.write({"models/totals.sql": text})


def build(project: DbtProject, *flags: str) -> Run:
    """Run what has been changed, and what reads it, in the developer's target."""
    state = str(project.folder / "before")
    return project.dbt("build", "-s", "state:modified+", "--state", state, *flags)


def added(lake: Warehouse, schema: str) -> int:
    """What was added to every total of a target."""
    plain = "select customer, sum(amount) as total from @.orders group by customer"
    difference = "select max(v.total - t.total)"
    return int(lake.value(f"{difference} from {schema}.totals v join ({plain}) t using (customer)"))


def test_parents_of_another_target(
    lake: Warehouse, project: DbtProject, targets: tuple[str, str]
) -> None:
    """What was changed is built from the other target's relations, each time, and passes its tests;
    nothing there changes."""
    prod, dev = targets
    for number in (5, 6):
        edit(project, number)
        found = build(project, "--defer")
        assert "keeps its definition" not in found.text
        assert {r.node.name for r in found.results} >= {"totals", "over", "child"}
        assert added(lake, dev) == number and added(lake, prod) == 0
    assert not lake.spark(f"show views in {dev} like 'parent'")
    status = lake.spark(f"select status from @meta.mv_status where table_schema = '{dev}'")
    assert status == [("READY",)] * 2


def test_views_of_deferred_runs_are_views(
    lake: Warehouse, project: DbtProject, targets: tuple[str, str]
) -> None:
    """A view over relations of another target is stale if they change, its test says so in every
    command, reads refresh it, and a whole run gives it its own parents."""
    prod, dev = targets
    state = ("--defer", "--state", str(project.folder / "before"))
    edit(project, 9)
    build(project, "--defer")
    assert project.dbt("test", "-s", "totals", "over", *state).success
    lake.spark("insert into @.orders values (77, 'new', 1)")
    failed = project.dbt("test", "-s", "totals", "over", *state, fails=True).results
    assert [bool(result.failures) for result in failed] == [True, True]
    project.dbt("show", "--inline", f"select * from {dev}.over")
    assert project.dbt("test", "-s", "totals", "over", *state).success
    assert added(lake, dev) == 9
    project.dbt("run")
    lake.spark(f"drop view {prod}.parent")
    assert added(lake, dev) == 9


def test_parents_behind_ephemeral_models(
    lake: Warehouse, project: DbtProject, targets: tuple[str, str]
) -> None:
    """What an ephemeral model reads of another target is in the text of its child; a source of the
    name of such a relation is no ref."""
    prod, dev = targets
    state = ("--defer", "--state", str(project.folder / "before"))
    totals = FILES["models/totals.sql"]
    project.write(
        {
            "models/middle.sql": "{{ config(materialized='ephemeral') }} select * from "
            "{{ ref('parent') }}",
            "models/totals.sql": totals.replace("ref('parent')", "ref('middle')"),
            "models/of_source.sql": _VIEW + "select count(*) as n from "
            "{{ source('prod', 'parent') }}",
            "models/prod.yml": f"""
                sources:
                  - {{name: prod, schema: {prod}, tables: [name: parent]}}
            """,
        }
    )
    project.dbt("run", "-s", "totals", "of_source", *state)
    resolver = lake.command().core.services.resolver
    names = [TableName("local", (dev,), name) for name in ("totals", "of_source")]
    assert [load_view(resolver, name).deferred for name in names] == [True, False]
    lake.sql(f"drop materialized view {dev}.of_source")


def test_parents_of_this_target(
    lake: Warehouse, project: DbtProject, targets: tuple[str, str]
) -> None:
    """Whole runs and deferred ones make the same of a model whose parents are all there."""
    _, dev = targets
    project.dbt("build")
    edit(project, 7)
    found = build(project, "--defer")
    assert "kept as it is" not in found.text and added(lake, dev) == 7
    status = lake.spark(f"select status from @meta.mv_status where table_schema = '{dev}'")
    assert status == [("READY",)] * 2


def test_whole_definition_is_kept(
    lake: Warehouse, project: DbtProject, targets: tuple[str, str]
) -> None:
    """A view of a whole run does not come to read another target, and dbt says so."""
    _, dev = targets
    project.dbt("run")
    lake.spark(f"drop view {dev}.parent")
    edit(project, 8)
    state = str(project.folder / "before")
    found = project.dbt("run", "-s", "totals", "--defer", "--state", state)
    (line,) = [line for line in found.text.splitlines() if "keeps its definition" in line]
    assert f"{dev}.totals" in line and "--defer" in line
    assert added(lake, dev) == 0


def test_empty_runs(lake: Warehouse, project: DbtProject, targets: tuple[str, str]) -> None:
    """The tests of views that have no rows for the sake of a run pass in it, and fail after it."""
    _, dev = targets
    found = project.dbt("build", "--empty")
    assert lake.value(f"select count(*) from {dev}.totals") == 0
    assert lake.value(f"select n from {dev}.child") == 0
    failed = [r.node.name for r in project.dbt("test", fails=True).results if r.failures]
    assert len(failed) == 2 and all(name.startswith("is_fresh_") for name in failed)
    assert found.success


def test_sampled_runs(lake: Warehouse, project: DbtProject, targets: tuple[str, str]) -> None:
    """A run with --sample of a model that reads nothing that can be sampled leaves the view as it
    is: its rows, its options and what is known of its refreshes."""
    _, dev = targets
    project.dbt("run")
    lake.spark("insert into @.orders values (1000, 'late', 7)")
    asked = f"select * from @meta.mv_status where table_schema = '{dev}' and table_name = 'totals'"
    events = f"select * from @meta.mv_events where view_name = 'local.{dev}.totals'"
    before, told = lake.spark(asked), lake.spark(events)
    text = FILES["models/totals.sql"].replace("_view')", "_view', max_staleness='PT1H')", 1)
    project.write({"models/totals.sql": text})
    found = project.dbt("run", "-s", "totals", "--sample", "3 days")
    assert "kept as it is" in str(found.result("totals").message)
    assert lake.spark(asked) == before and sorted(lake.spark(events)) == sorted(told)
    project.dbt("run", "-s", "totals")
    assert added(lake, dev) == 0
    project.write({"models/totals.sql": text.replace("PT1H", "PT2H")})
    altered = project.dbt("run", "-s", "totals").result("totals")
    assert "altered (max_staleness), not refreshed" in str(altered.message)
