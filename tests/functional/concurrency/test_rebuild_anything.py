"""`rebuild_metadata` while views are created, refreshed, dropped, or the metadata is lost."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select id, amount from @.orders"
CREATE = f"create materialized view @.made as {QUERY}"
COMPLETE = "refresh materialized view @.totals complete"


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.restart()
    lake.sql("drop materialized view if exists @.made")
    lake.sql(f"create or replace materialized view @.totals as {QUERY}")
    lake.restart()


def assert_known(lake: Warehouse, *names: str) -> None:
    """Metadata and catalog agree, and every view is right."""
    lake.restart()
    known = lake.spark(
        f"select table_name from @meta.mv_status where table_schema = '{lake.schema}' order by 1"
    )
    views = [name for kind, name in lake.relations() if kind == "v"]
    assert [name for (name,) in known] == sorted(views) == sorted(names)
    for name in names:
        lake.sql(f"select * from @.{name}")
        assert_same(lake, f"select * from @.{name}", QUERY)
        assert lake.freshness(name) == "FRESH"
    assert lake.spark("select * from @meta.mv_refresh_history where state = 'RUNNING'") == []


@pytest.mark.parametrize("point", ["lock.after", "write.after", "publish.before", "publish.after"])
def test_refresh(lake: Warehouse, point: str) -> None:
    with Paused(lake, point, COMPLETE) as refresh:
        assert not lake.operation("rebuild_metadata", catalog="local").failures
        assert refresh.end() is None
    assert_known(lake, "totals")


@pytest.mark.parametrize("point", ["storage.after", "view.before", "view.after"])
def test_create(lake: Warehouse, point: str) -> None:
    """A view that appears meanwhile is not forgotten."""
    with Paused(lake, point, CREATE) as create:
        assert not lake.operation("rebuild_metadata", catalog="local").failures
        assert create.end() is None
    assert_known(lake, "made", "totals")


@pytest.mark.parametrize("point", ["view_dropped.after", "storage_dropped.after"])
def test_drop(lake: Warehouse, point: str) -> None:
    """A view that vanishes meanwhile is not registered again."""
    lake.sql(CREATE)
    with Paused(lake, point, "drop materialized view @.made") as drop:
        assert not lake.operation("rebuild_metadata", catalog="local").failures
        assert drop.end() is None
    assert_known(lake, "totals")


def test_rebuild(lake: Warehouse) -> None:
    reports = [lake.operation("rebuild_metadata", catalog="local") for _ in range(2)]
    assert not any(report.failures for report in reports)
    assert_known(lake, "totals")


@pytest.mark.parametrize("point", ["started.after", "write.after", "publish.before"])
def test_metadata_lost_during_a_refresh(lake: Warehouse, point: str) -> None:
    """The rows do not depend on it: the refresh is published, and the view can be found again."""
    lake.spark("insert into @.orders values (180, 'joe', 1)")
    with Paused(lake, point, COMPLETE) as refresh:
        lake.spark("drop table @meta.mv_events purge")
        assert refresh.end() is None
    assert not lake.operation("rebuild_metadata", catalog="local").failures
    assert_known(lake, "totals")
