"""The definition of a view is changed while it is read: readers see one definition or the other."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.functional.concurrency.processes import Watcher
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse

SUMS = "select sum(amount) as x from @.orders"
COUNTS = "select count(*) as x from @.orders"


@pytest.fixture(autouse=True)
def swapped(lake: Warehouse) -> None:
    lake.sql(f"create or replace materialized view @.swapped as {SUMS}")
    lake.restart()


@pytest.mark.behaviour("A19")
def test_readers_in_another_process(lake: Warehouse) -> None:
    """A changed definition is swapped in one step: there is always a view to read."""
    with Watcher(lake, "select x from @.swapped") as watcher:
        for query in (COUNTS, SUMS, COUNTS):
            lake.sql(f"create or replace materialized view @.swapped as {query}")
    whole = [[[lake.value(query)]] for query in (SUMS, COUNTS)]
    assert watcher.errors == []
    assert all(rows in whole for rows in watcher.seen) and len(watcher.seen) == 2


def test_readers_through_dbt(lake: Warehouse) -> None:
    """Reads that refresh, with changes in between: every answer is whole, no read fails."""
    stop, seen, errors = threading.Event(), set(), list[Any]()

    def read() -> None:
        command = lake.command()
        while not stop.is_set():
            try:
                seen.add(command.sql("select x from @.swapped")[0][0])
            except Exception as error:
                errors.append(str(error))
        command.flush()

    values = {lake.value(SUMS), lake.value(COUNTS)}
    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for step, query in enumerate((COUNTS, SUMS, COUNTS)):
            lake.sql(f"create or replace materialized view @.swapped as {query}")
            lake.spark(f"insert into @.orders values ({170 + step}, 'eve', 7)")
            values |= {lake.value(SUMS), lake.value(COUNTS)}
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert errors == []
    assert seen <= values


@pytest.mark.parametrize("point", ["storage.after", "view.before", "view.after"])
def test_reader_at_each_step(lake: Warehouse, point: str) -> None:
    """Old rows up to the swap, new rows from it on."""
    change = f"create or replace materialized view @.swapped as {COUNTS}"
    with Paused(lake, point, change) as changing:
        found = lake.apart("select x from @.swapped")
        assert found == lake.spark(COUNTS if point == "view.after" else SUMS)
        assert changing.end() is None
    assert lake.sql("select x from @.swapped") == lake.spark(COUNTS)
