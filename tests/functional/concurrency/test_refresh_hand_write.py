"""The storage table is written by somebody else while its view is being refreshed."""

from __future__ import annotations

import pytest

from tests.functional.concurrency.ways import WAYS, change, make_log
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select id, amount from @.orders"
COMPLETE = "refresh materialized view @.totals complete"
POINTS = ["lock.before", "lock.after", "write.before", "write.after", "publish.before"]


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create materialized view if not exists @.totals as {QUERY}")
    lake.sql("select * from @.totals")
    lake.restart()


def assert_right(lake: Warehouse, name: str = "totals", query: str = QUERY) -> None:
    assert_same(lake, f"select * from @.{name}", query)
    assert lake.freshness(name) == "FRESH"
    assert lake.spark(f"select name from {lake.storage(name)}.refs") == [("main",)]
    lake.restart()
    assert ("RUNNING",) not in lake.history(name)


@pytest.mark.parametrize("point", POINTS)
def test_rows_added_by_hand(lake: Warehouse, point: str) -> None:
    """Whoever reads in between sees honest staleness; the refresh begins again and ends right."""
    storage = lake.storage("totals")
    with Paused(lake, point, COMPLETE) as refresh:
        lake.spark(f"insert into {storage} values (-1, -1)")
        assert lake.freshness("totals") == "UNKNOWN"
        assert refresh.end() is None
    assert_right(lake)


@pytest.mark.behaviour("D14")
@pytest.mark.parametrize(
    ("way", "point"),
    [
        *[("fast", point) for point in ("lock.before", "write.before", "publish.before")],
        ("appended", "write.before"),
        ("partition", "lock.before"),
        ("partition", "write.before"),
    ],
)
def test_rows_added_by_hand_under_a_strict_refresh(lake: Warehouse, way: str, point: str) -> None:
    """Rows that nobody can say the changes of are not built on: an error that says so, nothing
    left, and a complete refresh puts them right."""
    name = stale(lake, way, point, 131)
    label = lake.build_of(name)
    storage = lake.storage(name)
    with Paused(lake, point, WAYS[way].refresh(name)) as refresh:
        lake.spark(f"insert into {storage} select * from {storage} limit 1")
        assert "WRITTEN_BY_HAND" in str(refresh.end())
    assert lake.freshness(name) == "UNKNOWN"
    assert (
        lake.value(
            f"select parent_id from {storage}.history where snapshot_id = {lake.build_of(name)}"
        )
        == label
    )
    lake.restart()
    lake.sql(f"refresh materialized view @.{name} complete")
    assert_right(lake, name, WAYS[way].query)


@pytest.mark.parametrize(
    ("way", "point"),
    [
        ("complete", "write.before"),
        ("complete", "publish.before"),
        ("fast", "lock.before"),
        ("fast", "publish.before"),
        ("appended", "write.before"),
        ("partition", "write.before"),
    ],
)
def test_rolled_back_by_hand(lake: Warehouse, way: str, point: str) -> None:
    """Main goes back to an older build: its label says so, and the refresh ends right; what was
    changed before and since is applied from there."""
    name = stale(lake, way, f"{point} back", 132)
    storage, old = lake.storage(name), lake.build_of(name)
    lake.sql(f"select * from @.{name}")
    assert lake.build_of(name) != old
    change(lake, 133)
    with Paused(lake, point, WAYS[way].refresh(name)) as refresh:
        lake.spark(f"call local.system.rollback_to_snapshot('{storage}', {old})")
        assert lake.freshness(name) == "STALE"
        assert refresh.end() is None
    WAYS[way].assert_used(lake, name)
    assert_right(lake, name, WAYS[way].query)


def stale(lake: Warehouse, way: str, case: str, number: int) -> str:
    """The name of a stale view that is refreshed this way."""
    name = f"{way}_{case.replace('.', '_').replace(' ', '_')}"
    make_log(lake)
    lake.sql(WAYS[way].create(name))
    lake.restart()
    change(lake, number)
    return name


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
