"""What a refresh will do, as a value with its reason. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark_mv import reasons
from dbt.adapters.spark_mv.errors import MethodNotAvailable
from dbt.adapters.spark_mv.freshness import Verdict
from dbt.adapters.spark_mv.reasons import Reason

AUTO, COMPLETE = "auto", "complete"


@dataclass(frozen=True)
class NoRefresh:
    """Nothing to do."""

    reason: Reason
    method: str = "none"


@dataclass(frozen=True)
class CompleteRefresh:
    """Compute every row again."""

    reason: Reason
    method: str = COMPLETE


RefreshPlan = NoRefresh | CompleteRefresh


def plan_refresh(
    view: str, verdict: Verdict, requested: str, volatile: tuple[str, ...], explicit: bool
) -> RefreshPlan:
    """The plan for `view`.

    `requested` is a refresh method; `volatile` the functions whose value moves by itself: an
    explicit refresh evaluates them again, a read does not.
    """
    if requested not in (AUTO, COMPLETE):
        raise MethodNotAvailable(
            f"{view} cannot be refreshed by method {requested!r}: it is not available yet.",
            "Use auto or complete.",
        )
    if requested == COMPLETE and explicit:
        return CompleteRefresh(reasons.REQUESTED)
    if not verdict.is_fresh:
        return CompleteRefresh(verdict.reason)
    if explicit and volatile:
        reason = Reason("VOLATILE_FUNCTION", "it calls " + ", ".join(volatile))
        return CompleteRefresh(reason)
    return NoRefresh(verdict.reason)
