"""What is known of each view now: freshness by versions, and what the metadata remembers."""

from __future__ import annotations

import time
from typing import Any

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.state.freshness import Freshness
from dbt.adapters.spark_mv.state.observation import Observation, Observer
from dbt.adapters.spark_mv.views.registry import find_view

COLUMNS = (
    "view",
    "status",
    "freshness",
    "flag",
    "last_refresh",
    "method",
    "rows",
    "uses",
    "reason",
)
_GONE = (
    "the view is gone, or is that of another program; run its model again, or rebuild_metadata "
    "to forget it"
)


def moment(at: int | None) -> str | None:
    """Epoch microseconds as local time, to the second."""
    return None if at is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at / 1e6))


def observe_by_name(resolver: Resolver, observer: Observer, state: ViewState) -> Observation | None:
    """The view as it is now, None if it is not in the catalog."""
    view = find_view(resolver, state.name)
    return observer.observe_with_upstream(view) if view is not None else None


def status_of(services: Services, state: ViewState) -> tuple[Any, ...]:
    """One row under `COLUMNS`."""
    build = state.last_build.payload if state.last_build else {}
    flag = "stale" if state.is_stale else ""
    when = moment(state.last_refresh_at)
    name = str(state.name)
    uses = state.uses(clock.now_us())
    try:
        services.log.view(state.name)
        observation = observe_by_name(services.resolver, services.observer, state)
    except MaterializedViewError as error:
        return (name, "BROKEN", "UNKNOWN", flag, when, None, None, uses, error.problem)
    if observation is None:
        return (name, "MISSING", "UNKNOWN", flag, when, None, None, uses, _GONE)
    status, reason = _status_and_reason(services.log, state, observation)
    freshness = observation.verdict.freshness.value
    method, rows = build.get("method"), build.get("rows")
    return (name, status, freshness, flag, when, method, rows, uses, reason)


def statistics(services: Services, state: ViewState) -> dict[str, tuple[str, str | int]]:
    """Label and value of what the docs show of a view."""
    _, status, freshness, _, when, method, rows, *_ = status_of(services, state)
    return {
        "staleness": ("Staleness", f"{freshness} ({status})"),
        "last_refresh": ("Last refresh", f"{when or '-'} ({method or '-'})"),
        # A number, as dbt-spark has it of tables: dbt joins both in one column.
        **({"rows": ("Rows", int(rows))} if rows is not None else {}),
    }


def _status_and_reason(
    log: MetadataLog, state: ViewState, observation: Observation
) -> tuple[str, str]:
    if state.suspended is not None:
        by = str(state.suspended.payload.get("by", state.suspended.writer))
        error = f": {state.last_error}" if state.last_error else ""
        return "SUSPENDED", f"suspended by {by}{error}"
    if state.last_error is not None:
        return "BROKEN", state.last_error
    if observation.verdict.missing:
        return "BROKEN", observation.verdict.reason.text
    broken = _broken_upstream(log, observation)
    if broken is not None and observation.verdict.freshness is not Freshness.FRESH:
        return "READY", broken
    return "READY", observation.verdict.reason.text


def _broken_upstream(log: MetadataLog, observation: Observation) -> str | None:
    """Says which upstream view cannot be refreshed, because then this one cannot either."""
    for upstream in observation.expansion.storages:
        known = log.state().views.get(upstream)
        if known is not None and known.suspended is not None:
            return f"it reads {upstream}, which is SUSPENDED"
        if known is not None and known.last_error is not None:
            return f"it reads {upstream}, which is BROKEN: {known.last_error}"
    return None
