"""The storage table is written by somebody else while its view is being refreshed."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select id, amount from @.orders"
COMPLETE = "refresh materialized view @.totals complete"
POINTS = ["claim.before", "claim.after", "write.before", "write.after", "publish.before"]


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create materialized view if not exists @.totals as {QUERY}")
    lake.sql("select * from @.totals")
    lake.restart()


def assert_right(lake: Warehouse) -> None:
    assert_same(lake, "select * from @.totals", QUERY)
    assert lake.freshness("totals") == "FRESH"
    assert lake.spark(f"select name from {lake.storage('totals')}.refs") == [("main",)]
    lake.restart()
    assert ("RUNNING",) not in lake.history("totals")


@pytest.mark.parametrize("point", POINTS)
def test_rows_added_by_hand(lake: Warehouse, point: str) -> None:
    """Whoever reads in between sees honest staleness; the refresh begins again and ends right."""
    storage = lake.storage("totals")
    with Paused(lake, point, COMPLETE) as refresh:
        lake.spark(f"insert into {storage} values (-1, -1)")
        assert lake.freshness("totals") == "UNKNOWN"
        assert refresh.end() is None
    assert_right(lake)


@pytest.mark.parametrize("point", ["write.before", "publish.before"])
def test_rolled_back_by_hand(lake: Warehouse, point: str) -> None:
    """Main goes back to an older build: its label says so, and the refresh ends right."""
    storage = lake.storage("totals")
    old = lake.build_of("totals")
    lake.sql("insert into @.orders values (130, 'sam', 1)")
    lake.sql("select * from @.totals")
    with Paused(lake, point, COMPLETE) as refresh:
        lake.spark(f"call local.system.rollback_to_snapshot('{storage}', {old})")
        assert lake.freshness("totals") == "STALE"
        assert refresh.end() is None
    assert_right(lake)


def test_emptied_and_altered(lake: Warehouse) -> None:
    """Truncated, with another column, and its branch dropped, all during one refresh."""
    storage = lake.storage("totals")
    with Paused(lake, "write.before", COMPLETE) as refresh:
        lake.spark(f"truncate table {storage}")
        lake.spark(f"alter table {storage} add column more int")
        for (branch,) in lake.spark(f"select name from {storage}.refs where name <> 'main'"):
            lake.spark(f"alter table {storage} drop branch `{branch}`")
        assert refresh.end() is None
    assert_right(lake)


def test_storage_table_dropped(lake: Warehouse) -> None:
    """There is nothing to publish to: it is built again, under another name."""
    storage = lake.storage("totals")
    with Paused(lake, "write.after", COMPLETE) as refresh:
        lake.spark(f"drop table {storage} purge")
        assert refresh.end() is None
    assert lake.storage("totals") != storage
    assert_right(lake)
