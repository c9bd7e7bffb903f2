"""A storage table that a hand takes back to one of its earlier builds: those from before an
invalidation are as wrong as they were, although a refresh has answered it since."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.functional.materialized_view.test_invalidate import create, falsify, invalidate, status
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select day, shop, sum(amount) as amount from @.sales group by day, shop"
VIEW = "builds"


@pytest.fixture(scope="module")
def sales(lake: Warehouse) -> Warehouse:
    lake.spark("create table @.sales (day date, shop string, amount bigint) using iceberg")
    return lake


@pytest.fixture(autouse=True)
def rows(sales: Warehouse) -> Iterator[None]:
    sales.spark("insert into @.sales values (date'2026-01-01', 'a', 1), (date'2026-01-02', 'b', 2)")
    yield
    sales.spark("delete from @.sales")


def read(lake: Warehouse) -> None:
    lake.restart()
    lake.sql(f"select * from @.{VIEW}")


def write(lake: Warehouse) -> None:
    lake.spark("insert into @.sales values (date'2026-01-03', 'c', 4)")
    assert lake.operation("refresh", view=VIEW, method="fast").rows[0][1] == "SUCCEEDED"


# By letters: an invalidation is answered by the next build, whoever makes it.
STEPS: dict[str, Callable[[Warehouse], Any]] = {
    "i": lambda lake: invalidate(lake, view=VIEW),
    "k": lambda lake: invalidate(lake, view=VIEW, keys=[["2026-01-01", "a"]]),
    "r": read,
    "c": lambda lake: lake.operation("refresh", view=VIEW, method="complete"),
    "w": write,
}
HISTORIES = ["ir", "kr", "irc", "krc", "cirw", "irwkrw", "kric", "irirw", "wkrcir", "ikrc"]


def built(lake: Warehouse, history: str) -> dict[int, str]:
    """The builds that these steps make, and what each is when they are made."""
    builds, written, answer = [lake.build_of(VIEW)], 0, 0
    is_open = False
    for step in history:
        STEPS[step](lake)
        is_open = is_open or step in "ik"
        if step in "rcw":
            builds.append(lake.build_of(VIEW))
            written = len(builds) - 1 if step == "w" else written
            answer, is_open = (len(builds) - 1 if is_open else answer), False
    assert not is_open and len(set(builds)) == len(builds)
    reason = dict.fromkeys(builds, "from before an invalidation")
    reason |= dict.fromkeys(builds[answer:], "base tables have changed")
    return reason | dict.fromkeys(builds[max(answer, written) :], "")


def go_to(lake: Warehouse, build: int) -> None:
    lake.spark(f"call local.system.set_current_snapshot('{lake.storage(VIEW)}', {build})")
    lake.restart()


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize("history", HISTORIES)
def test_taken_back(sales: Warehouse, history: str) -> None:
    """To each build, and then forward again: what is not trusted is computed again once."""
    create(sales, VIEW)
    falsify(sales, VIEW)
    builds = built(sales, history)
    first, *_, last = builds
    sales.spark(f"create or replace table @.now using iceberg as {QUERY}")
    for build, why in builds.items():
        go_to(sales, build)
        freshness, reason = status(sales, VIEW)
        assert freshness == ("STALE" if why else "FRESH") and why in reason
    go_to(sales, last)
    assert sales.freshness(VIEW) == "FRESH"
    go_to(sales, first)
    read(sales)
    assert sales.history(VIEW, "method, state")[-1] == ("complete", "SUCCEEDED")
    assert sales.build_of(VIEW) not in builds
    assert_same(sales, f"select * from @.{VIEW}", "select * from @.now")
    assert sales.freshness(VIEW) == "FRESH"
    sales.restart()
    assert sales.freshness(VIEW) == "FRESH"
    sales.sql(f"drop materialized view @.{VIEW}")


@pytest.mark.behaviour("E8")
def test_answered_by_another_process(sales: Warehouse) -> None:
    """A command that knows an earlier answer finds out about it, and computes nothing again."""
    create(sales, VIEW)
    built(sales, "ir")
    command = sales.command()
    command.sql(f"select * from @.{VIEW}")
    *_, last = built(sales, "ir")
    command.sql(f"select * from @.{VIEW} where amount > 0")
    command.flush()
    assert sales.build_of(VIEW) == last
    sales.sql(f"drop materialized view @.{VIEW}")
