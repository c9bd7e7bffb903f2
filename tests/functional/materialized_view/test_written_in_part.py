"""Fast refreshes of large storage tables write the rows that differ, and no others."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.planning import cost
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, count(*) as n, sum(amount) as total from @.sales group by customer"
GROUPS = 300


@pytest.fixture(scope="module", autouse=True)
def sales(lake: Warehouse) -> None:
    """A row for each of many customers, of which one has no name, and five in each file: what is
    known of a change beforehand is the rows of the files that were rewritten."""
    lake.spark(
        "create table @.sales using iceberg partitioned by (truncate(5, id)) as "
        "select id, if(id = 0, null, concat('c', id)) as customer, id as amount "
        f"from range({GROUPS})"
    )


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tables count as large."""
    monkeypatch.setattr(cost, "_LARGE", 10)


def summary(lake: Warehouse, view: str, key: str) -> int:
    """A count in the newest snapshot of a storage table."""
    storage = lake.storage(view)
    found = lake.value(
        f"select s.summary['{key}'] from {storage}.snapshots s join {storage}.refs r "
        "on r.snapshot_id = s.snapshot_id where r.name = 'main'"
    )
    return int(found or 0)


def refresh(lake: Warehouse, view: str, change: str, query: str = QUERY) -> None:
    """Change the base table, then refresh fast; the rows are right."""
    lake.spark(change)
    lake.restart()
    lake.sql(f"refresh materialized view @.{view} fast")
    assert_same(lake, f"select * from @.{view}", query)
    assert lake.freshness(view) == "FRESH"


@pytest.mark.behaviour("D24", "D40", "E16")
def test_rows_that_differ(lake: Warehouse) -> None:
    """Two groups change, one goes and one comes: so many rows are written, and taken away."""
    lake.sql(f"create materialized view @.groups options (refresh_method = 'fast') as {QUERY}")
    lake.spark("update @.sales set amount = amount + 1 where id in (0, 3)")
    lake.spark("delete from @.sales where id = 2")
    lake.spark("insert into @.sales values (1000, 'new', 1)")
    lake.restart()
    text = "\n".join(str(row[0]) for row in lake.sql("explain materialized view @.groups"))
    assert f"{GROUPS} searched" in text and "takes away\n  EXISTS (SELECT 1 FROM (" in text
    lake.sql("refresh materialized view @.groups")
    assert_same(lake, "select * from @.groups", QUERY)
    assert lake.history("groups", "method, rows_inserted, rows_deleted")[-1] == ("fast", 3, 3)
    assert summary(lake, "groups", "total-position-deletes") == 3


def test_whole_table_after_many(lake: Warehouse) -> None:
    """Once a tenth of the rows in its files are not read any more, the table is written anew."""
    for first in (20, 30, 40):
        change = f"where id >= {first} and id < {first + 10}"
        refresh(lake, "groups", f"update @.sales set amount = amount + 1 {change}")
    assert summary(lake, "groups", "total-position-deletes") == 33
    refresh(lake, "groups", "update @.sales set amount = amount + 1 where id = 50")
    assert summary(lake, "groups", "total-position-deletes") == 0


def test_many_changes(lake: Warehouse) -> None:
    """If most rows differ, all are written."""
    refresh(lake, "groups", "update @.sales set amount = amount + 1")
    assert summary(lake, "groups", "total-delete-files") == 0


def test_views_over_it(lake: Warehouse) -> None:
    """A view over a view that was written in part sees what changed in it."""
    query = f"select total, count(*) as customers from ({QUERY}) group by total"
    lake.sql(
        "create materialized view @.above options (refresh_method = 'fast') as "
        "select total, count(*) as customers from @.groups group by total"
    )
    for change in (
        "update @.sales set amount = 5 where id in (5, 6)",
        "delete from @.sales where id = 6",
        "insert into @.sales values (1001, null, 1)",
    ):
        refresh(lake, "groups", change)
        lake.restart()
        lake.sql("refresh materialized view @.above fast")
        assert_same(lake, "select * from @.above", query)
        assert lake.history("above", "method, state")[-1] == ("fast", "SUCCEEDED")


@pytest.mark.behaviour("D24", "E19")
def test_irrelevant_write(lake: Warehouse) -> None:
    """What no row depends on adds and takes away nothing; downstream views are not refreshed."""
    query = "select customer, sum(amount) as total from @.sales where amount > 9 group by customer"
    lake.sql(f"create materialized view @.dear options (refresh_method = 'fast') as {query}")
    lake.sql("create materialized view @.over_dear as select count(*) as n from @.dear")
    refresh(lake, "dear", "insert into @.sales values (1003, 'y', 3)", query)
    assert summary(lake, "dear", "added-records") == summary(lake, "dear", "deleted-records") == 0
    lake.restart()
    lake.sql("refresh materialized view @.over_dear")
    assert lake.history("over_dear", "method, state")[-1] == ("none", "SKIPPED")


def test_partitions_and_compaction(lake: Warehouse) -> None:
    """Files of deletes in a partitioned storage table: other methods, and upkeep, go on."""
    query = "select id % 3 as part, id, amount from @.sales"
    lake.sql(
        "create materialized view @.parts partitioned by (part) "
        f"options (refresh_method = 'auto') as {query}"
    )
    refresh(lake, "parts", "update @.sales set amount = 0 where id in (11, 12)", query)
    assert summary(lake, "parts", "total-position-deletes") == 2
    lake.spark("update @.sales set amount = 1 where id = 14")
    lake.restart()
    lake.sql("refresh materialized view @.parts partition")
    assert_same(lake, "select * from @.parts", query)
    refresh(lake, "parts", "delete from @.sales where id = 13", query)
    assert not lake.operation("maintain", view="parts").failures
    assert_same(lake, "select * from @.parts", query)
    assert lake.freshness("parts") == "FRESH"
    refresh(lake, "parts", "insert into @.sales values (1002, 'x', 2)", query)


def test_storage_of_an_older_version(lake: Warehouse) -> None:
    """Without the property that files of deletes need, files are rewritten; rows are right."""
    query = "select id, amount from @.sales where amount > 1"
    lake.sql(f"create materialized view @.older options (refresh_method = 'fast') as {query}")
    lake.spark(f"alter table {lake.storage('older')} unset tblproperties ('write.delete.mode')")
    refresh(lake, "older", "delete from @.sales where id = 40", query)
    assert summary(lake, "older", "total-delete-files") == 0
    assert Counter(lake.history("older", "method")) == {("complete",): 1, ("fast",): 1}
