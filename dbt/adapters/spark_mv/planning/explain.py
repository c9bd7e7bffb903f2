"""Says what a refresh would do now, and every reason; changes nothing."""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.catalog.versions import Versions
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.reasons import Reason, moment_of
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.planning.by_partition import why_not
from dbt.adapters.spark_mv.planning.candidates import Planner
from dbt.adapters.spark_mv.planning.pinning import pinned_query
from dbt.adapters.spark_mv.planning.plan import (
    FAST,
    PARTITION,
    CompleteRefresh,
    FastRefresh,
    NoRefresh,
    PartitionRefresh,
    RefreshPlan,
    RestoreRefresh,
)
from dbt.adapters.spark_mv.planning.request import Request, refreshes_by_itself
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.as_of import (
    PastVersions,
    has_other_time,
    pinned_as_of,
    refuse_newer,
)
from dbt.adapters.spark_mv.state.observation import Observation, Observer
from dbt.adapters.spark_mv.views.live_sql import live_name
from dbt.adapters.spark_mv.views.registry import load_view

_TIES = "rows that are equal in ORDER BY of a window are put in order by the columns beside it"


class Explainer:
    """Explains plans; changes nothing."""

    def __init__(
        self,
        executor: Executor,
        resolver: Resolver,
        observer: Observer,
        versions: Versions,
        analyzer: Analyzer,
        planner: Planner,
        log: MetadataLog,
    ) -> None:
        self._executor, self._resolver, self._log = executor, resolver, log
        self._observer, self._versions = observer, versions
        self._analyzer, self._planner = analyzer, planner

    def explain(self, name: TableName, request: Request, as_of: str | None = None) -> list[str]:
        """Lines that describe the view's state and the plan of `request`."""
        observation = self._observed(name, as_of)
        view, verdict = (
            observation.view,
            self._observer.observe_with_upstream(observation.view).verdict,
        )
        lines = [
            f"materialized view  {name}",
            f"storage table      {view.storage}",
            f"freshness          {verdict.freshness.value} ({verdict.reason})",
            *_about_expiry(observation),
            *([f"live view          {live_name(name)}"] if view.options.live else []),
            *self._about_rewriting(name),
        ]
        try:
            plan = self._planner.plan(observation, request)
            lines.append(f"plan               {plan.method} ({plan.reason})")
            if isinstance(plan, RestoreRefresh):
                observation, plan = observation.below or observation, plan.then
                back = observation.head.snapshot_id if observation.head else "-"
                lines.append(f"back to            snapshot {back}, then {plan.method}")
        except MaterializedViewError as error:
            lines.append(f"plan               none: {error.problem}")
            plan = NoRefresh(verdict.reason)
        lines += self._about_methods(observation, plan)
        for source in observation.expansion.sources:
            table = observation.expansion.storages.get(source.name, source.name)
            lines.append(f"reads              {source.kind.lower()} {source.name}")
            if table in observation.versions:
                old = observation.label.sources.get(table) if observation.label else None
                lines.append(
                    f"  version          {observation.versions[table]} (stored build: {old or '-'})"
                )
        return lines + self._statement(observation, plan)

    def _observed(self, name: TableName, as_of: str | None) -> Observation:
        view = load_view(self._resolver, name)
        pinned = None if as_of is None else pinned_as_of(view, as_of)
        observation = self._observer.observe(view, pinned)
        if pinned is not None:
            self._refuse_upstream(observation, pinned)
            refuse_newer(observation, pinned, self._versions)
        return observation

    def _refuse_upstream(self, observation: Observation, pinned: PastVersions) -> None:
        """Raise what would stop the refreshes of views that are read, which come first."""
        for name in observation.expansion.storages:
            below = self._observer.observe(load_view(self._resolver, name), pinned)
            self._refuse_upstream(below, pinned)
            if refreshes_by_itself(below.view, self._log):
                refuse_newer(below, pinned, self._versions)
            elif not below.verdict.is_fresh:
                raise has_other_time(observation, pinned, name)

    def _statement(self, observation: Observation, plan: RefreshPlan) -> list[str]:
        """The query of a planned refresh, and what it reads changes by."""
        lines: list[str] = []
        if isinstance(plan, (FastRefresh, PartitionRefresh)):
            prepared = plan.fast if isinstance(plan, FastRefresh) else plan.partition
            lines += [f"change             {change}" for change in prepared.changes]
            if isinstance(plan, FastRefresh) and plan.fast.replaced:
                lines += ["takes away", *("  " + line for line in plan.fast.replaced.splitlines())]
            lines += ["query", *("  " + line for line in prepared.query.splitlines())]
        elif not isinstance(plan, NoRefresh) and not observation.verdict.missing:
            query, unpinned = pinned_query(
                observation.current,
                observation.versions,
                self._executor,
                self._resolver,
                str(observation.view.name),
            )
            lines += ["query", *("  " + line for line in query.splitlines())]
            lines += [f"not pinned         {table}" for table in unpinned]
        return lines

    def _about_rewriting(self, name: TableName) -> list[str]:
        known = self._log.state().views.get(name)
        uses = known.uses(clock.now_us()) if known is not None else 0
        return [f"answers            {uses:,} statements in 30 days by rewriting"] if uses else []

    def _about_methods(self, observation: Observation, plan: RefreshPlan) -> list[str]:
        """The estimate of the planned method, or which others are possible, or why they are not."""
        found = self._analyzer.analysis(observation.current, observation.view)
        why = None if isinstance(found, Reason) else found.program.why_not_added
        notes = [f"not added          {why}"] if why else []
        if not isinstance(found, Reason) and found.program.has_no_ties:
            notes.append(f"ties               {_TIES}")
        if isinstance(plan, FastRefresh):
            return [f"estimate           {plan.fast.estimate}", *notes]
        if isinstance(plan, PartitionRefresh):
            lines = [f"partition          {name}" for name in plan.partition.partitions]
            return [f"estimate           {plan.partition.estimate}", *lines]
        view = replace(observation.view, definition=observation.current)
        fast, partition = (why_not(method, view, found) for method in (FAST, PARTITION))
        if isinstance(plan, CompleteRefresh):
            fast, partition = fast or plan.why_not_fast, partition or plan.why_not_partition
        how = "" if isinstance(found, Reason) else str(found.program)
        return [
            *(_against("not fast", fast) if fast else [f"can be fast        {how}"]),
            *notes,
            *(_against("not by partition", partition) if partition else ["can be by partition"]),
        ]


def _about_expiry(observation: Observation) -> list[str]:
    """Until when the stored rows are right, if the query reads the clock."""
    expiry = observation.label.expiry if observation.label is not None else None
    if expiry is None:
        return []
    stamp = ["stamps             some columns show when the rows were computed"] * expiry.stamps
    if expiry.at is None:
        return ["expires            never", *stamp]
    return [f"expires            {moment_of(expiry.at)} by {expiry.by or expiry.why}", *stamp]


def _against(method: str, reason: Reason) -> list[str]:
    found = [f"{method:<19}{reason}"]
    return [*found, f"  way out          {reason.way_out}"] if reason.way_out else found
