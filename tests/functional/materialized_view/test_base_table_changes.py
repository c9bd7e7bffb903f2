"""Changes of base tables that one number as watermark would miss, and those that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select k, sum(v) as s, count(*) as n from @.base group by k"
ROWS = "(1, 10), (2, 20), (2, 21)"


@pytest.fixture
def view(lake: Warehouse) -> Any:
    lake.spark("create or replace table @.base (k int, v int) using iceberg")
    lake.spark(f"insert into @.base values {ROWS}")
    lake.sql(f"create or replace materialized view @.v as {QUERY}")
    assert lake.freshness("v") == "FRESH"
    yield "v"
    lake.sql("drop materialized view if exists @.v")
    lake.spark("drop table if exists @.base")


def assert_refreshed_by_a_read(lake: Warehouse, query: str = QUERY) -> None:
    """A read in a new command brings the view up to date, and nothing is left to do then."""
    assert lake.freshness("v") == "STALE"
    lake.restart()
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", query)
    assert lake.freshness("v") == "FRESH"


@pytest.mark.behaviour("X2")
def test_replaced_by_ctas(lake: Warehouse, view: str) -> None:
    """CREATE OR REPLACE TABLE AS starts a new history: the old snapshot stays listed."""
    lake.spark("create or replace table @.base using iceberg as select 5 as k, 6 as v")
    assert_refreshed_by_a_read(lake)


def test_replaced_by_the_same_rows(lake: Warehouse, view: str) -> None:
    """What every run of a table model does: other history, same rows."""
    lake.spark(
        f"create or replace table @.base using iceberg as select * from values {ROWS} as t(k, v)"
    )
    assert_refreshed_by_a_read(lake)


def test_rolled_back(lake: Warehouse, view: str) -> None:
    """The current snapshot goes back in time: ids are compared, never times."""
    first = lake.snapshot("@.base")
    lake.spark("insert into @.base values (3, 30)")
    lake.sql("select * from @.v")
    assert lake.value("select count(*) from @.v") == 3
    lake.spark(f"call local.system.rollback_to_snapshot('{lake.schema}.base', {first})")
    assert_refreshed_by_a_read(lake)
    assert lake.value("select count(*) from @.v") == 2


def test_rolled_back_to_the_version_of_the_build(lake: Warehouse, view: str) -> None:
    """There and back again is no change: the rows are still those of the pinned version."""
    first, build = lake.snapshot("@.base"), lake.build_of("v")
    lake.spark("insert into @.base values (3, 30)")
    lake.spark(f"call local.system.rollback_to_snapshot('{lake.schema}.base', {first})")
    assert lake.freshness("v") == "FRESH"
    lake.sql("select * from @.v")
    assert lake.build_of("v") == build


def test_column_dropped_and_added_again(lake: Warehouse, view: str) -> None:
    """Same snapshot, same columns, other rows: the schema id tells."""
    before = lake.snapshot("@.base")
    lake.spark("alter table @.base drop column v")
    lake.spark("alter table @.base add column v int")
    assert lake.snapshot("@.base") == before
    assert_refreshed_by_a_read(lake)
    assert lake.value("select max(s) from @.v") is None


def test_columns_altered_and_nothing_written(lake: Warehouse, view: str) -> None:
    """There is no version with these columns, and the reason is that they were altered."""
    lake.spark("alter table @.base add column w int")
    lake.restart()
    with pytest.raises(MaterializedViewFailure, match="SCHEMA_CHANGED.*the columns of .* altered"):
        lake.sql("refresh materialized view @.v fast")
    assert_refreshed_by_a_read(lake)


def test_dropped_and_created_again(lake: Warehouse, view: str) -> None:
    """A table of the same name is another table."""
    lake.spark("drop table @.base")
    lake.spark("create table @.base (k int, v int) using iceberg")
    lake.spark(f"insert into @.base values {ROWS}, (7, 70)")
    assert_refreshed_by_a_read(lake)


def test_dropped_and_created_empty(lake: Warehouse, view: str) -> None:
    """A table without a snapshot has a version of its own; the result becomes empty."""
    lake.spark("drop table @.base")
    lake.spark("create table @.base (k int, v int) using iceberg")
    assert_refreshed_by_a_read(lake)
    assert lake.value("select count(*) from @.v") == 0


@pytest.mark.parametrize("replacement", ["(k bigint, v int)", "(k int, v int, w string)"])
def test_empty_table_created_again_otherwise(lake: Warehouse, replacement: str) -> None:
    """An empty table dropped and created with other columns is seen, without any snapshot."""
    lake.spark("create or replace table @.base (k int, v int) using iceberg")
    lake.spark("drop table @.base")
    lake.spark("create table @.base (k int, v int) using iceberg")
    lake.sql(f"create or replace materialized view @.v as {QUERY}")
    lake.spark("drop table @.base")
    lake.spark(f"create table @.base {replacement} using iceberg")
    lake.restart()
    lake.sql("select * from @.v")
    types = [row[:2] for row in lake.spark("describe @.v")]
    assert types == [row[:2] for row in lake.spark(f"describe query {lake.text(QUERY)}")]
    lake.spark("insert into @.base (k, v) values (1, 1)")
    assert_refreshed_by_a_read(lake)
    lake.sql("drop materialized view @.v")
    lake.spark("drop table @.base")


def test_created_again_with_other_types(lake: Warehouse, view: str) -> None:
    """The schema id of a new table may be that of the old one; the types are not."""
    lake.spark("drop table @.base")
    lake.spark("create table @.base (k string, v double) using iceberg")
    lake.spark("insert into @.base values ('a', 1.5), ('a', 2)")
    assert_refreshed_by_a_read(lake)
    types = [row[:2] for row in lake.spark("describe @.v")]
    assert types == [("k", "string"), ("s", "double"), ("n", "bigint")]


@pytest.mark.behaviour("D33")
def test_type_of_a_column_widened(lake: Warehouse, view: str) -> None:
    """The view's type follows the base table's."""
    lake.spark("alter table @.base alter column k type bigint")
    lake.spark("insert into @.base values (5000000000, 1)")
    assert_refreshed_by_a_read(lake)
    assert ("k", "bigint") in [row[:2] for row in lake.spark("describe @.v")]


@pytest.mark.parametrize(
    "change",
    [
        "call local.system.rewrite_data_files(table => '{base}', options => "
        "map('rewrite-all', 'true'))",
        "alter table {base} create branch side; insert into {base}.branch_side values (9, 9)",
        "insert into {base} select * from {base} where false",
        "delete from {base} where k = 99",
        "update {base} set v = 1 where k = 99",
        "merge into {base} b using (select 99 as k) s on b.k = s.k when matched then delete",
        "alter table {base} set tblproperties ('colour' = 'blue')",
        "call local.system.rewrite_manifests('{base}')",
    ],
    ids=[
        "compaction",
        "branch write",
        "empty insert",
        "empty delete",
        "empty update",
        "empty merge",
        "property",
        "manifests",
    ],
)
def test_changes_without_rows(lake: Warehouse, view: str, change: str) -> None:
    """The view stays fresh, nothing is rewritten, and a flag is cleared without a commit."""
    build = lake.build_of("v")
    for statement in change.format(base=f"{lake.schema}.base").split("; "):
        lake.sql(statement)
    assert lake.freshness("v") == "FRESH"
    lake.restart()
    lake.sql("select * from @.v")
    assert lake.build_of("v") == build
    assert not lake.flag("v")
    lake.spark("insert into @.base values (3, 30)")
    assert_refreshed_by_a_read(lake)


@pytest.mark.behaviour("D50")
def test_expired_version(lake: Warehouse, view: str) -> None:
    """The pinned version is gone from the base table; the next read computes anew."""
    lake.spark("insert into @.base values (3, 30)")
    lake.spark(
        f"call local.system.expire_snapshots(table => '{lake.schema}.base', "
        "older_than => timestamp '2100-01-01 00:00:00', retain_last => 1)"
    )
    assert_refreshed_by_a_read(lake)


def test_what_is_said_of_an_expired_version(lake: Warehouse, view: str) -> None:
    """`verify` has nothing to compare with, and `maintain` keeps nothing for its sake."""
    lake.spark("insert into @.base values (3, 30)")
    needed = [n for n in lake.operation("maintain", view="v", dry_run=True).notes if ".base " in n]
    assert len(needed) == 1 and "1970" not in needed[0]
    lake.spark(
        f"call local.system.expire_snapshots(table => '{lake.schema}.base', "
        "older_than => timestamp '2100-01-01 00:00:00', retain_last => 1)"
    )
    (failure,) = lake.operation("verify", view="v").failures
    assert f"a version of {lake.schema}.base that is gone" in failure
    notes = lake.operation("maintain", view="v", dry_run=True).notes
    assert not [note for note in notes if ".base " in note]
    assert_refreshed_by_a_read(lake)
    assert not lake.operation("verify", view="v").failures


def test_expired_but_unchanged(lake: Warehouse, view: str) -> None:
    """Expiring versions that are older than the pinned one changes nothing."""
    lake.spark("insert into @.base values (3, 30)")
    lake.sql("select * from @.v")
    build = lake.build_of("v")
    lake.spark(
        f"call local.system.expire_snapshots(table => '{lake.schema}.base', "
        "older_than => timestamp '2100-01-01 00:00:00', retain_last => 1)"
    )
    assert lake.freshness("v") == "FRESH"
    lake.sql("select * from @.v")
    assert lake.build_of("v") == build


@pytest.mark.behaviour("X7")
def test_truncated(lake: Warehouse, view: str) -> None:
    """TRUNCATE is a write as any other; the result becomes empty."""
    lake.sql("truncate table @.base")
    assert lake.flag("v")
    assert_refreshed_by_a_read(lake)
    assert lake.value("select count(*) from @.v") == 0


@pytest.mark.behaviour("A20", "X11", "X29")
@pytest.mark.parametrize(
    "write",
    [
        "insert overwrite @.base values (4, 4)",
        "create or replace table @.base using iceberg as select 1 as k, 2 as v",
        "update @.base set v = v + 1",
        "delete from @.base where k = 1",
        "merge into @.base b using (select 1 as k) s on b.k = s.k when matched then delete",
        "truncate table @.base",
        "alter table @.base add column w int",
        "insert into @.base select k + 10, v from @.base",
        "with s as (select 3 as k, 3 as v) insert into @.base select * from s",
        "insert into @.base table @.base",
        "from @.base insert into @.base select k, v",
    ],
)
def test_every_write_marks(lake: Warehouse, view: str, write: str) -> None:
    """Each kind of write goes through the same place."""
    assert not lake.flag("v")
    lake.sql(write)
    assert lake.flag("v")
    lake.sql("select * from @.v")
    assert not lake.flag("v")
    assert_same(lake, "select * from @.v", QUERY)


@pytest.mark.behaviour("X7")
def test_rename_of_a_base_table(lake: Warehouse, view: str) -> None:
    """The view is broken until a table of the name is back."""
    lake.sql("alter table @.base rename to @.other")
    assert lake.freshness("v") == "UNKNOWN"
    lake.sql("alter table @.other rename to @.base")
    assert lake.freshness("v") == "FRESH"
    lake.spark("insert into @.base values (99, 9)")
    assert lake.freshness("v") == "STALE"
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", QUERY)


def test_snapshots_that_name_no_schema(lake: Warehouse, view: str, tmp_path: Path) -> None:
    """As in the metadata that an engine wrote which does not record it."""
    log = "select file from @.base.metadata_log_entries order by timestamp desc limit 1"
    written = json.loads(Path(lake.value(log).removeprefix("file:")).read_text())
    for snapshot in written["snapshots"]:
        del snapshot["schema-id"]
    lake.sql("drop materialized view @.v")
    lake.spark("drop table @.base")
    file = tmp_path / "00001-of-others.metadata.json"
    file.write_text(json.dumps(written))
    lake.spark(f"call local.system.register_table('{lake.schema}.base', '{file}')")
    lake.sql(f"create materialized view @.v as {QUERY}")
    assert_same(lake, "select * from @.v", QUERY)
    lake.spark("insert into @.base values (1, 5)")
    assert_refreshed_by_a_read(lake)
