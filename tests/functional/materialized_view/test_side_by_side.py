"""Independent views are refreshed side by side, as many as the profile has threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.refresh import branch_writer
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

_TIMEOUT = 60
# A table of files in one folder for all; two views over it, one over both, and one over that.
QUERIES = {
    "low": "select id, amount from @.orders",
    "left": "select id, sum(amount) as amount from @.low group by id",
    "right": "select id, count(*) as n from @.low group by id",
    "top": "select l.id, l.amount, r.n from @.left l join @.right r on l.id = r.id",
}
PLAIN = (
    "select id, sum(amount), count(*) from @.orders where amount is not null or true group by id"
)


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    for name, query in QUERIES.items():
        lake.sql(f"create materialized view @.{name} as {query}")


class Together:
    """Refreshes that have begun, and the threads that ran them; the first `waiting` of them wait
    until two have begun."""

    def __init__(self) -> None:
        self._barrier = threading.Barrier(2, timeout=_TIMEOUT)
        self._lock = threading.Lock()
        self.threads: list[int] = []
        self.waiting = 0

    def reached(self, point: str) -> None:
        if point == "started.after":
            with self._lock:
                self.threads.append(threading.get_ident())
                waits = len(self.threads) <= self.waiting
            if waits:
                self._barrier.wait()


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> Iterator[Together]:
    made = Together()
    monkeypatch.setattr(branch_writer, "reached", made.reached)
    yield made


def changed(lake: Warehouse) -> None:
    lake.spark("insert into @.orders values (7, 'zoe', 5), (1, 'ann', 1)")


def states(lake: Warehouse) -> dict[str, int]:
    return {name: lake.builds(name) for name in QUERIES}


def assert_right(lake: Warehouse) -> None:
    assert_same(lake, "select * from @.top", PLAIN)
    assert [lake.freshness(name) for name in QUERIES] == ["FRESH"] * 4


def test_list_of_views(lake: Warehouse, together: Together) -> None:
    """Two views that are given as a list; neither waits for the other to end."""
    changed(lake)
    lake.apart("select * from @.low")
    together.threads, together.waiting = [], 2
    report = lake.operation("refresh", view=["left", "right"], threads=2)
    assert len(set(together.threads)) == 2
    assert [(row[0].split(".")[-1], row[1]) for row in report.rows] == [
        ("left", "SUCCEEDED"),
        ("right", "SUCCEEDED"),
    ]
    lake.operation("refresh")
    assert_right(lake)


def test_one_thread(lake: Warehouse, together: Together) -> None:
    """With one thread one after the other, upstream first."""
    changed(lake)
    report = lake.operation("refresh", threads=1)
    assert [row[0].split(".")[-1] for row in report.rows] == ["low", "left", "right", "top"]
    assert together.threads == [threading.get_ident()] * 4
    assert_right(lake)


@pytest.mark.parametrize("threads", [2, 4])
def test_each_once_and_upstream_first(lake: Warehouse, threads: int) -> None:
    """A whole graph: each view is refreshed once, by the operation and not for another view."""
    changed(lake)
    before = states(lake)
    report = lake.operation("refresh", view=["+top"], threads=threads)
    assert [row[0].split(".")[-1] for row in report.rows] == ["low", "left", "right", "top"]
    assert states(lake) == {name: count + 1 for name, count in before.items()}
    for name in QUERIES:
        assert lake.history(name, "trigger")[-1] == ("MANUAL",)
    assert_right(lake)


def test_upstream_of_a_read(lake: Warehouse, together: Together) -> None:
    """A read of the top: what it reads through two stale views is refreshed side by side, what
    both of them read once."""
    changed(lake)
    lake.apart("select * from @.low")
    before = states(lake)
    together.threads, together.waiting = [], 2
    command = lake.command("show", threads=2)
    rows = command.sql("select * from @.top")
    command.flush()
    assert len(together.threads) == 3 and len(set(together.threads)) == 2
    assert sorted(rows) == sorted(lake.spark(PLAIN))
    after = states(lake)
    assert {name: after[name] - before[name] for name in QUERIES} == {
        "low": 0,
        "left": 1,
        "right": 1,
        "top": 1,
    }


def test_two_views_over_one_that_is_not_named(lake: Warehouse) -> None:
    """Refreshes of a list do not wait for other processes; for each other they do."""
    changed(lake)
    before = states(lake)
    report = lake.operation("refresh", view=["left", "right"], threads=2, wait=False)
    assert [row[1] for row in report.rows] == ["SUCCEEDED", "SUCCEEDED"], report.failures
    assert states(lake)["low"] == before["low"] + 1
    lake.operation("refresh")
    assert_right(lake)


def test_failure_of_one(lake: Warehouse) -> None:
    """What fails is reported, in its place; what does not depend on it is refreshed."""
    lake.spark("create table if not exists @.other (n int) using iceberg")
    query = "select cast(raise_error('too many') as int) as q from @.other where n = 0"
    lake.sql(f"create materialized view @.fragile as {query}")
    lake.sql("create materialized view @.solid as select n from @.other")
    lake.spark("insert into @.other values (0)")
    report = lake.operation("refresh", view=["fragile", "solid"], threads=2)
    assert [row[1] for row in report.rows] == ["FAILED", "SUCCEEDED"]
    assert len(report.failures) == 1 and "fragile" in report.failures[0]
    assert lake.freshness("solid") == "FRESH" and lake.freshness("fragile") == "STALE"
    assert "too many" in report.failures[0]
    lake.sql("drop materialized view @.fragile")
