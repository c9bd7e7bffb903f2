"""A Spark with a catalog that holds tables only, in a process of its own: settings of catalogs are
those with which Spark begins."""

from __future__ import annotations

import sys
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from tests.functional.materialized_view.warehouse import Warehouse

CATALOG = "tables_only"
_KEY = f"spark.sql.catalog.{CATALOG}"
TABLE, BASE = f"{CATALOG}.s.made", f"{CATALOG}.s.base"


def main(folder: Path) -> None:
    """Run all checks."""
    conf = {
        _KEY: "org.apache.iceberg.spark.SparkCatalog",
        f"{_KEY}.type": "hadoop",
        f"{_KEY}.warehouse": str(folder / CATALOG),
        f"{_KEY}.cache-enabled": "false",
        "spark.master": "local[1]",
    }
    target = {"type": "spark_mv", "method": "embedded", "path": str(folder / "warehouse")}
    warehouse = Warehouse({**target, "spark_conf": conf}, "analytics")
    warehouse.spark(f"create schema {CATALOG}.s")
    warehouse.spark("create table @.orders (id bigint) using iceberg")
    warehouse.sql("create materialized view @.here as select count(*) as n from @.orders")
    check_statements(warehouse)
    check_refusal(warehouse)
    check_base_table(warehouse)


def check_statements(warehouse: Warehouse) -> None:
    """They run as without any view, also those of names that do not exist."""
    warehouse.sql(f"create table {TABLE} as select 1 as a")
    warehouse.sql(f"create or replace table {TABLE} as select 2 as a")
    warehouse.sql(f"insert into {TABLE} values (3)")
    assert sorted(warehouse.sql(f"select a from {TABLE}")) == [(2,), (3,)]
    warehouse.sql(f"drop table if exists {CATALOG}.s.nothing")
    assert "TABLE_OR_VIEW_NOT_FOUND" in error_of(warehouse, f"select 1 from {CATALOG}.s.nothing")


def check_refusal(warehouse: Warehouse) -> None:
    """No view can be there."""
    error = error_of(
        warehouse, f"create materialized view {CATALOG}.s.v as select id from @.orders"
    )
    assert f"the catalog '{CATALOG}' cannot hold views" in error, error


def check_base_table(warehouse: Warehouse) -> None:
    """A view over a table there follows it, survives its loss, and is right when it is back."""
    warehouse.spark(f"create table {BASE} (a bigint) using iceberg")
    warehouse.spark(f"insert into {BASE} values (1)")
    warehouse.sql(f"create materialized view @.over as select a from {BASE}")
    for change, rows in (
        (f"insert into {BASE} values (2)", [(1,), (2,)]),
        (f"drop table {BASE}", [(1,), (2,)]),
        (f"create table {BASE} (a bigint) using iceberg", []),
        (f"insert into {BASE} values (5), (6)", [(5,), (6,)]),
    ):
        warehouse.spark(change)
        assert sorted(warehouse.apart("select a from @.over")) == rows, change
        (state,) = [r for r in warehouse.operation("status").rows if r[0].endswith(".over")]
        assert state[2] == ("UNKNOWN" if change.startswith("drop") else "FRESH"), state


def error_of(warehouse: Warehouse, text: str) -> str:
    """The error of a statement that has to fail."""
    try:
        warehouse.apart(text)
    except DbtRuntimeError as error:
        return str(error)
    raise AssertionError(f"it did not fail: {text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
