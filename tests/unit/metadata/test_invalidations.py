"""Which refreshes answer an invalidation: by ids, whatever the clocks of their writers show."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.projection import ViewState, fold
from dbt.adapters.spark_mv.metadata.retention import kept
from dbt.adapters.spark_mv.sql.names import TableName

NAME = TableName("local", ("db",), "v")
PARTS = {"parts": list(NAME.parts), "sources": []}


def event(at: int, kind: str, refresh: str | None = None, **payload: Any) -> Event:
    return Event(f"e{at}", at, "id", NAME.full, kind, refresh, payload)


CREATED = event(1, kinds.CREATED, **PARTS)
BUILT = (event(2, kinds.REFRESH_STARTED, "a"), event(3, kinds.REFRESH_SUCCEEDED, "a"))
INVALIDATED = event(5, kinds.INVALIDATED)


def view_of(*events: Event) -> ViewState:
    return fold((CREATED, *BUILT, *events)).views[NAME]


def refreshed(end: str, *covers: str, at: int = 6) -> tuple[Event, Event]:
    return event(at, kinds.REFRESH_STARTED, "b", covers=list(covers)), event(at + 2, end, "b")


def test_it_makes_stale() -> None:
    view = view_of(INVALIDATED)
    assert (view.invalidated, view.is_stale) == (INVALIDATED, True)


def test_a_refresh_that_knew_it() -> None:
    view = view_of(INVALIDATED, *refreshed(kinds.REFRESH_SUCCEEDED, "e5"))
    assert (view.invalidated, view.is_stale) == (None, False)


@pytest.mark.parametrize(
    ("end", "covers"),
    [
        (kinds.REFRESH_SUCCEEDED, ()),
        (kinds.REFRESH_SUCCEEDED, ("e4",)),
        (kinds.REFRESH_SKIPPED, ("e5",)),
        (kinds.REFRESH_FAILED, ("e5",)),
        (kinds.REFRESH_ABANDONED, ("e5",)),
        (kinds.REFRESH_CANCELLED, ("e5",)),
    ],
)
def test_what_does_not_answer_it(end: str, covers: tuple[str, ...]) -> None:
    view = view_of(INVALIDATED, *refreshed(end, *covers))
    assert (view.invalidated, view.is_stale) == (INVALIDATED, True)


def test_during_a_refresh() -> None:
    during = event(7, kinds.INVALIDATED, covers=["e5"])
    started, ended = refreshed(kinds.REFRESH_SUCCEEDED, "e5")
    assert view_of(INVALIDATED, started, during, ended).invalidated == during


@pytest.mark.parametrize("at", [4, 9])
def test_clocks_that_differ(at: int) -> None:
    """Known or not is what counts: a writer's clock may be behind that of the refresh, or ahead."""
    started, ended = refreshed(kinds.REFRESH_SUCCEEDED, f"e{at}")
    other = event(at, kinds.INVALIDATED)
    known = sorted((started, ended, other), key=lambda one: one.at)
    assert view_of(*known).invalidated is None
    unknown = [event(6, one.kind, "b") if one is started else one for one in known]
    assert view_of(*unknown).invalidated == other


def test_one_stands_for_those_before() -> None:
    """However often a view is invalidated, one event has to be kept."""
    again = event(6, kinds.INVALIDATED, covers=["e5"])
    skipped = event(8, kinds.REFRESH_SKIPPED, "c")
    events = (CREATED, *BUILT, INVALIDATED, again, skipped)
    state = fold(events)
    assert list(state.views[NAME].invalidations) == ["e6"]
    keep = kept(events, state, 100)
    assert "e6" in keep and "e5" not in keep


def test_another_view_of_the_name() -> None:
    """One that was made anew has other rows."""
    anew = Event("e9", 9, "id2", NAME.full, kinds.CREATED, None, PARTS)
    dropped = event(8, kinds.DROPPED)
    assert view_of(INVALIDATED, dropped, anew).invalidated is None
