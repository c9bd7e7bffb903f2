"""Which events can be forgotten without anybody noticing but the history. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.payloads import constraint_of, staging_table_of
from dbt.adapters.spark_mv.metadata.projection import LIFECYCLE, State, ViewState

_SWITCHES = (kinds.SUSPENDED, kinds.RESUMED)


def kept(events: Sequence[Event], state: State, before_us: int) -> set[str]:
    """Ids of the events from before a time, in epoch microseconds, that have to stay.

    Folding these and the younger ones gives the same views in the same condition as `state`, the
    same running refreshes, and the same storage tables of builds that have ended.
    """
    views = {view.id: view for view in state.views.values()}
    found = [e for e in events if e.view_id in views and _counts(e, views[e.view_id], state)]
    found += {constraint_of(e.payload): e for e in events if e.kind == kinds.HELD}.values()
    young = [event for event in events if event.at >= before_us]
    # A refresh is forgotten as a whole, or its start would look like one that still runs.
    whole = {*state.running, *(event.refresh_id for event in (*found, *young))} - {None}
    return {event.event_id for event in found} | {
        event.event_id for event in events if event.refresh_id in whole
    }


def _counts(event: Event, view: ViewState, state: State) -> bool:
    """Whether an event about a registered view still has a say in its condition."""
    if event.kind in (*LIFECYCLE, kinds.DROPPED, *_SWITCHES) or event == view.last_build:
        return True
    if _ended_in_staging(event, state):
        return True
    if event.kind == kinds.REWRITTEN:
        return False
    if event.event_id in view.invalidations or event == view.answered:
        return True
    if event.kind == kinds.SAME_ROWS:
        # A build names versions of its own; what was found of older ones is of no use any more.
        return view.last_build is None or event.at >= view.last_build.at
    if event.payload.get("trigger") == "SCHEDULE" and event.at == view.scheduled_at:
        return True
    # A success ends whatever was before it.
    return view.last_refresh_at is None or event.at >= view.last_refresh_at


def _ended_in_staging(event: Event, state: State) -> bool:
    """Whether an event is of a build that has ended and may have left its storage table."""
    storage = staging_table_of(state.started.get(event.refresh_id or ""))
    return storage in state.built.get(event.view_name, ())
