"""Updates and deletes of tables of every kind, followed by their files, positions and row ids."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.row_histories import (
    BACK,
    COMPARED,
    HISTORIES,
    KINDS,
    POSITIONED,
    TRACKED,
    VIEWS,
    expected_way,
)
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE, sample, sample_of

_LEFT_OUT = ("insert", "update twice", "manifests", "one file", "partly new")
_ALWAYS = ("v3_copy", "v2_merge")


@pytest.fixture(scope="module", autouse=True)
def names(lake: Warehouse) -> None:
    """What the tables are joined to."""
    lake.spark("create table @.names (g int, name string) using iceberg")
    lake.spark("insert into @.names values (0, 'a'), (1, 'b'), (1, 'c'), (null, 'd')")


def create(lake: Warehouse, kind: str, table: str) -> None:
    """A table of a kind, and views over it that have to be refreshed fast."""
    lake.spark(KINDS[kind].create(table))
    lake.spark(BACK.format(t=table))
    for view, query in VIEWS.items():
        lake.sql(
            f"create materialized view @.{table}_{view} options (refresh_method = 'fast') "
            f"as {query.format(t=table)}"
        )


def way_of(lake: Warehouse, view: str) -> str:
    """How the change of the table is read."""
    lines = [row[0] for row in lake.sql(f"explain materialized view @.{view}")]
    (found,) = [line for line in lines if line.startswith("change ")]
    return str(found).partition(": ")[2].partition(",")[0]


def assert_refreshed(lake: Warehouse, table: str, view: str) -> None:
    """The view has the rows of its query after a refresh, duplicates counted."""
    lake.sql(f"refresh materialized view @.{table}_{view}")
    query = VIEWS[view].format(t=table)
    assert Counter(lake.spark(f"select * from @.{table}_{view}")) == Counter(lake.spark(query))


@pytest.mark.behaviour("X23", "E20", "E22")
@pytest.mark.parametrize("kind", sample(_ALWAYS, [kind for kind in KINDS if kind not in _ALWAYS]))
def test_history(lake: Warehouse, kind: str) -> None:
    """One change after the other; one view is refreshed each time, and the others in turn."""
    create(lake, kind, kind)
    first, *others = VIEWS
    for number, (name, statements) in enumerate(sample_of(HISTORIES, _LEFT_OUT).items()):
        if KINDS[kind].upgraded == name:
            lake.spark(f"alter table @.{kind} set tblproperties ('format-version'='3')")
        for statement in statements:
            lake.spark(statement.format(t=kind, schema=lake.schema))
        lake.restart()
        assert way_of(lake, f"{kind}_{first}") == expected_way(kind, name), name
        assert_refreshed(lake, kind, first)
        for view in others if WHOLE else [others[number % len(others)]]:
            assert_refreshed(lake, kind, view)


@pytest.mark.parametrize("kind", ["v2_merge", "v3_merge"])
def test_deleted_rows_come_back(lake: Warehouse, kind: str) -> None:
    """A commit that takes deletes out, which no statement does: both versions are compared."""
    table = f"back_{kind}"
    create(lake, kind, table)
    lake.spark(f"delete from @.{table} where k in (1, 2, 9)")
    assert_refreshed(lake, table, "kept")
    made = lake.loaded(table)
    change = made.newRowDelta()
    deletes = made.currentSnapshot().addedDeleteFiles(made.io()).iterator()
    while deletes.hasNext():
        change.removeDeletes(deletes.next())
    change.commit()
    lake.spark(f"update @.{table} set v = 9 where k = 20")
    lake.restart()
    assert way_of(lake, f"{table}_kept") == COMPARED
    for view in VIEWS:
        assert_refreshed(lake, table, view)


@pytest.mark.parametrize("kind", ["v3_copy", "v3_merge"])
def test_back_to_an_old_version(lake: Warehouse, kind: str) -> None:
    """The stored version is not below the new one, and its ids are given to other rows."""
    table = f"rolled_{kind}"
    create(lake, kind, table)
    before = lake.snapshot(f"{lake.schema}.{table}")
    lake.spark(f"update @.{table} set v = v + 1 where k % 6 = 2")
    lake.spark(f"insert into @.{table} values (500, 1, 1, 'gone again')")
    lake.restart()
    assert_refreshed(lake, table, "sums")
    lake.spark(f"call local.system.rollback_to_snapshot('{lake.schema}.{table}', {before})")
    lake.spark(f"insert into @.{table} values (501, 2, 4, 'another')")
    lake.spark(f"update @.{table} set v = v + 2 where k % 6 = 3")
    lake.restart()
    assert way_of(lake, f"{table}_sums") == COMPARED
    assert way_of(lake, f"{table}_joined") == (TRACKED if kind == "v3_copy" else POSITIONED)
    for view in VIEWS:
        assert_refreshed(lake, table, view)


def test_picked_commit(lake: Warehouse) -> None:
    """A commit of a branch that is put on another one later."""
    create(lake, "v3_copy", "picked")
    lake.spark("alter table @.picked create branch beside")
    lake.spark("insert into @.picked.branch_beside values (600, 1, 6, 'picked')")
    branch = lake.value("select snapshot_id from @.picked.refs where name = 'beside'")
    lake.spark("update @.picked set v = v + 1 where k % 6 = 0")
    lake.restart()
    assert_refreshed(lake, "picked", "sums")
    lake.spark(f"call local.system.cherrypick_snapshot('{lake.schema}.picked', {branch})")
    lake.spark("delete from @.picked where k in (3, 8, 14, 19)")
    lake.restart()
    assert way_of(lake, "picked_sums") == TRACKED
    for view in VIEWS:
        assert_refreshed(lake, "picked", view)
