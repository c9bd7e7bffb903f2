"""Forgetting old events changes nothing but the history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.projection import State, fold
from dbt.adapters.spark_mv.metadata.retention import kept

KINDS = (
    kinds.CREATED,
    kinds.REPLACED,
    kinds.OPTIONS_CHANGED,
    kinds.DROPPED,
    kinds.MARKED_STALE,
    kinds.SUSPENDED,
    kinds.RESUMED,
    kinds.INVALIDATED,
    kinds.REFRESH_STARTED,
    kinds.REFRESH_SUCCEEDED,
    kinds.REFRESH_SKIPPED,
    kinds.REFRESH_FAILED,
    kinds.REFRESH_CANCELLED,
    kinds.REFRESH_ABANDONED,
    kinds.CANCEL_REQUESTED,
    kinds.STORAGE_DROPPED,
    kinds.HELD,
)
one_event = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from("vw"),
    st.integers(0, 3),
    st.sampled_from(("READ", "SCHEDULE", "MANUAL")),
    st.booleans(),
)


def event_of(at: int, drawn: tuple[str, str, int, str, bool]) -> Event:
    kind, view, refresh, trigger, flag = drawn
    parts = ["local", "db", view]
    payload: dict[str, Any] = {
        "parts": parts,
        "sources": [{"parts": ["local", "db", "t"]}],
        "trigger": trigger,
        "automatic": trigger != "MANUAL",
        "stale": flag,
        "covers": [f"e{earlier}" for earlier in range(1, at)] if flag else [],
        "aside": flag,
        "constraint": trigger,
        "columns": [[*parts, f"c{refresh}"]],
        "versions": [at],
        "schedule": {"cron": "* * * * *", "time_zone": "UTC", "due_us": at + 1},
        "storage": ["local", "db", f"{view}__mv_0000000{refresh}"],
    }
    of_refresh = kind.startswith("REFRESH") or kind == kinds.CANCEL_REQUESTED
    refresh_id = f"{view}{refresh}" if of_refresh else None
    return Event(f"e{at}", at, f"id_{view}", f"local.db.{view}", kind, refresh_id, payload)


def condition(state: State) -> Any:
    """All of the state that anything decides on; of views that are gone nothing is."""
    there = {view.view_name for view in (v.lifecycle for v in state.views.values())}
    built = {name: tables for name, tables in state.built.items() if name in there}
    due = {name: view.next_due for name, view in state.views.items()}
    return state.views, due, state.running, built, state.held


@settings(max_examples=400, deadline=None)
@given(st.lists(one_event, max_size=40), st.integers(0, 40))
def test_the_rest_folds_to_the_same(drawn: list[Any], before: int) -> None:
    events = [event_of(at, one) for at, one in enumerate(drawn, 1)]
    state = fold(events)
    keep = kept(events, state, before)
    rest = [event for event in events if event.at >= before or event.event_id in keep]
    assert condition(fold(rest)) == condition(state)


def test_most_is_forgotten() -> None:
    """A view that is refreshed again and again needs a handful of events."""
    events = [event_of(1, (kinds.CREATED, "v", 0, "READ", False))]
    for at in range(2, 302, 3):
        for step, kind in enumerate(
            (kinds.MARKED_STALE, kinds.REFRESH_STARTED, kinds.REFRESH_SUCCEEDED)
        ):
            made = event_of(at + step, (kind, "v", 0, "READ", False))
            refresh_id = made.refresh_id and f"r{at}"
            events.append(replace(made, refresh_id=refresh_id))
    assert len(kept(events, fold(events), 1000)) == 3
