"""Every kind of dbt node that writes, as the base table of a materialized view."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

MV = "{{ config(materialized='bq_materialized_view') }} "
ORDERS = "{{ source('raw', 'orders') }}"
FILES = {
    "seeds/seeded.csv": "k,v\n1,10\n2,20\n",
    "models/as_table.sql": "{{ config(materialized='table') }} select id as k, amount as v from "
    + ORDERS,
    "models/appended.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        select id as k, amount as v from {{ source('raw', 'orders') }}
        {% if is_incremental() %} where id > (select max(k) from {{ this }}) {% endif %}""",
    "models/merged.sql": """
        {{ config(materialized='incremental', incremental_strategy='merge', unique_key='k') }}
        select id as k, max(amount) as v from {{ source('raw', 'orders') }} group by id""",
    "models/overwritten.sql": """
        {{ config(materialized='incremental', incremental_strategy='insert_overwrite',
                  partition_by='k') }}
        select amount as v, id as k from {{ source('raw', 'orders') }}""",
    "snapshots/snapped.yml": """
        snapshots:
          - name: snapped
            relation: source('raw', 'orders')
            config: {unique_key: id, strategy: check, check_cols: [amount]}
        """,
    "models/over_view.sql": "{{ config(materialized='view') }} select id as k, amount as v from "
    + ORDERS,
    "macros/load.sql": """
        {% macro run_statements(texts) %}
          {% for text in texts %}{% do run_query(text) %}{% endfor %}
        {% endmacro %}""",
}
WRITERS = {
    "seeded": "seed",
    "as_table": "run",
    "appended": "run",
    "merged": "run",
    "overwritten": "run",
    "snapped": "snapshot",
    "over_view": "run",
}
FILES.update(
    {f"models/mv_{name}.sql": MV + f"select * from {{{{ ref('{name}') }}}}" for name in WRITERS}
)


@pytest.fixture(scope="module", autouse=True)
def built(project: DbtProject) -> None:
    project.dbt("build")


@pytest.mark.behaviour("A20", "X11")
@pytest.mark.parametrize("name", WRITERS)
def test_rows_follow_the_writer(lake: Warehouse, project: DbtProject, name: str) -> None:
    """A run of the node marks the view, whose next read in dbt has its rows."""
    # What another test's write left stale is made fresh first.
    project.dbt("run", "-s", f"mv_{name}")
    assert lake.freshness(f"mv_{name}") == "FRESH"
    lake.spark(f"insert into @.orders values ({1000 + list(WRITERS).index(name)}, 'new', 5)")
    if name == "seeded":
        project.write({"seeds/seeded.csv": "k,v\n1,10\n3,30\n"})
    project.dbt(WRITERS[name], "-s", name)
    if name != "over_view":
        assert lake.flag(f"mv_{name}")
    (row,) = project.show(f"select count(*) as n from {{{{ ref('mv_{name}') }}}}")
    assert row["n"] == lake.value(f"select count(*) from @.{name}")
    assert_same(lake, f"select * from @.mv_{name}", f"select * from @.{name}")
    assert not lake.flag(f"mv_{name}")


def test_full_refresh_of_a_base(lake: Warehouse, project: DbtProject) -> None:
    """A base model that is dropped and made again is another table with the same name."""
    project.dbt("run", "-s", "as_table", "appended", "--full-refresh")
    project.dbt("build", "-s", "mv_as_table", "mv_appended")
    for name in ("as_table", "appended"):
        assert_same(lake, f"select * from @.mv_{name}", f"select * from @.{name}")


def test_build_of_the_whole_project(lake: Warehouse, project: DbtProject) -> None:
    """One `dbt build` after a foreign write leaves every view fresh and right."""
    lake.spark("insert into @.orders values (5000, 'last', 1)")
    project.dbt("build")
    for name in WRITERS:
        assert_same(lake, f"select * from @.mv_{name}", f"select * from @.{name}")
        assert lake.freshness(f"mv_{name}") == "FRESH"


LOADED = "spark_catalog.default.loaded"


@pytest.fixture
def loaded(lake: Warehouse) -> Any:
    lake.spark(f"drop table if exists {LOADED}")
    lake.spark(f"create table {LOADED} (v string) using parquet")
    lake.spark(f"insert into {LOADED} values ('a')")
    lake.sql(f"create materialized view @.mv_loaded as select v from {LOADED}")
    yield
    lake.sql("drop materialized view @.mv_loaded")
    lake.spark(f"drop table {LOADED}")


@pytest.mark.behaviour("X11")
def test_several_statements_of_an_operation(
    lake: Warehouse, project: DbtProject, loaded: None
) -> None:
    """DML in the middle of a run-operation's statements counts like any other."""
    texts = ["select 1", f"insert into {LOADED} values ('b')", "select 2"]
    project.operation("run_statements", texts=texts)
    assert lake.flag("mv_loaded")
    lake.sql("select * from @.mv_loaded")
    assert_same(lake, "select * from @.mv_loaded", f"select v from {LOADED}")


def test_verbs_in_an_operation(lake: Warehouse, project: DbtProject) -> None:
    """The verbs may be used wherever SQL may be: create, refresh, alter, explain, drop."""
    name = f"{lake.schema}.by_hand"
    project.operation(
        "run_statements",
        texts=[
            f"create materialized view {name} as select count(*) as n from {lake.schema}.orders",
            f"insert into {lake.schema}.orders values (6000, 'hand', 1)",
            f"refresh materialized view {name} with sync mode",
            f"alter materialized view {name} set options (refresh_interval_minutes = 90)",
            f"explain materialized view {name}",
            f"CALL BQ.REFRESH_MATERIALIZED_VIEW('{name}')",
        ],
    )
    assert_same(lake, "select n from @.by_hand", "select count(*) from @.orders")
    assert (
        lake.value(
            "select option_value from @meta.table_options where table_name = 'by_hand' "
            "and option_name = 'refresh_interval_minutes'"
        )
        == "90"
    )
    project.operation("run_statements", texts=[f"drop materialized view {name}"])
    assert [table for _, table in lake.relations() if table.startswith("by_hand")] == []
