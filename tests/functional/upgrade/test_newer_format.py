"""A view that a newer version wrote: refused by name, left as it is, built again on request."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.refresh.lock_owner import Owner, this_process
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.refusals import error_of
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

MODEL = "{{ config(materialized='bq_materialized_view') }} select id, amount from "
FILES = {
    "models/newer.sql": MODEL + "{{ source('raw', 'orders') }}",
    "models/over.sql": MODEL + "{{ ref('newer') }}",
}
QUERY = "select id, amount from @.orders"
REFUSAL = "format version '2', this version of dbt-spark-mv reads '1'"
REFUSED = (
    "select * from @.newer",
    "select * from @.over",
    "refresh materialized view @.newer",
    "alter materialized view @.newer set options (enable_refresh = false)",
    "drop materialized view @.newer",
    "drop view @.newer",
    f"create or replace materialized view @.newer as {QUERY}",
    "explain materialized view @.newer",
)


@pytest.fixture(scope="module", autouse=True)
def newer(lake: Warehouse, project: DbtProject) -> None:
    """A view that says that it has the next format, stale, with a refresh that has died."""
    project.dbt("run")
    lake.spark("alter view @.newer set tblproperties ('mv.format_version' = '2')")
    lake.spark("insert into @.orders values (300, 'zoe', 1)")
    executor = lake.command().core.services.executor
    dead = Owner(this_process().host, 2**22 - 1, this_process().since)
    storage = TableName("local", (lake.schema,), lake.storage("newer").rpartition(".")[2])
    base = str(lake.build_of("newer"))
    iceberg.create_branch(executor, storage, f"refresh_{base}_1", base, dead.kept_minutes())
    lake.restart()


def everything(lake: Warehouse) -> tuple[Any, ...]:
    """What must stay: relations, the view's properties, the branches and rows of its storage."""
    return (
        lake.relations(),
        sorted(lake.spark("show tblproperties @.newer")),
        sorted(lake.spark(f"select name, snapshot_id from {lake.storage('newer')}.refs")),
        lake.builds("newer"),
    )


@pytest.mark.parametrize("statement", REFUSED)
def test_statements(lake: Warehouse, statement: str) -> None:
    before = everything(lake)
    assert REFUSAL in error_of(lake, statement)
    assert everything(lake) == before


def test_a_run(lake: Warehouse, project: DbtProject) -> None:
    before = everything(lake)
    text = project.dbt("run", "-s", "newer", fails=True).text
    assert re.search(rf"{REFUSAL}\.\n\s*Use the version of dbt-spark-mv that wrote it, or", text)
    assert everything(lake) == before


@pytest.mark.parametrize("kind", ["table", "view", "incremental"])
def test_another_materialization(lake: Warehouse, project: DbtProject, kind: str) -> None:
    """The relation is not replaced by one of another kind, as it could not be given back."""
    before = everything(lake)
    model = FILES["models/newer.sql"]
    project.write({"models/newer.sql": model.replace("bq_materialized_view", kind)})
    text = project.dbt("run", "-s", "newer", fails=True).text
    project.write({"models/newer.sql": model})
    assert REFUSAL in text
    assert everything(lake) == before


@pytest.mark.parametrize("name", ["refresh", "verify", "status"])
def test_operations_that_name_it(lake: Warehouse, name: str) -> None:
    before = everything(lake)
    report = lake.operation(name)
    assert any(REFUSAL in str(row) for row in report.rows), report
    assert everything(lake) == before


@pytest.mark.parametrize("name", ["sweep", "maintain", "refresh_due"])
def test_maintenance(lake: Warehouse, name: str) -> None:
    """Leaves all of it: what a newer version means by its branches is not known."""
    before = everything(lake)
    report = lake.operation(name)
    assert name != "maintain" or REFUSAL in str(report.notes)
    assert everything(lake) == before


def test_rebuild_metadata(lake: Warehouse) -> None:
    before = everything(lake)
    assert REFUSAL in str(lake.operation("rebuild_metadata", catalog="local").rows)
    assert everything(lake) == before
    assert "newer" in str(lake.operation("status").rows)


def test_full_refresh(lake: Warehouse, project: DbtProject) -> None:
    """The way out that the error names."""
    project.dbt("run", "--full-refresh", "-s", "newer")
    lake.restart()
    assert sorted(lake.sql("select * from @.over")) == sorted(lake.spark(QUERY))
    assert_same(lake, "select * from @.newer", QUERY)
