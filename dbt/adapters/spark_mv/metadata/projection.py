"""Projects events into what is known of each materialized view. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.config.schedule import CronTimes, due_from_json, schedule_from_json
from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata import payloads
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.payloads import constraint_of, name_of, sources_of
from dbt.adapters.spark_mv.sql.names import TableName

# So many of the newest refreshes say how fast each method is.
_TIMED = 5
_LONG_US = 30 * 86_400_000_000
LIFECYCLE = (kinds.CREATED, kinds.REPLACED, kinds.OPTIONS_CHANGED)


@dataclass
class ViewState:
    """One registered materialized view; times are epoch microseconds.

    `failures` counts refreshes that nobody asked for and that failed, since the last that did not;
    `last_error` is that of the last refresh of any kind, None if it did not fail. `speeds` has, by
    method, the seconds per unit of estimated cost that the newest refreshes took. `scheduled` is
    what the last scheduled refresh, which ended at `scheduled_at`, says of the schedule;
    `rewritings` has the times of statements that the view answered without being named.
    `invalidations` has, by their ids, those since which the rows have not been computed again;
    `answered` is the end of the newest refresh that did so for one.
    """

    id: str
    name: TableName
    lifecycle: Event
    sources: tuple[TableName, ...] = ()
    created_at: int = 0
    is_stale: bool = True
    suspended: Event | None = None
    failures: int = 0
    last_error: str | None = None
    last_build: Event | None = None
    last_refresh_at: int | None = None
    scheduled_at: int | None = None
    scheduled: Any = None
    speeds: dict[str, list[float]] = field(default_factory=dict)
    corrupt: Event | None = None
    rewritings: list[int] = field(default_factory=list)
    invalidations: dict[str, Event] = field(default_factory=dict)
    answered: Event | None = None

    @property
    def invalidated(self) -> Event | None:
        """The newest invalidation that no refresh covers."""
        return max(self.invalidations.values(), key=lambda event: event.at, default=None)

    def option(self, name: str, default: Any = None) -> Any:
        """An option as it was registered; `default` if the view does not say it."""
        return self.payload.get("options", {}).get(name, default)

    @property
    def next_due(self) -> int | None:
        """When a scheduled refresh is due, in epoch microseconds; None if it has no schedule."""
        enabled = self.option("enable_refresh", True)
        return self.scheduled_next if enabled and self.suspended is None else None

    @property
    def scheduled_next(self) -> int | None:
        """The next time of the schedule, whether or not there are scheduled refreshes now."""
        stored = self.payload.get("schedule")
        schedule = schedule_from_json(stored)
        if schedule is None:
            return None
        if isinstance(schedule, CronTimes):
            return due_from_json(stored, self.scheduled)
        return schedule.next_due(self.created_at, self.scheduled_at)

    def uses(self, now_us: int) -> int:
        """How many statements it answered by rewriting in the 30 days before a time."""
        return sum(at >= now_us - _LONG_US for at in self.rewritings)

    @property
    def payload(self) -> dict[str, Any]:
        """What the newest lifecycle event says of the view."""
        return dict(self.lifecycle.payload)


@dataclass
class State:
    """Everything the events say. `started` maps refresh ids to their REFRESH_STARTED, `running`
    those that have not ended; `cancels` has the CANCEL_REQUESTED of refreshes that somebody wanted
    to end, `cancelled` those that did so. `built` has the staging tables of builds that have
    ended and were not dropped since, by the full name of the view, and when they did, in epoch
    microseconds, 0 for those that nothing came of. `same_rows` has pairs of snapshots of base
    tables that have the same rows. `covered` has the ids of invalidations that are over.
    `registrations` is another number after `views`, or what one of them reads, has changed. `held`
    has what tests have found to hold of tables, and at which versions, as these are stored."""

    views: dict[TableName, ViewState] = field(default_factory=dict)
    registrations: int = field(default=0, compare=False)
    running: dict[str, Event] = field(default_factory=dict)
    started: dict[str, Event] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    cancels: dict[str, Event] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    built: dict[str, dict[TableName, int]] = field(default_factory=dict)
    same_rows: dict[TableName, set[tuple[str, str]]] = field(default_factory=dict)
    covered: set[str] = field(default_factory=set)
    held: dict[Constraint, list[Any]] = field(default_factory=dict)

    def same_as(self, table: TableName, snapshot_id: str) -> set[str]:
        """Snapshots of a base table that are known to have the same rows as this one."""
        pairs = list(self.same_rows.get(table, ()))
        found, size = {snapshot_id}, 0
        while len(found) > size:
            size = len(found)
            found |= {id_ for pair in pairs if found.intersection(pair) for id_ in pair}
        return found

    def of_id(self, view_id: str) -> ViewState | None:
        """The registered view of this id."""
        return next((view for view in self.views.values() if view.id == view_id), None)

    def dependents_of(self, name: TableName) -> list[ViewState]:
        """Every registered view that reads `name`, directly or through other views, in order."""
        found: dict[TableName, ViewState] = {}
        frontier = {name}
        while frontier:
            reached = {
                view.name: view
                for view in self.views.values()
                if view.name not in found and frontier.intersection(view.sources)
            }
            found.update(reached)
            frontier = set(reached)
        found.pop(name, None)
        return list(found.values())


def fold(events: Iterable[Event]) -> State:
    """The state after all events, given in order of time."""
    state = State()
    for event in events:
        apply(state, event)
    return state


def apply(state: State, event: Event) -> None:
    """Change `state` by one event; unknown kinds change nothing."""
    if event.kind in LIFECYCLE:
        _register(state, event)
        state.registrations += 1
        return
    if event.kind in (kinds.SAME_ROWS, kinds.HELD):
        _learn(state, event)
        return
    view = state.of_id(event.view_id)
    if event.refresh_id:
        _track(state, event)
    if event.kind in (kinds.STORAGE_DROPPED, kinds.DROPPED):
        _drop(state, view, event)
    elif view is None:
        return
    elif event.kind == kinds.MARKED_STALE:
        view.is_stale = True
    elif event.kind in (kinds.SUSPENDED, kinds.RESUMED):
        view.suspended = event if event.kind == kinds.SUSPENDED else None
        view.failures = view.failures if view.suspended else 0
    elif event.kind == kinds.REWRITTEN:
        view.rewritings.append(event.at)
    elif event.kind == kinds.INVALIDATED:
        _invalidate(state, view, event)
    else:
        started = state.started.get(event.refresh_id or "")
        if event.kind == kinds.REFRESH_SUCCEEDED and _cover(state, view, started):
            view.answered = event
        _end_refresh(view, event)


def _drop(state: State, view: ViewState | None, event: Event) -> None:
    if event.kind == kinds.STORAGE_DROPPED:
        storage = name_of({"parts": event.payload.get("storage")})
        if storage is not None:
            state.built.get(event.view_name, {}).pop(storage, None)
    elif view is not None:
        if event.view_name == view.name.full:  # and not one that it had before
            state.views.pop(view.name, None)
        state.registrations += 1


def _invalidate(state: State, view: ViewState, event: Event) -> None:
    """It stands for those before it that its writer knew."""
    _cover(state, view, event)
    if event.event_id not in state.covered:
        view.invalidations[event.event_id] = event
        view.is_stale = True


def _cover(state: State, view: ViewState, by: Event | None) -> bool:
    """By ids and not by times: the clocks of two writers may differ."""
    covers = by.payload.get("covers") if by is not None else None
    if not isinstance(covers, list):
        return False
    for event_id in covers:
        state.covered.add(str(event_id))
        view.invalidations.pop(str(event_id), None)
    return bool(covers)


def _learn(state: State, event: Event) -> None:
    """What an event says of base tables."""
    held = constraint_of(event.payload) if event.kind == kinds.HELD else None
    table = name_of({"parts": event.payload.get("table")})
    if held is not None:
        state.held[held] = list(event.payload["versions"])
    elif table is not None:
        pair = str(event.payload.get("old")), str(event.payload.get("new"))
        state.same_rows.setdefault(table, set()).add(pair)


def _register(state: State, event: Event) -> None:
    name, sources = name_of(dict(event.payload)), sources_of(dict(event.payload))
    if name is None or sources is None or not isinstance(event.payload.get("options", {}), dict):
        _mark_corrupt(state, event)
        return
    known = state.views.get(name)
    renamed = state.of_id(event.view_id)
    if renamed is not None and renamed.name != name:
        known = state.views[name] = state.views.pop(renamed.name)
        known.name = name
    if known is None or known.id != event.view_id:
        state.views[name] = ViewState(event.view_id, name, event, sources, event.at)
        return
    known.lifecycle, known.corrupt = event, None
    if event.kind != kinds.OPTIONS_CHANGED:
        known.sources = sources


def _mark_corrupt(state: State, event: Event) -> None:
    known = state.of_id(event.view_id)
    if known is not None:
        known.corrupt = event
        return
    parts = tuple(event.view_name.split("."))
    if len(parts) < 2:
        return
    name = TableName(parts[0], parts[1:-1], parts[-1])
    state.views[name] = ViewState(event.view_id, name, event, created_at=event.at, corrupt=event)


def _track(state: State, event: Event) -> None:
    assert event.refresh_id is not None
    if event.kind == kinds.CANCEL_REQUESTED:
        state.cancels.setdefault(event.refresh_id, event)
    elif event.kind == kinds.REFRESH_STARTED:
        state.started[event.refresh_id] = event
        if event.refresh_id not in state.ended:
            state.running[event.refresh_id] = event
    else:
        state.ended.add(event.refresh_id)
        if event.kind == kinds.REFRESH_CANCELLED:
            state.cancelled.add(event.refresh_id)
        state.running.pop(event.refresh_id, None)
        _remember_build(state, event)


def _remember_build(state: State, ended: Event) -> None:
    assert ended.refresh_id is not None
    started = state.started.get(ended.refresh_id)
    storage = payloads.staging_table_of(started)
    # Who is only thought to be dead may still swap its table in.
    if started is not None and storage is not None and not ended.payload.get("presumed"):
        built = state.built.setdefault(started.view_name, {})
        is_in_use = ended.kind == kinds.REFRESH_SUCCEEDED
        built[storage] = max(built.get(storage, 0), ended.at if is_in_use else 0)


def _end_refresh(view: ViewState, event: Event) -> None:
    if event.payload.get("trigger") == "SCHEDULE" and event.kind != kinds.REFRESH_STARTED:
        view.scheduled_at, view.scheduled = event.at, event.payload.get("schedule")
    if event.kind in (kinds.REFRESH_SUCCEEDED, kinds.REFRESH_SKIPPED):
        view.is_stale = bool(event.payload.get("stale", False) or view.invalidations)
        view.failures, view.last_error, view.last_refresh_at = 0, None, event.at
        if event.kind == kinds.REFRESH_SUCCEEDED:
            view.last_build = event
            _time(view, event)
    elif event.kind == kinds.REFRESH_FAILED:
        view.failures += 1 if event.payload.get("automatic") else 0
        view.is_stale = True
        view.last_error = str(event.payload.get("error", ""))


def _time(view: ViewState, event: Event) -> None:
    cost, seconds = event.payload.get("cost"), event.payload.get("seconds")
    if isinstance(cost, (int, float)) and isinstance(seconds, (int, float)) and cost > 0:
        known = view.speeds.setdefault(str(event.payload.get("method")), [])
        known[:] = [*known, seconds / cost][-_TIMED:]
