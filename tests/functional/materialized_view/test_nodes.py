"""Everything of a dbt project that reads or writes beside models: hooks, tests, snapshots, show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dbt.adapters.spark_mv.sql.reads import parse
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
MV = "{{ config(materialized='bq_materialized_view') }}\n"
FILES = {
    "models/totals.sql": MV
    + "select customer, sum(amount) as total from {{ source('raw', 'orders') }} group by customer",
    "models/grand.sql": MV + "select sum(total) as grand from {{ ref('totals') }}",
    "models/lens.sql": "{{ config(materialized='view') }} select * from {{ ref('totals') }}",
    "models/report.sql": "{{ config(materialized='table') }} select * from {{ ref('lens') }}",
    "models/models.yml": """
        models:
          - name: totals
            description: One row for each customer.
            columns:
              - name: customer
                data_tests: [unique, not_null]
            data_tests: [is_fresh, matches_its_query]
        unit_tests:
          - name: sums
            model: totals
            given:
              - input: source('raw', 'orders')
                rows: [{id: 1, customer: a, amount: 1}, {id: 2, customer: a, amount: 2}]
            expect: {rows: [{customer: a, total: 3}]}
        """,
    "models/hooked.sql": """
        {{ config(materialized='table', pre_hook=[
            "insert into {{ source('raw', 'orders') }} values (60, 'hook', 1)",
            "insert into {{ source('raw', 'orders') }} values (61, 'hook', 2)"],
          post_hook="insert into {{ source('raw', 'orders') }}
            select 62, 'post', grand from {{ ref('grand') }}") }}
        select * from {{ ref('grand') }}""",
    "models/bad_hook.sql": """
        {{ config(materialized='table', pre_hook="delete from {{ ref('totals') }}") }}
        select 1 as x""",
    "models/dynamic.sql": """
        -- depends_on: {{ ref('totals') }}
        {% set found = run_query("select sum(total) from " ~ ref('totals')) if execute %}
        select {{ found.columns[0].values()[0] if found else 0 }} as grand""",
    "models/odd.sql": """
        {{ config(materialized='table') }}
        select sum(total) as grand from (table {{ ref('totals') }})""",
    "models/staged.sql": """
        {{ config(materialized='table', pre_hook="create or replace temporary view staged_rows as
            select * from {{ ref('totals') }}") }}
        select * from staged_rows""",
    "snapshots/kept.yml": """
        snapshots:
          - name: kept
            relation: ref('totals')
            config: {unique_key: customer, strategy: check, check_cols: all, file_format: iceberg}
        """,
    "tests/totals_add_up.sql": """
        select 1 from (select sum(total) as t from {{ ref('totals') }})
        where t <> (select sum(amount) from {{ source('raw', 'orders') }})""",
    "macros/writes.sql": """
        {% macro write_to(name, verb='insert into') %}
          {% do run_query(verb ~ ' ' ~ name) %}
        {% endmacro %}
        {% macro count_rows(name) %}
          {% set found = run_query('select sum(total) from ' ~ ref(name)) %}
          {% do log('rows: ' ~ found.columns[0].values()[0], true) %}
        {% endmacro %}
        """,
}


@pytest.fixture(scope="module", autouse=True)
def built(project: DbtProject) -> None:
    project.dbt("run", "-s", "totals", "grand", "lens")


@pytest.fixture
def stale(lake: Warehouse) -> int:
    """Totals that are stale by another program's write; the sum that is right now."""
    lake.spark("insert into @.orders values (70, 'ann', 7)")
    return int(lake.value("select sum(amount) from @.orders"))


def assert_fresh(lake: Warehouse) -> None:
    assert lake.freshness("totals") == "FRESH"
    assert_same(lake, "select * from @.totals", QUERY)


@pytest.mark.behaviour("A9", "A14")
def test_downstream_model(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """A table model over a view over the materialized view gets new rows."""
    project.dbt("run", "-s", "report")
    assert_same(lake, "select * from @.report", QUERY)
    assert_fresh(lake)


def test_show(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """dbt show reads fresh rows, of a ref and of a model over it."""
    ((row),) = project.show("select sum(total) as t from {{ ref('totals') }}")
    assert row["t"] == stale
    assert_fresh(lake)


def test_commands_that_do_not_read(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """compile, parse, list and docs generate refresh nothing."""
    build = lake.build_of("totals")
    for command in (["compile"], ["parse"], ["ls"], ["docs", "generate"]):
        project.dbt(*command)
    assert lake.build_of("totals") == build


def test_data_tests(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """Tests that read a stale view refresh it first; is_fresh never does."""
    found = project.dbt("test", "-s", "is_fresh_totals_", fails=True)
    assert not found.success
    assert lake.freshness("totals") == "STALE"
    project.dbt("test", "-s", "totals_add_up", "unique_totals_customer")
    assert_fresh(lake)
    project.dbt("test", "-s", "is_fresh_totals_", "matches_its_query_totals_")


@pytest.mark.behaviour("D29")
def test_matches_its_query(lake: Warehouse, project: DbtProject) -> None:
    """The generic test fails for a tampered row, and does not repair it."""
    storage = lake.storage("totals")
    lake.spark(f"update {storage} set total = total + 1 where customer__mv = 'ann'")
    project.dbt("test", "-s", "matches_its_query_totals_", fails=True)
    assert lake.freshness("totals") == "UNKNOWN"
    project.operation("refresh", view="totals")
    project.dbt("test", "-s", "matches_its_query_totals_")


def test_unit_test(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """A unit test of a materialized view runs on its fixtures and refreshes nothing."""
    build = lake.build_of("totals")
    project.dbt("test", "-s", "sums")
    assert lake.build_of("totals") == build


@pytest.mark.behaviour("B29")
def test_snapshot(lake: Warehouse, project: DbtProject) -> None:
    """A snapshot over a materialized view is a read."""
    project.dbt("snapshot")
    lake.spark("insert into @.orders values (71, 'ann', 1000)")
    project.dbt("snapshot")
    assert_fresh(lake)
    live = "select customer, total from @.kept where dbt_valid_to is null"
    assert_same(lake, live, QUERY)
    assert lake.value("select count(*) from @.kept where customer = 'ann'") == 2


@pytest.mark.behaviour("X11")
def test_hooks(lake: Warehouse, project: DbtProject) -> None:
    """Hooks with several statements write and read; each sees what is written before it."""
    project.dbt("run", "-s", "hooked")
    before_post = lake.value("select sum(amount) from @.orders where id <> 62")
    assert lake.value("select grand from @.hooked") == before_post
    assert lake.value("select amount from @.orders where id = 62") == before_post
    lake.spark("delete from @.orders where id = 62")


@pytest.mark.behaviour("B5")
def test_hook_that_writes_to_the_view(lake: Warehouse, project: DbtProject) -> None:
    """A hook's DML on the view fails the model, and the view is untouched."""
    build = lake.build_of("totals")
    found = project.dbt("run", "-s", "bad_hook", fails=True)
    assert "is a materialized view" in found.text
    assert lake.build_of("totals") == build


@pytest.mark.behaviour("B5")
@pytest.mark.parametrize("suffix", ["totals", "storage"])
def test_operation_that_writes_to_the_view(
    lake: Warehouse, project: DbtProject, suffix: str
) -> None:
    """The same for DML of a run-operation, on view and storage table."""
    name = f"{lake.schema}.totals" if suffix == "totals" else lake.storage("totals")
    build = lake.build_of("totals")
    found = project.operation("write_to", fails=True, name=name, verb="delete from")
    assert "is a materialized view" in found.text
    assert lake.build_of("totals") == build


def test_operation_that_reads(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """A read in a run-operation is fresh."""
    assert f"rows: {stale}" in project.operation("count_rows", name="totals").text


def test_query_at_compile_time(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """run_query in a model's body reads fresh rows."""
    project.dbt("run", "-s", "dynamic")
    assert lake.value("select grand from @.dynamic") == stale


@pytest.mark.behaviour("B22")
def test_unparsable_model(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """What cannot be parsed is gated by what Spark says it reads."""
    text = (project.folder / "models" / "odd.sql").read_text().partition("}}")[2]
    assert parse(text.replace("{{ ref('totals') }}", "a.totals")) is None
    project.dbt("run", "-s", "odd")
    assert lake.value("select grand from @.odd") == stale


def test_temporary_view_of_a_hook(lake: Warehouse, project: DbtProject, stale: int) -> None:
    """A temporary view that a hook makes from the view reads fresh rows."""
    project.dbt("run", "-s", "staged")
    assert_same(lake, "select * from @.staged", QUERY)


@pytest.mark.behaviour("B4")
def test_catalog(lake: Warehouse, project: DbtProject) -> None:
    """Type materialized view, columns and statistics; no storage table in sight."""
    project.dbt("docs", "generate")
    catalog = json.loads((project.folder / "target" / "catalog.json").read_text())
    assert catalog["errors"] is None
    node: dict[str, Any] = catalog["nodes"]["model.test.totals"]
    assert node["metadata"]["type"].replace("_", " ").lower() == "materialized view"
    assert {name: c["type"] for name, c in node["columns"].items()} == {
        "customer": "string",
        "total": "bigint",
    }
    text = json.dumps(node["stats"]).lower()
    assert "row" in text and "stale" in text and "refresh" in text


@pytest.mark.behaviour("B4")
def test_list(lake: Warehouse, project: DbtProject) -> None:
    """dbt ls tells the materialization."""
    text = project.dbt(
        "ls", "-s", "config.materialized:bq_materialized_view", "--resource-type", "model"
    ).results
    assert sorted(text) == ["test.grand", "test.totals"]


@pytest.mark.behaviour("D5")
def test_read_after_the_metadata_was_lost(lake: Warehouse, project: DbtProject) -> None:
    """Without any metadata a read is right, and a run of the model works."""
    lake.spark("drop table @meta.mv_events")
    lake.spark("insert into @.orders values (72, 'ann', 3)")
    expected = lake.value("select sum(amount) from @.orders")
    query = "select sum(total) as t from {{ ref('totals') }}"
    (shown,) = project.show(query)
    assert shown["t"] == expected
    lake.spark("drop table @meta.mv_events")
    project.dbt("run", "-s", "totals")
    status = "select status from @meta.mv_status where table_name = 'totals'"
    assert lake.value(status) == "READY"
    project.operation("rebuild_metadata")
    (shown,) = project.show(query)
    assert shown["t"] == expected
