"""A materialized view changes only by refresh; what others did to its storage is found."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"

WRITES = [
    "insert into {t} values ('x', 1)",
    "insert overwrite {t} values ('x', 1)",
    "insert overwrite table {t} select 'x', 1",
    "with s as (select 'x' as customer, 1 as total) insert into {t} select * from s",
    "update {t} set total = 0",
    "delete from {t}",
    "delete from {t} where total > 1",
    "merge into {t} t using (select 'x' as c) s on t.customer = s.c when matched then delete",
    "truncate table {t}",
    "alter table {t} add column more int",
    "alter table {t} drop column total",
    "alter table {t} rename to @.elsewhere",
    "alter table {t} set tblproperties ('a' = 'b')",
    "create or replace table {t} using iceberg as select 1 as x",
    "replace table {t} using iceberg as select 1 as x",
    "INSERT INTO `{s}`.`{n}` VALUES ('x', 1)",
    "insert into local.{t} values ('x', 1)",
    "/* note */ -- another\n insert into {t} values ('x', 1)",
]
ONLY_VIEW = [
    "create or replace view {t} as select 1 as x",
    "alter view {t} as select 1 as x",
    "alter view {t} set tblproperties ('mv.id' = 'x')",
]


@pytest.fixture(autouse=True)
def view(lake: Warehouse) -> None:
    """A view that no earlier test has left damaged."""
    lake.sql("create table if not exists @.elsewhere2 (x int) using iceberg")
    lake.sql(f"create materialized view if not exists @.totals as {QUERY}")
    if lake.freshness("totals") != "FRESH":
        lake.sql("drop materialized view @.totals")
        lake.sql(f"create materialized view @.totals as {QUERY}")


def refused(lake: Warehouse, statement: str, name: str) -> None:
    before = lake.state(), lake.build_of("totals")
    text = statement.format(t=f"@.{name}", n=name, s=lake.schema)
    with pytest.raises(Exception, match=rf"{lake.schema}\.totals is a materialized view"):
        lake.sql(text)
    assert (lake.state(), lake.build_of("totals")) == before


@pytest.mark.behaviour("B5", "D35")
@pytest.mark.parametrize("statement", [*WRITES, *ONLY_VIEW])
def test_write_to_the_view(lake: Warehouse, statement: str) -> None:
    """Every kind of write is refused, rows and metadata stay."""
    refused(lake, statement, "totals")


@pytest.mark.behaviour("B5")
@pytest.mark.parametrize("statement", [*WRITES, "drop table {t}", "drop table if exists {t} purge"])
def test_write_to_the_storage(lake: Warehouse, statement: str) -> None:
    """The same for the storage table."""
    refused(lake, statement, lake.storage("totals").rpartition(".")[2])


def test_rename_onto_the_view(lake: Warehouse) -> None:
    """A table cannot be renamed to the view's name either."""
    before = lake.state()
    with pytest.raises(Exception, match="materialized view"):
        lake.sql("alter table @.elsewhere2 rename to @.totals")
    assert lake.state() == before


BY_SPARK = [
    "insert into @.totals values ('x', 1)",
    "insert overwrite @.totals values ('x', 1)",
    "update @.totals set total = 0",
    "delete from @.totals",
    "delete from @.totals where customer = 'ann'",
    "delete from @.totals where customer is null or customer is not null",
    "merge into @.totals using (select 1 as x) as s on total = s.x when matched then delete",
    "truncate table @.totals",
]


@pytest.mark.parametrize("verb", BY_SPARK)
def test_write_by_another_program(lake: Warehouse, verb: str) -> None:
    """Spark itself refuses DML on the name, for every client (DELETE with an internal error)."""
    build = lake.build_of("totals")
    with pytest.raises(Exception, match="(?i)view|does not support|unexpected table relation"):
        lake.spark(verb)
    assert lake.build_of("totals") == build


TAMPERINGS = {
    "row added": "insert into {t} (customer__mv, total) values ('zoe', 1)",
    "row deleted": "delete from {t} where customer__mv = 'ann'",
    "row changed": "update {t} set total = total + 1 where customer__mv = 'ann'",
    "emptied": "delete from {t}",
    "overwritten": "insert overwrite {t} (customer__mv, total) values ('zoe', 1)",
    "column added": "alter table {t} add column more int",
    "column dropped and added": (
        "alter table {t} drop column total; alter table {t} add column total bigint"
    ),
}


@pytest.mark.behaviour("X14")
@pytest.mark.parametrize("case", TAMPERINGS)
def test_storage_written_by_hand(lake: Warehouse, case: str) -> None:
    """UNKNOWN at once, and a read repairs it by a complete refresh."""
    for statement in TAMPERINGS[case].format(t=lake.storage("totals")).split("; "):
        lake.spark(statement)
    assert lake.freshness("totals") == "UNKNOWN"
    lake.restart()
    rows = lake.sql("select customer, total from @.totals")
    assert sorted(rows) == sorted(lake.spark(QUERY))
    assert lake.freshness("totals") == "FRESH"
    assert_same(lake, "select * from @.totals", QUERY)


def test_storage_rolled_back_by_hand(lake: Warehouse) -> None:
    """An older build of ours is judged by its own label."""
    first = lake.build_of("totals")
    lake.spark("insert into @.orders values (30, 'ann', 3)")
    lake.sql("select * from @.totals")
    table = lake.storage("totals")
    lake.spark(f"call local.system.rollback_to_snapshot('{table}', {first})")
    assert lake.freshness("totals") == "STALE"
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)


def test_compacted_storage(lake: Warehouse) -> None:
    """A compaction of the storage keeps the label."""
    lake.sql("refresh materialized view @.totals complete")
    lake.spark(
        f"call local.system.rewrite_data_files(table => '{lake.storage('totals')}', "
        "options => map('rewrite-all', 'true'))"
    )
    assert lake.freshness("totals") == "FRESH"
    build = lake.build_of("totals")
    lake.sql("select * from @.totals")
    assert lake.build_of("totals") == build
    lake.spark("insert into @.orders values (31, 'ann', 3)")
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)


def test_storage_dropped_by_hand(lake: Warehouse) -> None:
    """NEVER_BUILT, and the next read builds it again."""
    lake.spark(f"drop table {lake.storage('totals')} purge")
    assert lake.freshness("totals") == "NEVER_BUILT"
    lake.restart()
    rows = lake.sql("select customer, total from @.totals")
    assert sorted(rows) == sorted(lake.spark(QUERY))


@pytest.mark.behaviour("B19")
def test_drop_view(lake: Warehouse) -> None:
    """DROP VIEW of a materialized view drops all of it, and its metadata."""
    lake.sql(f"create materialized view @.going as {QUERY}")
    lake.sql("drop view @.going")
    assert [name for _, name in lake.relations() if name.startswith("going")] == []
    assert lake.value("select count(*) from @meta.mv_status where table_name = 'going'") == 0


@pytest.mark.behaviour("B19")
def test_view_dropped_by_another_program(lake: Warehouse) -> None:
    """The metadata row is forgotten by a drop, and creation builds anew."""
    lake.sql(f"create materialized view @.gone as {QUERY}")
    lake.spark("drop view @.gone")
    lake.restart()
    with pytest.raises(Exception, match="gone"):
        lake.sql("refresh materialized view @.gone")
    lake.spark("insert into @.orders values (33, 'ann', 3)")
    lake.sql(f"create materialized view @.gone as {QUERY}")
    assert_same(lake, "select * from @.gone", QUERY)
    lake.sql("drop materialized view @.gone")


@pytest.mark.behaviour("D34")
def test_copies_are_plain_tables(lake: Warehouse) -> None:
    """A table made from the view is a table: it can be written, and has no history."""
    lake.sql("create or replace table @.copied using iceberg as select * from @.totals")
    lake.sql("insert into @.copied values ('x', 1)")
    assert lake.builds("copied") == 0
