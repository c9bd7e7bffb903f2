"""Nothing lives only in memory: each step below is a process of its own."""

from __future__ import annotations

import shutil

import pytest

from tests.functional.concurrency.processes import Process
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
FILES = {
    "models/kept.sql": "{{ config(materialized='bq_materialized_view') }} "
    "select count(*) as n from {{ source('raw', 'orders') }}",
}


def in_a_process(lake: Warehouse, statement: str) -> list[list[object]]:
    process = Process(lake, statement).ready()
    process.go()
    answer = process.answer()
    assert "error" not in answer, answer
    rows: list[list[object]] = answer["rows"]
    return rows


@pytest.mark.behaviour("A14")
def test_create_write_and_read(lake: Warehouse) -> None:
    """Create, write and read in three processes."""
    in_a_process(lake, f"create materialized view @.totals as {QUERY}")
    assert not lake.flag("totals")
    in_a_process(lake, "insert into @.orders values (130, 'uma', 9)")
    assert lake.flag("totals")
    rows = in_a_process(lake, "select * from @.totals")
    assert sorted(rows) == sorted(list(row) for row in lake.spark(QUERY))
    assert not lake.flag("totals")
    assert_same(lake, "select * from @.totals", QUERY)
    assert lake.builds("totals") == 2


@pytest.mark.behaviour("A14")
def test_without_the_files_of_a_former_command(lake: Warehouse, project: DbtProject) -> None:
    """Nothing is kept in target/."""
    project.dbt("run")
    shutil.rmtree(project.folder / "target")
    lake.spark("insert into @.orders values (131, 'uma', 9)")
    (row,) = project.show("select n from {{ ref('kept') }}")
    assert row["n"] == lake.value("select count(*) from @.orders")
