"""A model gets another materialization: what it was is there until what it becomes is complete."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
FILES: dict[str, str] = {}
MV = "materialized view"
KINDS: dict[str, dict[str, Any]] = {
    "table": {"materialized": "table"},
    "view": {"materialized": "view"},
    "incremental": {"materialized": "incremental"},
    MV: {"materialized": "bq_materialized_view"},
}
# What only fails while rows are computed, and what Spark refuses at once.
LATE = ", cast(raise_error('no rows') as bigint) as broken"
EARLY = ", nothing as broken"
_numbers = itertools.count()

CHANGES = [
    ("table", MV),
    ("view", MV),
    ("incremental", MV),
    (MV, "table"),
    (MV, "incremental"),
    (MV, "view"),
    (MV, "snapshot"),
    ("view", "table"),
    ("view", "incremental"),
    ("table", "view"),
    ("table", "table"),
    ("incremental", "full refresh"),
    (MV, MV),
]


@pytest.fixture
def name(project: DbtProject) -> Any:
    """A name of its own for the test's model, which is gone afterwards."""
    made = f"r{next(_numbers)}"
    yield made
    for folder in ("models", "snapshots"):
        for path in (project.folder / folder).glob(f"{made}.*"):
            path.unlink()


def put(project: DbtProject, name: str, kind: str, more: str = "") -> None:
    """Make the model one of this kind; `more` columns of its query may be wrong."""
    select = f"select customer, sum(amount) as total{more} from {{{{ source('raw', 'orders') }}}}"
    for folder in ("models", "snapshots"):
        (project.folder / folder / f"{name}.sql").unlink(missing_ok=True)
    if kind == "snapshot":
        config = "unique_key='customer', strategy='check', check_cols='all'"
        text = f"{{{{ config({config}, schema=none) }}}} {select} group by customer"
        text = f"{{% snapshot {name} %}}{text}{{% endsnapshot %}}"
        project.write({f"snapshots/{name}.sql": text})
        return
    config = KINDS["incremental" if kind == "full refresh" else kind]
    arguments = ", ".join(f"{key}={value!r}" for key, value in config.items())
    project.write(
        {f"models/{name}.sql": f"{{{{ config({arguments}) }}}} {select} group by customer"}
    )


def run(project: DbtProject, name: str, kind: str, fails: bool = False) -> Any:
    command = "snapshot" if kind == "snapshot" else "run"
    flags = ["--full-refresh"] if kind == "full refresh" else []
    return project.dbt(command, "-s", name, *flags, fails=fails)


def of_name(lake: Warehouse, name: str) -> list[tuple[str, str]]:
    """Everything whose name begins with the model's."""
    return [
        (kind, found)
        for kind, found in lake.relations()
        if found == name or found.startswith(f"{name}__")
    ]


def is_registered(lake: Warehouse, name: str) -> bool:
    return bool(lake.value(f"select count(*) from @meta.mv_status where table_name = '{name}'"))


def last_event(lake: Warehouse, name: str) -> str:
    return str(
        lake.value(
            "select max_by(kind, at) from @meta.mv_events where kind in ('CREATED', 'REPLACED', "
            f"'DROPPED') and view_name = 'local.{lake.schema}.{name}'"
        )
    )


def assert_left(lake: Warehouse, name: str, kind: str) -> None:
    """What there is of the name is a relation of this kind, and nothing of any other."""
    letter = "v" if kind in ("view", MV) else "t"
    found = of_name(lake, name)
    storages = [table for _, table in found if table.startswith(f"{name}__mv_")]
    assert len(storages) == (kind == MV), found
    assert [row for row in found if row[1] not in storages] == [(letter, name)], found
    if kind == MV:
        assert lake.storage(name) == f"{lake.schema}.{storages[0]}"


@pytest.fixture(scope="module", autouse=True)
def registered(lake: Warehouse) -> None:
    """A view of another model, so that there is metadata to ask."""
    lake.sql("create materialized view @.other as select id from @.orders")
    lake.restart()


@pytest.mark.behaviour("E30")
@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_failure_leaves_what_there_was(
    lake: Warehouse, project: DbtProject, name: str, old: str, new: str
) -> None:
    """Rows, dependents and type are as they were; the next run that is right replaces it."""
    put(project, name, old)
    run(project, name, old)
    lake.spark(f"create or replace view @.over_{name} as select * from @.{name}")
    before, rows = of_name(lake, name), sorted(lake.spark(f"select * from @.{name}"))
    put(project, name, new, EARLY if new == "view" else LATE)
    text = run(project, name, new, fails=True).text
    assert ("nothing" if new == "view" else "no rows") in text
    assert of_name(lake, name) == before
    assert sorted(lake.spark(f"select * from @.over_{name}")) == rows
    if old == MV:
        assert_still_refreshed(lake, project, name)
    put(project, name, new)
    run(project, name, new)
    if (old, new) != (MV, MV):
        assert_left(lake, name, new)
    columns = "customer, total"
    assert_same(lake, f"select {columns} from @.{name}", QUERY)
    assert_same(lake, f"select {columns} from @.over_{name}", QUERY)
    assert is_registered(lake, name) == (new == MV)
    if MV in (old, new):
        assert (last_event(lake, name) == "DROPPED") == (new != MV)
    run(project, name, new)
    lake.spark(f"drop view @.over_{name}")


def assert_still_refreshed(lake: Warehouse, project: DbtProject, name: str) -> None:
    lake.spark(f"insert into @.orders values ({next(_numbers)}, 'ann', 1)")
    lake.restart()
    lake.sql(f"select * from @.{name}")
    assert_same(lake, f"select * from @.{name}", QUERY)
    assert lake.freshness(name) == "FRESH" and is_registered(lake, name)
    project.operation("refresh", view=name)
    assert project.show(f"select * from {lake.schema}.{name}")


@pytest.mark.behaviour("B12")
@pytest.mark.parametrize("kind", ["table", "view"])
def test_statement_replaces_nothing_else(lake: Warehouse, kind: str) -> None:
    """Only a model takes the place of a table or view, a statement never."""
    lake.spark(f"create {kind} @.taken as select 1 as x")
    before = lake.state()
    with pytest.raises(Exception, match="not a materialized view"):
        lake.sql(f"create or replace materialized view @.taken as {QUERY}")
    assert lake.state() == before
    lake.spark(f"drop {kind} @.taken")


def test_hook_replaces_nothing_else(lake: Warehouse, project: DbtProject, name: str) -> None:
    """Nor does the statement in a hook of a model that may replace its own table."""
    lake.spark("create table @.theirs using iceberg as select 1 as x")
    put(project, name, "table")
    run(project, name, "table")
    hook = f"create or replace materialized view {lake.schema}.theirs as {lake.text(QUERY)}"
    KINDS["hooked"] = {**KINDS[MV], "post_hook": hook}
    put(project, name, "hooked")
    assert "not a materialized view" in run(project, name, "hooked", fails=True).text
    assert lake.spark("select * from @.theirs") == [(1,)]


def test_dependent_view_of_a_replaced_table(
    lake: Warehouse, project: DbtProject, name: str
) -> None:
    """A materialized view over a table that becomes one is stale, and reads it from then on."""
    put(project, name, "table")
    run(project, name, "table")
    lake.sql(f"create materialized view @.upper_{name} as select customer from @.{name}")
    lake.spark("insert into @.orders values (70, 'new', 1)")
    for kind in (MV, "table"):
        put(project, name, kind)
        run(project, name, kind)
        lake.restart()
        lake.sql(f"select * from @.upper_{name}")
        assert_same(lake, f"select * from @.upper_{name}", f"select customer from @.{name}")
        assert lake.freshness(f"upper_{name}") == "FRESH"
    lake.sql(f"drop materialized view @.upper_{name}")


def test_tables_of_others(lake: Warehouse, project: DbtProject, name: str) -> None:
    """A user's table whose name looks like that of a storage table is one of dbt's tables."""
    lake.spark(f"create table @.{name}__mv_01234567 using iceberg as select 1 as x")
    project.write(
        {
            f"macros/{name}.sql": "{% macro type_of(name) %}"
            "{%- set found = adapter.get_relation(none, target.schema, name) -%}"
            "{{ log('type: ' ~ (found.type if found else none), info=true) }}{% endmacro %}"
        }
    )
    text = project.operation("type_of", name=f"{name}__mv_01234567").text
    assert "type: table" in text
    storage = lake.storage("other").rpartition(".")[2]
    assert "type: table" not in project.operation("type_of", name=storage).text
    (project.folder / f"macros/{name}.sql").unlink()
