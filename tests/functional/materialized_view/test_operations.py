"""The operations of `dbt run-operation`: selection, printing, dry runs, repair, removal."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

MV = "{{{{ config(materialized='bq_materialized_view', {config}) }}}} select {select}"
ORDERS = "{{ source('raw', 'orders') }}"
FILES = {
    "models/inner_mv.sql": MV.format(config="tags=['a']", select="id, customer, amount from ")
    + ORDERS,
    "models/middle_mv.sql": MV.format(
        config="tags=['a', 'b'], unique_key='id'", select="id, amount from "
    )
    + "{{ ref('inner_mv') }}",
    "models/outer_mv.sql": MV.format(config="", select="sum(amount) as s from ")
    + "{{ ref('middle_mv') }}",
    "models/lonely_mv.sql": MV.format(config="", select="count(*) as n from ") + ORDERS,
}
ALL = ("inner_mv", "middle_mv", "outer_mv", "lonely_mv")


@pytest.fixture(scope="module", autouse=True)
def built(lake: Warehouse, project: DbtProject) -> None:
    project.dbt("run")
    lake.spark(f"create schema {lake.schema}_b")
    lake.sql(
        f"create materialized view {lake.schema}_b.lonely_elsewhere as select id from @.orders"
    )
    lake.sql(f"create materialized view {lake.schema}_b.twin as select id from @.orders")
    lake.spark(f"create schema {lake.schema}_c")
    lake.sql(f"create materialized view {lake.schema}_c.twin as select id from @.orders")


def refreshed(
    lake: Warehouse, project: DbtProject, fails: bool = False, **arguments: Any
) -> list[str]:
    """Views of the project that an operation recomputed, after a write to the base table."""
    # One view has a key, which no other row may have.
    lake.spark("insert into @.orders select max(id) + 1, 'ned', 1 from @.orders")
    before = {name: lake.build_of(name) for name in ALL}
    project.operation("refresh", fails=fails, **arguments)
    return [name for name in ALL if lake.build_of(name) != before[name]]


@pytest.mark.behaviour("B2", "B3")
@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("inner_mv", ["inner_mv"]),
        ("middle_mv", ["inner_mv", "middle_mv"]),
        ("+outer_mv", ["inner_mv", "middle_mv", "outer_mv"]),
        ("inner_mv+", ["inner_mv", "middle_mv", "outer_mv"]),
        ("+middle_mv+", ["inner_mv", "middle_mv", "outer_mv"]),
        ("tag:b", ["inner_mv", "middle_mv"]),
        ("tag:a", ["inner_mv", "middle_mv"]),
        (["lonely_mv", "inner_mv"], ["inner_mv", "lonely_mv"]),
        (["lonely_mv", "lonely_mv"], ["lonely_mv"]),
        ("operations.lonely_mv", ["lonely_mv"]),
        ("local.operations.lonely_mv", ["lonely_mv"]),
        ("`operations`.`lonely_mv`", ["lonely_mv"]),
    ],
)
def test_selection(lake: Warehouse, project: DbtProject, view: Any, expected: list[str]) -> None:
    """Names, lists, tags, upstream and downstream."""
    assert refreshed(lake, project, view=view) == expected


@pytest.mark.behaviour("E29")
def test_refresh_of_everything_stale(lake: Warehouse, project: DbtProject) -> None:
    """Without a name every stale view of the project; a second time nothing is left."""
    assert refreshed(lake, project) == list(ALL)
    assert_same(lake, "select * from @.outer_mv", "select sum(amount) from @.orders")
    assert "nothing to do" in project.operation("refresh").text


@pytest.mark.behaviour("B2", "B3")
@pytest.mark.parametrize(
    ("view", "pattern"),
    [
        ("absent", "absent"),
        ("orders", "orders"),
        ("a.b.c.d", "parts"),
        ("", "name"),
        (5, "5"),
        ([], "cannot be []"),
        (["inner_mv", 5], "5"),
        ("tag:absent", "absent"),
        ("twin", "operations_b.twin, operations_c.twin"),
        ("inner mv", "inner mv"),
        ({"a": 1}, "name"),
        (True, "True"),
        ("inner_mv; drop table x", "name"),
    ],
)
def test_bad_names(lake: Warehouse, project: DbtProject, view: Any, pattern: str) -> None:
    """Clear errors, a bare name of several views lists them, and nothing changes."""
    before = lake.state()
    text = project.operation("refresh", fails=True, view=view).text
    assert pattern in text and "Traceback" not in text
    assert lake.state() == before


@pytest.mark.behaviour("B3")
def test_bare_name_in_another_schema(lake: Warehouse, project: DbtProject) -> None:
    """The only view of that name, wherever it is."""
    text = project.operation("refresh", view="lonely_elsewhere").text
    assert f"{lake.schema}_b.lonely_elsewhere" in text


@pytest.mark.behaviour("D25")
def test_bad_method(lake: Warehouse, project: DbtProject) -> None:
    """An unknown method is an error."""
    before = lake.state()
    assert "quick" in project.operation("refresh", fails=True, view="inner_mv", method="quick").text
    assert lake.state() == before


@pytest.mark.behaviour("D27")
def test_dry_run_changes_nothing(lake: Warehouse, project: DbtProject) -> None:
    """A dry run tells what would be done; no build, no row of history."""
    lake.spark("insert into @.orders values (81, 'ned', 1)")
    before = lake.state(), [lake.build_of(name) for name in ALL]
    text = project.operation("refresh", view="inner_mv", dry_run=True).text
    assert "complete" in text and "BASE_TABLE_CHANGED" in text
    assert (lake.state(), [lake.build_of(name) for name in ALL]) == before
    text = project.operation("explain", view="inner_mv").text
    assert "complete" in text.lower() and "BASE_TABLE_CHANGED" in text
    assert (lake.state(), [lake.build_of(name) for name in ALL]) == before


def test_list_goes_on_after_a_failure(lake: Warehouse, project: DbtProject) -> None:
    """One view that fails does not stop the others; all are reported and the exit is not zero."""
    lake.spark("create or replace table @.shaky using iceberg as select 1 as v")
    lake.sql(
        "create or replace materialized view @.a_shaky as "
        "select case when v = 0 then raise_error('no zero') else v end as v from @.shaky"
    )
    lake.spark("insert into @.shaky values (0)")
    lake.spark("insert into @.orders values (82, 'ned', 1)")
    build = lake.build_of("lonely_mv")
    found = project.operation("refresh", fails=True, view=["a_shaky", "lonely_mv"])
    assert "no zero" in found.text and "FAILED" in found.text and "SUCCEEDED" in found.text
    assert lake.build_of("lonely_mv") != build
    lake.sql("drop materialized view @.a_shaky")


def test_status(lake: Warehouse, project: DbtProject) -> None:
    """Status by versions, as an aligned table; other schemas only on request."""
    project.operation("refresh")
    lake.spark("insert into @.orders values (83, 'ned', 1)")
    text = project.operation("status").text
    (line,) = (line for line in text.splitlines() if "operations.lonely_mv" in line)
    assert "READY" in line and "STALE" in line
    assert "operations_b" not in text
    assert "operations_b.twin" in project.operation("status", all=True).text
    text = project.operation("status", view="lonely_mv").text
    assert "inner_mv" not in text


def test_history(lake: Warehouse, project: DbtProject) -> None:
    """The newest refreshes, newest last, of one view or of all."""
    project.operation("refresh", view="lonely_mv", method="complete")
    lines = project.operation("history", view="lonely_mv").text.splitlines()
    rows = [
        line for line in lines if "operations" in line and "lonely_mv" in line and "--" not in line
    ]
    assert "MANUAL" in rows[-1] and "SUCCEEDED" in rows[-1] and "complete" in rows[-1]
    text = project.operation("history", view="lonely_mv", limit=1).text
    assert len([line for line in text.splitlines() if " MANUAL " in line]) == 1


TAMPERINGS = [
    ("insert into {t} values (999, 1)", "0 rows missing, 1 unexpected, 0 differing"),
    ("delete from {t} where id__mv = 1", "1 rows missing, 0 unexpected, 0 differing"),
    ("update {t} set amount = -5 where id__mv = 1", "0 rows missing, 0 unexpected, 1 differing"),
]


@pytest.mark.behaviour("D29", "E35")
@pytest.mark.parametrize(("statement", "counts"), TAMPERINGS)
def test_verify(lake: Warehouse, project: DbtProject, statement: str, counts: str) -> None:
    """Three kinds of differences are counted; repair makes it right again."""
    project.operation("refresh")
    project.operation("verify", view="middle_mv")
    lake.spark(statement.format(t=lake.storage("middle_mv")))
    found = project.operation("verify", fails=True, view="middle_mv")
    assert counts in found.text
    assert lake.freshness("middle_mv") == "UNKNOWN"
    project.operation("verify", view="middle_mv", repair=True)
    assert_same(lake, "select * from @.middle_mv", "select id, amount from @.orders")
    assert lake.freshness("middle_mv") == "FRESH"


@pytest.mark.behaviour("X27", "E1", "E26")
def test_verify_counts_duplicates(lake: Warehouse, project: DbtProject) -> None:
    """Rows are compared as multisets."""
    lake.sql("create or replace materialized view @.doubled as select 1 as one from @.orders")
    lake.spark(f"insert into {lake.storage('doubled')} values (1)")
    text = project.operation("verify", fails=True, view="doubled").text
    assert "0 rows missing, 1 unexpected" in text
    lake.sql("drop materialized view @.doubled")


@pytest.mark.behaviour("D29")
def test_verify_of_a_stale_view(lake: Warehouse, project: DbtProject) -> None:
    """Stale is not wrong: compared at the pinned versions, nothing refreshed."""
    project.operation("refresh")
    lake.spark("insert into @.orders values (84, 'ned', 1)")
    build = lake.build_of("lonely_mv")
    project.operation("verify", view="lonely_mv")
    assert lake.build_of("lonely_mv") == build


def test_verify_after_the_version_has_expired(lake: Warehouse, project: DbtProject) -> None:
    """What cannot be compared is said so, and the command fails."""
    project.operation("refresh")
    lake.spark("insert into @.orders values (85, 'ned', 1)")
    lake.spark(
        f"call local.system.expire_snapshots(table => '{lake.schema}.orders', "
        "older_than => timestamp '2100-01-01 00:00:00', retain_last => 1)"
    )
    assert "cannot be verified" in project.operation("verify", fails=True, view="lonely_mv").text
    project.operation("refresh", view="lonely_mv", method="complete")
    project.operation("verify", view="lonely_mv")


@pytest.mark.behaviour("B18")
def test_drop(lake: Warehouse, project: DbtProject) -> None:
    """Dropped once; a second time an error unless if_exists; tables are never dropped."""
    lake.sql("create materialized view @.going as select id from @.orders")
    assert "DROPPED" in project.operation("drop_mv", view="going").text
    assert [name for _, name in lake.relations() if name.startswith("going")] == []
    project.operation("drop_mv", fails=True, view="going")
    project.operation("drop_mv", view="going", if_exists=True)
    before = lake.state()
    project.operation("drop_mv", fails=True, view="orders")
    project.operation("drop_mv", fails=True, view="twin", if_exists=True)
    assert lake.state() == before


def test_qualified_by_the_package(lake: Warehouse, project: DbtProject) -> None:
    """Each operation can be named with its package."""
    for name in ("refresh", "status", "history", "explain", "verify"):
        project.operation(f"dbt_spark_mv.{name}", view="lonely_mv")


def test_rebuild_metadata(lake: Warehouse, project: DbtProject) -> None:
    """Views that the metadata does not know are registered again."""
    lake.spark("delete from @meta.mv_events where view_name like '%lonely_mv'")
    project.operation("refresh", fails=True, view="lonely_mv")
    text = project.operation("rebuild_metadata").text
    assert "REGISTERED" in text
    project.operation("refresh", view="lonely_mv")
    # Of one that it does know, it remembers when and why it was refreshed.
    asked = (
        "select last_refresh_time, last_refresh_reason from @meta.materialized_views join "
        "@meta.mv_status using (table_schema, table_name) where table_name = 'lonely_mv'"
    )
    known = lake.spark(asked)
    assert "REGISTERED" in project.operation("rebuild_metadata").text
    project.operation("maintain")
    project.operation("rebuild_metadata")
    assert lake.spark(asked) == known
    assert_same(lake, "select * from @.lonely_mv", "select count(*) from @.orders")
