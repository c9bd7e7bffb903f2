"""A project without materialized views pays for them once a command, and nothing per model."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.connections import SparkMVConnectionManager
from dbt.adapters.spark_mv.spark.clients import SessionExecutor
from dbt.adapters.spark_mv.spark.session import SessionConnection
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse

FILES = {
    "models/a.sql": "{{ config(materialized='table') }} "
    "select * from {{ source('raw', 'orders') }}",
    "models/b.sql": "{{ config(materialized='view') }} select * from {{ ref('a') }}",
    "models/c.sql": "{{ config(materialized='table') }} select * from {{ ref('b') }}",
    "models/sums.sql": "{{ config(materialized='bq_materialized_view') }} "
    "select customer, sum(amount) as s from {{ source('raw', 'orders') }} group by customer",
    "models/d.sql": "{{ config(materialized='incremental') }} select * from {{ ref('c') }}",
}


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that reaches Spark, dbt's and ours."""
    seen: list[str] = []
    execute, query = SessionConnection.execute, SessionExecutor.query

    def recorded(self: Any, sql: str, bindings: Any = None) -> None:
        seen.append(sql)
        execute(self, sql, bindings)

    def recorded_own(self: Any, sql: str) -> Any:
        seen.append(sql)
        return query(self, sql)

    monkeypatch.setattr(SessionConnection, "execute", recorded)
    monkeypatch.setattr(SessionExecutor, "query", recorded_own)
    return seen


def run(project: DbtProject, statements: list[str], *models: str) -> int:
    statements.clear()
    project.dbt("run", "-s", *models)
    return len(statements)


def test_no_views_no_statements(
    lake: Warehouse, project: DbtProject, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the pipeline switched off as many statements are sent, whatever the models."""
    run(project, statements, "a", "b", "c", "d")
    counted = {
        models: run(project, statements, *models) for models in (("a",), ("a", "b", "c", "d"))
    }
    monkeypatch.setattr("dbt.adapters.spark_mv.connections._may_matter", lambda *_: False)
    assert SparkMVConnectionManager.TYPE == "spark_mv"
    without = {models: run(project, statements, *models) for models in counted}
    extra = {len(models): counted[models] - without[models] for models in counted}
    assert extra[1] == extra[4]
    assert extra[4] <= 1
    assert not [sql for sql in statements if "set `" in sql]
    assert lake.events() is None


def test_statement_that_names_no_view(lake: Warehouse, statements: list[str]) -> None:
    """With views around, a statement that reads none of them sends nothing of ours."""
    lake.sql("create materialized view @.v as select id from @.orders")
    lake.spark("create table if not exists @.apart (id int) using iceberg")
    lake.sql("select * from @.apart")
    statements.clear()
    for _ in range(3):
        lake.sql("select * from @.apart")
        lake.sql("insert into @.apart values (1)")
    assert len(statements) == 6


def test_fresh_read(lake: Warehouse, statements: list[str]) -> None:
    """A read of a fresh view in this process is one statement: the user's."""
    lake.sql("create materialized view if not exists @.v as select id from @.orders")
    lake.sql("select * from @.v")
    statements.clear()
    lake.sql("select * from @.v")
    assert len(statements) == 1


@pytest.mark.parametrize("changes", [0, 1])
def test_run_of_a_view(
    lake: Warehouse, project: DbtProject, statements: list[str], changes: int
) -> None:
    """Of a fresh view dbt's own statements alone; of a changed one the write beside them."""
    run(project, statements, "sums")
    if changes:
        lake.spark("insert into @.orders values (9, 'ann', 5)")
    run(project, statements, "sums")
    ours = [sql for sql in statements if '"app": "dbt"' not in sql]
    assert [sql.split()[:2] for sql in ours] == [["INSERT", "OVERWRITE"]] * changes


def test_second_read_in_a_command(lake: Warehouse, statements: list[str]) -> None:
    """A change by another program, in the middle of a command: its read sends the write."""
    lake.sql("create materialized view if not exists @.n as select count(*) as n from @.orders")
    lake.restart()
    for _ in range(2):
        lake.spark("insert into @.orders values (11, 'ann', 8)")
        statements.clear()
        lake.sql("select * from @.n")
        assert [sql.split()[0] for sql in statements] == ["INSERT", "select"]
