"""What is due for a scheduled refresh, and what has been stale for longer than is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.config.option_types import PERIODS
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.registry import load_view

PASS, WARN, ERROR = "pass", "warn", "error"


def is_due(state: ViewState) -> bool:
    """Whether a scheduled refresh of the view is due now."""
    due = state.next_due
    return due is not None and due <= clock.now_us()


@dataclass(frozen=True)
class Staleness:
    """How long a view has been behind its base tables, in seconds, and what that means."""

    level: str
    seconds: float
    limit: str


def staleness_of(
    services: Services, state: ViewState, observation: Observation | None
) -> Staleness:
    """Compare how long a view has been stale with its `warn_after` and `error_after`."""
    options = state.payload.get("options", {})
    seconds = _seconds_behind(services, state, observation)
    for level, key in ((ERROR, "error_after"), (WARN, "warn_after")):
        threshold = options.get(key)
        if threshold and seconds > _seconds(threshold):
            return Staleness(level, seconds, f"{key} {threshold['count']} {threshold['period']}")
    return Staleness(PASS, seconds, "")


def has_threshold(state: ViewState) -> bool:
    """Whether the view has any limit to be checked against."""
    options = state.payload.get("options", {})
    return bool(options.get("warn_after") or options.get("error_after"))


def _seconds(threshold: Mapping[str, Any]) -> float:
    return float(threshold["count"]) * PERIODS[threshold["period"]]


def _seconds_behind(services: Services, state: ViewState, observation: Observation | None) -> float:
    created = state.created_at / 1e6
    since = created if observation is None else _stale_since(services, observation, created)
    return 0.0 if since is None else max(clock.now() - since, 0.0)


def _stale_since(services: Services, observation: Observation, otherwise: float) -> float | None:
    """Epoch seconds of the first change that the stored rows lack; None if they lack none.

    `otherwise` is the answer for rows that have no label.
    """
    if observation.verdict.is_fresh:
        return None
    if observation.label is None:
        return observation.head.committed_at / 1000 if observation.head else otherwise
    moments = [
        _first_change(services.executor, name, observation.label)
        for name in observation.verdict.changed
    ]
    for upstream in observation.expansion.storages:
        view = load_view(services.resolver, upstream)
        observed = services.observer.observe_with_upstream(view)
        moments.append(_stale_since(services, observed, otherwise))
    if observation.label.expiry is not None and observation.label.expiry.at is not None:
        moments.append(observation.label.expiry.at / 1e6)
    known = [moment for moment in moments if moment is not None]
    return min(known) if known else observation.label.evaluated_at


def _first_change(executor: Executor, name: TableName, label: Label) -> float | None:
    old = label.sources[name]
    if not old.can_pin:
        return label.evaluated_at
    chain = iceberg.main_chain(executor, name, until=old.snapshot_id)
    newer = [s.committed_at for s in chain if s.snapshot_id != old.snapshot_id]
    reached = any(s.snapshot_id == old.snapshot_id for s in chain)
    return min(newer) / 1000 if newer and reached else label.evaluated_at
