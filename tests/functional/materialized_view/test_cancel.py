"""Cancelling a refresh: by an operation, by an interrupt; and replies that are lost."""

from __future__ import annotations

import threading
import time

import pytest

from tests.functional.materialized_view.faults import Paused, armed
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create or replace materialized view @.totals as {QUERY}")
    lake.restart()


@pytest.mark.behaviour("X25", "D28")
@pytest.mark.parametrize("point", ["started.after", "write.before", "write.after"])
def test_cancel_between_steps(lake: Warehouse, point: str) -> None:
    """It ends at its next step, names who asked; rows and branches are as before."""
    lake.change()
    build = lake.build_of("totals")
    with Paused(lake, point, "select * from @.totals") as reader:
        report = lake.operation("cancel", view="totals", wait=False)
        assert report.rows[0][1] == "REQUESTED" and not report.failures
        again = lake.operation("cancel", view="totals")
        assert "has cancelled its refresh already" in again.failures[0]
        error = reader.end()
    assert "was cancelled by" in str(error)
    assert lake.build_of("totals") == build
    assert lake.spark(f"select name from {lake.storage('totals')}.refs") == [("main",)]
    ((state, text),) = lake.history("totals", "state, error")[-1:]
    assert state == "CANCELLED" and text.startswith("cancelled by")
    assert lake.operation("status", view="totals").rows[0][1] == "READY"
    assert_same_after_read(lake)


def assert_same_after_read(lake: Warehouse) -> None:
    lake.restart()
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)


@pytest.mark.behaviour("D28")
def test_cancel_while_spark_is_writing(lake: Warehouse) -> None:
    """The statement itself is interrupted: this query would sleep for two minutes.

    It does not compute: a task that Spark has given up goes on until its own loop ends.
    """
    unsafe = Warehouse({**lake.target, "allow_unsafe_sql": True}, lake.schema)
    lake.spark("create or replace table @.tempo (ms bigint) using iceberg")
    lake.spark("insert into @.tempo values (0)")
    unsafe.sql(
        "create or replace materialized view @.endless as "
        "select ms, reflect('java.lang.Thread', 'sleep', ms) as slept from @.tempo"
    )
    lake.spark("insert overwrite @.tempo values (120000)")
    lake.restart()
    raised: list[Exception] = []

    def read() -> None:
        try:
            unsafe.apart("select * from @.endless")
        except Exception as error:
            raised.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    while ("RUNNING",) not in lake.history("endless"):
        time.sleep(0.2)
    report = lake.operation("cancel", view="endless")
    reader.join()
    assert report.rows[0][1] == "CANCELLED"
    assert "was cancelled by" in str(raised[0])
    lake.sql("drop materialized view @.endless")


@pytest.mark.behaviour("D28")
def test_nothing_to_cancel(lake: Warehouse) -> None:
    report = lake.operation("cancel", view="totals")
    assert "no refresh is running" in report.failures[0]
    for name in ("cancel", "suspend", "resume"):
        with pytest.raises(Exception, match="needs the name of a materialized view"):
            lake.operation(name, view=None)


def test_interrupt_of_the_command(lake: Warehouse) -> None:
    """Ctrl-C and --fail-fast: the refresh lock is released, the history says who ended it."""
    lake.change()
    with Paused(lake, "write.before", "select * from @.totals") as reader:
        reader.command.connections.cancel_open()
        assert "interrupt" in str(reader.end())
    assert lake.spark(f"select name from {lake.storage('totals')}.refs") == [("main",)]
    assert lake.history("totals")[-1] == ("CANCELLED",)
    assert_same_after_read(lake)


@pytest.mark.behaviour("D12")
def test_lost_reply_of_the_publish(lake: Warehouse) -> None:
    """Main is the evidence: a build that was published is a success."""
    lake.change()
    builds = lake.builds("totals")
    with armed(lake, "publish.after=raise") as command:
        command.sql("select * from @.totals")
        command.flush()
    assert lake.history("totals")[-1] == ("SUCCEEDED",)
    assert lake.builds("totals") == builds + 1
    assert_same(lake, "select * from @.totals", QUERY)
