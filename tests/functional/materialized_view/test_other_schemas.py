"""Views of a project in schemas that are written with their catalog, and hooks that drop a view."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse

ORDERS = "{{ source('raw', 'orders') }}"
FILES = {
    "macros/schemas.sql": "{% macro generate_schema_name(custom, node) %}"
    "{{ custom or target.schema }}{% endmacro %}",
    "models/far.sql": "{{ config(materialized='bq_materialized_view', schema='local.elsewhere', "
    "tags=['away'], error_after={'count': 1, 'period': 'day'}) }}"
    f"select customer, sum(amount) as total from {ORDERS} group by customer",
    "models/above.sql": "{{ config(materialized='bq_materialized_view', refresh_policy='on_write') "
    "}} select count(*) as n from {{ ref('far') }}",
    "models/dropped.sql": "{{ config(materialized='bq_materialized_view', "
    f"pre_hook='drop table if exists {{{{ this }}}}') }}}} select id from {ORDERS}",
    "models/long_name.sql": "{{ config(materialized='bq_materialized_view', alias='short') }} "
    f"select count(*) as n from {ORDERS}",
    "models/odd.sql": "{{ config(materialized='table') }} "
    "select sum(total) as total from (table {{ ref('far') }})",
}


def lines_of(project: DbtProject, operation: str) -> list[str]:
    """The lines of a report about the view elsewhere."""
    text = project.operation(operation).text
    return [line for line in text.splitlines() if "elsewhere.far" in line]


@pytest.fixture
def stale(lake: Warehouse, project: DbtProject) -> None:
    project.dbt("run")
    lake.spark("insert into @.orders values (700, 'far', 1)")


@pytest.mark.usefixtures("stale")
@pytest.mark.parametrize(
    "operation", ["status", "refresh", "check_staleness", "history", "maintain", "explain"]
)
def test_operations_on_all(project: DbtProject, operation: str) -> None:
    """Without `view` they are about every view of the project."""
    assert lines_of(project, operation)


@pytest.mark.usefixtures("stale")
def test_refresh_on_all(lake: Warehouse, project: DbtProject) -> None:
    project.operation("refresh")
    stored = "select sum(total) from elsewhere.far"
    assert lake.spark(stored) == lake.spark("select sum(amount) from @.orders")
    assert "elsewhere.far" in project.operation("verify").text
    assert "elsewhere.far" in project.operation("status", view="tag:away").text


@pytest.mark.usefixtures("stale")
def test_read_that_only_spark_understands(lake: Warehouse, project: DbtProject) -> None:
    """What a node reads is then what the manifest says."""
    project.dbt("run", "--select", "odd")
    found = lake.spark("select total from @.odd")
    assert found == lake.spark("select sum(amount) from @.orders")


def test_swept(lake: Warehouse, project: DbtProject) -> None:
    """What is left behind in such a schema is found."""
    project.dbt("run")
    lake.spark("drop view elsewhere.far")
    assert lines_of(project, "sweep")
    assert lake.spark("show tables in elsewhere like '*__mv_*'") == []
    project.dbt("run")


def test_a_hook_drops_the_view(lake: Warehouse, project: DbtProject) -> None:
    """As a table it is made again, in each run."""
    for number in range(3):
        project.dbt("run", "--select", "dropped")
        lake.spark(f"insert into @.orders values ({800 + number}, 'hook', 1)")
        project.dbt("run", "--select", "dropped")
        ids = "select id from @.{} order by id"
        assert lake.spark(ids.format("dropped")) == lake.spark(ids.format("orders"))


@pytest.mark.usefixtures("stale")
@pytest.mark.parametrize("operation", ["status", "refresh", "explain", "history", "verify"])
@pytest.mark.parametrize("name", ["long_name", "+long_name", "long_name+", "short"])
def test_operations_on_a_model(project: DbtProject, operation: str, name: str) -> None:
    """A model that has an alias is known by its name, too."""
    assert "short" in project.operation(operation, view=name).text
