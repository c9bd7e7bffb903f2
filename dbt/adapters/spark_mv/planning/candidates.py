"""Candidates for a refresh, each prepared when it is asked for; the planner chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbt.adapters.spark_mv.catalog import partition_lists, partitions
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.config.option_types import NEVER
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.lazy import lazy
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.planning.by_partition import prepare_partition
from dbt.adapters.spark_mv.planning.cost import slowness
from dbt.adapters.spark_mv.planning.incremental import prepare_fast
from dbt.adapters.spark_mv.planning.inputs import Inputs, base_rows, inputs_of, stored_rows
from dbt.adapters.spark_mv.planning.plan import (
    AUTO,
    COMPLETE,
    FAST,
    KEYS,
    MOST_KEYS,
    PARTITION,
    FastQuery,
    FastRefresh,
    KeyRefresh,
    NoRefresh,
    PartitionQuery,
    PartitionRefresh,
    RefreshPlan,
    RestoreRefresh,
    plan_refresh,
)
from dbt.adapters.spark_mv.planning.request import Request
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.volatile import unstable, volatile_functions

_FIRST = Reason("LIMIT", "rows of other keys decide which rows are the first")


class RefreshCandidates:
    """Of one observation; `avoid` is why nothing but a complete refresh is to be tried, `speeds`
    are what earlier refreshes of the view took (`ViewState.speeds`)."""

    def __init__(
        self,
        executor: Executor,
        resolver: Resolver,
        analyzer: Analyzer,
        observation: Observation,
        speeds: Mapping[str, Sequence[float]],
        avoid: Reason | None = None,
    ) -> None:
        self._executor, self._resolver, self._analyzer = executor, resolver, analyzer
        self._observation, self._speeds, self._avoid = observation, speeds, avoid

    @lazy
    def _inputs(self) -> Inputs | Reason:
        return self._avoid or inputs_of(
            self._executor, self._resolver, self._analyzer, self._observation
        )

    @lazy
    def _totals(self) -> dict[TableName, int]:
        return base_rows(self._executor, self._observation)

    def fast(self) -> FastQuery | Reason:
        """By what changed."""
        found = self._inputs
        if isinstance(found, Reason):
            return found
        slow = slowness(self._speeds, FAST)
        return prepare_fast(self._executor, self._observation, found, self._totals, slow)

    def partition(self) -> PartitionQuery | Reason:
        """By partitions in which something changed."""
        found = self._inputs
        if isinstance(found, Reason):
            return found
        slow = slowness(self._speeds, PARTITION)
        return prepare_partition(self._executor, self._observation, found, self._totals, slow)

    def untrusted(self) -> KeyRefresh | Reason:
        """By the keys or partitions that somebody does not trust, if the rows beside them are those
        that the query would return beside them now."""
        seen, found = self._observation, self._observation.verdict.untrusted
        reason = seen.verdict.reason
        if self._avoid is not None or found is None or not 1 <= len(found.values) <= MOST_KEYS:
            return self._avoid or reason
        columns = {seen.view.options.unique_key: KEYS, seen.view.layout.columns: PARTITION}
        method = columns.get(found.columns)
        if seen.label is None or seen.label.expiry is not None or method is None:
            return reason
        analysis = self._analyzer.analysis(seen.current, seen.view)
        # What a function that is not Spark's own returns, whoever invalidates knows.
        if isinstance(analysis, Reason) and analysis.code != "USER_FUNCTION":
            return analysis
        if not isinstance(analysis, Reason) and analysis.program.first is not None:
            return _FIRST
        return KeyRefresh(reason, found, method)

    def rows(self) -> int:
        """Rows of all base tables, as far as their commits count them."""
        return sum(self._totals.values())

    def stored_rows(self) -> int:
        """Rows of the storage table, as its newest commit counts them."""
        return stored_rows(self._observation)


class Planner:
    """Plans refreshes; changes nothing."""

    def __init__(
        self, executor: Executor, resolver: Resolver, analyzer: Analyzer, log: MetadataLog
    ) -> None:
        self._executor, self._resolver = executor, resolver
        self._analyzer, self._log = analyzer, log

    def plan(self, observation: Observation, request: Request) -> RefreshPlan:
        """What `request` would do now, with its reason; raises `MethodNotAvailable`."""
        below, method = observation.below, request.method
        if method == AUTO and request.avoid_fast is None:
            method = observation.view.options.refresh_method
            if method == AUTO and below is not None and self._has_layout(below):
                then = self._planned(below, request, method)
                if isinstance(then, (NoRefresh, FastRefresh, PartitionRefresh)):
                    assert below.label is not None
                    return RestoreRefresh(observation.verdict.reason, below.label, then)
        return self._planned(observation, request, method)

    def _planned(self, observation: Observation, request: Request, method: str) -> RefreshPlan:
        changing = volatile_functions if _follows_clock(observation) else unstable
        volatile = tuple(
            dict.fromkeys(found for text in observation.current.texts for found in changing(text))
        )
        known = self._log.view(observation.view.name)
        speeds = known.speeds if known else {}
        candidates = RefreshCandidates(
            self._executor, self._resolver, self._analyzer, observation, speeds, request.avoid_fast
        )
        return plan_refresh(
            str(observation.view.name),
            observation.verdict,
            method,
            volatile,
            request.explicit,
            candidates,
            recompute=request.explicit and request.method == COMPLETE,
        )

    def _has_layout(self, build: Observation) -> bool:
        """Whether the files of a build are in the partitions that the view has, and the storage
        table has the same."""
        view, head = build.view, build.head
        spec = partitions.spec_of(self._executor, view.storage)
        if head is None or spec is None or bool(spec.fields) != bool(view.layout.partition_by):
            return False
        if not spec.fields:
            return True
        found = partition_lists.current(self._executor, view.storage, spec, head.snapshot_id)
        return found is not None


def _follows_clock(observation: Observation) -> bool:
    """Whether rows that are fresh would be computed with the same result now, but for functions
    that are volatile by themselves."""
    label = observation.label
    expiry = label.expiry if label is not None else None
    return expiry is not None and not expiry.stamps and observation.view.options.expiry != NEVER
