"""The demo project on catalogs of servers (JDBC on PostgreSQL, REST, Hive): the same promises."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import TURN, TURNS
from tests.functional.concurrency.processes import Process
from tests.functional.servers import checks
from tests.functional.servers.places import CATALOGS, Place
from tests.functional.servers.postgres_server import CONNECTIONS
from tests.functional.servers.processes import Client
from tests.sampling import sample

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
# Each takes minutes: a sample has every other one, by date.
HALF = date.today().toordinal() // TURNS % 2
NAMES = list(CATALOGS)[HALF::2] if TURN in os.environ else list(CATALOGS)
KILLED = sample(["write.after", "publish.after"], ["publish.before"])


@pytest.fixture(scope="module", params=NAMES)
def catalog(request: pytest.FixtureRequest, place: Place) -> Iterator[Client]:
    with place.with_catalog(request.param) as client:
        yield client


@pytest.fixture(scope="module")
def races(catalog: Client) -> Any:
    """A schema with a base table, and views for the tests, made by a process of its own."""
    catalog.sql("create schema races")
    catalog.sql("create table races.orders (customer string, amount bigint) using iceberg")
    catalog.sql("insert into races.orders values ('ann', 1), ('bob', 2)")
    made = SimpleNamespace(schema="races", target=catalog.output)
    names = ("totals", *(point.replace(".", "_") for point in KILLED))
    run(made, ";".join(f"create materialized view @.{name} as {QUERY}" for name in names))
    catalog.sql("insert into races.orders values ('ann', 10)")
    return made


def run(races: Any, statement: str) -> Any:
    process = Process(races, statement).ready()
    process.go()
    return process.answer()


def start(processes: list[Process]) -> None:
    """Once all are ready, all go."""
    for process in processes:
        process.ready()
    for process in processes:
        process.go()


def rows_now(catalog: Client) -> list[Any]:
    return sorted(catalog.sql(QUERY.replace("@.", "races.")))


def test_builds_are_fresh(catalog: Client) -> None:
    checks.assert_all_fresh(catalog)


def test_build_again(catalog: Client) -> None:
    checks.assert_builds_again(catalog)


def test_change_outside_dbt(catalog: Client) -> None:
    checks.assert_follows_changes(catalog)


def test_operations(catalog: Client) -> None:
    checks.assert_operations(catalog)


def test_connections_are_closed(catalog: Client, races: Any) -> None:
    """A command may refresh more often than the server of the catalog takes connections."""
    create = f"create materialized view @.often as {QUERY}"
    refreshes = ["refresh materialized view @.often complete"] * CONNECTIONS
    answer = run(races, ";".join([create, *refreshes, "select * from @.often"]))
    assert sorted(answer.get("rows", [answer])) == rows_now(catalog)


@pytest.mark.behaviour("B6")
def test_readers_in_three_processes(catalog: Client, races: Any) -> None:
    """One stale view, three readers at once, one refresh."""
    processes = [Process(races, "select * from @.totals") for _ in range(3)]
    start(processes)
    found = [sorted(process.answer()["rows"]) for process in processes]
    assert found == [rows_now(catalog)] * 3
    builds = (
        "select count(distinct refresh_id) from races_meta.mv_refresh_history "
        "where table_name = 'totals' and state = 'SUCCEEDED'"
    )
    assert catalog.sql(builds) == [[2]]


def test_killed(catalog: Client, races: Any) -> None:
    """I6: the process dies before, in and after the publish; the next read is right."""
    names = {point: point.replace(".", "_") for point in KILLED}
    old = sorted(catalog.sql("select * from races.write_after"))
    processes = [
        Process(races, f"refresh materialized view @.{name} complete", failpoints=f"{point}=kill")
        for point, name in names.items()
    ]
    start(processes)
    assert [process.ended() for process in processes] == [-9] * len(KILLED)
    for point, name in names.items():
        expected = rows_now(catalog) if point == "publish.after" else old
        assert sorted(catalog.sql(f"select * from races.{name}")) == expected
    readers = [Process(races, f"select * from @.{name}") for name in names.values()]
    start(readers)
    for reader, name in zip(readers, names.values(), strict=True):
        assert sorted(reader.answer()["rows"]) == rows_now(catalog)
        assert sorted(catalog.sql(f"select * from races.{name}")) == rows_now(catalog)


def test_letter_case(catalog: Client, place: Place) -> None:
    checks.assert_one_name(catalog, place.project)


def test_seeds(catalog: Client, place: Place) -> None:
    """Ids of columns are known to the adapter where it has a client of the catalog."""
    default = catalog.output["spark_conf"].get("spark.sql.defaultCatalog")
    with_client = default != "spark_catalog"
    first, unchanged = ("iceberg", "UNCHANGED") if with_client else ("parquet", "INSERT")
    checks.assert_seeds(catalog, place.project, first, unchanged)
