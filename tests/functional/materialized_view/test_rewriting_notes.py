"""What dbt prints of statements that are rewritten, and that it prints nothing of others."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.cli.main import dbtRunner

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.rewritten import of_small_tables
from tests.functional.materialized_view.warehouse import Warehouse

SUMS = "select shop, sum(amount) as total from {{ source('raw', 'orders') }} group by shop"
HOOK = "insert into {{ this }} select shop, sum(amount) from {{ source('raw', 'orders') }} "
FILES = {
    "models/by_shop.sql": "{{ config(materialized='bq_materialized_view') }} " + SUMS,
    "models/report.sql": "{{ config(materialized='table') }} " + SUMS,
    "models/hooked.sql": "{{ config(materialized='table', post_hook=\""
    + HOOK
    + 'where shop = 1 group by shop") }} '
    + SUMS,
    "models/parts.sql": "{{ config(materialized='table') }} "
    + f"select * from ({SUMS}) as x union all select 99, total from ({SUMS}) as y",
    "models/rows.sql": "{{ config(materialized='table') }} "
    "select id, amount from {{ source('raw', 'orders') }} where shop = 1",
    "models/refusing.sql": "{{ config(materialized='table', query_rewrite=false) }} " + SUMS,
    "models/seen.sql": "{{ config(materialized='view') }} " + SUMS,
    "macros/count_shops.sql": """
        {% macro count_shops() %}
          {% do run_query("select count(distinct shop) as n from " ~ source('raw', 'orders')) %}
        {% endmacro %}
        """,
}


@pytest.fixture(scope="module")
def project(lake: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    lake.spark(
        "create or replace table @.orders using iceberg as select id, cast(id % 7 as int) as shop, "
        "cast(id % 100 as decimal(10, 2)) as amount from range(9000)"
    )
    shop = of_small_tables(lake)
    made = DbtProject(tmp_path_factory.mktemp("notes"), shop)
    made.write(FILES)
    made.dbt("run", "-s", "by_shop")
    return made


def notes(project: DbtProject, *arguments: str) -> list[tuple[str, str]]:
    """The levels and texts of the lines about what is read in place of what."""
    found = []

    def keep(event: Any) -> None:
        if "rows instead of" in event.info.msg and "reads" in event.info.msg:
            found.append((event.info.level, event.info.msg.removeprefix("SparkMV adapter: ")))

    folder = ("--project-dir", str(project.folder), "--profiles-dir", str(project.folder))
    assert dbtRunner(callbacks=[keep]).invoke([*arguments, *folder]).success
    return found


def line(project: DbtProject, reader: str, stored: str = "7", rows: str = "9,000") -> Any:
    """The line about a reader."""
    schema = project.warehouse.schema
    return "info", f"{reader}reads {schema}.by_shop: {stored} rows instead of {rows}"


def of_model(project: DbtProject, name: str) -> str:
    return f"{project.warehouse.schema}.{name}: "


def test_a_model(project: DbtProject) -> None:
    """Who reads, which view, how many rows: one line at info."""
    reader = of_model(project, "report")
    assert notes(project, "run", "-s", "report") == [line(project, reader)]


def test_each_statement(project: DbtProject) -> None:
    """That of a hook has a line beside that of its model."""
    reader = of_model(project, "hooked")
    assert notes(project, "run", "-s", "hooked") == [line(project, reader)] * 2


def test_a_statement_of_two_blocks(project: DbtProject) -> None:
    """It has one line for both."""
    reader = of_model(project, "parts")
    found = notes(project, "run", "-s", "parts")
    assert found == [line(project, reader, "14", "18,000")]


def test_statements_without_a_model(project: DbtProject) -> None:
    """dbt show and run-operation."""
    query = SUMS + " having sum(amount) > 3"
    assert notes(project, "show", "--inline", query) == [line(project, "")]
    assert notes(project, "run-operation", "count_shops") == [line(project, "")]


@pytest.mark.parametrize("model", ["rows", "refusing", "seen", "by_shop"])
def test_left_alone(project: DbtProject, model: str) -> None:
    """Of what no view answers, or may answer, nothing is said."""
    assert notes(project, "run", "-s", model) == []


def test_what_does_not_run(project: DbtProject) -> None:
    """Nor of texts that are compiled only."""
    assert notes(project, "compile") == []
