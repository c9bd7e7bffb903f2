"""Refreshes one view: observes, plans, takes the lock and builds; again if another one won."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import (
    FastRefreshFailed,
    InvalidOption,
    MethodNotAvailable,
    NotAQuery,
    PublishRefused,
    RefreshFailed,
    StatementFailed,
    UnknownMaterializedView,
    UnsafeQuery,
)
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.planning.inputs import OTHER_LAYOUT
from dbt.adapters.spark_mv.planning.plan import (
    AUTO,
    CompleteRefresh,
    NoRefresh,
    RefreshPlan,
    RestoreRefresh,
)
from dbt.adapters.spark_mv.planning.request import SKIPPED, UPSTREAM, Outcome, Request
from dbt.adapters.spark_mv.refresh.branch_writer import BranchWriter
from dbt.adapters.spark_mv.refresh.builder import Builder
from dbt.adapters.spark_mv.refresh.failures import other_is_running, refresh_failed, was_dropped
from dbt.adapters.spark_mv.refresh.lock import LockHeld, RefreshLock
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.staging import Build
from dbt.adapters.spark_mv.refresh.written.restore import restore
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.as_of import refuse_newer, refuse_upstream
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.state.pinned_versions import PinnedVersions
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import Definition, MaterializedView, new_storage
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.safety import refuse_unsafe

_ATTEMPTS = 20
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 1.0


class Refresher:
    """Refreshes single views; `statements.read_policy.Reader` refreshes upstream views first."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._builder = Builder(services)
        self._writer = BranchWriter(services, self._builder)

    def refresh(
        self, name: TableName, request: Request, pinned: PinnedVersions | None = None
    ) -> Outcome:
        """Refresh `name` if it needs it.

        Raises `RefreshRunning` if another refresh is running and the request does not wait,
        `RefreshFailed` with the cause if it cannot be refreshed; rows are then as they were.
        """
        thread_lock = self._services.thread_lock(name)
        # Two views that this process refreshes side by side may read the same one.
        if not thread_lock.acquire(blocking=request.wait or request.trigger == UPSTREAM):
            raise other_is_running(name, None)
        try:
            for attempt in range(_ATTEMPTS):
                with self._services.resolver.remembered():
                    view = self._load(name, attempt)
                    try:
                        outcome = self._attempt(view, request, pinned)
                    except FastRefreshFailed as error:
                        # Rows that cannot be kept up to date by what changed are all computed
                        # again.
                        reason = reasons.fast_failed(error.problem)
                        request, outcome = replace(request, avoid_fast=reason), None
                if outcome is not None:
                    return outcome
                pinned = None if request.as_of is None else pinned
        finally:
            thread_lock.release()
        raise RefreshFailed(
            f"{name} could not be refreshed: other refreshes were published first, "
            f"{_ATTEMPTS} times in a row.",
            "Try again, or see `dbt run-operation history` for who refreshes it.",
        )

    def _load(self, name: TableName, attempt: int) -> MaterializedView:
        try:
            return load_view(self._services.resolver, name)
        except UnknownMaterializedView:
            if not attempt:
                raise
            raise was_dropped(name) from None

    def _attempt(
        self, view: MaterializedView, request: Request, pinned: PinnedVersions | None
    ) -> Outcome | None:
        observation = self._observed(view, pinned)
        if observation.verdict.missing:
            raise refresh_failed(
                self._services.history, view, request, str(observation.verdict.reason.text)
            )
        if view.reduced:
            why, way_out = reasons.REDUCED_RUN.text, "run its model without these flags"
            raise refresh_failed(self._services.history, view, request, why, way_out)
        try:
            plan = self._services.planner.plan(observation, request)
        except MethodNotAvailable as error:
            if request.method != AUTO:
                raise
            # Nobody asked for this refresh by its method, so it counts as one that failed.
            raise refresh_failed(
                self._services.history, view, request, error.problem, error.way_out
            ) from None
        if isinstance(plan, NoRefresh):
            return self._skip(observation, plan, request)
        # A damaged row of the metadata is named before anything is done.
        self._services.log.view(view.name)
        try:
            self._refuse_unsafe(observation)
            current = observation.current
            if not self._services.analyzer.has_same_outputs(current, observation.view):
                current = self._redefined(view, current)
            outcome = self._lock_and_build(observation, current, plan, request)
        except (StatementFailed, UnsafeQuery, InvalidOption, NotAQuery) as error:
            if self._writer.has_changed(observation):
                return None
            cause = error.problem.removeprefix(f"{view.name}: ")
            raise refresh_failed(self._services.history, view, request, cause) from None
        if outcome is None or not isinstance(plan, RestoreRefresh) or plan.is_all:
            return outcome
        self._services.resolver.forget()
        return self._attempt(view, request, pinned)

    def _redefined(self, view: MaterializedView, current: Definition) -> Definition:
        """A definition with the columns of now, which are checked as those of a new view are."""
        current = self._builder.with_columns(current)
        storage_sql.check_columns(str(view.name), current.columns)
        storage_sql.check_layout(str(view.name), view.layout, current.columns)
        storage_sql.check_unique_key(view, current.columns)
        return current

    def _observed(self, view: MaterializedView, pinned: PinnedVersions | None) -> Observation:
        services = self._services
        observation = services.observer.observe(view, pinned)
        if pinned is not None:
            refuse_newer(observation, pinned, services.versions)
            refuse_upstream(observation, pinned, services.observer, services.resolver)
        return observation

    def _refuse_unsafe(self, observation: Observation) -> None:
        """A logical view may run code that it did not run when this view was created, and this view
        may have been created by a profile that allows it."""
        if not self._services.allow_unsafe_sql:
            for text in observation.current.texts:
                refuse_unsafe(text, str(observation.view.name))

    def _lock_and_build(
        self, observation: Observation, current: Definition, plan: RefreshPlan, request: Request
    ) -> Outcome | None:
        if observation.head is None:
            return self._rebuild(observation, current, plan, None, request)
        reached("lock.before")
        lock = self._services.refresh_locks.acquire(
            observation.view.storage, observation.head.snapshot_id
        )
        if lock is None:
            return None
        if isinstance(lock, LockHeld):
            if not request.wait:
                raise other_is_running(observation.view.name, lock)
            self._wait_for(observation.view, observation.head.snapshot_id)
            return None
        return self._with_lock(observation, current, plan, lock, request)

    def _with_lock(
        self,
        observation: Observation,
        current: Definition,
        plan: RefreshPlan,
        lock: RefreshLock,
        request: Request,
    ) -> Outcome | None:
        published: Outcome | None = None
        try:
            reached("lock.after")
            if isinstance(plan, RestoreRefresh):
                view, changed = observation.view, partial(self._writer.has_changed, observation)
                return restore(self._services, self._builder, view, plan, lock, request, changed)
            if self._means_something_else(observation, current, plan, request):
                return self._rebuild(observation, current, plan, lock, request)
            published = self._writer.run(observation, plan, lock, request)
            return published
        finally:
            if published is None:
                self._services.refresh_locks.release(lock)

    def _means_something_else(
        self,
        observation: Observation,
        current: Definition,
        plan: RefreshPlan,
        request: Request,
    ) -> bool:
        if isinstance(plan, CompleteRefresh):
            if plan.why_not_fast == OTHER_LAYOUT:
                return True
            view, analyzer = observation.view, self._services.analyzer
            if (view.hidden or request.explicit) and not analyzer.fits(current, view, anew=True):
                return True
        altered = observation.verdict.reason == reasons.STORAGE_ALTERED
        # Without a label nobody says which schema it had; that of a new table is 0.
        altered = altered or (
            observation.label is None and observation.storage_schema_id not in (None, 0)
        )
        return altered or current.hash != observation.view.definition_hash

    def _rebuild(
        self,
        observation: Observation,
        current: Definition,
        plan: RefreshPlan,
        lock: RefreshLock | None,
        request: Request,
    ) -> Outcome | None:
        build = Build(
            replace(
                observation.view,
                definition=current,
                definition_hash=current.hash,
                hidden=self._services.analyzer.hidden(current, observation.view),
                plan_facts=self._services.analyzer.plan_facts(current),
                storage=new_storage(observation.view.name),
            ),
            observation.expansion,
            observation.versions,
            plan,
            request,
            replaced=observation.view,
            branch=lock.branch if lock else None,
            only_if_unchanged=True,
            instant=observation.instant,
        )
        try:
            return self._builder.build(build)
        except PublishRefused:
            return None

    def _skip(self, observation: Observation, plan: NoRefresh, request: Request) -> Outcome:
        known = self._services.log.view(observation.view.name)
        is_now = request.as_of is None
        if is_now and (request.explicit or (known is not None and known.is_stale)):
            self._services.history.skipped(observation.view, request, plan.reason)
        rows = observation.view.shown_rows(
            iceberg.live_rows(observation.head.summary) if observation.head else None
        )
        reason = plan.reason.text if is_now else reasons.OF_THAT_TIME.text
        return Outcome(observation.view.name, SKIPPED, "none", reason, rows=rows or None)

    def _wait_for(self, view: MaterializedView, base: str) -> None:
        """Until main has moved, or the owner of the lock has given up or died."""
        # An owner that is over its time by then is taken over, which the last attempt has to see.
        longest = self._services.timeout + 2 * _LONGEST_WAIT
        pause, deadline = _FIRST_WAIT, time.monotonic() + longest
        while time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_WAIT)
            chain = iceberg.main_chain(self._services.executor, view.storage, 1)
            if not chain or chain[0].snapshot_id != base:
                return
            if not self._services.refresh_locks.is_held(view.storage, base):
                return
        raise other_is_running(view.name, None)
