"""Which events can be forgotten without anybody noticing but the history. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.fold import LIFECYCLE, State, ViewState


def needed(events: Sequence[Event], state: State) -> set[str]:
    """Ids of the events that the `state` they fold to depends on.

    Whatever else is forgotten, folding the rest gives the same views in the same condition, the
    same running refreshes, and the same storage tables of builds that have ended.
    """
    views = {view.id: view for view in state.views.values()}
    builds = {id for id, start in state.started.items() if start.payload.get("aside")}
    found = set()
    for event in events:
        view = views.get(event.view_id)
        if event.refresh_id in state.running:
            found.add(event.event_id)
        elif view is not None and (event.refresh_id in builds or _counts(event, view)):
            found.add(event.event_id)
    return found


def _counts(event: Event, view: ViewState) -> bool:
    """Whether an event about a registered view still has a say in its condition."""
    if event.kind in (*LIFECYCLE, kinds.SUSPENDED, kinds.RESUMED) or event == view.last_build:
        return True
    if event.payload.get("trigger") == "SCHEDULE" and event.at == view.scheduled_at:
        return True
    # A success ends whatever was before it.
    return view.last_refresh_at is None or event.at >= view.last_refresh_at
