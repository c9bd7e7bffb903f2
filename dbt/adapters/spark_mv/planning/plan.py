"""What a refresh will do, as a value with its reason. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import MethodNotAvailable
from dbt.adapters.spark_mv.core.reason_codes import METHODS
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.metadata.invalidations import Untrusted
from dbt.adapters.spark_mv.planning.cost import Estimate, PartitionEstimate, complete_cost, is_small
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Label, Verdict

AUTO, COMPLETE, PARTITION, FAST = "auto", "complete", "partition", "fast"
KEYS, RESTORE = "keys", "restore"
MOST_KEYS = 1000
# What keeps Spark from running the query at all.
_NOT_AT_ALL = frozenset({"COLUMN_GONE"})
MERGE_ON_READ = ", ".join(
    f"'write.{kind}.mode'='merge-on-read'" for kind in ("delete", "update", "merge")
)


@dataclass(frozen=True)
class FastQuery:
    """The query of a fast refresh, with what it reads and its estimated cost.

    Its rows are all rows of the storage table as they will be or, if it `appends`, those to be
    added, once stored rows that meet the condition `replaced` on mv_stored have been taken away.
    `changes` says how the change of each table is read; the files of `rewritten` tables would
    better have stayed.
    """

    query: str
    appends: bool
    changes: tuple[str, ...]
    estimate: Estimate
    replaced: str | None = None
    rewritten: tuple[TableName, ...] = ()


@dataclass(frozen=True)
class PartitionQuery:
    """The query of the partitions that may have changed, as it is stored.

    `condition` is true for stored rows that are in one of them; `partitions` are their paths,
    `changes` say how the change of each table was read.
    """

    query: str
    condition: str
    partitions: tuple[str, ...]
    changes: tuple[str, ...]
    estimate: PartitionEstimate


class Candidates(Protocol):
    """Prepares refreshes that are not complete; each gives its query or the reason against it."""

    def fast(self) -> FastQuery | Reason:
        """By what changed."""
        ...

    def partition(self) -> PartitionQuery | Reason:
        """By partitions in which something changed; asks Spark which these are."""
        ...

    def untrusted(self) -> KeyRefresh | Reason:
        """By the keys or partitions that somebody does not trust, if nothing else is to be done."""
        ...

    def rows(self) -> int:
        """Rows of all base tables."""
        ...

    def stored_rows(self) -> int:
        """Rows of the storage table."""
        ...


@dataclass(frozen=True)
class NoRefresh:
    """Nothing to do."""

    reason: Reason
    method: str = "none"
    cost: float | None = None

    @property
    def estimated(self) -> str | None:
        """Nothing."""
        return None


@dataclass(frozen=True)
class CompleteRefresh:
    """Compute every row again; with the reason why each alternative was rejected.

    `cost`, here and below, is in rows as they were estimated, None if nobody did.
    """

    reason: Reason
    why_not_fast: Reason | None = None
    why_not_partition: Reason | None = None
    method: str = COMPLETE
    cost: float | None = None

    @property
    def estimated(self) -> str | None:
        """Why the alternatives were rejected, as the history has it."""
        against = (("fast", self.why_not_fast), ("by partition", self.why_not_partition))
        return "; ".join(f"not {way}: {why}" for way, why in against if why) or None


@dataclass(frozen=True)
class FastRefresh:
    """Bring the stored rows up to date by what changed."""

    reason: Reason
    fast: FastQuery
    method: str = FAST

    @property
    def estimated(self) -> str | None:
        """The estimated cost, as the history has it."""
        return str(self.fast.estimate)

    @property
    def cost(self) -> float:
        """In rows."""
        return self.fast.estimate.fast_by_itself


@dataclass(frozen=True)
class PartitionRefresh:
    """Compute every row again of those partitions that may have changed."""

    reason: Reason
    partition: PartitionQuery
    method: str = PARTITION

    @property
    def estimated(self) -> str | None:
        """The estimated cost, as the history has it."""
        return str(self.partition.estimate)

    @property
    def cost(self) -> float:
        """In rows."""
        return self.partition.estimate.cost_by_itself


@dataclass(frozen=True)
class KeyRefresh:
    """Compute the rows of some keys again, or of some partitions, at the versions of the stored
    ones. If these are `untrusted`, it covers the invalidations that say so."""

    reason: Reason
    untrusted: Untrusted | None = None
    method: str = KEYS
    cost: float | None = None

    @property
    def estimated(self) -> str | None:
        """Nothing."""
        return None


@dataclass(frozen=True)
class RestoreRefresh:
    """Take the storage table back to its newest build, of which no row is computed; `then` says
    what is left to do, by a refresh of its own."""

    reason: Reason
    label: Label
    then: NoRefresh | FastRefresh | PartitionRefresh
    method: str = RESTORE
    cost: float | None = None

    @property
    def is_all(self) -> bool:
        """Whether nothing is left to do."""
        return isinstance(self.then, NoRefresh)

    @property
    def estimated(self) -> str | None:
        """What is left to do, as the history has it."""
        return None if self.is_all else f"then {self.then.method}"


RefreshPlan = (
    NoRefresh | CompleteRefresh | FastRefresh | PartitionRefresh | KeyRefresh | RestoreRefresh
)


def plan_refresh(
    view: str,
    verdict: Verdict,
    requested: str,
    volatile: tuple[str, ...],
    explicit: bool,
    candidates: Candidates,
    recompute: bool = False,
) -> RefreshPlan:
    """The plan for `view`.

    `requested` is a refresh method; `volatile` the functions whose value changes without a write:
    an explicit refresh evaluates them again, a read does not. `recompute` asks for a complete
    refresh even if nothing has changed: a view whose option is that method does not. Raises
    `MethodNotAvailable` if the method cannot be used.
    """
    if requested not in (AUTO, COMPLETE, PARTITION, FAST):
        raise MethodNotAvailable(
            f"{view} cannot be refreshed by method {requested!r}: there is no such method.",
            "Use auto, fast, partition or complete.",
        )
    if recompute:
        return CompleteRefresh(reasons.REQUESTED)
    if not verdict.is_fresh:
        return _plan_stale(view, verdict, requested, candidates)
    if explicit and volatile:
        reason = Reason("VOLATILE_FUNCTION", "it calls " + ", ".join(volatile))
        return CompleteRefresh(reason)
    return NoRefresh(verdict.reason)


def _plan_stale(view: str, verdict: Verdict, requested: str, candidates: Candidates) -> RefreshPlan:
    if requested == COMPLETE:
        return CompleteRefresh(verdict.reason)
    comparable = verdict.is_comparable
    if requested == FAST:
        fast = candidates.fast() if comparable else verdict.reason
        if isinstance(fast, Reason):
            raise not_eligible(view, FAST, fast)
        return FastRefresh(verdict.reason, fast)
    if verdict.invalidated:
        again = candidates.untrusted()
        if isinstance(again, KeyRefresh) and requested in (AUTO, again.method):
            return again
    if requested == PARTITION:
        found = candidates.partition() if comparable else verdict.reason
        if isinstance(found, Reason):
            raise not_eligible(view, PARTITION, found)
        return PartitionRefresh(verdict.reason, found)
    if not comparable:
        return CompleteRefresh(verdict.reason, verdict.reason, verdict.reason)
    return _cheapest(verdict, candidates)


def _cheapest(verdict: Verdict, candidates: Candidates) -> RefreshPlan:
    rows = candidates.rows()
    cost = complete_cost(rows, candidates.stored_rows())
    if is_small(rows):
        small = Reason("NOT_CHEAPER", f"the base tables have {rows:,} rows in all, which are few")
        return CompleteRefresh(verdict.reason, small, small, cost=cost)
    fast = candidates.fast()
    adds = fast if isinstance(fast, FastQuery) and fast.estimate.is_worth_it else None
    if adds is not None and adds.estimate.is_near_least:
        return FastRefresh(verdict.reason, adds)
    found = candidates.partition()
    parts = found if isinstance(found, PartitionQuery) and found.estimate.is_worth_it else None
    if parts is not None and (adds is None or parts.estimate.cost < adds.estimate.fast):
        return PartitionRefresh(verdict.reason, parts)
    if adds is not None:
        return FastRefresh(verdict.reason, adds)
    return CompleteRefresh(verdict.reason, _why_not(fast), _why_not(found), cost=cost)


def _why_not(found: FastQuery | PartitionQuery | Reason) -> Reason:
    if isinstance(found, Reason):
        return found
    if isinstance(found, FastQuery) and found.rewritten:
        statements = "; ".join(
            f"ALTER TABLE {table} SET TBLPROPERTIES ({MERGE_ON_READ})" for table in found.rewritten
        )
        text = "files were written anew for some of their rows, and are compared"
        return Reason("FILES_REWRITTEN", f"{found.estimate}; {text}. To avoid it: {statements}")
    return Reason("NOT_CHEAPER", str(found.estimate))


def not_eligible(view: str, method: str, reason: Reason) -> MethodNotAvailable:
    """The error of a strict method that cannot be used."""
    how = "fast" if method == FAST else "by partition"
    problem = f"{view} cannot be refreshed {how}: {reason}."
    if reason.code in _NOT_AT_ALL:
        return MethodNotAvailable(problem, reason.way_out)
    # What stands against any refresh but a complete one has no way out but that.
    instead = f"{reason.way_out} Or use" if reason.code in METHODS else "Use"
    return MethodNotAvailable(
        problem,
        f"{instead} method complete, or refresh_method 'auto'.",
    )
