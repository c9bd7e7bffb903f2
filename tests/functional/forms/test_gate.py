"""The gate itself: what it knows of names, and what it does when the metadata do not help."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Command, Warehouse, assert_same

FILES = {
    "models/sales.sql": """
        {{ config(materialized='bq_materialized_view') }}
        select customer, max(timestamp_seconds(id)) as loaded_at from {{ source('raw', 'orders') }}
        group by customer
    """,
    "models/checked.yml": """
        sources:
          - name: views
            schema: "{{ target.schema }}"
            tables:
              - name: sales
                loaded_at_field: loaded_at
                freshness:
                  error_after: {count: 100000, period: day}
    """,
}


@pytest.fixture(autouse=True)
def chain(lake: Warehouse) -> None:
    """A view over a view; both are fresh."""
    for name in ("upper", "lower"):
        lake.sql(f"drop materialized view if exists @.{name}")
    lake.sql("create materialized view @.lower as select id, amount from @.orders")
    lake.sql("create materialized view @.upper as select count(*) as n from @.lower")


def test_metadata_list_no_view(lake: Warehouse) -> None:
    """The event table is there, and lists no view: its creator died, or other metadata list it."""
    lake.sql("drop materialized view @.upper")
    lake.spark("create or replace table @.kept using iceberg as select * from @meta.mv_events")
    lake.spark("delete from @meta.mv_events where true")
    lake.spark("insert into @.orders values (300, 'eve', 1)")
    command = lake.command("show")
    assert (300, 1) in command.sql("select * from @.lower")
    command.flush()
    lake.spark("insert into @meta.mv_events select * from @.kept")
    lake.spark("drop table @.kept")
    lake.restart()


def test_other_metadata_list_the_view(lake: Warehouse) -> None:
    """Views of another profile on the same catalog are gated, too."""
    other = Warehouse({**lake.target, "path": lake.target["path"]}, lake.schema)
    other.target["metadata_schema"] = "other_meta"
    credentials = type(lake.credentials).from_dict(
        {k: v for k, v in other.target.items() if k not in ("type", "threads")}
    )
    other.credentials, other.metadata_schema = credentials, "other_meta"
    other.restart()
    other.sql("create materialized view @.elsewhere as select 1 as x from @.orders limit 1")
    other.sql("drop materialized view @.elsewhere")
    lake.spark("insert into @.orders values (301, 'eve', 1)")
    assert (301, 1) in other.command("show").sql("select * from @.lower")


def test_lower_view_refreshed_between_looks(lake: Warehouse, monkeypatch: Any) -> None:
    """A reader of the upper view may look at it just before somebody refreshes the lower one."""
    lake.spark("insert into @.orders values (302, 'eve', 1)")
    expected = lake.value("select count(*) from @.orders")
    command = lake.command("show")
    command.sql("select 1")
    observer = command.core.services.observer
    done: list[str] = []

    def after_first(method: Any) -> Any:
        def called(view: Any, *arguments: Any) -> Any:
            found = method(view, *arguments)
            if view.name.name == "upper" and not done:
                done.append("refreshed")
                lake.apart("refresh materialized view @.lower")
            return found

        return called

    monkeypatch.setattr(observer, "observe", after_first(observer.observe))
    assert command.sql("select n from @.upper") == [(expected,)]
    assert done


def test_forgotten_while_it_is_found(lake: Warehouse, monkeypatch: Any) -> None:
    """What was asked before a name was forgotten is not remembered after that."""
    command = lake.command("run")
    command.sql("create or replace view @.moving as select 1 as n")
    gate, resolver = command.core.gate, command.core.services.resolver
    name = TableName("local", (lake.schema,), "moving")
    lookup = resolver.lookup

    def replaced_meanwhile(asked: TableName) -> Any:
        found = lookup(asked)
        if asked == name:
            monkeypatch.setattr(resolver, "lookup", lookup)
            lake.spark("create or replace view @.moving as select n from @.upper")
            gate.forget(name)
        return found

    monkeypatch.setattr(resolver, "lookup", replaced_meanwhile)
    assert gate.views_behind(name) == ()
    assert [view.name for view in gate.views_behind(name)] == ["upper"]


@pytest.mark.parametrize("trigger", ["READ", "UPSTREAM"])
def test_trigger(lake: Warehouse, trigger: str) -> None:
    """What is read has trigger READ in the history, what that reads UPSTREAM."""
    lake.spark("insert into @.orders values (303, 'eve', 1)")
    command = lake.command("show")
    command.sql("select * from @.upper")
    command.flush()
    view = {"READ": "upper", "UPSTREAM": "lower"}[trigger]
    assert lake.history(view, "trigger")[-1] == (trigger,)


def test_source_freshness(project: DbtProject, lake: Warehouse) -> None:
    """`dbt source freshness` of a materialized view reads fresh rows."""
    project.dbt("run", "-s", "sales")
    lake.spark("insert into @.orders values (304, 'eve', 1)")
    project.dbt("source", "freshness", "-s", "source:views")
    assert lake.freshness("sales") == "FRESH"


def _run(command: Command, statement: str) -> None:
    command.sql(statement)
    command.flush()


def test_equal_versions_are_remembered(lake: Warehouse) -> None:
    """3.7: a compaction, found to leave the rows alone, still does so when the old is expired."""
    lake.spark("create or replace table @.nightly (id bigint) using iceberg")
    for number in range(6):
        lake.spark(f"insert into @.nightly values ({number})")
    lake.sql("create materialized view @.counted as select count(*) as n from @.nightly")
    rewrite = f"call local.system.rewrite_data_files(table => '{lake.schema}.nightly')"
    lake.spark(rewrite.replace("')", "', options => map('min-input-files', '2'))"))
    _run(lake.command("show"), "select * from @.counted")
    build = lake.build_of("counted")
    lake.spark(
        f"call local.system.expire_snapshots(table => '{lake.schema}.nightly', "
        "older_than => timestamp '2999-01-01 00:00:00', retain_last => 1)"
    )
    assert lake.value("select count(*) from @.nightly.snapshots") == 1
    assert lake.freshness("counted") == "FRESH"
    _run(lake.command("show"), "select * from @.counted")
    assert lake.build_of("counted") == build
    assert lake.value("select count(*) from @meta.mv_events where kind = 'SAME_ROWS'") == 1
    lake.spark("insert into @.nightly values (7)")
    assert lake.freshness("counted") == "STALE"
    lake.sql("select * from @.counted")
    assert_same(lake, "select * from @.counted", "select count(*) from @.nightly")
