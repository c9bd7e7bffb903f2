"""Rows that somebody does not trust, although no version shows that they are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse


@pytest.fixture(scope="module")
def sales(lake: Warehouse) -> Warehouse:
    lake.spark("create table @.sales (day date, shop string, amount bigint) using iceberg")
    lake.spark("insert into @.sales values (date'2026-01-01', 'a', 1), (date'2026-01-02', 'b', 2)")
    create(lake, "sums")
    return lake


QUERY = "select day, shop, sum(amount) as amount from @.sales group by day, shop"


def create(lake: Warehouse, view: str, options: str = "", query: str = QUERY) -> None:
    options = ", ".join(filter(None, ('unique_key = \'["day", "shop"]\'', options)))
    lake.sql(
        f"create or replace materialized view @.{view} partitioned by (day) "
        f"options ({options}) as {query}"
    )


def status(lake: Warehouse, view: str) -> tuple[str, str]:
    (row,) = lake.operation("status", view=view).rows
    return str(row[2]), str(row[-1])


def is_flagged(lake: Warehouse, view: str) -> bool:
    text = f"select is_stale from @meta.materialized_views where table_name = '{view}'"
    return bool(lake.value(text))


def invalidate(lake: Warehouse, **arguments: Any) -> list[tuple[Any, ...]]:
    report = lake.operation("invalidate", **arguments)
    assert not report.failures
    return [row[1:] for row in report.rows]


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize(
    ("rows", "what", "by"),
    [
        ({}, "all rows", "complete"),
        ({"keys": [["2026-01-01", "a"], {"DAY": "2026-01-02", "shop": "b"}]}, "2 keys", "keys"),
        ({"partitions": [{"Day": "2026-01-01"}]}, "1 partition", "partition"),
        ({"partitions": ["2026-01-01", ["2026-01-02"]]}, "2 partitions", "partition"),
    ],
)
def test_a_read_repairs(sales: Warehouse, rows: dict[str, Any], what: str, by: str) -> None:
    """Nothing is written to the view until a read computes it again, and then once."""
    build, history = sales.build_of("sums"), len(sales.history("sums"))
    assert invalidate(sales, view="sums", **rows) == [(what,)]
    assert sales.build_of("sums") == build
    freshness, reason = status(sales, "sums")
    assert freshness == "STALE" and reason.startswith(f"{what} invalidated by ")
    sales.restart()
    sales.sql("select * from @.sums")
    repaired = sales.build_of("sums")
    assert repaired != build
    method, reason = sales.history("sums", "method, reason")[-1]
    assert method == by and reason.startswith("INVALIDATED: ")
    assert len(sales.history("sums")) == history + 1
    assert sales.freshness("sums") == "FRESH"
    sales.restart()
    sales.sql("select * from @.sums")
    assert sales.build_of("sums") == repaired


def falsify(lake: Warehouse, view: str, *statements: str) -> None:
    """Make rows wrong as a bug would: with a label that says that they are right. Statements may
    name the storage table, and its column `amount`."""
    storage = lake.storage(view)
    columns = [str(row[0]) for row in lake.spark(f"describe {storage}")]
    amount = next(column for column in columns if column.startswith("amount"))
    labels = lake.spark(
        f"select key, value from (select explode(summary) as (key, value) from {storage}.snapshots "
        f"where snapshot_id = {lake.snapshot(storage)}) where key like 'mv.%'"
    )
    settings = {f"spark.sql.iceberg.snapshot-property.{key}": value for key, value in labels}
    with lake.command().core.services.executor.isolated(settings) as session:
        for statement in statements or ("update {storage} set {amount} = {amount} + 100",):
            session.query(statement.format(storage=storage, amount=amount))


@pytest.mark.behaviour("E8")
def test_what_no_version_shows(sales: Warehouse) -> None:
    """Only whoever knows better can say so."""
    create(sales, "wrong")
    falsify(sales, "wrong")
    assert sales.freshness("wrong") == "FRESH"
    sales.restart()
    assert sorted(sales.sql("select amount from @.wrong")) == [(101,), (102,)]
    invalidate(sales, view="wrong")
    sales.restart()
    assert sorted(sales.sql("select amount from @.wrong")) == [(1,), (2,)]


@pytest.mark.behaviour("E8")
def test_what_has_changed_besides(sales: Warehouse) -> None:
    """A fast refresh would leave the other rows as they are."""
    create(sales, "both")
    sales.spark("insert into @.sales values (date'2026-01-03', 'c', 4)")
    invalidate(sales, view="both")
    for method in ("fast", "partition"):
        (failure,) = sales.operation("refresh", view="both", method=method).failures
        assert "INVALIDATED: all rows invalidated by " in failure
    assert sales.operation("refresh", view="both").rows[0][1:3] == ("SUCCEEDED", "complete")
    assert sales.freshness("both") == "FRESH"
    sales.spark("delete from @.sales where shop = 'c'")


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize("point", ["started.after", "write.after"])
def test_during_a_refresh(sales: Warehouse, point: str) -> None:
    """What began before may have read what is wrong."""
    create(sales, "raced")
    invalidate(sales, view="raced")
    refresh = Paused(sales, point, "select * from @.raced")
    with refresh:
        invalidate(sales, view="raced", keys=[["2026-01-01", "a"]])
    assert refresh.error is None
    assert sales.history("raced")[-1] == ("SUCCEEDED",)
    assert status(sales, "raced")[1].startswith("1 key invalidated by ")
    assert is_flagged(sales, "raced")
    sales.operation("refresh", view="raced")
    assert (sales.freshness("raced"), is_flagged(sales, "raced")) == ("FRESH", False)


@pytest.mark.behaviour("E8")
def test_other_processes_and_later(sales: Warehouse) -> None:
    """A node that begins after it sees it; old events that are forgotten take none with them."""
    create(sales, "seen")
    command, build = sales.command(), sales.build_of("seen")
    command.sql("select * from @.seen")
    invalidate(sales, view="seen")
    sales.operation("maintain", view="seen", keep_history_days=0)
    assert sales.freshness("seen") == "STALE"
    command.core.start_node(False)
    command.sql("select * from @.seen")
    command.flush()
    repaired = sales.build_of("seen")
    assert repaired != build
    sales.operation("maintain", view="seen", keep_history_days=0)
    assert (sales.freshness("seen"), is_flagged(sales, "seen")) == ("FRESH", False)


@pytest.mark.behaviour("E8")
def test_views_over_it(sales: Warehouse) -> None:
    """One that reads it is as little to be trusted, and is refreshed after it."""
    create(sales, "below")
    falsify(sales, "below")
    sales.restart()
    sales.sql("create materialized view @.above as select sum(amount) as amount from @.below")
    assert sales.sql("select * from @.above") == [(203,)]
    invalidate(sales, view="below")
    freshness, reason = status(sales, "above")
    assert freshness == "STALE" and "below, which is STALE" in reason
    sales.restart()
    assert sales.sql("select * from @.above") == [(3,)]
    assert sales.freshness("below") == sales.freshness("above") == "FRESH"


@pytest.mark.behaviour("E8")
def test_all(sales: Warehouse) -> None:
    create(sales, "one")
    create(sales, "two")
    report = sales.operation("invalidate", all=True)
    assert {"one", "two"} <= {str(row[0]).rsplit(".", 1)[-1] for row in report.rows}
    assert sales.freshness("one") == sales.freshness("two") == "STALE"
    invalidate(sales, view="one")
    assert not sales.operation("refresh", view=["one", "two"]).failures
    assert sales.freshness("one") == sales.freshness("two") == "FRESH"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"view": "nothing"}, "nothing"),
        ({"view": ["given", "nothing"]}, "nothing"),
        ({}, "needs the name"),
        ({"view": "given", "all": True}, "all is every view"),
        ({"view": "given", "all": "yes"}, "all cannot be 'yes'"),
        ({"all": True, "keys": [1]}, "all is every view"),
        ({"view": "given", "keys": [1], "partitions": [1]}, "cannot be combined"),
        ({"view": ["given"], "keys": [1]}, "are those of one view"),
        ({"keys": [1]}, "are those of one view"),
        ({"view": "plain", "keys": [1]}, "has no unique_key"),
        ({"view": "given", "keys": []}, "0 keys cannot be given"),
        ({"view": "given", "keys": [["2026-01-01", "a"]] * 1001}, "1,001 keys cannot be given"),
        ({"view": "given", "keys": [1]}, "1 is no key"),
        ({"view": "given", "keys": [["x", "a"]]}, "is no value of unique_key"),
        ({"view": "plain", "partitions": [1]}, "has no partitions"),
        ({"view": "given", "partitions": []}, "0 partitions cannot be given"),
        ({"view": "given", "partitions": [1] * 1001}, "1,001 partitions cannot be given"),
        ({"view": "given", "partitions": [{"shop": 1}]}, "partition_by is day"),
        ({"view": "given", "partitions": [[1, 2]]}, "partition_by is day"),
        ({"view": "given", "partitions": ["2026-01-01", "x"]}, "'x'. is no value of partition_by"),
        ({"view": "given", "partitions": ["2026-13-01"]}, "is no value of partition_by .date."),
        ({"view": "given", "partitions": [True]}, "is no value of partition_by .date."),
        ({"view": "given", "partitions": [2**70]}, "is no value of partition_by .date."),
        ({"view": "given", "partitions": ["\ud800"]}, "partitions cannot be"),
        ({"view": "given", "keys": [{"day": "2026-01-01", "shop": "\udfff"}]}, "keys cannot be"),
    ],
)
def test_wrong_arguments(sales: Warehouse, given: dict[str, Any], problem: str) -> None:
    """They change nothing, and the error has what and why, and the way out."""
    if "given" not in {row[1] for row in sales.relations()}:
        create(sales, "given")
        sales.sql("create materialized view @.plain as select shop from @.sales")
    events = sales.events()
    with pytest.raises(MaterializedViewError, match=problem) as caught:
        sales.operation("invalidate", **given)
    assert len(str(caught.value).splitlines()) == 2
    assert sales.events() == events


@pytest.mark.behaviour("E8", "E25")
@pytest.mark.parametrize("rows", [{}, {"keys": [["2026-01-01", "a"]]}], ids=["all", "a key"])
def test_live_views(sales: Warehouse, rows: dict[str, Any]) -> None:
    """They run their queries, also those of views over it, until there is a new build."""
    create(sales, "shown", "live = true")
    sales.sql(
        "create or replace materialized view @.upper options (live = true) as "
        "select shop, amount from @.shown"
    )
    falsify(sales, "shown")
    sales.sql("refresh materialized view @.upper")
    sales.sql("select * from @.shown, @.upper")  # renews the texts
    sales.restart()
    live = {name: f"select shop, amount from @.{name}__live" for name in ("shown", "upper")}
    wrong, right = [("a", 101), ("b", 102)], [("a", 1), ("b", 2)]
    assert {name: sorted(sales.spark(text)) for name, text in live.items()} == {
        "shown": wrong,
        "upper": wrong,
    }
    invalidate(sales, view="shown", **rows)
    assert {name: sorted(sales.spark(text)) for name, text in live.items()} == {
        "shown": right,
        "upper": right,
    }
    sales.restart()
    sales.operation("refresh", view="upper")
    assert all(serves_stored_rows(sales, name) for name in live)


def serves_stored_rows(lake: Warehouse, view: str) -> bool:
    (row,) = lake.spark(f"show create table @.{view}__live")
    return lake.storage(view).split(".")[-1] in str(row)


# Where a refresh may be when another process invalidates its view.
POINTS = ["lock.after", "started.after", "write.after", "publish.before", "publish.after"]
POINTS += ["live.before", "recorded.after"]


@pytest.mark.parametrize("point", POINTS)
def test_live_view_of_what_is_invalidated_meanwhile(sales: Warehouse, point: str) -> None:
    """By another process: what the refresh publishes is not served, whoever renews it last."""
    create(sales, "late", "live = true")
    sales.spark("insert into @.sales values (date'2026-01-05', 'e', 5)")
    with Paused(sales, point, "refresh materialized view @.late") as refresh:
        invalidate(Warehouse(sales.target, sales.schema), view="late")
    assert refresh.error is None and sales.freshness("late") == "STALE"
    assert not serves_stored_rows(sales, "late")
    sales.spark("delete from @.sales where shop = 'e'")


def test_live_view_read_by_who_does_not_know(sales: Warehouse) -> None:
    """A command that began before it goes on to read stored rows, and does not serve them."""
    create(sales, "unknown", "live = true")
    command = sales.command()
    command.sql("select * from @.unknown")
    invalidate(Warehouse(sales.target, sales.schema), view="unknown")
    command.sql("select * from @.unknown where amount > 0")
    command.flush()
    assert not serves_stored_rows(sales, "unknown")
    sales.restart()
    sales.sql("select * from @.unknown")
    assert serves_stored_rows(sales, "unknown") and sales.freshness("unknown") == "FRESH"
