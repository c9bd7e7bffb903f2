"""A read of a view over views, one of which another command refreshes while the read looks."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.state.observation import Observer
from dbt.adapters.spark_mv.state.pinned_versions import PinnedVersions
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


def read_while(
    lake: Warehouse, patch: pytest.MonkeyPatch, seen: str, refreshed: str, knows: bool = False
) -> int:
    """The answer of a read; once it has seen the state of one view, another command refreshes one
    below it. The command of the read `knows` the views from an earlier read, or it does not."""
    observe, done = Observer._observation, []
    command = lake.command()
    if knows:
        command.sql("select most from @.answer")

    def observe_first(self: Observer, view: Any, pinned: Any, stored: Any) -> Any:
        found = observe(self, view, pinned, stored)
        if view.name.name == seen and not done:
            done.append(seen)
            lake.spark("insert into @.orders values (500, 'zoe', 100000)")
            lake.apart(f"select * from @.{refreshed}")
        return found

    patch.setattr(Observer, "_observation", observe_first)
    ((most,),) = command.sql("select most from @.answer")
    command.flush()
    patch.setattr(Observer, "_observation", observe)
    assert done
    return int(most)


CASES = [("answer", "largest"), ("answer", "daily"), ("largest", "daily")]


@pytest.mark.behaviour("D42")
@pytest.mark.parametrize("knows", [False, True])
@pytest.mark.parametrize(("seen", "refreshed"), CASES)
def test_read(
    lake: Warehouse,
    monkeypatch: pytest.MonkeyPatch,
    seen: str,
    refreshed: str,
    road: str,
    knows: bool,
) -> None:
    most = read_while(lake, monkeypatch, seen, refreshed, knows)
    assert [(most,)] == lake.spark(
        "select max(total) from (select sum(amount) as total from @.orders group by customer)"
    )


def test_who_does_not_look_again(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: what was seen first is taken for what is."""
    monkeypatch.setattr(PinnedVersions, "has_left", lambda self, seen, tables: False)
    before = lake.value("select most from @.answer")
    assert read_while(lake, monkeypatch, "answer", "largest") == before
