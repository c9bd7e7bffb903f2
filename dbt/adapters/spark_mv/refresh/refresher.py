"""Refreshes one view: looks, claims, builds in the way that is called for; again if it lost."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import (
    FastRefreshFailed,
    MethodNotAvailable,
    PublishRefused,
    RefreshFailed,
    StatementFailed,
    UnknownMaterializedView,
    UnsafeQuery,
)
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.planning.inputs import OTHER_LAYOUT
from dbt.adapters.spark_mv.planning.plan import AUTO, CompleteRefresh, NoRefresh, RefreshPlan
from dbt.adapters.spark_mv.planning.request import SKIPPED, Outcome, Request
from dbt.adapters.spark_mv.refresh.branch_writer import Overwriter
from dbt.adapters.spark_mv.refresh.builder import Builder
from dbt.adapters.spark_mv.refresh.failures import other_is_running, refresh_failed, was_dropped
from dbt.adapters.spark_mv.refresh.lock import Busy, Claim
from dbt.adapters.spark_mv.refresh.services import Engine
from dbt.adapters.spark_mv.refresh.staging import Build
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.observation import Group, Look
from dbt.adapters.spark_mv.views.definition import Definition, MaterializedView, new_storage
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.safety import refuse_unsafe

_ATTEMPTS = 20
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 1.0


class Refresher:
    """Refreshes single views; upstream views are the business of `read.Reader`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._builder = Builder(engine)
        self._overwriter = Overwriter(engine, self._builder)

    def refresh(self, name: TableName, request: Request, group: Group | None = None) -> Outcome:
        """Refresh `name` if it needs it.

        Raises `RefreshRunning` if another refresh is running and the request does not wait,
        `RefreshFailed` with the cause if it cannot be refreshed; rows are then as they were.
        """
        lock = self._engine.lock_of(name)
        if not lock.acquire(blocking=request.wait):
            raise other_is_running(name, None)
        try:
            for attempt in range(_ATTEMPTS):
                with self._engine.relations.remembered():
                    view = self._load(name, attempt)
                    try:
                        outcome = self._attempt(view, request, group)
                    except FastRefreshFailed as error:
                        # Rows that cannot be kept up to date by what changed are computed anew.
                        reason = reasons.fast_failed(error.problem)
                        request, outcome = replace(request, avoid_fast=reason), None
                if outcome is not None:
                    return outcome
                group = None
        finally:
            lock.release()
        raise RefreshFailed(
            f"{name} could not be refreshed: others were faster, {_ATTEMPTS} times in a row.",
            "Try again, or see `dbt run-operation history` for who refreshes it.",
        )

    def _load(self, name: TableName, attempt: int) -> MaterializedView:
        try:
            return load_view(self._engine.relations, name)
        except UnknownMaterializedView:
            if not attempt:
                raise
            raise was_dropped(name) from None

    def _attempt(
        self, view: MaterializedView, request: Request, group: Group | None
    ) -> Outcome | None:
        look = self._engine.observer.look(view, group)
        if look.verdict.missing:
            raise refresh_failed(self._engine, view, request, str(look.verdict.reason.text))
        if view.reduced:
            raise refresh_failed(self._engine, view, request, reasons.REDUCED_RUN.text)
        try:
            plan = self._engine.planner.plan(look, request)
        except MethodNotAvailable as error:
            if request.method != AUTO:
                raise
            # Nobody asked for this refresh by its method, so it counts as one that failed.
            raise refresh_failed(self._engine, view, request, error.problem) from None
        if isinstance(plan, NoRefresh):
            return self._skip(look, plan, request)
        # A damaged row of the metadata is named before anything is done.
        self._engine.memory.view(view.name)
        try:
            self._refuse_unsafe(look)
            current = self._builder.with_columns(look.current)
            return self._claim_and_build(look, current, plan, request)
        except (StatementFailed, UnsafeQuery) as error:
            if self._overwriter.has_changed(look):
                return None
            raise refresh_failed(self._engine, view, request, error.problem) from None

    def _refuse_unsafe(self, look: Look) -> None:
        """A view below may run code that it did not run when this one was created, and this one
        may have been created by a profile that allows it."""
        if not self._engine.allow_unsafe_sql:
            for text in (look.current.query, *look.current.views.values()):
                refuse_unsafe(text, str(look.view.name))

    def _claim_and_build(
        self, look: Look, current: Definition, plan: RefreshPlan, request: Request
    ) -> Outcome | None:
        if look.head is None:
            return self._rebuild(look, current, plan, None, request)
        reached("claim.before")
        claim = self._engine.claims.claim(look.view.storage, look.head.snapshot_id)
        if isinstance(claim, Busy):
            if not request.wait:
                raise other_is_running(look.view.name, claim)
            self._wait_for(look.view, look.head.snapshot_id)
            return None
        return self._claimed(look, current, plan, claim, request)

    def _claimed(
        self, look: Look, current: Definition, plan: RefreshPlan, claim: Claim, request: Request
    ) -> Outcome | None:
        published: Outcome | None = None
        try:
            reached("claim.after")
            if self._means_something_else(look, current, plan):
                return self._rebuild(look, current, plan, claim, request)
            published = self._overwriter.run(look, plan, claim, request)
            return published
        finally:
            if published is None:
                self._engine.claims.release(claim)

    def _means_something_else(self, look: Look, current: Definition, plan: RefreshPlan) -> bool:
        if isinstance(plan, CompleteRefresh):
            if plan.why_not_fast == OTHER_LAYOUT:
                return True
            hidden = look.view.hidden
            if hidden and self._engine.analyst.hidden(current, look.view) != hidden:
                return True
        altered = look.verdict.reason == reasons.STORAGE_ALTERED
        # Without a label nobody says which schema it had; that of a new table is 0.
        altered = altered or (look.label is None and look.storage_schema_id not in (None, 0))
        return altered or current.hash != look.view.definition_hash

    def _rebuild(
        self,
        look: Look,
        current: Definition,
        plan: RefreshPlan,
        claim: Claim | None,
        request: Request,
    ) -> Outcome | None:
        build = Build(
            replace(
                look.view,
                definition=current,
                definition_hash=current.hash,
                hidden=self._engine.analyst.hidden(current, look.view),
                answers=self._engine.analyst.answers(current),
                storage=new_storage(look.view.name),
            ),
            look.expansion,
            look.versions,
            plan,
            request,
            replaced=look.view,
            branch=claim.branch if claim else None,
            only_if_unchanged=True,
        )
        try:
            return self._builder.build(build)
        except PublishRefused:
            return None

    def _skip(self, look: Look, plan: NoRefresh, request: Request) -> Outcome:
        known = self._engine.memory.view(look.view.name)
        if request.explicit or (known is not None and known.is_stale):
            self._engine.history.skipped(look.view, uuid.uuid4().hex, request, plan.reason)
        rows = look.view.shown_rows(iceberg.live_rows(look.head.summary) if look.head else None)
        return Outcome(look.view.name, SKIPPED, "none", plan.reason.text, rows=rows or None)

    def _wait_for(self, view: MaterializedView, base: str) -> None:
        """Until main has moved, or the owner of the claim has given up or died."""
        # Whoever is over its time by then is taken over, which the last look has to see.
        longest = self._engine.timeout + 2 * _LONGEST_WAIT
        pause, deadline = _FIRST_WAIT, time.monotonic() + longest
        while time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_WAIT)
            chain = iceberg.main_chain(self._engine.executor, view.storage, 1)
            if not chain or chain[0].snapshot_id != base:
                return
            if not self._engine.claims.is_held(view.storage, base):
                return
        raise other_is_running(view.name, None)
