"""A storage table that something else has written to is taken back to its newest build, if the rows
of that are still right; no query runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt.adapters.spark_mv.planning import plan
from dbt.adapters.spark_mv.planning.cost import Estimate
from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select day, shop, sum(amount) as amount from @.sales group by day, shop"
HANDS = {
    "update": ["update {} set amount = amount + 100"],
    "delete": ["delete from {} where amount > 3"],
    "truncate": ["delete from {}"],
    "insert": ["insert into {} select * from {}"],
    "overwrite": ["insert overwrite {} select * from {} where amount < 4"],
    "two commits": ["delete from {} where amount > 3", "update {} set amount = 0"],
    "compacted after": ["update {} set amount = 7", "COMPACT {}"],
    "compacted before": ["COMPACT {}", "update {} set amount = 7"],
}

PARTITIONED = ("update", "truncate", "overwrite", "compacted before")


@pytest.fixture(scope="module")
def sales(lake: Warehouse) -> Warehouse:
    lake.spark("create table @.sales (day date, shop string, amount bigint) using iceberg")
    lake.spark(
        "insert into @.sales values (date'2026-01-01', 'a', 1), (date'2026-01-01', null, 2), "
        "(date'2026-01-02', 'a', 4), (null, 'b', 16)"
    )
    return lake


def create(lake: Warehouse, view: str, partitioned: bool = False, more: str = "") -> None:
    by = "partitioned by (day)" if partitioned else ""
    lake.sql(f"drop materialized view if exists @.{view}")
    lake.sql(f"create materialized view @.{view} {by} {more} as {QUERY}")


def by_hand(lake: Warehouse, view: str, *statements: str) -> int:
    """What something else does to the storage table; returns its head."""
    storage = lake.storage(view)
    for text in statements or HANDS["update"]:
        if text.startswith("COMPACT"):
            text = (
                f"call local.system.rewrite_data_files(table => '{storage}', "
                "options => map('rewrite-all', 'true'))"
            )
        lake.spark(text.replace("{}", storage))
    return lake.build_of(view)


def read(lake: Warehouse, view: str) -> None:
    lake.apart(f"select * from @.{view}")


def last(lake: Warehouse, view: str) -> Any:
    return lake.history(view, "method, state")[-1]


def is_restored(lake: Warehouse, view: str) -> None:
    assert last(lake, view) == ("restore", "SUCCEEDED")
    assert lake.freshness(view) == "FRESH"
    assert_same(lake, f"select * from @.{view}", QUERY)
    storage = lake.storage(view)
    assert lake.spark(f"select name from {storage}.refs") == [("main",)]


@pytest.mark.behaviour("E7")
@pytest.mark.parametrize(
    ("hand", "partitioned"),
    [*((hand, False) for hand in HANDS), *((hand, True) for hand in PARTITIONED)],
)
def test_hand(sales: Warehouse, hand: str, partitioned: bool) -> None:
    create(sales, "sums", partitioned)
    build = sales.build_of("sums")
    head = by_hand(sales, "sums", *HANDS[hand])
    assert sales.freshness("sums") == "UNKNOWN"
    if hand == "update":
        notes = "\n".join(sales.operation("explain", view="sums").notes)
        assert "plan               restore (WRITTEN_BY_HAND: " in notes
        assert sales.operation("verify", view="sums").rows[0][1] == "DIFFERENT"
    read(sales, "sums")
    is_restored(sales, "sums")
    if hand != "compacted before":
        assert sales.build_of("sums") == build
    (reason,) = sales.history("sums", "reason")[-1]
    assert reason.startswith(f"RESTORED: something else wrote snapshot {head} ")
    assert sales.history("sums", "rows_inserted, rows_deleted")[-1] == (0, 0)


def by_hand_labelled(lake: Warehouse, view: str) -> None:
    """As a later version may label a build: nothing says what is below that."""
    settings = {"spark.sql.iceberg.snapshot-property.mv.refresh_state": '{"later": 1}'}
    with lake.command().core.services.executor.isolated(settings) as session:
        session.query(f"update {lake.storage(view)} set amount = amount + 1")


Step = Callable[[Warehouse], Any]
OTHERWISE: dict[str, tuple[str, Step]] = {
    "base table": ("complete", lambda s: s.spark("insert into @.sales values (null, 'c', 32)")),
    "invalidated": ("complete", lambda s: s.operation("invalidate", view="other")),
    "columns": (
        "complete",
        lambda s: s.spark(f"alter table {s.storage('other')} add column x int"),
    ),
    "column and back": (
        "complete",
        lambda s: (
            s.spark(f"alter table {s.storage('other')} drop column amount"),
            s.spark(f"alter table {s.storage('other')} add column amount bigint"),
        ),
    ),
    "unreadable": ("complete", lambda s: by_hand_labelled(s, "other")),
    "partitions": (
        "complete",
        lambda s: s.spark(f"alter table {s.storage('other')} add partition field shop"),
    ),
    "expired": (
        "complete",
        lambda s: s.spark(
            f"call local.system.expire_snapshots(table => '{s.storage('other')}', "
            "older_than => timestamp'2999-01-01 00:00:00', retain_last => 1)"
        ),
    ),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_not_restored(sales: Warehouse, name: str) -> None:
    """Where the rows of before would not be right, or not be stored as they should be, or are
    gone, all are computed."""
    create(sales, "other")
    by_hand(sales, "other")
    method, step = OTHERWISE[name]
    step(sales)
    read(sales, "other")
    assert last(sales, "other") == (method, "SUCCEEDED")
    assert_same(sales, "select * from @.other", QUERY)
    assert sales.freshness("other") == "FRESH"
    sales.spark("delete from @.sales where amount = 32")


@pytest.mark.behaviour("E7")
def test_properties(sales: Warehouse) -> None:
    """Of the table they stay as they were set; a column that was there for a while is nothing."""
    create(sales, "set")
    by_hand(
        sales,
        "set",
        "alter table {} set tblproperties ('write.delete.mode' = 'merge-on-read', 'mine' = '1')",
        "alter table {} add column more int",
        "alter table {} drop column more",
        "update {} set amount = 5 where shop = 'a'",
    )
    read(sales, "set")
    is_restored(sales, "set")
    assert ("mine", "1") in sales.spark(f"show tblproperties {sales.storage('set')}")


@pytest.mark.behaviour("E7")
def test_then_fast(sales: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of before that can be brought up to date are, and the history has both."""
    monkeypatch.setattr(Estimate, "is_worth_it", property(lambda self: True))
    monkeypatch.setattr(plan, "is_small", lambda rows: False)
    create(sales, "more")
    by_hand(sales, "more")
    sales.spark("insert into @.sales values (date'2026-01-02', 'a', 8), (null, 'c', 32)")
    notes = "\n".join(sales.operation("explain", view="more").notes)
    assert "plan               restore (WRITTEN_BY_HAND: " in notes
    assert ", then fast" in notes and "change             " in notes
    (row,) = sales.operation("refresh", view="more").rows
    assert row[1:3] == ("SUCCEEDED", "fast")
    assert sales.history("more", "method, state")[-2:] == [
        ("restore", "SUCCEEDED"),
        ("fast", "SUCCEEDED"),
    ]
    assert sales.freshness("more") == "FRESH"
    assert_same(sales, "select * from @.more", QUERY)
    sales.spark("delete from @.sales where amount in (8, 32)")


def test_asked_to_compute(sales: Warehouse) -> None:
    create(sales, "asked")
    by_hand(sales, "asked")
    sales.operation("refresh", view="asked", method="complete")
    assert last(sales, "asked") == ("complete", "SUCCEEDED")
    by_hand(sales, "asked")
    report = sales.operation("verify", view="asked", repair=True)
    assert report.rows[0][1] == "REPAIRED"
    assert last(sales, "asked") == ("complete", "SUCCEEDED")


@pytest.mark.behaviour("E7")
def test_again_and_again(sales: Warehouse) -> None:
    """The head is one that has been the head before: locks, refreshes and later restores work."""
    create(sales, "again", True, """options (unique_key = '["day", "shop"]')""")
    for amount in (1000, 2000):
        by_hand(sales, "again", f"update {{}} set amount = amount + {amount}")
        sales.operation("refresh", view="again", keys=[["2026-01-02", "a"]])
        assert sales.freshness("again") == "UNKNOWN"
        read(sales, "again")
        is_restored(sales, "again")
        assert not sales.operation("refresh", view="again", keys=[["2026-01-02", "a"]]).failures
        assert sales.freshness("again") == "FRESH"
    build = sales.build_of("again")
    by_hand(sales, "again")
    read(sales, "again")
    assert sales.build_of("again") == build
    by_hand(sales, "again")
    read(sales, "again")
    is_restored(sales, "again")
    sales.spark("insert into @.sales values (date'2026-01-07', 'z', 64)")
    assert not sales.operation("refresh", view="again", method="fast").failures
    assert last(sales, "again") == ("fast", "SUCCEEDED")
    assert_same(sales, "select * from @.again", QUERY)
    by_hand(sales, "again")
    read(sales, "again")
    is_restored(sales, "again")
    sales.spark("delete from @.sales where amount = 64")


def test_live_view(sales: Warehouse) -> None:
    """A plain client reads right rows before, after and between, through the live view."""
    create(sales, "alive", more="options (live = true)")
    for _ in range(2):
        by_hand(sales, "alive")
        assert_same(sales, "select * from @.alive__live", QUERY)
        read(sales, "alive")
        is_restored(sales, "alive")
        assert_same(sales, "select * from @.alive__live", QUERY)
        sales.spark("insert into @.sales values (null, 'c', 32)")
        assert_same(sales, "select * from @.alive__live", QUERY)
        read(sales, "alive")
        assert_same(sales, "select * from @.alive__live", QUERY)
        sales.spark("delete from @.sales where amount = 32")
        assert_same(sales, "select * from @.alive__live", QUERY)
        read(sales, "alive")


def test_a_view_over_it(sales: Warehouse) -> None:
    """It is fresh again when that is, also if it was computed from what was written by hand."""
    create(sales, "under")
    sales.sql("create or replace materialized view @.over as select sum(amount) s from @.under")
    by_hand(sales, "under")
    assert sales.operation("status", view="over").rows[0][2] != "FRESH"
    read(sales, "over")
    assert last(sales, "under") == ("restore", "SUCCEEDED")
    assert_same(sales, "select * from @.over", "select sum(amount) as s from @.sales")
    assert sales.operation("status", view="over").rows[0][2] == "FRESH"
    sales.spark("insert into @.sales values (null, 'c', 32)")
    read(sales, "over")
    assert_same(sales, "select * from @.over", "select sum(amount) as s from @.sales")
    sales.spark("delete from @.sales where amount = 32")


def test_refused(sales: Warehouse) -> None:
    """A catalog that does not take the table back: all rows are computed."""
    create(sales, "refused")
    by_hand(sales, "refused")
    with armed(sales, "restore.checked=raise") as command:
        command.sql("select * from @.refused")
        command.flush()
    assert last(sales, "refused") == ("complete", "SUCCEEDED")
    assert_same(sales, "select * from @.refused", QUERY)
