"""What files say of a warehouse is what Iceberg says of it, in every state that they can be in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.core.executor import CatalogClient, TableFacts
from dbt.adapters.spark_mv.instant.file_catalog import FileCatalog
from dbt.adapters.spark_mv.instant.spark_version import spark_version
from dbt.adapters.spark_mv.sql.names import quote
from tests.functional.materialized_view.warehouse import Warehouse

ODD = ("two words", "größe", "it's", "100%", "x#y", "what?", "a.b", "a:b", "CaSe", "漢字", "`")
TYPES = (
    "a boolean, b int, c bigint, d float, e double, f decimal(9, 2), g date, h timestamp, "
    "i timestamp_ntz, j string, k binary, l array<int>, m map<string, decimal(5, 1)>, "
    "n struct<x: int, y: array<struct<z: date>>>"
)


@pytest.fixture
def files(lake: Warehouse) -> Iterator[FileCatalog]:
    client = FileCatalog(lake.credentials.warehouse_path, ("default",))
    yield client
    client.close()


@pytest.fixture
def iceberg(lake: Warehouse) -> CatalogClient:
    found: CatalogClient = lake.command().core.services.executor.catalog
    return found


def assert_equal(iceberg: CatalogClient, files: FileCatalog, *parts: str) -> None:
    """Every question about a name has the same answer."""
    assert files.lookup(parts) == iceberg.lookup(parts), parts
    assert files.branches(parts) == iceberg.branches(parts), parts
    for branch in ("main", "side", "nobody"):
        chain = iceberg.chain(parts, branch, 200, None)
        assert files.chain(parts, branch, 200, None) == chain, (parts, branch)
        assert files.chain(parts, branch, 2, None) == chain[:2]
        for number, snapshot in enumerate(chain[:3]):
            down_to = files.chain(parts, branch, 200, snapshot.snapshot_id)
            assert down_to == chain[: number + 1]


TABLES = {
    "never_written": ["create table {t} (id int) using iceberg"],
    "written": ["create table {t} using iceberg as select 1 as id", "insert into {t} values (2)"],
    "branched": [
        "create table {t} using iceberg as select 1 as id",
        "alter table {t} create branch side retain 30 minutes",
        "insert into {t}.branch_side values (2)",
        "alter table {t} create tag first",
        "insert into {t} values (3)",
    ],
    "many": ["create table {t} (id int) using iceberg", *["insert into {t} values (1)"] * 8],
    "expired": [
        "create table {t} using iceberg as select 1 as id",
        *["insert into {t} values (1)"] * 3,
        "call local.system.expire_snapshots(table => '{t}', retain_last => 2, "
        "older_than => timestamp '2999-01-01')",
    ],
    "rolled_back": [
        "create table {t} using iceberg as select 1 as id",
        "alter table {t} create branch side",
        "insert into {t} values (2)",
        "call local.system.set_current_snapshot(table => '{t}', ref => 'side')",
    ],
    "compacted": [
        "create table {t} (id int) using iceberg",
        *["insert into {t} values (1)"] * 6,
        "call local.system.rewrite_data_files(table => '{t}', options => "
        "map('rewrite-all', 'true'))",
    ],
    "altered": [
        "create table {t} using iceberg as select 1 as id",
        "alter table {t} add column name string",
        "alter table {t} set tblproperties ('a' = 'b')",
    ],
    "in_gzip": [
        "create table {t} (id int) using iceberg tblproperties "
        "('write.metadata.compression-codec' = 'gzip')",
        "insert into {t} values (1)",
    ],
    "of_version_1": [
        "create table {t} (id int) using iceberg tblproperties ('format-version' = '1')",
        "insert into {t} values (1)",
    ],
    "of_version_3": [
        "create table {t} (id int) using iceberg tblproperties ('format-version' = '3')",
        "insert into {t} values (1)",
    ],
    "partitioned": [
        "create table {t} (id int) using iceberg partitioned by (id)",
        "insert into {t} values (1), (2)",
        "delete from {t} where id = 1",
    ],
    "deleted_from": [
        "create table {t} (id int) using iceberg tblproperties "
        "('write.delete.mode' = 'merge-on-read')",
        "insert into {t} values (1), (2), (3)",
        "delete from {t} where id = 2",
    ],
    "dropped": ["create table {t} (id int) using iceberg", "drop table {t}"],
    "created_again": [
        "create table {t} (id int) using iceberg",
        "drop table {t}",
        "create table {t} (name string) using iceberg",
    ],
    "was_a_table": [
        "create table {t} (id int) using iceberg",
        "drop table {t}",
        "create view {t} as select id from @.orders",
    ],
    "viewed": ["create view {t} (n comment 'c') comment 'd' as select id from @.orders"],
    "view_replaced": [
        "create view {t} as select id from @.orders",
        "create or replace view {t} as select amount, id from @.orders",
    ],
    "view_dropped": ["create view {t} as select id from @.orders", "drop view {t}"],
    "view_in_gzip": [
        "create view {t} tblproperties ('write.metadata.compression-codec' = 'gzip') as "
        "select id from @.orders",
    ],
}


@pytest.mark.parametrize("name", TABLES)
def test_states(lake: Warehouse, iceberg: CatalogClient, files: FileCatalog, name: str) -> None:
    """The client that has seen every step says what one says that has seen none."""
    parts = ("local", lake.schema, name)
    for statement in TABLES[name]:
        lake.spark(statement.format(t=f"{lake.schema}.{name}"))
        assert_equal(iceberg, files, *parts)
    fresh = FileCatalog(lake.credentials.warehouse_path, ("default",))
    assert_equal(iceberg, fresh, *parts)
    fresh.close()


@pytest.mark.parametrize("name", ODD)
def test_odd_names(lake: Warehouse, iceberg: CatalogClient, files: FileCatalog, name: str) -> None:
    lake.spark(f"create table local.{lake.schema}.{quote(name)} using iceberg as select 1 as id")
    parts = ("local", lake.schema, name)
    assert isinstance(files.lookup(parts), TableFacts)
    assert_equal(iceberg, files, *parts)
    assert_equal(iceberg, files, "local", lake.schema, name.swapcase() + "_")


def test_schemas_in_schemas(lake: Warehouse, iceberg: CatalogClient, files: FileCatalog) -> None:
    lake.spark(f"create schema local.{lake.schema}.inner")
    lake.spark(f"create table local.{lake.schema}.inner.t using iceberg as select 1 as id")
    assert isinstance(files.lookup(("local", lake.schema, "inner", "t")), TableFacts)
    assert_equal(iceberg, files, "local", lake.schema, "inner", "t")
    # Iceberg keeps both as one text.
    assert_equal(iceberg, files, "local", f"{lake.schema}.inner", "t")
    with pytest.raises(NeedsSpark, match="part of a table"):
        files.lookup(("local", lake.schema, "inner", "t", "history"))


def test_the_catalog(lake: Warehouse, iceberg: CatalogClient, files: FileCatalog) -> None:
    assert files.session()[0] == iceberg.session()[0] == "local"
    for name in ("local", "LOCAL", "spark_catalog", "Spark_Catalog", "analytics", lake.schema):
        assert files.is_catalog(name) == iceberg.is_catalog(name), name
    for name in ("local", "spark_catalog"):
        assert files.handles(name) == iceberg.handles(name), name


def test_what_spark_says(lake: Warehouse, iceberg: CatalogClient, files: FileCatalog) -> None:
    """Version and types are those that Spark's own statements return."""
    lake.spark(f"create table @.typed ({TYPES}) using iceberg")
    assert lake.value("select version()").split()[0] == spark_version() == iceberg.spark_version()
    described = lake.spark("describe query select * from @.typed")
    parts = ("local", lake.schema, "typed")
    types = [(name, kind) for name, kind, _ in described]
    assert types == files.columns(parts) == iceberg.columns(parts)
    missing = ("local", lake.schema, "missing")
    assert files.columns(missing) is iceberg.columns(missing) is None


def test_storage_tables(lake: Warehouse, files: FileCatalog) -> None:
    lake.sql("create or replace materialized view @.stored as select id from @.orders")
    assert files.has_storage_tables("local") and not files.has_storage_tables("other")
