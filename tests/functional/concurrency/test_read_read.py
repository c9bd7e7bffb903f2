"""Readers of one stale view at the same moment: one refresh for all of them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.functional.concurrency.processes import Process
from tests.functional.materialized_view.warehouse import Command, Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"


@pytest.fixture
def stale(lake: Warehouse) -> int:
    """Builds so far of a view that another program has just made stale."""
    lake.sql(f"create materialized view if not exists @.totals as {QUERY}")
    lake.sql("select * from @.totals")
    lake.spark("insert into @.orders values (100, 'sam', 1)")
    return lake.builds("totals")


def read_together(commands: list[Command], statement: str = "select * from @.totals") -> list[Any]:
    barrier = threading.Barrier(len(commands))

    def read(command: Command) -> Any:
        barrier.wait()
        return sorted(command.sql(statement))

    with ThreadPoolExecutor(len(commands)) as pool:
        found = list(pool.map(read, commands))
    for command in commands:
        command.flush()
    return found


@pytest.mark.behaviour("A18", "B6", "X3")
def test_threads_of_one_command(lake: Warehouse, stale: int) -> None:
    """Eight threads of one dbt command."""
    found = read_together([lake.command()] * 8)
    assert found == [sorted(lake.spark(QUERY))] * 8
    assert lake.builds("totals") == stale + 1


@pytest.mark.behaviour("B6")
def test_commands_of_one_process(lake: Warehouse, stale: int) -> None:
    """Eight commands that share no memory but the catalog."""
    found = read_together([lake.command() for _ in range(8)])
    assert found == [sorted(lake.spark(QUERY))] * 8
    assert lake.builds("totals") == stale + 1


@pytest.mark.behaviour("B6")
def test_processes(lake: Warehouse, stale: int) -> None:
    """Three processes, each with a Spark of its own."""
    processes = [Process(lake, "select * from @.totals") for _ in range(3)]
    for process in processes:
        process.ready()
    for process in processes:
        process.go()
    expected = sorted(list(row) for row in lake.spark(QUERY))
    assert [sorted(process.answer()["rows"]) for process in processes] == [expected] * 3
    assert lake.builds("totals") == stale + 1
    states = {state for (state,) in lake.history("totals")}
    assert states <= {"SUCCEEDED", "SKIPPED"}


def test_readers_of_a_chain(lake: Warehouse, stale: int) -> None:
    """Readers of both ends of a chain refresh each view once."""
    lake.sql(
        "create materialized view if not exists @.grand as select sum(total) as g from @.totals"
    )
    lake.spark("insert into @.orders values (101, 'sam', 1)")
    expected = lake.spark(
        "select (select sum(amount) from @.orders), sum(amount) from @.orders group by customer"
    )
    before = lake.builds("totals"), lake.builds("grand")
    command = lake.command()
    seen = read_together([command] * 6, "select g.g, t.total from @.grand g, @.totals t")
    assert all(sorted(rows) == sorted(expected) for rows in seen)
    assert (lake.builds("totals"), lake.builds("grand")) == (before[0] + 1, before[1] + 1)
    assert_same(lake, "select * from @.grand", "select sum(amount) from @.orders")
