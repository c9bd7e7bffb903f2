"""The definition of a view is changed while it is being refreshed, and the other way round."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

OLD = "select id, amount from @.orders"
NEW = "select id, amount + 1 as amount from @.orders"
CHANGE = f"create or replace materialized view @.totals as {NEW}"
COMPLETE = "refresh materialized view @.totals complete"
POINTS = ["lock.after", "write.before", "write.after", "publish.before"]


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create or replace materialized view @.totals as {OLD}")
    lake.restart()


def assert_changed(lake: Warehouse, query: str = NEW) -> None:
    """The newest definition is served, and nothing is left of the other."""
    assert_same(lake, "select * from @.totals", query)
    assert lake.freshness("totals") == "FRESH"
    lake.restart()
    lake.sql(COMPLETE)
    lake.operation("sweep")
    tables = [name for kind, name in lake.relations() if kind == "t" and "totals__" in name]
    assert len(tables) == 1
    assert lake.spark("select * from @meta.mv_refresh_history where state = 'RUNNING'") == []
    assert_same(lake, "select * from @.totals", query)


@pytest.mark.behaviour("A19")
@pytest.mark.parametrize("point", POINTS)
def test_changed_during_a_refresh(lake: Warehouse, point: str) -> None:
    """The change does not wait; the refresh finds that its table is read no more."""
    with Paused(lake, point, COMPLETE) as refresh:
        lake.sql(CHANGE)
        lake.sql("select * from @.totals")
        assert refresh.end() is None
    assert_changed(lake)


@pytest.mark.parametrize("point", ["storage.before", "storage.after", "view.before", "view.after"])
def test_refreshed_during_a_change(lake: Warehouse, point: str) -> None:
    """Until the swap the old definition is refreshed and read, after it the new one."""
    lake.spark("insert into @.orders values (160, 'ann', 1)")
    with Paused(lake, point, CHANGE) as change:
        lake.apart(COMPLETE)
        assert_same(lake, "select * from @.totals", NEW if point == "view.after" else OLD)
        assert change.end() is None
    assert_changed(lake)


@pytest.mark.parametrize("point", ["storage.before", "storage.after", "view.before"])
def test_changed_while_it_is_rebuilt(lake: Warehouse, point: str) -> None:
    """A refresh with a staging table, because a logical view has changed, undoes no definition."""
    lake.spark("create or replace view @.below as select id, amount from @.orders")
    lake.sql("create or replace materialized view @.totals as select * from @.below")
    lake.spark("create or replace view @.below as select id, amount * 2 as amount from @.orders")
    with Paused(lake, point, "select * from @.totals") as read:
        lake.sql(CHANGE)
        assert read.end() is None
    assert_changed(lake)


def test_there_and_back(lake: Warehouse) -> None:
    """Cleaning up after one definition never takes the table of another, though it was there
    before."""
    lake.sql(CHANGE)
    with Paused(lake, "recorded.after", COMPLETE) as refresh:
        lake.apart(f"create or replace materialized view @.totals as {OLD}")
        assert refresh.end() is None
    assert_changed(lake, OLD)


@pytest.mark.parametrize("point", ["storage.after", "view.before", "view.after"])
def test_options_altered_during_a_change(lake: Warehouse, point: str) -> None:
    """ALTER writes options and nothing else, so definition and storage table stay together."""
    with Paused(lake, point, CHANGE) as change:
        lake.apart("alter materialized view @.totals set options (max_staleness = '1 hour')")
        assert change.end() is None
    assert_changed(lake)


@pytest.mark.behaviour("X3")
def test_readers_wait_for_a_rebuild(lake: Warehouse) -> None:
    """A rebuild takes the refresh lock, as any refresh does: a second one is refused."""
    lake.spark("create or replace view @.below as select id, amount from @.orders")
    lake.sql("create or replace materialized view @.totals as select * from @.below")
    lake.spark("create or replace view @.below as select id, amount + 1 as amount from @.orders")
    with Paused(lake, "storage.after", "select * from @.totals") as read:
        with pytest.raises(Exception, match="another refresh is running, by process"):
            lake.apart("refresh materialized view @.totals", "run-operation")
        assert read.end() is None
    assert_changed(lake)
