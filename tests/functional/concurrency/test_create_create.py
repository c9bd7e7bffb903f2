"""Several creations of one view at the same moment."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.functional.concurrency.processes import Process
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
_numbers = itertools.count()


@pytest.fixture
def name() -> str:
    return f"v{next(_numbers)}"


def create_together(lake: Warehouse, statements: list[str]) -> list[Any]:
    barrier = threading.Barrier(len(statements))

    def create(statement: str) -> Any:
        command = lake.command()
        barrier.wait()
        try:
            return command.sql(statement)
        except Exception as error:
            return error
        finally:
            command.flush()

    with ThreadPoolExecutor(len(statements)) as pool:
        return list(pool.map(create, statements))


def assert_whole(lake: Warehouse, name: str, query: str = QUERY) -> None:
    assert_same(lake, f"select * from @.{name}", query)
    assert lake.freshness(name) == "FRESH"
    assert lake.value(f"select count(*) from @meta.mv_status where table_name = '{name}'") == 1
    lake.restart()
    lake.sql(f"refresh materialized view @.{name} complete")
    assert_same(lake, f"select * from @.{name}", query)


@pytest.mark.behaviour("D30")
def test_same_definition(lake: Warehouse, name: str) -> None:
    """The same statement four times: one view, whole and registered once."""
    statement = f"create or replace materialized view @.{name} as {QUERY}"
    found = create_together(lake, [statement] * 4)
    assert not [error for error in found if isinstance(error, Exception)]
    assert_whole(lake, name)
    tables = [table for _, table in lake.relations() if table.startswith(f"{name}__mv_")]
    assert len(tables) == 1


@pytest.mark.behaviour("D30")
def test_without_or_replace(lake: Warehouse, name: str) -> None:
    """Whoever loses is told that it exists, and nothing is broken."""
    found = create_together(lake, [f"create materialized view @.{name} as {QUERY}"] * 3)
    errors = [error for error in found if isinstance(error, Exception)]
    assert len(errors) < 3
    assert all("exists" in str(error) for error in errors)
    assert_whole(lake, name)


def test_different_definitions(lake: Warehouse, name: str) -> None:
    """One of two definitions wins as a whole: view, storage and metadata belong together."""
    queries = [QUERY, "select customer, count(*) as total from @.orders group by customer"]
    found = create_together(
        lake, [f"create or replace materialized view @.{name} as {query}" for query in queries]
    )
    assert not [error for error in found if isinstance(error, Exception)]
    lake.restart()
    lake.sql(f"select * from @.{name}")
    ((definition,),) = lake.spark(
        f"select definition from @meta.mv_status where table_name = '{name}'"
    )
    assert_whole(lake, name, definition)


@pytest.mark.behaviour("D30")
def test_processes(lake: Warehouse, name: str) -> None:
    """Two processes."""
    statement = f"create or replace materialized view @.{name} as {QUERY}"
    processes = [Process(lake, statement) for _ in range(2)]
    for process in processes:
        process.ready()
    for process in processes:
        process.go()
    assert [answer for p in processes if "error" in (answer := p.answer())] == []
    assert_whole(lake, name)
