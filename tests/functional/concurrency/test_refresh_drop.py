"""A view is dropped while it is being refreshed."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select id, amount from @.orders"
COMPLETE = "refresh materialized view @.totals complete"
POINTS = ["lock.before", "lock.after", "write.before", "write.after", "publish.before"]


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create or replace materialized view @.totals as {QUERY}")
    lake.restart()


def assert_nothing_left(lake: Warehouse) -> None:
    assert [name for _, name in lake.relations() if "totals" in name] == []
    assert lake.spark("select * from @meta.mv_status where table_name = 'totals'") == []
    assert lake.spark("select * from @meta.mv_refresh_history where state = 'RUNNING'") == []


@pytest.mark.parametrize("point", POINTS)
def test_dropped(lake: Warehouse, point: str) -> None:
    """The refresh says what happened; the drop is whole."""
    with Paused(lake, point, COMPLETE) as refresh:
        lake.sql("drop materialized view @.totals")
        error = str(refresh.end())
    assert "totals was dropped while it was being refreshed" in error
    assert "create it again" in error and "Exception" not in error
    assert_nothing_left(lake)


def test_dropped_by_another_program(lake: Warehouse) -> None:
    """Only the view is gone: its storage table is left to a sweep."""
    with Paused(lake, "publish.before", COMPLETE) as refresh:
        lake.spark("drop view @.totals")
        assert refresh.end() is None or "was dropped" in str(refresh.end())
    lake.restart()
    lake.operation("sweep")
    assert_nothing_left(lake)


def test_dropped_under_a_reader(lake: Warehouse) -> None:
    """A read that had begun to refresh the view says the same."""
    lake.spark("insert into @.orders values (150, 'kim', 1)")
    with Paused(lake, "write.before", "select * from @.totals") as read:
        lake.sql("drop materialized view @.totals")
        error = str(read.end())
    assert "dropped while it was being refreshed" in error
    assert_nothing_left(lake)


@pytest.mark.parametrize("point", POINTS)
def test_dropped_and_created_again(lake: Warehouse, point: str) -> None:
    """The refresh goes on with the new view, which has another storage table."""
    other = "select id, amount + 1 as amount from @.orders"
    with Paused(lake, point, COMPLETE) as refresh:
        lake.sql("drop materialized view @.totals")
        lake.sql(f"create materialized view @.totals as {other}")
        assert refresh.end() is None
    assert_same(lake, "select * from @.totals", other)
    assert lake.freshness("totals") == "FRESH"
    tables = [name for kind, name in lake.relations() if kind == "t" and "totals" in name]
    assert len(tables) == 1


def test_dropped_while_it_is_rebuilt(lake: Warehouse) -> None:
    """An upstream view has changed, so the refresh rebuilds: its swap restores no dropped view."""
    lake.spark("create or replace view @.below as select id, amount from @.orders")
    lake.sql("create or replace materialized view @.totals as select * from @.below")
    lake.spark("create or replace view @.below as select id, amount * 2 as amount from @.orders")
    with Paused(lake, "view.before", "select * from @.totals") as read:
        lake.sql("drop materialized view @.totals")
        error = str(read.end())
    assert "dropped while it was being refreshed" in error
    assert_nothing_left(lake)
