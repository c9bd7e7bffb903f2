"""What a refresh will do, as a value with its reason. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbt.adapters.spark_mv import reasons
from dbt.adapters.spark_mv.errors import MethodNotAvailable
from dbt.adapters.spark_mv.freshness import Freshness, Verdict
from dbt.adapters.spark_mv.reasons import Reason
from dbt.adapters.spark_mv.refresh.estimate import Estimate

AUTO, COMPLETE, FAST = "auto", "complete", "fast"


@dataclass(frozen=True)
class FastQuery:
    """The query of a fast refresh, with what it reads and what it is held to cost.

    Its rows are all rows of the storage table as they will be or, if it `appends`, those to be
    added. `changes` says how the change of each table is read.
    """

    query: str
    appends: bool
    changes: tuple[str, ...]
    estimate: Estimate


@dataclass(frozen=True)
class NoRefresh:
    """Nothing to do."""

    reason: Reason
    method: str = "none"


@dataclass(frozen=True)
class CompleteRefresh:
    """Compute every row again; `why_not_fast` if that was looked into."""

    reason: Reason
    why_not_fast: Reason | None = None
    method: str = COMPLETE


@dataclass(frozen=True)
class FastRefresh:
    """Bring the stored rows up to date by what changed."""

    reason: Reason
    fast: FastQuery
    method: str = FAST


RefreshPlan = NoRefresh | CompleteRefresh | FastRefresh


def plan_refresh(
    view: str,
    verdict: Verdict,
    requested: str,
    volatile: tuple[str, ...],
    explicit: bool,
    prepare: Callable[[], FastQuery | Reason],
) -> RefreshPlan:
    """The plan for `view`.

    `requested` is a refresh method; `volatile` the functions whose value moves by itself: an
    explicit refresh evaluates them again, a read does not. `prepare` looks into a fast refresh.
    Raises `MethodNotAvailable` if the method cannot be used.
    """
    if requested not in (AUTO, COMPLETE, FAST):
        raise MethodNotAvailable(
            f"{view} cannot be refreshed by method {requested!r}: it is not available yet.",
            "Use auto, fast or complete.",
        )
    if requested == COMPLETE and explicit:
        return CompleteRefresh(reasons.REQUESTED)
    if not verdict.is_fresh:
        return _plan_stale(view, verdict, requested, prepare)
    if explicit and volatile:
        reason = Reason("VOLATILE_FUNCTION", "it calls " + ", ".join(volatile))
        return CompleteRefresh(reason)
    return NoRefresh(verdict.reason)


def _plan_stale(
    view: str, verdict: Verdict, requested: str, prepare: Callable[[], FastQuery | Reason]
) -> RefreshPlan:
    if requested == COMPLETE:
        return CompleteRefresh(verdict.reason)
    comparable = verdict.freshness is Freshness.STALE and bool(verdict.changed)
    found = prepare() if comparable else verdict.reason
    if requested == FAST:
        if isinstance(found, Reason):
            raise not_eligible(view, found)
        return FastRefresh(verdict.reason, found)
    if isinstance(found, Reason):
        return CompleteRefresh(verdict.reason, found)
    if not found.estimate.is_worth_it:
        why = Reason("NOT_CHEAPER", str(found.estimate))
        return CompleteRefresh(verdict.reason, why)
    return FastRefresh(verdict.reason, found)


def not_eligible(view: str, reason: Reason) -> MethodNotAvailable:
    """The error of a strict method that cannot be used."""
    return MethodNotAvailable(
        f"{view} cannot be refreshed fast: {reason}.",
        "Refresh it with method complete, change what is named, or use refresh_method 'auto'.",
    )
