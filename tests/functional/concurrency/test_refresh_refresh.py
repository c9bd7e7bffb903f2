"""Two refreshes of one view: the second fails at once and names the first, or waits for it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.metadata.events import host
from tests.functional.concurrency.processes import Process
from tests.functional.concurrency.ways import WAYS, change, make_log
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Command, Warehouse, assert_same

QUERY = "select id, amount from @.orders"


@pytest.fixture(scope="module", autouse=True)
def view(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.totals as {QUERY}")


@pytest.fixture
def held(lake: Warehouse) -> Any:
    """A refresh that stops before it publishes, until it is let go."""
    made = Paused(lake, "publish.before", "refresh materialized view @.totals complete")
    yield made
    made.end()


def operation(command: Command, **arguments: Any) -> Any:
    core = command.core
    core.choice.target_schema = "refresh_refresh"
    report = core.operation("refresh")(**arguments)
    command.flush()
    return report


@pytest.mark.behaviour("X3", "D3", "D8", "D44")
def test_second_fails_at_once(lake: Warehouse, held: Paused) -> None:
    """Another refresh is running: its owner and its start are named; rows stay."""
    lake.spark("insert into @.orders values (108, 'sam', 1)")
    held.start()
    build = lake.build_of("totals")
    with pytest.raises(Exception, match="another refresh is running") as caught:
        lake.apart("refresh materialized view @.totals", "run-operation")
    assert str(os.getpid()) in str(caught.value) and host() in str(caught.value)
    assert "since" in str(caught.value)
    report = operation(lake.command("run-operation"), view="totals")
    assert "another refresh is running" in report.failures[0]
    assert lake.build_of("totals") == build
    assert lake.history("totals")[-1] == ("RUNNING",)
    assert held.end() is None
    assert lake.build_of("totals") != build
    assert lake.history("totals")[-1] == ("SUCCEEDED",)


@pytest.mark.behaviour("X3")
def test_wait(lake: Warehouse, held: Paused) -> None:
    """With `wait: true` the second waits, then finds nothing to do."""
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
    assert held.end() is None
    assert done.wait(60)
    waiting.join()
    assert found[0].failures == () and found[0].rows[0][1] == "SKIPPED"


@pytest.mark.behaviour("X3")
def test_reader_waits(lake: Warehouse, held: Paused) -> None:
    """A lazy read of a stale view waits for the refresh that is running."""
    lake.spark("insert into @.orders values (110, 'sam', 1)")
    held.start()
    builds = lake.builds("totals")
    found: list[Any] = []
    reader = threading.Thread(target=lambda: found.append(lake.apart("select * from @.totals")))
    reader.start()
    reader.join(2)
    assert found == []
    assert held.end() is None
    reader.join(60)
    assert sorted(found[0]) == sorted(lake.spark(QUERY))
    assert lake.builds("totals") == builds + 1


@pytest.mark.behaviour("X3")
@pytest.mark.parametrize("way", WAYS)
def test_seen_before_another_refresh(lake: Warehouse, way: str) -> None:
    """A reader that found the view stale, but came to the lock after another refresh: no work is
    done a second time."""
    make_log(lake)
    lake.sql(WAYS[way].create(f"late_{way}"))
    change(lake, 113)
    read = f"select * from @.late_{way}"
    with Paused(lake, "lock.before", read) as late:
        lake.apart(read)
        build, done = lake.build_of(f"late_{way}"), lake.history(f"late_{way}")
        assert late.end() is None
    assert lake.build_of(f"late_{way}") == build
    assert lake.history(f"late_{way}") == done
    assert sorted(late.rows) == sorted(lake.spark(WAYS[way].query))


@pytest.mark.behaviour("D3")
def test_other_views_are_not_held_up(lake: Warehouse, held: Paused) -> None:
    """Two views are refreshed at the same time."""
    lake.sql(f"create materialized view if not exists @.other as {QUERY}")
    held.start()
    lake.apart("refresh materialized view @.other complete", "run-operation")
    assert held.end() is None


def test_taken_over_while_spark_writes(lake: Warehouse) -> None:
    """Iceberg makes the dropped branch anew when the old owner commits: that build is not
    published, because it would take the place of a newer one."""
    unsafe = {**lake.target, "allow_unsafe_sql": True}
    patient = Warehouse(unsafe, lake.schema)
    impatient = Warehouse({**unsafe, "refresh_timeout": 1}, lake.schema)
    lake.spark("create table @.tempo (ms bigint) using iceberg")
    lake.spark("insert into @.tempo values (0)")
    patient.sql(
        "create materialized view @.slow as "
        "select ms, reflect('java.lang.Thread', 'sleep', ms) as slept from @.tempo"
    )
    lake.spark("insert overwrite @.tempo values (40000)")
    command, errors = patient.command(), list[Exception]()

    def refresh() -> None:
        try:
            command.sql("refresh materialized view @.slow")
        except Exception as error:
            errors.append(error)
        command.flush()

    owner = threading.Thread(target=refresh)
    owner.start()
    tracker = lake._outside.sparkContext.statusTracker()
    while not tracker.getActiveJobsIds():
        assert owner.is_alive()
        time.sleep(0.05)
    time.sleep(1.5)
    lake.spark("insert overwrite @.tempo values (0)")
    impatient.sql("select * from @.slow")
    build = lake.build_of("slow")
    assert owner.is_alive()
    owner.join(60)
    assert errors == []
    assert lake.build_of("slow") == build and lake.spark("select ms from @.slow") == [(0,)]
    assert lake.spark(f"select name from {lake.storage('slow')}.refs") == [("main",)]


@pytest.mark.behaviour("D3")
def test_processes_refresh_by_changes(lake: Warehouse) -> None:
    """Two processes at once for each way: the change is applied once, the second finds it done."""
    ways = ("fast", "appended")
    make_log(lake)
    for way in ways:
        lake.sql(WAYS[way].create(f"both_{way}"))
    change(lake, 112)
    processes = [Process(lake, WAYS[way].refresh(f"both_{way}")) for way in ways * 2]
    for process in [process.ready() for process in processes]:
        process.go()
    assert [process.answer().get("error") for process in processes] == [None] * 4
    lake.restart()
    for way in ways:
        assert_same(lake, f"select * from @.both_{way}", WAYS[way].query)
        done = lake.history(f"both_{way}", "method, state")
        assert done.count(("fast", "SUCCEEDED")) == 1
        assert {method for method, _ in done[1:]} <= {"fast", "none"}


@pytest.mark.behaviour("B7")
def test_forced_refreshes_each_run(lake: Warehouse) -> None:
    """Two sequential forced refreshes are two builds."""
    before = lake.builds("totals")
    lake.sql("refresh materialized view @.totals complete")
    lake.sql("refresh materialized view @.totals complete")
    assert lake.builds("totals") == before + 2


@pytest.mark.behaviour("D13")
def test_owner_that_died(lake: Warehouse, tmp_path: Path) -> None:
    """A process killed in its refresh holds nothing up; its row is closed and the rows are
    right."""
    process = Process(
        lake,
        "refresh materialized view @.totals complete",
        failpoints=f"write.before=pause:{tmp_path}",
    ).ready()
    process.go()
    process.paused(tmp_path)
    while ("RUNNING",) not in lake.history("totals"):
        time.sleep(0.1)
    process.kill()
    lake.spark("insert into @.orders values (111, 'sam', 1)")
    lake.restart()
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)
    operation(lake.command("run-operation"), view="totals", wait=True)
    assert "RUNNING" not in {state for (state,) in lake.history("totals")}
