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


def test_insert_by_another_program(lake: Warehouse, table: str) -> None:
    """C12: stale after a foreign INSERT, right rows after a read, fresh after it."""
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


def test_overwrite_and_truncate(lake: Warehouse, table: str) -> None:
    """X17: files that vanish are seen as files that come."""
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
