"""Runs one refresh: claim, write to a branch, publish by one compare-and-swap.

The steps, and why a crash after any of them leaves readers with whole and honest rows, are drawn
in docs/architecture.md.
"""

from __future__ import annotations

import time
import uuid

from dbt.adapters.spark_mv import reasons
from dbt.adapters.spark_mv.base_tables import iceberg
from dbt.adapters.spark_mv.errors import (
    MaterializedViewError,
    PublishRefused,
    RefreshFailed,
    RefreshRunning,
    StatementFailed,
    UnsafeQuery,
)
from dbt.adapters.spark_mv.executor import SnapshotFacts
from dbt.adapters.spark_mv.failpoints import reached
from dbt.adapters.spark_mv.freshness import Label
from dbt.adapters.spark_mv.refresh import statements
from dbt.adapters.spark_mv.refresh.build import Builder
from dbt.adapters.spark_mv.refresh.claim import Busy, Claim
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.look import Group, Look
from dbt.adapters.spark_mv.refresh.pin import pinned_query
from dbt.adapters.spark_mv.refresh.plan import NoRefresh, RefreshPlan, plan_refresh
from dbt.adapters.spark_mv.refresh.publish import publish
from dbt.adapters.spark_mv.refresh.request import ADOPTED, SKIPPED, SUCCEEDED, Outcome, Request
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.safety import refuse_unsafe, volatile_functions

_ATTEMPTS = 20
_VERSION_GONE = "Cannot find snapshot"
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 1.0


class Refresher:
    """Refreshes single views; upstream views are the business of `read.Reader`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._builder = Builder(engine)

    def refresh(self, name: TableName, request: Request, group: Group | None = None) -> Outcome:
        """Refresh `name` if it needs it.

        Raises `RefreshRunning` if another refresh is running and the request does not wait,
        `RefreshFailed` with the cause if it cannot be refreshed; rows are then as they were.
        """
        lock = self._engine.lock_of(name)
        if not lock.acquire(blocking=request.wait):
            raise _running(name, None)
        try:
            for _ in range(_ATTEMPTS):
                with self._engine.relations.remembered():
                    view = load_view(self._engine.relations, name)
                    outcome = self._attempt(view, request, group)
                if outcome is not None:
                    return outcome
                group = None
        finally:
            lock.release()
        raise RefreshFailed(
            f"{name} could not be refreshed: other refreshes were published first, "
            f"{_ATTEMPTS} times in a row.",
            "Try again, or see `dbt run-operation history` for who refreshes it.",
        )

    def plan(self, look: Look, request: Request) -> RefreshPlan:
        """What `request` would do now, with its reason."""
        texts = [look.view.definition.query, *look.current.views.values()]
        volatile = tuple(dict.fromkeys(f for text in texts for f in volatile_functions(text)))
        return plan_refresh(
            str(look.view.name), look.verdict, request.method, volatile, request.explicit
        )

    def _attempt(
        self, view: MaterializedView, request: Request, group: Group | None
    ) -> Outcome | None:
        look = self._engine.observer.look(view, group)
        if look.verdict.missing:
            raise self._failed(view, request, str(look.verdict.reason.text), 0.0)
        if view.reduced:
            raise self._failed(view, request, reasons.REDUCED_RUN.text, 0.0)
        plan = self.plan(look, request)
        if isinstance(plan, NoRefresh):
            return self._skip(look, plan, request)
        try:
            # A view below may run code that it did not run when this one was created.
            for text in look.current.views.values() if not view.options.allow_unsafe_sql else ():
                refuse_unsafe(text, str(view.name))
            current = self._builder.with_columns(look.current)
        except (StatementFailed, UnsafeQuery) as error:
            raise self._failed(view, request, error.problem, 0.0) from None
        altered = look.verdict.reason == reasons.STORAGE_ALTERED
        if altered or current.hash != view.definition_hash or look.head is None:
            outcome = self._builder.rebuild(look, current, plan, request)
            return None if outcome.state == ADOPTED else outcome
        reached("claim.before")
        claim = self._engine.claims.claim(view.storage, look.head.snapshot_id)
        if isinstance(claim, Busy):
            if not request.wait:
                raise _running(view.name, claim)
            self._wait_for(view, look.head.snapshot_id)
            return None
        reached("claim.after")
        return self._run(look, plan, claim, request)

    def _skip(self, look: Look, plan: NoRefresh, request: Request) -> Outcome:
        known = self._engine.memory.view(look.view.name)
        if request.explicit or (known is not None and known.is_stale):
            self._engine.history.skipped(look.view, uuid.uuid4().hex, request, plan.reason)
        rows = look.head and iceberg.summary_number(look.head.summary, "total-records")
        return Outcome(look.view.name, SKIPPED, "none", plan.reason.text, rows=rows or None)

    def _run(self, look: Look, plan: RefreshPlan, claim: Claim, request: Request) -> Outcome | None:
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
        old = look.label.sources if look.label else {}
        self._engine.history.started(
            view,
            label.refresh_id,
            request,
            claim.branch,
            plan.method,
            plan.reason,
            old,
            look.versions,
        )
        reached("started.after")
        try:
            snapshot = self._write_and_publish(look, claim, label)
        except BaseException as error:
            self._engine.claims.release(claim)
            seconds = round(time.monotonic() - began, 3)
            self._not_published(look, claim, label.refresh_id, request, error, seconds)
            return None
        seconds = time.monotonic() - began
        return self._finish(look, plan, request, label, snapshot, seconds)

    def _not_published(
        self,
        look: Look,
        claim: Claim,
        refresh_id: str,
        request: Request,
        error: BaseException,
        seconds: float,
    ) -> None:
        """Close the history of a refresh; raise what ended it, or return to try again."""
        history, view = self._engine.history, look.view
        if not isinstance(error, Exception):
            history.cancelled(view, refresh_id, request, "cancelled by an interrupt", seconds)
            raise error
        by = self._engine.watch.cancelled_by(refresh_id)
        if by is not None and not isinstance(error, PublishRefused):
            text = f"cancelled by {by}"
            history.cancelled(view, refresh_id, request, text, seconds)
            self._engine.watch.check(view.name, refresh_id)
        if isinstance(error, PublishRefused) or self._is_overtaken(claim):
            history.abandoned(view, refresh_id, reasons.LOST_RACE)
        elif _VERSION_GONE in str(error) and self._engine.observer.has_moved(look):
            history.abandoned(view, refresh_id, reasons.VERSION_GONE)
        else:
            raise self._failed(view, request, _cause(error), seconds, refresh_id) from None

    def _is_overtaken(self, claim: Claim) -> bool:
        """Whether another refresh was published meanwhile: it has dropped our branch, so whatever
        failed here may have failed because of that."""
        try:
            chain = iceberg.main_chain(self._engine.executor, claim.storage, 1)
        except StatementFailed:
            return False
        return bool(chain) and chain[0].snapshot_id != claim.base

    def _write_and_publish(self, look: Look, claim: Claim, label: Label) -> SnapshotFacts:
        engine, view = self._engine, look.view
        query, unpinned = pinned_query(
            look.current, look.versions, engine.executor, engine.relations, str(view.name)
        )
        settings = {
            **view.definition.settings,
            **self._builder.label_settings(label),
        }
        engine.watch.check(view.name, label.refresh_id)
        moves = self._builder.moves(unpinned, look.versions)
        reached("write.before")
        with (
            engine.executor.isolated(settings) as session,
            engine.watch.over(session, label.refresh_id),
        ):
            session.query(statements.overwrite_storage(view, claim.branch, query))
        reached("write.after")
        self._builder.refuse_moved(view.name, moves, look.versions)
        engine.watch.check(view.name, label.refresh_id)
        return publish(engine.executor, claim, label.refresh_id)

    def _finish(
        self,
        look: Look,
        plan: RefreshPlan,
        request: Request,
        label: Label,
        snapshot: SnapshotFacts,
        seconds: float,
    ) -> Outcome:
        view = look.view
        self._builder.record_success(view, look.versions, plan, request, label, snapshot, seconds)
        reached("recorded.after")
        self._builder.drop_replaced(view)
        rows = iceberg.summary_number(snapshot.summary, "total-records")
        return Outcome(view.name, SUCCEEDED, plan.method, plan.reason.text, seconds, rows)

    def _wait_for(self, view: MaterializedView, base: str) -> None:
        """Until main has moved, or the owner of the claim has given up or died."""
        pause, deadline = _FIRST_WAIT, time.monotonic() + self._engine.timeout
        while time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_WAIT)
            chain = iceberg.main_chain(self._engine.executor, view.storage, 1)
            if not chain or chain[0].snapshot_id != base:
                return
            if not self._engine.claims.is_held(view.storage, base):
                return
        raise _running(view.name, None)

    def _failed(
        self,
        view: MaterializedView,
        request: Request,
        cause: str,
        seconds: float,
        refresh_id: str | None = None,
    ) -> RefreshFailed:
        self._engine.history.failed(view, refresh_id or uuid.uuid4().hex, request, cause, seconds)
        return RefreshFailed(
            f"{view.name} could not be refreshed: {cause}",
            "Its old rows are unchanged; remove the cause, then read or refresh it again.",
        )


def _cause(error: BaseException) -> str:
    if isinstance(error, MaterializedViewError):
        return error.problem
    return str(error) or type(error).__name__


def _running(name: TableName, busy: Busy | None) -> RefreshRunning:
    owner = busy.owner if busy else None
    who = "by this process"
    if owner is not None:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(owner.at / 1e6))
        payload = owner.payload
        who = f"by process {payload.get('owner_pid')} on {payload.get('owner_host')} since {since}"
    elif busy is not None:
        who = "by another process"
    return RefreshRunning(
        f"{name}: another refresh is running, {who}.",
        "Wait for it (`wait: true`), or try again later.",
    )
