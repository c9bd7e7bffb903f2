"""Base tables of plain files: no versions, so they are followed by their file listing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same


@pytest.fixture(params=["parquet", "orc", "csv", "json"])
def table(lake: Warehouse, request: pytest.FixtureRequest) -> Any:
    name = f"spark_catalog.default.files_{request.param}"
    lake.spark(f"drop table if exists {name}")
    lake.spark(f"create table {name} (k int, v string) using {request.param}")
    lake.spark(f"insert into {name} values (1, 'a'), (2, 'b'), (2, 'b')")
    yield name
    lake.sql("drop materialized view if exists @.v")
    lake.spark(f"drop table if exists {name}")


@pytest.mark.behaviour("C12")
def test_insert_by_another_program(lake: Warehouse, table: str) -> None:
    """Stale after a foreign INSERT, right rows after a read, fresh after it."""
    query = f"select k, count(*) as n, max(v) as v from {table} group by k"
    lake.sql(f"create materialized view @.v as {query}")
    assert lake.freshness("v") == "FRESH"
    build = lake.build_of("v")
    lake.sql("select * from @.v")
    assert lake.build_of("v") == build
    lake.spark(f"insert into {table} values (3, 'c')")
    assert lake.freshness("v") == "STALE"
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", query)
    assert lake.freshness("v") == "FRESH"


@pytest.mark.behaviour("X17")
def test_overwrite_and_truncate(lake: Warehouse, table: str) -> None:
    """Files that vanish are seen as files that come."""
    query = f"select k, v from {table}"
    lake.sql(f"create materialized view @.v as {query}")
    lake.spark(f"insert overwrite {table} values (9, 'z')")
    assert lake.freshness("v") == "STALE"
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", query)
    lake.sql(f"truncate table {table}")
    assert lake.flag("v")
    lake.sql("select * from @.v")
    assert lake.value("select count(*) from @.v") == 0


def test_joined_with_a_versioned_table(lake: Warehouse, table: str) -> None:
    """Each base table is followed in its own way."""
    query = f"select o.id, f.v from @.orders o left join {table} f on f.k = o.id"
    lake.sql(f"create materialized view @.v as {query}")
    lake.spark(f"insert into {table} values (3, 'c')")
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", query)
    lake.spark("insert into @.orders values (2, 'eve', 7)")
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", query)


def test_options_of_the_reader(lake: Warehouse) -> None:
    """Other options make other rows of the same files."""
    name = "spark_catalog.default.delimited"
    lake.spark(f"drop table if exists {name}")
    lake.spark(f"create table {name} (a string, b string) using csv options ('sep' = '|')")
    lake.spark(f"insert into {name} values ('x,y', 'z'), ('u,v', 'w')")
    lake.sql(f"create or replace materialized view @.read as select a, b from {name}")
    assert lake.freshness("read") == "FRESH"
    lake.spark(f"alter table {name} set serdeproperties ('sep' = ',')")
    assert lake.freshness("read") == "STALE"
    lake.sql("select * from @.read")
    assert_same(lake, "select * from @.read", f"select a, b from {name}")
    assert lake.freshness("read") == "FRESH"


def test_exchanged_partitions(lake: Warehouse) -> None:
    """The same files in other partitions are other rows."""
    name = "spark_catalog.default.exchanged"
    lake.spark(f"drop table if exists {name}")
    lake.spark(f"create table {name} (a string, p int) using parquet partitioned by (p)")
    lake.spark(f"insert into {name} values ('x', 1), ('y', 2)")
    lake.sql(f"create or replace materialized view @.parts as select a, p from {name}")
    folders = {
        row[1]: row[0].rpartition("/")[0]
        for row in lake.spark(f"select distinct _metadata.file_path, p from {name}")
    }
    for part, other in ((1, 2), (2, 1)):
        lake.spark(f"alter table {name} partition (p = {part}) set location '{folders[other]}'")
    assert lake.freshness("parts") == "STALE"
    lake.sql("select * from @.parts")
    assert sorted(lake.spark("select * from @.parts")) == [("x", 2), ("y", 1)]
