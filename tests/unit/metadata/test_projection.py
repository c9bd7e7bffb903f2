from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import Event, new_event
from dbt.adapters.spark_mv.metadata.projection import State, fold
from dbt.adapters.spark_mv.sql.names import TableName

_clock = itertools.count(1)
HOURLY = {"start_us": None, "interval_us": 3_600_000_000}


def name(table: str) -> TableName:
    return TableName("local", ("db",), table)


def event(kind: str, view: str = "v", refresh: str | None = None, **payload: Any) -> Event:
    at = next(_clock)
    return Event(
        f"e{at}", at, f"id_{view}", f"local.db.{view}", kind, refresh, payload, "run", "host:1"
    )


def created(view: str = "v", *sources: str, kind: str = kinds.CREATED, **more: Any) -> Event:
    parts = [{"parts": list(name(source).parts)} for source in sources]
    return event(kind, view, parts=list(name(view).parts), sources=parts, **more)


def state_of(*events: Event) -> State:
    return fold(events)


@pytest.mark.parametrize(
    "damage",
    [
        {"parts": None},
        {"sources": None},
        {"sources": {"a": 1}},
        {"sources": ["local.db.t"]},
        {"sources": [{"parts": "local.db.t"}]},
        {"options": [1]},
    ],
)
def test_an_unreadable_row_spoils_only_its_view(damage: dict[str, Any]) -> None:
    bad = created("v", "t", kind=kinds.REPLACED)
    bad = dataclasses.replace(bad, payload={**bad.payload, **damage})
    views = state_of(created("v", "t"), created("w", "t"), bad).views
    assert views[name("v")].corrupt == bad and views[name("w")].corrupt is None


def test_nothing() -> None:
    assert fold([]) == State()


def test_a_new_view_is_stale_until_it_is_built() -> None:
    assert state_of(created()).views[name("v")].is_stale
    built = state_of(created(), event(kinds.REFRESH_SUCCEEDED, refresh="r", stale=False))
    view = built.views[name("v")]
    assert not view.is_stale and view.last_build is not None
    assert view.last_refresh_at == view.last_build.at


def test_marks_and_refreshes() -> None:
    marked = [created(), event(kinds.REFRESH_SUCCEEDED, refresh="r"), event(kinds.MARKED_STALE)]
    view = fold(marked).views[name("v")]
    assert view.is_stale
    again = fold([*marked, event(kinds.MARKED_STALE)]).views[name("v")]
    assert again.is_stale
    view = fold([*marked, event(kinds.REFRESH_SKIPPED, refresh="s")]).views[name("v")]
    assert not view.is_stale
    assert view.last_build is not None and view.last_build.refresh_id == "r"


def test_a_refresh_that_ends_stale() -> None:
    view = state_of(created(), event(kinds.REFRESH_SUCCEEDED, refresh="r", stale=True)).views[
        name("v")
    ]
    assert view.is_stale


def test_failures_count_until_a_success() -> None:
    failing = [
        created(),
        *[failed(n, automatic=True) for n in (1, 2)],
        failed(3, automatic=False),
    ]
    view = fold(failing).views[name("v")]
    assert (view.failures, view.last_error) == (2, "no 3")
    view = fold([*failing, event(kinds.REFRESH_SUCCEEDED, refresh="r")]).views[name("v")]
    assert (view.failures, view.last_error) == (0, None)
    view = fold([*failing, event(kinds.SUSPENDED)]).views[name("v")]
    assert view.suspended and view.failures == 2
    view = fold([*failing, event(kinds.SUSPENDED), event(kinds.RESUMED)]).views[name("v")]
    assert (view.failures, view.last_error) == (0, "no 3")


def failed(number: int, automatic: bool) -> Event:
    return event(
        kinds.REFRESH_FAILED, refresh=f"f{number}", error=f"no {number}", automatic=automatic
    )


@pytest.mark.behaviour("D21")
def test_only_scheduled_refreshes_move_the_schedule() -> None:
    schedule = {"start_us": None, "interval_us": 10}
    start = created(schedule=schedule)
    view = state_of(start, event(kinds.REFRESH_SUCCEEDED, refresh="r", trigger="MANUAL"))
    assert view.views[name("v")].next_due == start.at + 10
    for end in (kinds.REFRESH_SUCCEEDED, kinds.REFRESH_FAILED, kinds.REFRESH_CANCELLED):
        last = event(end, refresh="s", trigger="SCHEDULE")
        late = Event(**{**vars(last), "at": start.at + 25})
        assert state_of(start, late).views[name("v")].next_due == start.at + 30


def test_cron_times_are_those_that_were_recorded() -> None:
    due = lambda *events: state_of(*events).views[name("v")].next_due  # noqa: E731
    cron = lambda at, zone="UTC": {"cron": "* * * * *", "time_zone": zone, "due_us": at}  # noqa: E731
    start = created(schedule=cron(70))
    by_hand = event(kinds.REFRESH_SUCCEEDED, refresh="r", trigger="MANUAL", schedule=cron(80))
    assert due(start, by_hand) == 70
    for end in (kinds.REFRESH_SUCCEEDED, kinds.REFRESH_FAILED, kinds.REFRESH_CANCELLED):
        last = event(end, refresh="s", trigger="SCHEDULE", schedule=cron(90))
        assert due(start, last) == 90
        other = created(kind=kinds.OPTIONS_CHANGED, schedule=cron(60, "Asia/Tokyo"))
        assert due(start, last, other) == due(start, other, last) == 60
        begun = event(kinds.REFRESH_STARTED, refresh="t", trigger="SCHEDULE", schedule=cron(99))
        assert due(start, last, begun) == 90
        hourly = created(kind=kinds.OPTIONS_CHANGED, schedule=HOURLY)
        assert due(start, last, hourly) == start.at + HOURLY["interval_us"]
    assert due(start, event(kinds.REFRESH_SKIPPED, refresh="s", trigger="SCHEDULE")) == 70
    assert due(start, event(kinds.SUSPENDED)) is None


@pytest.mark.behaviour("X21")
@pytest.mark.parametrize(
    "later",
    [
        [event(kinds.SUSPENDED)],
        [created(kind=kinds.OPTIONS_CHANGED, options={"enable_refresh": False}, schedule=HOURLY)],
        [created(kind=kinds.OPTIONS_CHANGED, schedule={"interval_us": "x"})],
    ],
)
def test_no_due_time(later: list[Event]) -> None:
    """Without refreshes by itself a view has no due time."""
    assert state_of(created(schedule=HOURLY)).views[name("v")].next_due is not None
    assert state_of(created(schedule=HOURLY), *later).views[name("v")].next_due is None


def test_cancelled_refreshes() -> None:
    asked = event(kinds.CANCEL_REQUESTED, refresh="r", by="ann")
    running = state_of(created(), event(kinds.REFRESH_STARTED, refresh="r"), asked)
    assert running.cancels == {"r": asked} and set(running.running) == {"r"}
    over = state_of(created(), asked, event(kinds.REFRESH_CANCELLED, refresh="r"))
    assert over.cancelled == {"r"} and over.running == {}
    assert over.views[name("v")].last_error is None


def test_running_refreshes() -> None:
    started = event(kinds.REFRESH_STARTED, refresh="r")
    assert set(state_of(created(), started).running) == {"r"}
    ends = ("SUCCEEDED", "SKIPPED", "FAILED", "ABANDONED", "CANCELLED")
    for end in (f"REFRESH_{end}" for end in ends):
        assert state_of(created(), started, event(end, refresh="r")).running == {}


def test_an_end_that_is_read_before_its_start() -> None:
    end, start = (
        event(kinds.REFRESH_SUCCEEDED, refresh="r"),
        event(kinds.REFRESH_STARTED, refresh="r"),
    )
    assert state_of(created(), end, start).running == {}


def test_dropped_and_created_again() -> None:
    first = [created(), event(kinds.REFRESH_FAILED, refresh="f", error="x"), event(kinds.DROPPED)]
    assert fold(first).views == {}
    second = created()
    again = Event(**{**vars(second), "view_id": "other"})
    view = fold([*first, again]).views[name("v")]
    assert (view.id, view.failures) == ("other", 0)


def test_options_change_keeps_the_sources() -> None:
    view = state_of(
        created("v", "t"), created("v", kind=kinds.OPTIONS_CHANGED, options={"tags": ["a"]})
    ).views[name("v")]
    assert view.sources == (name("t"),) and view.payload["options"] == {"tags": ["a"]}


def test_replaced_sources() -> None:
    view = state_of(created("v", "t"), created("v", "u", kind=kinds.REPLACED)).views[name("v")]
    assert view.sources == (name("u"),)


@pytest.mark.parametrize(
    ("start", "end", "remembered"),
    [
        ({"aside": True}, {}, True),
        ({"aside": False}, {}, False),
        ({"aside": True, "storage": None}, {}, False),
        ({"aside": True}, {"presumed": True}, False),
    ],
)
def test_builds_that_ended(start: dict[str, Any], end: dict[str, Any], remembered: bool) -> None:
    """Their storage tables are in use, or never will be, if nobody may still swap; 0: none was."""
    storage = name("v__mv_01234567")
    payload = {"storage": list(storage.parts), **start}
    state = state_of(
        created("v", "t"),
        event(kinds.REFRESH_STARTED, refresh="r", **payload),
        event(kinds.REFRESH_ABANDONED, refresh="r", **end),
    )
    assert state.built.get(name("v").full, {}) == ({storage: 0} if remembered else {})


def test_suspension() -> None:
    assert state_of(created(), event(kinds.SUSPENDED)).views[name("v")].suspended
    resumed = state_of(created(), event(kinds.SUSPENDED), event(kinds.RESUMED))
    assert not resumed.views[name("v")].suspended


@pytest.mark.parametrize(
    "payload", [{}, {"parts": "x"}, {"parts": ["a"]}, {"parts": [1, 2]}, {"parts": None}]
)
def test_a_corrupt_row_stays_with_its_view(payload: dict[str, Any]) -> None:
    bad = event(kinds.OPTIONS_CHANGED, **payload)
    found = state_of(created("v", "t"), created("w", "t"), bad)
    assert found.views[name("v")].corrupt is bad
    assert found.views[name("w")].corrupt is None
    alone = state_of(event(kinds.CREATED, **payload))
    assert alone.views[name("v")].corrupt is not None
    repaired = state_of(created("v", "t"), bad, created("v", "t", kind=kinds.REPLACED))
    assert repaired.views[name("v")].corrupt is None


def test_events_of_unknown_views_and_kinds() -> None:
    assert state_of(event(kinds.MARKED_STALE), event("SOMETHING_NEW")).views == {}
    found = state_of(created(), event("SOMETHING_NEW")).views[name("v")]
    assert found.name == name("v")


def test_dependents() -> None:
    found = state_of(
        created("a", "t"), created("b", "a"), created("c", "b", "u"), created("d", "u")
    )

    def dependents(table: str) -> list[str]:
        return [view.name.name for view in found.dependents_of(name(table))]

    assert dependents("t") == ["a", "b", "c"]
    assert dependents("b") == ["c"]
    assert sorted(dependents("u")) == ["c", "d"]
    assert dependents("nothing") == []


def test_dependents_in_a_cycle_end() -> None:
    found = state_of(created("a", "b"), created("b", "a"))
    assert [view.name.name for view in found.dependents_of(name("a"))] == ["b"]


def _summary(state: State) -> Any:
    return {
        view.name: (view.id, view.sources, view.is_stale, view.suspended, view.last_error)
        for view in state.views.values()
    }, set(state.running)


def test_repeated_marks_and_ends_change_nothing() -> None:
    history = [
        created("v", "t"),
        created("w", "v"),
        event(kinds.REFRESH_STARTED, refresh="r"),
        event(kinds.REFRESH_SUCCEEDED, refresh="r"),
        event(kinds.MARKED_STALE),
        event(kinds.REFRESH_FAILED, "w", refresh="f", error="x"),
        event(kinds.SUSPENDED, "w"),
    ]
    twice = [again for one in history for again in (one, one)]
    assert _summary(fold(twice)) == _summary(fold(history))


def test_ids_of_events_are_derived() -> None:
    def make(**changes: Any) -> Event:
        given = {
            "kind": kinds.REFRESH_SUCCEEDED,
            "view_id": "1",
            "view_name": "v",
            "refresh_id": "r",
        }
        given.update(changes)
        return new_event(**given, invocation_id="i")

    assert make().event_id == make().event_id
    others = {make(kind="X").event_id, make(view_id="2").event_id, make(refresh_id="s").event_id}
    assert len({make().event_id, *others}) == 4
