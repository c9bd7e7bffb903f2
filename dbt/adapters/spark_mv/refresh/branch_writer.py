"""Writes new rows to a branch of the storage table, and publishes it by one compare-and-swap.

The steps, and why a crash after any of them leaves readers with whole and honest rows, are drawn
in docs/architecture.md.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress

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
    PartitionRefresh,
    RefreshPlan,
)
from dbt.adapters.spark_mv.planning.request import SUCCEEDED, Outcome, Request
from dbt.adapters.spark_mv.refresh import staging
from dbt.adapters.spark_mv.refresh.builder import Builder
from dbt.adapters.spark_mv.refresh.failures import USE_COMPLETE, cause_of, refresh_failed
from dbt.adapters.spark_mv.refresh.lock import Claim
from dbt.adapters.spark_mv.refresh.publish import publish
from dbt.adapters.spark_mv.refresh.row_count_check import refuse_lost_rows
from dbt.adapters.spark_mv.refresh.services import Engine
from dbt.adapters.spark_mv.sql.names import TableName, use
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.state.observation import Look
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.registry import find_view

# What Iceberg says of a read at a version, and of a read between two of them.
_VERSION_GONE = (
    "Cannot find snapshot",
    "Cannot find the starting snapshot",
    "Cannot find the end snapshot",
    "is not a parent ancestor of end snapshot",
)


class Overwriter:
    """Runs refreshes whose claim was won."""

    def __init__(self, engine: Engine, builder: Builder) -> None:
        self._engine = engine
        self._builder = builder

    def run(self, look: Look, plan: RefreshPlan, claim: Claim, request: Request) -> Outcome | None:
        """Refresh as planned; None if something moved meanwhile, and it has to be looked again.

        Raises `RefreshFailed` with the cause; rows are then as they were.
        """
        view, began = look.view, time.monotonic()
        label = Label(
            uuid.uuid4().hex,
            view.definition_hash,
            look.versions,
            time.time(),
            look.storage_schema_id,
            request.reduced,
            plan.method,
        )
        self._engine.history.started(
            view,
            label.refresh_id,
            request,
            claim.branch,
            plan.method,
            plan.reason,
            look.label.sources if look.label else {},
            look.versions,
            estimate=plan.estimated,
        )
        try:
            reached("started.after")
            commits = self._write_and_publish(look, plan, claim, label)
        except BaseException as error:
            seconds = round(time.monotonic() - began, 3)
            self._not_published(look, claim, label.refresh_id, request, error, seconds)
            return None
        seconds = time.monotonic() - began
        self._builder.record_success(view, look.versions, plan, request, label, commits, seconds)
        with suppress(StatementFailed):  # the next refresh tries again
            reached("recorded.after")
            self._builder.drop_replaced(view.name)
        rows = view.shown_rows(iceberg.live_rows(commits[0].summary))
        return Outcome(view.name, SUCCEEDED, plan.method, plan.reason.text, seconds, rows)

    def _write_and_publish(
        self, look: Look, plan: RefreshPlan, claim: Claim, label: Label
    ) -> tuple[SnapshotFacts, ...]:
        engine, view = self._engine, look.view
        writes, unpinned = self._writes(look, plan, claim)
        settings = {**view.definition.settings, **staging.label_settings(label)}
        engine.watch.check(view.name, label.refresh_id)
        moves = staging.moves(engine, unpinned, look.versions)
        reached("write.before")
        # Called again after a failure inside of Spark, `write` must not repeat what was committed.
        left = list(writes)

        def write(session: Executor) -> None:
            with engine.watch.over(session, label.refresh_id):
                if not is_readable(look.current):  # its names are as they were written
                    session.query(use(look.current.home))
                while left:
                    session.query(left[0])
                    left.pop(0)
                    reached("write.one")

        try:
            in_session(engine.executor, settings, write)
        except StatementFailed as error:
            if not isinstance(plan, (FastRefresh, PartitionRefresh)):
                raise
            raise FastRefreshFailed(error.problem, error.way_out) from None
        reached("write.after")
        refuse_lost_rows(engine, look, plan, claim)
        staging.refuse_moved(engine, moves, look.versions)
        engine.watch.check(view.name, label.refresh_id)
        return publish(engine.executor, claim, label.refresh_id, len(writes))

    def _writes(
        self, look: Look, plan: RefreshPlan, claim: Claim
    ) -> tuple[list[str], tuple[TableName, ...]]:
        """The statements that write to the branch, a commit each; the tables read unpinned."""
        view, branch = look.view, claim.branch
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
        query, unpinned = staging.complete_query(self._engine, view, look.current, look.versions)
        return [storage_sql.write_storage(view, branch, query, storage_sql.ALL_ROWS)], unpinned

    def _not_published(
        self,
        look: Look,
        claim: Claim,
        refresh_id: str,
        request: Request,
        error: BaseException,
        seconds: float,
    ) -> None:
        """Close the history of a refresh; raise what ended it, or return to look again."""
        history, view = self._engine.history, look.view
        if not isinstance(error, Exception):
            history.cancelled(view, refresh_id, request, "cancelled by an interrupt", seconds)
            raise error
        by = self._engine.watch.cancelled_by(refresh_id)
        if by is not None and not isinstance(error, PublishRefused):
            text = f"cancelled by {by}"
            history.cancelled(view, refresh_id, request, text, seconds)
            self._engine.watch.check(view.name, refresh_id)
        reason = self._why_again(look, claim, error)
        failed = isinstance(error, FastRefreshFailed) and not _is_strict(look, request)
        if reason is None and failed:
            history.abandoned(view, refresh_id, reasons.fast_failed(cause_of(error)))
            raise error
        if reason is None:
            cause = cause_of(error)
            if isinstance(error, FastRefreshFailed):
                raise refresh_failed(
                    self._engine, view, request, cause, seconds, refresh_id, USE_COMPLETE
                ) from None
            raise refresh_failed(self._engine, view, request, cause, seconds, refresh_id) from None
        history.abandoned(view, refresh_id, reason)

    def _why_again(self, look: Look, claim: Claim, error: Exception) -> reasons.Reason | None:
        """What others did that may have made this fail, and makes another look worth while."""
        if isinstance(error, PublishRefused):
            return reasons.lost_race(error.problem)
        changed = self.has_changed(look)
        if changed is not None:
            return changed
        if self._has_moved(claim):
            return reasons.lost_race("another refresh was published first")
        if self._is_dropped(claim):
            return reasons.lost_race("its branch was dropped meanwhile")
        is_gone = any(text in str(error) for text in _VERSION_GONE)
        if is_gone and self._engine.observer.has_moved(look):
            return reasons.VERSION_GONE
        return None

    def has_changed(self, look: Look) -> reasons.Reason | None:
        """Why the view is not what was looked at any more, None if it is."""
        relations = self._engine.relations
        relations.forget()
        now = find_view(relations, look.view.name)
        if now is None:
            return reasons.DROPPED
        if now.storage != look.view.storage:
            return reasons.lost_race("its definition was changed meanwhile")
        if look.storage_exists and relations.lookup(now.storage) is None:
            return reasons.lost_race("its storage table was dropped")
        return None

    def _has_moved(self, claim: Claim) -> bool:
        """Whether main was moved, and our branch with it dropped."""
        try:
            chain = iceberg.main_chain(self._engine.executor, claim.storage, 1)
        except StatementFailed as error:
            return is_not_found(error)
        return not chain or chain[0].snapshot_id != claim.base

    def _is_dropped(self, claim: Claim) -> bool:
        try:
            return claim.branch not in iceberg.branches(self._engine.executor, claim.storage)
        except StatementFailed:
            return False


def _is_strict(look: Look, request: Request) -> bool:
    """Whether a refresh of one method is wanted or none at all."""
    asked = {request.method, look.view.options.refresh_method}
    return bool(asked & {FAST, PARTITION})
