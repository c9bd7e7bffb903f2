"""Where the JVM is elsewhere all is asked in SQL: little of it, and nothing that is out of date."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select o.customer, c.city, o.amount from @.orders o join @.named c on c.name = o.customer"


@pytest.fixture
def asked() -> list[str]:
    """What the command that has no catalog has asked Spark."""
    return []


@pytest.fixture
def far(lake: Warehouse, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Warehouse]:
    """Its command reaches Spark by statements alone, and has just read a view over a table and a
    view over another table."""
    reach_by_statements(monkeypatch, asked)
    lake.spark("create table @.customers (name string, city string) using iceberg")
    lake.spark("insert into @.customers values ('ann', 'Oslo'), ('bob', 'Rome')")
    lake.spark("create or replace view @.named as select name, city from @.customers")
    made = Warehouse(lake.target, lake.schema)
    made.sql(f"create materialized view @.v as {QUERY}")
    made.sql("select * from @.v")
    yield made
    made.sql("drop materialized view @.v")
    for kind in ("table", "view"):
        if (kind[0], "customers") in lake.relations():
            lake.spark(f"drop {kind} @.customers")
    lake.spark("drop table if exists spark_catalog.default.far_customers")


def assert_right(lake: Warehouse, far: Warehouse) -> None:
    far.sql("select * from @.v")
    assert_same(lake, "select * from @.v", QUERY)


def test_fresh_read(far: Warehouse, asked: list[str]) -> None:
    """One statement for the view, one for its storage, one for its tables, two for the other view,
    and one to see what the name in the statement stands for."""
    asked.clear()
    far.sql("select * from @.v")
    assert asked
    assert len(asked) <= 6, asked
    assert not [sql for sql in asked if not sql.startswith(("DESCRIBE", "EXPLAIN", "SHOW CREATE"))]


CHANGES = {
    "rows of a table": ["insert into @.orders values (300, 'bob', 5)"],
    "rows below a view": ["delete from @.customers where name = 'ann'"],
    "text of a view": [
        "create or replace view @.named as select name, upper(city) as city from @.customers"
    ],
    "table anew": [
        "drop table @.customers",
        "create table @.customers (name string, city string) using iceberg",
        "insert into @.customers values ('ann', 'Bonn')",
    ],
    "view for a table": [
        "create table if not exists @.places (name string, city string) using iceberg",
        "insert into @.places values ('bob', 'Kyiv')",
        "drop table @.customers",
        "create view @.customers as select name, city from @.places",
    ],
    "files for a table": [
        "drop table @.customers",
        "create table spark_catalog.default.far_customers using parquet "
        "as select 'ann' as name, 'Riga' as city",
        "create view @.customers as select * from spark_catalog.default.far_customers",
    ],
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_by_another_program(lake: Warehouse, far: Warehouse, change: str) -> None:
    """The next read of the same command is right."""
    for statement in CHANGES[change]:
        lake.spark(statement)
    assert_right(lake, far)
    lake.spark("insert into @.orders values (301, 'ann', 6)")
    assert_right(lake, far)


def test_missing_and_back(lake: Warehouse, far: Warehouse) -> None:
    """A table that is gone is said to be, and found when it is there again."""
    lake.spark("create or replace table @.kept using iceberg as select * from @.customers")
    lake.spark("drop table @.customers")
    far.sql("select * from @.v")
    assert lake.freshness("v") == "UNKNOWN"
    lake.spark("create table @.customers using iceberg as select * from @.kept")
    assert_right(lake, far)


def test_view_changed_by_another_command(lake: Warehouse, far: Warehouse) -> None:
    """Options and definition are those of now."""
    lake.restart()
    lake.sql("alter materialized view @.v set options (when_stale = 'serve')")
    lake.spark("insert into @.orders values (302, 'bob', 7)")
    before = lake.spark("select * from @.v")
    assert sorted(far.sql("select * from @.v")) == sorted(before)
    lake.sql("create or replace materialized view @.v as select id, customer from @.orders")
    assert sorted(far.sql("select * from @.v")) == sorted(
        lake.spark("select id, customer from @.orders")
    )
