"""Writes new rows to a branch of the storage table, and publishes it by one compare-and-swap.

The steps, and why a crash after any of them leaves readers with whole and honest rows, are drawn
in docs/architecture.md.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import is_not_found
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import FastRefreshFailed, PublishRefused, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, SnapshotFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.core.sessions import in_session
from dbt.adapters.spark_mv.planning.pinning import is_readable
from dbt.adapters.spark_mv.planning.plan import (
    FAST,
    PARTITION,
    FastRefresh,
    KeyRefresh,
    PartitionRefresh,
    RefreshPlan,
)
from dbt.adapters.spark_mv.planning.request import Outcome, Request
from dbt.adapters.spark_mv.refresh import staging
from dbt.adapters.spark_mv.refresh.builder import Builder
from dbt.adapters.spark_mv.refresh.failures import USE_COMPLETE, cause_of, run_failed
from dbt.adapters.spark_mv.refresh.lock import RefreshLock
from dbt.adapters.spark_mv.refresh.publish import publish
from dbt.adapters.spark_mv.refresh.run import RefreshRun
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.written.expiry import label_settings, with_row_expiry
from dbt.adapters.spark_mv.refresh.written.keys import refuse_duplicates
from dbt.adapters.spark_mv.refresh.written.row_counts import refuse_lost_rows
from dbt.adapters.spark_mv.sql.names import TableName, use
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.key_sql import key_writes
from dbt.adapters.spark_mv.views.registry import find_view

# What Iceberg says of a read at a version, and of a read between two of them.
_VERSION_GONE = (
    "Cannot find snapshot",
    "Cannot find the starting snapshot",
    "Cannot find the end snapshot",
    "is not a parent ancestor of end snapshot",
)


class BranchWriter:
    """Runs refreshes that hold the refresh lock."""

    def __init__(self, services: Services, builder: Builder) -> None:
        self._services = services
        self._builder = builder

    def run(
        self, observation: Observation, plan: RefreshPlan, lock: RefreshLock, request: Request
    ) -> Outcome | None:
        """Refresh as planned; None if something changed, and the view has to be observed again.

        Raises `RefreshFailed` with the cause; rows are then as they were.
        """
        view, stored = observation.view, observation.label
        label = Label(
            uuid.uuid4().hex,
            view.definition_hash,
            observation.versions,
            observation.instant,
            observation.storage_schema_id,
            request.reduced,
            plan.method,
            trusted_since=stored.trusted_since if stored else None,
            declared_types=observation.expansion.declared_types,
        )
        run = RefreshRun(view, request, plan, label, lock.branch, stored.sources if stored else {})
        run = self._services.history.started(run)
        try:
            reached("started.after")
            run = self._with_expiry(observation, run)
            run, commits = self._write_and_publish(observation, run, lock)
        except BaseException as error:
            self._not_published(observation, lock, run, error)
            return None
        replaced = self.has_changed(observation)
        if replaced is not None:  # readers do not see what was published
            self._services.history.abandoned(run, replaced)
            return None
        outcome = self._builder.record_success(run, commits)
        with suppress(StatementFailed):  # the next refresh tries again
            reached("recorded.after")
            self._builder.drop_replaced(view.name)
        return outcome

    def _with_expiry(self, observation: Observation, run: RefreshRun) -> RefreshRun:
        label = staging.with_expiry(self._services, run.view, observation.current, run.label)
        return replace(run, label=label)

    def _write_and_publish(
        self, observation: Observation, run: RefreshRun, lock: RefreshLock
    ) -> tuple[RefreshRun, tuple[SnapshotFacts, ...]]:
        services, view, plan, label = self._services, run.view, run.plan, run.label
        writes, unpinned = self._writes(observation, plan, label, lock)
        settings = {**view.definition.settings, **label_settings(label)}
        services.watch.check(view.name, run.id)
        moves = staging.moves(services.executor, unpinned, observation.versions)
        reached("write.before")
        # Called again after a failure inside of Spark, `write` must not repeat what was committed.
        left = list(writes)

        def write(session: Executor) -> None:
            with services.watch.over(session, run.id):
                if not is_readable(observation.current):  # its names are as they were written
                    session.query(use(observation.current.home))
                while left:
                    session.query(left[0])
                    left.pop(0)
                    reached("write.one")

        try:
            in_session(services.executor, settings, write)
        except StatementFailed as error:
            if not isinstance(plan, (FastRefresh, PartitionRefresh, KeyRefresh)):
                raise
            raise FastRefreshFailed(error.problem, error.way_out) from None
        reached("write.after")
        refuse_lost_rows(services.executor, services.analyzer, observation, plan, lock)
        refuse_duplicates(services.executor, view, lock.branch)
        run = replace(run, label=with_row_expiry(services, view, label, lock.branch))
        staging.refuse_moved(services.executor, services.versions, moves, observation.versions)
        services.watch.check(view.name, run.id)
        made = len(writes) + (run.label is not label)
        if isinstance(plan, KeyRefresh):  # to take away rows that are not there may be no commit
            found = iceberg.commits(services.executor, lock.storage, lock.branch, lock.base, 4)
            made = len(found)
        return run, publish(services.executor, lock, run.id, made)

    def _writes(
        self, observation: Observation, plan: RefreshPlan, label: Label, lock: RefreshLock
    ) -> tuple[list[str], tuple[TableName, ...]]:
        """The statements that write to the branch, a commit each; the tables read unpinned."""
        view, branch = observation.view, lock.branch
        if isinstance(plan, FastRefresh):
            fast = plan.fast
            instead_of = storage_sql.NO_ROWS if fast.appends else storage_sql.ALL_ROWS
            write = storage_sql.write_storage(view, branch, fast.query, instead_of)
            if fast.replaced is None:
                return [write], ()
            return [storage_sql.take_away(view, branch, fast.replaced), write], ()
        if isinstance(plan, PartitionRefresh):
            query, condition = plan.partition.query, plan.partition.condition
            return [storage_sql.write_storage(view, branch, query, condition)], ()
        query, unpinned = staging.complete_query(self._services, view, observation.current, label)
        if isinstance(plan, KeyRefresh) and plan.untrusted is not None:
            columns, values = plan.untrusted.columns, plan.untrusted.values
            return key_writes(view, branch, query, columns, values), unpinned
        return [storage_sql.write_storage(view, branch, query, storage_sql.ALL_ROWS)], unpinned

    def _not_published(
        self,
        observation: Observation,
        lock: RefreshLock,
        run: RefreshRun,
        error: BaseException,
    ) -> None:
        """Close the history of a refresh; raise what ended it, or return to observe again."""
        history = self._services.history
        if not isinstance(error, Exception):
            history.cancelled(run, "cancelled by an interrupt")
            raise error
        if not isinstance(error, PublishRefused):
            self._services.watch.end(run)
        reason = self._why_again(observation, lock, error)
        failed = isinstance(error, FastRefreshFailed) and not _is_strict(observation, run.request)
        if reason is None and failed:
            history.abandoned(run, reasons.fast_failed(cause_of(error)))
            raise error
        if reason is None:
            cause = cause_of(error)
            if isinstance(error, FastRefreshFailed):
                raise run_failed(history, run, cause, USE_COMPLETE) from None
            raise run_failed(history, run, cause) from None
        history.abandoned(run, reason)

    def _why_again(
        self, observation: Observation, lock: RefreshLock, error: Exception
    ) -> reasons.Reason | None:
        """What others did that may have made this fail, and makes another attempt worth while."""
        if isinstance(error, PublishRefused):
            return reasons.lost_race(error.problem)
        changed = self.has_changed(observation)
        if changed is not None:
            return changed
        if self._has_moved(lock):
            return reasons.lost_race("another refresh was published first")
        if self._is_dropped(lock):
            return reasons.lost_race("its branch was dropped during the refresh")
        is_gone = any(text in str(error) for text in _VERSION_GONE)
        if is_gone and self._services.observer.has_moved(observation):
            return reasons.VERSION_GONE
        return None

    def has_changed(self, observation: Observation) -> reasons.Reason | None:
        """Why the view is no longer what was observed, None if it is."""
        resolver = self._services.resolver
        resolver.forget()
        now = find_view(resolver, observation.view.name)
        if now is None:
            return reasons.DROPPED
        if now.storage != observation.view.storage:
            return reasons.lost_race("its definition was changed during the refresh")
        if observation.storage_exists and resolver.lookup(now.storage) is None:
            return reasons.lost_race("its storage table was dropped")
        return None

    def _has_moved(self, lock: RefreshLock) -> bool:
        """Whether main was moved, and our branch with it dropped."""
        try:
            chain = iceberg.main_chain(self._services.executor, lock.storage, 1)
        except StatementFailed as error:
            return is_not_found(error)
        return not chain or chain[0].snapshot_id != lock.base

    def _is_dropped(self, lock: RefreshLock) -> bool:
        try:
            return lock.branch not in iceberg.branches(self._services.executor, lock.storage)
        except StatementFailed:
            return False


def _is_strict(observation: Observation, request: Request) -> bool:
    """Whether a refresh of one method is wanted or none at all."""
    asked = {request.method, observation.view.options.refresh_method}
    return bool(asked & {FAST, PARTITION})
