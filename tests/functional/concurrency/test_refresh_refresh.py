"""Two refreshes of one view: the second fails at once and names the first, or waits for it."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest

from dbt.adapters.spark_mv.metadata.events import host
from tests.functional.concurrency.processes import Process
from tests.functional.materialized_view.warehouse import Command, Warehouse, assert_same

QUERY = "select id, amount from @.orders"


@pytest.fixture(scope="module", autouse=True)
def view(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.totals as {QUERY}")


class Held:
    """A refresh that stops before it publishes, until it is let go."""

    def __init__(self, lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
        from dbt.adapters.spark_mv.refresh.run import Refresher

        self.reached, self.released = threading.Event(), threading.Event()
        self.error: Exception | None = None
        self._command = lake.command()
        publish = Refresher._publish

        def held(refresher: Refresher, *arguments: Any) -> Any:
            if threading.current_thread() is self.thread:
                self.reached.set()
                assert self.released.wait(60)
            return publish(refresher, *arguments)

        monkeypatch.setattr(Refresher, "_publish", held)
        self.thread = threading.Thread(target=self._refresh)

    def _refresh(self) -> None:
        try:
            self._command.sql("refresh materialized view @.totals complete")
        except Exception as error:
            self.error = error
        self._command.flush()

    def start(self) -> Held:
        self.thread.start()
        assert self.reached.wait(60)
        self._command.flush()
        return self

    def let_go(self) -> None:
        self.released.set()
        self.thread.join(60)
        if self.error:
            raise self.error


@pytest.fixture
def held(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Held(lake, monkeypatch)
    yield made
    made.released.set()
    if made.thread.ident:
        made.thread.join(60)


def operation(command: Command, **arguments: Any) -> Any:
    core = command.core
    core.operations.target_schema = "refresh_refresh"
    report = core.operations.refresh(**arguments)
    command.flush()
    return report


def test_second_fails_at_once(lake: Warehouse, held: Held) -> None:
    """X3, D3: another refresh is running: its owner and its start are named; rows stay."""
    lake.spark("insert into @.orders values (108, 'sam', 1)")
    held.start()
    build, began = lake.build_of("totals"), time.monotonic()
    with pytest.raises(Exception, match="another refresh is running") as caught:
        lake.command("run-operation").sql("refresh materialized view @.totals")
    assert str(os.getpid()) in str(caught.value) and host() in str(caught.value)
    assert "since" in str(caught.value)
    report = operation(lake.command("run-operation"), view="totals")
    assert "another refresh is running" in report.failures[0]
    assert time.monotonic() - began < 30
    assert lake.build_of("totals") == build
    assert lake.history("totals")[-1] == ("RUNNING",)
    held.let_go()
    assert lake.build_of("totals") != build
    assert lake.history("totals")[-1] == ("SUCCEEDED",)


def test_wait(lake: Warehouse, held: Held) -> None:
    """X3: with `wait: true` the second waits, then finds nothing to do."""
    lake.spark("insert into @.orders values (109, 'sam', 1)")
    held.start()
    done = threading.Event()
    found: list[Any] = []

    def wait() -> None:
        found.append(operation(lake.command("run-operation"), view="totals", wait=True))
        done.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not done.wait(2)
    held.let_go()
    assert done.wait(60)
    waiting.join()
    assert found[0].failures == () and found[0].rows[0][1] == "SKIPPED"


def test_reader_waits(lake: Warehouse, held: Held) -> None:
    """X3: a lazy read of a stale view waits for the refresh that is running."""
    lake.spark("insert into @.orders values (110, 'sam', 1)")
    held.start()
    builds = lake.builds("totals")
    found: list[Any] = []
    reader = threading.Thread(
        target=lambda: found.append(lake.command().sql("select * from @.totals"))
    )
    reader.start()
    reader.join(2)
    assert found == []
    held.let_go()
    reader.join(60)
    assert sorted(found[0]) == sorted(lake.spark(QUERY))
    assert lake.builds("totals") == builds + 1


def test_other_views_are_not_held_up(lake: Warehouse, held: Held) -> None:
    """D3: two views are refreshed at the same time."""
    lake.sql(f"create materialized view if not exists @.other as {QUERY}")
    held.start()
    lake.command("run-operation").sql("refresh materialized view @.other complete")
    held.let_go()


def test_forced_refreshes_each_run(lake: Warehouse) -> None:
    """B7: two sequential forced refreshes are two builds."""
    before = lake.builds("totals")
    lake.sql("refresh materialized view @.totals complete")
    lake.sql("refresh materialized view @.totals complete")
    assert lake.builds("totals") == before + 2


def test_owner_that_died(lake: Warehouse) -> None:
    """D13: a killed process holds nothing up; its row is closed and the rows are right."""
    process = Process(lake, "refresh materialized view @.totals complete").ready()
    killer = "select count(*) from @meta.mv_events where kind = 'REFRESH_STARTED'"
    before = lake.value(killer)
    process.go()
    deadline = time.monotonic() + 60
    while lake.value(killer) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    lake.spark("insert into @.orders values (111, 'sam', 1)")
    lake.restart()
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)
    operation(lake.command("run-operation"), view="totals", wait=True)
    assert "RUNNING" not in {state for (state,) in lake.history("totals")}
