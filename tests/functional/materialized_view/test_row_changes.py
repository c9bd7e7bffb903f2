"""Updates and deletes of tables of every kind, followed by their files, positions and row ids."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dbt.adapters.spark_mv.planning import cost, plan
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

_LEFT_OUT = ("insert", "merge", "update twice", "update, then delete", "manifests")
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


def delete_by_value(lake: Warehouse, table: str, value: int) -> None:
    """Rows whose k is this value are deleted, as a stream would: by a file with the value."""
    made, data = lake.loaded(table), lake.jvm.org.apache.iceberg.data
    keys = made.schema().select(lake.jvm.java.util.List.of("k"))
    ids = lake.ints(made.schema().findField("k").fieldId())
    writers = data.GenericAppenderFactory(made.schema(), made.spec(), ids, keys, None)
    writer = writers.newEqDeleteWriter(*new_file(lake, made), None)
    row = data.GenericRecord.create(keys)
    row.setField("k", value)
    commit_delete(made, writer, row)


def delete_first_row(lake: Warehouse, table: str) -> None:
    """The first row of the only file is deleted by its position."""
    made, iceberg = lake.loaded(table), lake.jvm.org.apache.iceberg
    writers = iceberg.data.GenericAppenderFactory(made.schema(), made.spec())
    writer = writers.newPosDeleteWriter(*new_file(lake, made), None)
    row = iceberg.deletes.PositionDelete.create()
    row.set(lake.value(f"select file_path from @.{table}.files"), 0, None)
    commit_delete(made, writer, row)


def new_file(lake: Warehouse, made: Any) -> tuple[Any, Any]:
    """A file for deletes of a table that Iceberg loaded, and its format."""
    iceberg = lake.jvm.org.apache.iceberg
    parquet = iceberg.FileFormat.PARQUET
    files = iceberg.io.OutputFileFactory.builderFor(made, 1, 1).format(parquet)
    return files.build().newOutputFile(), parquet


def commit_delete(made: Any, writer: Any, row: Any) -> None:
    """Commit a file with this one delete."""
    writer.write(row)
    writer.close()
    made.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


@pytest.mark.parametrize("kind", ["v2_merge", "v3_merge"])
def test_deletes_by_value(lake: Warehouse, kind: str) -> None:
    """Nothing says how many rows these are, nor where: no way by positions, then or later."""
    table = f"by_value_{kind}"
    create(lake, kind, table)
    expected = COMPARED if kind == "v2_merge" else TRACKED
    for change in (
        lambda: delete_by_value(lake, table, 7),
        lambda: lake.spark(f"update @.{table} set v = 20 where k = 8"),
    ):
        change()
        lake.restart()
        assert way_of(lake, f"{table}_sums") == expected
        for view in VIEWS:
            assert_refreshed(lake, table, view)


@pytest.mark.parametrize("column", ["_FILE", "_Pos"])
def test_columns_that_hide_others(lake: Warehouse, column: str) -> None:
    """Iceberg's own columns cannot be read beside columns of the same name. A table with a column
    called _row_id cannot be read by anybody once it has deletes."""
    table = f"hides{column}".lower()
    lake.spark(f"create table @.{table} (k int not null, {column} int) using iceberg")
    lake.spark(f"insert into @.{table} select /*+ coalesce(1) */ * from values (1, 0), (2, 0)")
    query = f"select k from @.{table}"
    lake.sql(f"create materialized view @.of_{table} options (refresh_method = 'fast') as {query}")
    delete_first_row(lake, table)
    lake.spark(f"insert into @.{table} values (4, 1)")
    lake.restart()
    assert way_of(lake, f"of_{table}") == COMPARED
    lake.sql(f"refresh materialized view @.of_{table}")
    rows = Counter(lake.spark(f"select * from @.of_{table}"))
    assert rows == Counter(lake.spark(query)) == Counter([(2,), (4,)])


def test_rewritten_files(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """If only the way in which a table deletes stands against a fast refresh, the reason has the
    statement that changes it, and afterwards it does not."""
    monkeypatch.setattr(cost, "_FIXED", 0)
    monkeypatch.setattr(plan, "is_small", lambda rows: False)
    lake.spark("create table @.wide (k int, g int, v int) using iceberg")
    lake.spark("insert into @.wide select id, id % 3, id from range(1000)")
    query = "select g, sum(v) as s, count(*) as n from @.wide group by g"
    lake.sql(f"create materialized view @.of_wide as {query}")
    lake.spark("update @.wide set v = v + 1 where k % 100 = 7")
    lake.restart()
    lines = [str(row[0]) for row in lake.sql("explain materialized view @.of_wide")]
    (why,) = [line for line in lines if line.startswith("not fast")]
    assert "FILES_REWRITTEN" in why
    assert any(line.startswith("  way out") and "readers" in line for line in lines)
    lake.sql("refresh materialized view @.of_wide")
    assert lake.history("of_wide", "method")[-1] == ("complete",)
    lake.spark(why[why.index("ALTER TABLE") :])
    lake.spark("update @.wide set v = v + 1 where k % 100 = 8")
    lake.restart()
    lake.sql("refresh materialized view @.of_wide")
    assert lake.history("of_wide", "method")[-1] == ("fast",)
    assert sorted(lake.spark("select * from @.of_wide")) == sorted(lake.spark(query))
