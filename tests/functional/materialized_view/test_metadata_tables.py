"""Metadata tables of Iceberg (`orders.snapshots`), read where there are materialized views."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.warehouse import Warehouse

TABLES = (
    "all_data_files all_delete_files all_entries all_files all_manifests data_files delete_files "
    "entries files history manifests metadata_log_entries partitions position_deletes refs "
    "snapshots"
).split()
READS = {
    "alone": "select count(*) from {table}",
    "with a view": "select count(*), max(total) from {table} cross join @.totals",
    "in a subquery": "select (select count(*) from {table}) as n, sum(total) from @.totals",
    "through a view": "select count(*) from @.seen_{name}",
}


@pytest.fixture(scope="module")
def made(lake: Warehouse) -> Warehouse:
    """Its columns are not those of its snapshot any more."""
    lake.spark("create table @.sold (id bigint, amount bigint) using iceberg partitioned by (id)")
    lake.spark("insert into @.sold values (1, 10), (2, 20)")
    lake.sql(
        "create materialized view @.totals as select id, sum(amount) as total from @.sold "
        "group by id"
    )
    lake.spark("alter table @.sold add column note string")
    return lake


@pytest.mark.parametrize("client", ["catalog", "statements"])
@pytest.mark.parametrize("name", TABLES)
def test_reads(made: Warehouse, name: str, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if client == "statements":
        reach_by_statements(monkeypatch)
    table = f"@.sold.{name}"
    made.apart(f"create or replace view @.seen_{name} as select 1 as x from {table}")
    for text in READS.values():
        query = text.format(table=table, name=name)
        assert made.apart(query) == made.spark(query), query
    made.apart(f"create or replace table @.kept as select count(*) as n from {table}")
    assert made.spark("select n from @.kept") == made.spark(f"select count(*) from {table}")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("read", ["@.sold.{name}", "@.seen_{name}"])
def test_no_view_is_made_of_them(made: Warehouse, name: str, read: str) -> None:
    made.apart(f"create or replace view @.seen_{name} as select 1 as x from @.sold.{name}")
    query = f"select count(*) as n from {read.format(name=name)}"
    with pytest.raises(DbtRuntimeError, match=r"sold\.\w+ at a fixed version, branch or"):
        made.apart(f"create materialized view @.refused as {query}")
