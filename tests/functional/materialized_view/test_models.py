"""Runs of materialized-view models: states, options, changes of definition and materialization."""

from __future__ import annotations

import itertools
import shutil
from typing import Any

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
FILES: dict[str, str] = {}
_numbers = itertools.count()


def model(
    select: str = "customer, sum(amount) as total", tail: str = "group by customer", **config: Any
) -> str:
    config = {"materialized": "bq_materialized_view", **config}
    arguments = ", ".join(f"{key}={value!r}" for key, value in config.items())
    orders = "{{ source('raw', 'orders') }}"
    return f"{{{{ config({arguments}) }}}}\nselect {select} from {orders} {tail}\n"


@pytest.fixture
def name(lake: Warehouse, project: DbtProject) -> Any:
    """A name of its own for the test's model, which is gone afterwards."""
    made = f"m{next(_numbers)}"
    yield made
    for path in (project.folder / "models").glob(f"{made}*"):
        path.unlink()


def put(project: DbtProject, name: str, **options: Any) -> None:
    project.write({f"models/{name}.sql": model(**options)})


def run(project: DbtProject, name: str, *arguments: str, fails: bool = False) -> Any:
    return project.dbt("run", "-s", name, *arguments, fails=fails)


def response(found: Any, name: str) -> dict[str, Any]:
    return dict(found.result(name).adapter_response)


def storages(lake: Warehouse, name: str) -> list[str]:
    return [table for _, table in lake.relations() if table.startswith(f"{name}__mv_")]


@pytest.mark.behaviour("X12")
def test_states_of_a_run(lake: Warehouse, project: DbtProject, name: str) -> None:
    """Built, then skipped while fresh, then refreshed; the response tells which."""
    put(project, name)
    first = response(run(project, name), name)
    assert (first["method"], first["rows"]) == ("complete", 2) and first["seconds"] > 0
    assert first["reason"]
    build = lake.build_of(name)
    found = run(project, name)
    assert "fresh, skipped" in str(found.result(name).message)
    assert lake.build_of(name) == build
    lake.spark("insert into @.orders values (50, 'lou', 1)")
    assert response(run(project, name), name)["method"] == "complete"
    assert_same(lake, f"select * from @.{name}", QUERY)
    assert lake.builds(name) == 2


def test_full_refresh(lake: Warehouse, project: DbtProject, name: str) -> None:
    """--full-refresh rebuilds a fresh view."""
    put(project, name)
    run(project, name)
    build = lake.build_of(name)
    run(project, name, "--full-refresh")
    assert lake.build_of(name) != build
    assert_same(lake, f"select * from @.{name}", QUERY)


@pytest.mark.behaviour("A19")
def test_changed_definition(lake: Warehouse, project: DbtProject, name: str) -> None:
    """Other columns after a run; the old storage is kept for readers, then dropped."""
    put(project, name)
    run(project, name)
    (old,) = storages(lake, name)
    query = "select id, amount from @.orders where amount > 15"
    put(project, name, select="id, amount", tail="where amount > 15")
    run(project, name)
    assert_same(lake, f"select * from @.{name}", query)
    assert set(storages(lake, name)) > {old}
    project.operation("refresh", view=name, method="complete")
    project.operation("sweep")
    assert old not in storages(lake, name) and len(storages(lake, name)) == 1
    assert_same(lake, f"select * from @.{name}", query)


def test_reformatted_definition(lake: Warehouse, project: DbtProject, name: str) -> None:
    """Layout, comments and letter case of keywords are no change."""
    put(project, name)
    run(project, name)
    before = lake.build_of(name)
    text = model().replace("select", "-- note\nSELECT\n  ").replace(" group", "\n  GROUP")
    project.write({f"models/{name}.sql": text})
    run(project, name)
    assert lake.build_of(name) == before and len(storages(lake, name)) == 1


def test_changed_options(lake: Warehouse, project: DbtProject, name: str) -> None:
    """Options are applied in place; the rows stay."""
    put(project, name)
    run(project, name)
    build = lake.build_of(name)
    put(project, name, refresh_interval_minutes=60, enable_refresh=False, tags=["nightly"])
    run(project, name)
    rows = lake.spark(
        f"select option_name, option_value from @meta.table_options where table_name = '{name}'"
    )
    assert {("refresh_interval_minutes", "60"), ("enable_refresh", "false")} < set(rows)
    assert lake.build_of(name) == build


@pytest.mark.parametrize("policy", ["continue", "fail"])
def test_on_configuration_change(
    lake: Warehouse, project: DbtProject, name: str, policy: str
) -> None:
    """With 'continue' a change is only told, with 'fail' it is an error; nothing is changed."""
    put(project, name, on_configuration_change=policy)
    run(project, name)
    before = lake.state()
    put(project, name, on_configuration_change=policy, refresh_interval_minutes=60)
    found = run(project, name, fails=policy == "fail")
    assert "refresh_interval_minutes" in found.text and policy in found.text
    assert lake.state() == before


MATERIALIZATIONS = {
    "table": {"materialized": "table", "file_format": "iceberg"},
    "view": {"materialized": "view"},
    "incremental": {"materialized": "incremental", "file_format": "iceberg"},
    "materialized view": {"materialized": "materialized_view"},
}


@pytest.mark.behaviour("E30")
@pytest.mark.parametrize("other", ["table", "view", "incremental"])
@pytest.mark.parametrize("full", [False, True], ids=["plain", "full refresh"])
def test_change_of_materialization(
    lake: Warehouse, project: DbtProject, name: str, other: str, full: bool
) -> None:
    """The same name as table, view or incremental model and as materialized view, and back."""
    flags = ("--full-refresh",) if full else ()
    for kind in (other, "materialized view", other, "materialized view"):
        put(project, name, **MATERIALIZATIONS[kind])
        run(project, name, *flags)
        assert_same(lake, f"select * from @.{name}", QUERY)
        kinds = {what for what, table in lake.relations() if table == name}
        assert ("v" in kinds) is (kind in ("view", "materialized view"))
        assert len(storages(lake, name)) == (kind == "materialized view")
        live = lake.value(f"select count(*) from @meta.mv_status where table_name = '{name}'")
        assert live == (kind == "materialized view")


def test_empty_run(lake: Warehouse, project: DbtProject, name: str) -> None:
    """--empty builds where there is nothing, is labelled stale, and never replaces a definition."""
    put(project, name)
    for _ in range(2):
        run(project, name, "--empty")
        assert lake.value(f"select count(*) from @.{name}") == 0
        assert lake.freshness(name) == "STALE"
    assert "run its model without" in lake.operation("refresh", view=name).failures[0]
    run(project, name)
    built = lake.build_of(name)
    shutil.copytree(project.folder / "target", project.folder / "before", dirs_exist_ok=True)
    assert "kept as it is" in run(project, name, "--empty").text
    for reduced in (["--empty"], ["--defer", "--state", str(project.folder / "before")]):
        run(project, name, *reduced)
        assert (lake.build_of(name), lake.freshness(name)) == (built, "FRESH")
    assert_same(lake, f"select * from @.{name}", QUERY)


def partition_fields(lake: Warehouse, name: str) -> list[str]:
    text = lake.value(f"show create table {lake.storage(name)}")
    return [line for line in text.splitlines() if "PARTITIONED" in line.upper()]


@pytest.mark.behaviour("A16", "E31")
def test_layout_is_kept(lake: Warehouse, project: DbtProject, name: str) -> None:
    """Partitions and order of rows survive every refresh; a changed layout is applied."""
    put(project, name, partition_by=["customer"], cluster_by=["total"])
    run(project, name)
    (fields,) = partition_fields(lake, name)
    assert "customer" in fields
    lake.spark("insert into @.orders values (52, 'max', 1)")
    run(project, name)
    assert partition_fields(lake, name) == [fields]
    order = lake.value(f"show create table {lake.storage(name)}")
    assert "sort-order" in order or "ORDERED" in order.upper()
    put(project, name, partition_by=["bucket(4, customer)"])
    run(project, name)
    assert "bucket" in partition_fields(lake, name)[0]
    assert_same(lake, f"select * from @.{name}", QUERY)


def test_misspelt_config(lake: Warehouse, project: DbtProject, name: str) -> None:
    """A near miss of a key of ours is an error with that name; other keys are left to dbt."""
    put(project, name, refresh_interval_minute=5)
    before = lake.state()
    assert "refresh_interval_minutes" in run(project, name, fails=True).text
    assert lake.state() == before
    put(project, name, meta={"owner": "me"}, some_key_of_a_package=5)
    run(project, name)


def test_wrong_values_of_a_model(lake: Warehouse, project: DbtProject, name: str) -> None:
    """Config values of wrong type or range: told with the model's name, nothing is made."""
    before = lake.state()
    for config in (
        {"refresh_interval_minutes": "soon"},
        {"when_stale": "never"},
        {"enable_refresh": "x"},
    ):
        put(project, name, **config)
        text = run(project, name, fails=True).text
        assert name in text and next(iter(config)) in text
    assert lake.state() == before


@pytest.mark.behaviour("A6")
def test_contract(lake: Warehouse, project: DbtProject, name: str) -> None:
    """An enforced contract is checked as for a table."""
    yml = """
    models:
      - name: {name}
        config: {{contract: {{enforced: true}}}}
        columns:
          - {{name: customer, data_type: string}}
          - {{name: total, data_type: {type}}}
    """
    put(project, name)
    project.write({f"models/{name}.yml": yml.format(name=name, type="string")})
    before = lake.state()
    assert "contract" in run(project, name, fails=True).text.lower()
    assert lake.state() == before
    project.write({f"models/{name}.yml": yml.format(name=name, type="bigint")})
    run(project, name)
    assert_same(lake, f"select * from @.{name}", QUERY)


@pytest.mark.behaviour("A6")
def test_persisted_docs(lake: Warehouse, project: DbtProject, name: str) -> None:
    """Descriptions of view and columns are comments, now and after a change of them."""
    yml = """
    models:
      - name: {name}
        description: Totals's "sum" ${{env:HOME}}
        config: {{persist_docs: {{relation: true, columns: true}}}}
        columns: [{{name: total, description: "{comment}"}}]
    """
    put(project, name)
    for comment in ("In cents; it's net", "In euro"):
        project.write({f"models/{name}.yml": yml.format(name=name, comment=comment)})
        run(project, name)
        described = lake.spark(f"describe extended @.{name}")
        assert ("total", "bigint", comment) in described
        assert any(row[0] == "Comment" and "${env:HOME}" in row[1] for row in described)
    assert lake.builds(name) == 1


@pytest.mark.behaviour("A6")
def test_table_properties(lake: Warehouse, project: DbtProject, name: str) -> None:
    """tblproperties reach the storage table."""
    put(project, name, tblproperties={"write.parquet.compression-codec": "gzip"})
    run(project, name)
    rows = lake.spark(f"show tblproperties {lake.storage(name)}")
    assert ("write.parquet.compression-codec", "gzip") in rows


@pytest.mark.behaviour("A4")
def test_no_bare_errors(lake: Warehouse, project: DbtProject, name: str) -> None:
    """A model that does not parse fails with its name and leaves nothing."""
    before = lake.state()
    put(project, name, select="customer, sum(", tail="")
    text = run(project, name, fails=True).text
    assert name in text and "\tat " not in text
    assert lake.state() == before


@pytest.mark.behaviour("X9")
def test_ephemeral_and_self_reference(lake: Warehouse, project: DbtProject, name: str) -> None:
    """An ephemeral model is expanded to its base tables."""
    project.write(
        {
            f"models/{name}_inner.sql": model("*", "", materialized="ephemeral"),
            f"models/{name}.sql": "{{ config(materialized='bq_materialized_view') }}"
            f"select id from {{{{ ref('{name}_inner') }}}}",
        }
    )
    run(project, name)
    edges = f"select source_name from @meta.mv_dependencies_graph where table_name = '{name}'"
    assert lake.spark(edges) == [("orders",)]
