"""A read of a view over views, one of which another command refreshes while the read looks."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.state.observation import Observer
from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.warehouse import Warehouse

VIEWS = {
    "daily": "select customer, sum(amount) as total from @.orders group by customer",
    "largest": "select max(total) as most from @.daily",
    "answer": "select most, most * 2 as twice from @.largest",
}


@pytest.fixture(autouse=True)
def views(lake: Warehouse) -> None:
    for view, query in VIEWS.items():
        lake.sql(f"create or replace materialized view @.{view} as {query}")


def read_while(lake: Warehouse, patch: pytest.MonkeyPatch, seen: str, refreshed: str) -> int:
    """The answer of a read; once it has seen the state of one view, another command refreshes one
    below it."""
    observe, done = Observer.observe, []

    def observe_first(self: Observer, view: Any, pinned: Any = None) -> Any:
        found = observe(self, view, pinned)
        if view.name.name == seen and not done:
            done.append(seen)
            lake.spark("insert into @.orders values (500, 'zoe', 100000)")
            lake.apart(f"select * from @.{refreshed}")
        return found

    patch.setattr(Observer, "observe", observe_first)
    ((most,),) = lake.apart("select most from @.answer")
    patch.setattr(Observer, "observe", observe)
    assert done
    return int(most)


CASES = [("answer", "largest"), ("answer", "daily"), ("largest", "daily")]


@pytest.mark.behaviour("D42")
@pytest.mark.parametrize("client", ["catalog", "statements"])
@pytest.mark.parametrize(("seen", "refreshed"), CASES)
def test_read(
    lake: Warehouse, monkeypatch: pytest.MonkeyPatch, seen: str, refreshed: str, client: str
) -> None:
    if client == "statements":
        reach_by_statements(monkeypatch)
    most = read_while(lake, monkeypatch, seen, refreshed)
    assert [(most,)] == lake.spark(
        "select max(total) from (select sum(amount) as total from @.orders group by customer)"
    )


def test_who_does_not_look_again(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: what was seen first is taken for what is."""
    monkeypatch.setattr(Observer, "has_moved", lambda self, observation, tables=None: False)
    before = lake.value("select most from @.answer")
    assert read_while(lake, monkeypatch, "answer", "largest") == before
