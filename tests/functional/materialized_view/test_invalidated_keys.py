"""Rows of invalidated keys are computed again alone, if nothing else is to be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.materialized_view.faults import Paused, armed
from tests.functional.materialized_view.test_invalidate import create, falsify, invalidate, status
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import sample

KEY = ["2026-01-01", "a"]
WRONG, RIGHT = [(101,), (102,)], [(1,), (2,)]


@pytest.fixture(scope="module")
def sales(lake: Warehouse) -> Warehouse:
    lake.spark("create table @.sales (day date, shop string, amount bigint) using iceberg")
    lake.spark("insert into @.sales values (date'2026-01-01', 'a', 1), (date'2026-01-02', 'b', 2)")
    return lake


def amounts(lake: Warehouse, view: str) -> list[Any]:
    lake.restart()
    return sorted(lake.sql(f"select amount from @.{view}"))


def last(lake: Warehouse, view: str) -> Any:
    return lake.history(view, "method, state")[-1]


@pytest.mark.behaviour("E8")
def test_alone(sales: Warehouse) -> None:
    """Other rows stay as they are, and are trusted; one invalidation after the other adds up."""
    create(sales, "alone")
    falsify(sales, "alone")
    invalidate(sales, view="alone", keys=[KEY])
    assert amounts(sales, "alone") == [(1,), (102,)]
    assert last(sales, "alone") == ("keys", "SUCCEEDED")
    assert sales.freshness("alone") == "FRESH" and not sales.flag("alone")
    falsify(sales, "alone")
    for key in (KEY, ["2026-01-02", "b"], ["2030-01-01", None]):
        invalidate(sales, view="alone", keys=[key])
    assert amounts(sales, "alone") == RIGHT
    assert last(sales, "alone") == ("keys", "SUCCEEDED")
    invalidate(sales, view="alone", keys=[["2030-01-01", None]])
    assert amounts(sales, "alone") == RIGHT
    assert sales.freshness("alone") == "FRESH"


Step = Callable[[Warehouse], Any]
MORE: dict[str, Step] = {
    "all rows": lambda s: invalidate(s, view="more"),
    "a partition": lambda s: invalidate(s, view="more", partitions=["2026-01-02"]),
    "a base table": lambda s: s.spark("insert into @.sales values (null, 'c', 4)"),
    "another key": lambda s: s.sql(
        'alter materialized view @.more set options (unique_key = \'["shop", "day"]\')'
    ),
    "a hand": lambda s: s.spark(f"delete from {s.storage('more')}"),
}


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize(
    ("more", "first"),
    # Before it, another key is simply the key.
    [*((more, False) for more in MORE), ("all rows", True), ("a partition", True)],
)
def test_with_more(sales: Warehouse, more: str, first: bool) -> None:
    """If anything else may be wrong, all rows are computed."""
    create(sales, "more")
    falsify(sales, "more")
    if not first:
        invalidate(sales, view="more", keys=[["2026-01-01", "a"]])
    MORE[more](sales)
    if first:
        invalidate(sales, view="more", keys=[["2026-01-01", "a"]])
    rows = amounts(sales, "more")
    assert rows == ([*RIGHT, (4,)] if more == "a base table" else RIGHT)
    assert last(sales, "more") == ("complete", "SUCCEEDED")
    assert sales.freshness("more") == "FRESH"
    sales.spark("delete from @.sales where shop = 'c'")


@pytest.mark.behaviour("E8")
def test_strict_methods(sales: Warehouse) -> None:
    create(sales, "strict")
    invalidate(sales, view="strict", keys=[KEY])
    for method in ("fast", "partition"):
        (failure,) = sales.operation("refresh", view="strict", method=method).failures
        assert "INVALIDATED: 1 key invalidated by " in failure
    sales.operation("refresh", view="strict", method="complete")
    assert last(sales, "strict") == ("complete", "SUCCEEDED")
    assert sales.freshness("strict") == "FRESH"


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize("point", ["lock.before", "started.after", "write.after"])
def test_meanwhile(sales: Warehouse, point: str) -> None:
    """A refresh of keys answers what it was planned by, and nothing that came later."""
    create(sales, "meanwhile")
    falsify(sales, "meanwhile")
    invalidate(sales, view="meanwhile", keys=[KEY])
    refresh = Paused(sales, point, "select * from @.meanwhile")
    with refresh:
        invalidate(sales, view="meanwhile", keys=[["2026-01-02", "b"]])
    assert refresh.error is None
    assert status(sales, "meanwhile")[0] == "STALE"
    assert amounts(sales, "meanwhile") == RIGHT
    assert sales.freshness("meanwhile") == "FRESH"


@pytest.mark.behaviour("E8")
def test_failed(sales: Warehouse) -> None:
    """If they cannot be written alone, all rows are computed."""
    create(sales, "failed")
    falsify(sales, "failed")
    invalidate(sales, view="failed", keys=[KEY])
    with armed(sales, "publish.before=raise") as command:
        try:
            command.sql("select * from @.failed")
        except Exception as error:
            assert "publish.before" in str(error)
        command.flush()
    assert sales.freshness("failed") in ("STALE", "FRESH")
    rows = amounts(sales, "failed")
    assert (1,) in rows and (101,) not in rows
    assert sales.freshness("failed") == "FRESH"


ZEROS = sample(
    [("double", ""), ("float", "partitioned by (k)")],
    [("float", ""), ("double", "partitioned by (k)"), ("double", "partitioned by (bucket(2, id))")],
)


@pytest.mark.parametrize(("kind", "layout"), ZEROS)
def test_zeros(lake: Warehouse, kind: str, layout: str) -> None:
    """-0.0 and 0.0 are one group, which Iceberg would tell apart: however the key is written, by a
    refresh of it or an invalidation."""
    lake.spark(f"create table @.zeros (k {kind}, id int) using iceberg {layout}")
    lake.spark("insert into @.zeros values (-0.0d, 1), (1.5d, 2)")
    query = "select k, count(*) as n from @.zeros group by k"
    lake.sql(f"create materialized view @.of_zeros options (unique_key = 'k') as {query}")
    for key in (0.0, 0, "-0.0", 1.5):
        lake.operation("refresh", view="of_zeros", keys=[key])
        assert_same(lake, "select * from @.of_zeros", query)
    lake.spark("insert into @.zeros values (0.0d, 3)")
    lake.operation("refresh", view="of_zeros")
    invalidate(lake, view="of_zeros", keys=[0.0])
    lake.restart()
    assert len(lake.sql("select * from @.of_zeros")) == 2
    assert last(lake, "of_zeros") == ("keys", "SUCCEEDED")
    assert_same(lake, "select * from @.of_zeros", query)
    lake.sql("drop materialized view @.of_zeros")
    lake.spark("drop table @.zeros purge")
