"""Whatever reads a view beside what is made of it sees one build, also while it is refreshed."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse

# All rows of the base table, as the view, logical views over it, and views over it count them.
COUNTED = " union all ".join(
    f"select '{name}' as name, sum(n) as n from @.{name}" for name in ("v", "over_v", "over_that")
)
BOTH = "select (select sum(n) from @.one), (select sum(n) from @.two), (select sum(n) from @.v)"


@pytest.fixture(scope="module")
def tower(lake: Warehouse) -> Warehouse:
    """A view, logical views and materialized ones over it."""
    lake.sql(
        "create materialized view @.v as select customer, count(*) as n from @.orders group by 1"
    )
    lake.spark("create view @.over_v as select customer, n from @.v where n > 0")
    lake.spark("create view @.over_that as select n from @.over_v")
    lake.sql("create materialized view @.one as select customer, sum(n) as n from @.v group by 1")
    lake.sql("create materialized view @.two as select sum(n) as n, max(n) as most from @.v")
    return lake


def counted(lake: Warehouse) -> set[int]:
    """What another program reads in one statement."""
    return {row[1] for row in lake.spark(COUNTED)}


@pytest.mark.behaviour("D41")
@pytest.mark.parametrize("point", ["started.after", "write.after", "publish.before"])
def test_logical_views(tower: Warehouse, point: str) -> None:
    """All have the rows before the refresh until it is published, and then those after it."""
    before = counted(tower)
    assert len(before) == 1
    tower.change()
    refresh = Paused(tower, point, "select * from @.v")
    with refresh:
        assert counted(tower) == before
    assert refresh.error is None
    assert counted(tower) == {number + 1 for number in before}


@pytest.mark.behaviour("D41")
def test_materialized_views(tower: Warehouse) -> None:
    """A statement that reads two of them, and the view, finds one build of it in both."""
    tower.sql(BOTH)
    builds = len(tower.history("v"))
    tower.change()
    ((one, two, n),) = tower.sql(BOTH)
    assert one == two == n == tower.value("select count(*) from @.orders")
    assert len(tower.history("v")) == builds + 1
    assert tower.freshness("one") == tower.freshness("two") == "FRESH"
