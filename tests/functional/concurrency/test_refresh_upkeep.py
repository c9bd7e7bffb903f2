"""Tables are compacted, and snapshots expire, while a view is being refreshed."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select id, amount from @.orders"
COMPLETE = "refresh materialized view @.totals complete"
POINTS = ["lock.after", "write.before", "write.after", "publish.before"]


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create materialized view if not exists @.totals as {QUERY}")
    lake.sql("select * from @.totals")
    lake.restart()


def compact_and_expire(lake: Warehouse, table: str) -> None:
    lake.spark(
        "call local.system.rewrite_data_files("
        f"table => '{table}', options => map('rewrite-all', 'true'))"
    )
    lake.spark(
        f"call local.system.expire_snapshots(table => '{table}', "
        "older_than => timestamp '2100-01-01 00:00:00', retain_last => 1)"
    )


def assert_right(lake: Warehouse) -> None:
    assert_same(lake, "select * from @.totals", QUERY)
    assert lake.freshness("totals") == "FRESH"
    assert lake.spark(f"select name from {lake.storage('totals')}.refs") == [("main",)]


@pytest.mark.parametrize("point", POINTS)
def test_storage_table(lake: Warehouse, point: str) -> None:
    """The old rows stay readable; the refresh begins again."""
    lake.spark("insert into @.orders values (140, 'tom', 1)")
    old = sorted(lake.spark("select * from @.totals"))
    with Paused(lake, point, COMPLETE) as refresh:
        compact_and_expire(lake, lake.storage("totals"))
        assert sorted(lake.spark("select * from @.totals")) == old
        # The snapshot that the compaction inherits its label from may have expired as well.
        assert lake.freshness("totals") in ("STALE", "UNKNOWN")
        assert refresh.end() is None
    assert_right(lake)


@pytest.mark.parametrize("point", POINTS)
def test_base_table(lake: Warehouse, point: str) -> None:
    """The version to be read is gone: the refresh observes again, or has read it already."""
    lake.spark("insert into @.orders values (141, 'tom', 1)")
    with Paused(lake, point, COMPLETE) as refresh:
        lake.spark("insert into @.orders values (142, 'tom', 1)")
        compact_and_expire(lake, f"{lake.schema}.orders")
        assert refresh.end() is None
    lake.sql("select * from @.totals")
    assert_right(lake)


@pytest.mark.parametrize("point", ["write.before", "publish.before"])
def test_maintain(lake: Warehouse, point: str) -> None:
    """Our own upkeep leaves the running refresh its branch and its base versions."""
    lake.spark("insert into @.orders values (143, 'tom', 1)")
    lake.sql("select * from @.totals")
    lake.spark("insert into @.orders values (144, 'tom', 1)")
    with Paused(lake, point, COMPLETE) as refresh:
        assert not lake.operation("maintain").failures
        assert not lake.operation("sweep").failures
        assert refresh.end() is None
    assert lake.history("totals")[-1] == ("SUCCEEDED",)
    assert_right(lake)
