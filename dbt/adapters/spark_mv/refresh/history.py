"""Writes the life of each refresh into the metadata, and closes what crashes left open."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.config.schedule import CronTimes, schedule_json
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, SnapshotFacts
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import Event, new_event
from dbt.adapters.spark_mv.metadata.expiries import first_expiry
from dbt.adapters.spark_mv.metadata.invalidations import NamedRows, covering, replacing
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.payloads import name_of
from dbt.adapters.spark_mv.planning.plan import COMPLETE, KeyRefresh
from dbt.adapters.spark_mv.planning.request import AUTOMATIC, SCHEDULE, Request
from dbt.adapters.spark_mv.refresh.lock_owner import owner_is_dead, owner_is_gone, process_start
from dbt.adapters.spark_mv.refresh.run import RefreshRun
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import LABEL_ID, read_label, times_of
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.recognition import storage_of

Versions = Mapping[TableName, Version]
# What the start of a refresh says that its end repeats.
_OF_START = ("method", "reason", "to", "covers_us", "trigger", "automatic")


def versions_json(versions: Versions) -> dict[str, str]:
    """Versions as the history shows them."""
    return {str(name): str(version) for name, version in versions.items()}


class History:
    """Records refreshes of one command."""

    def __init__(
        self, log: MetadataLog, executor: Executor, resolver: Resolver, timeout: float
    ) -> None:
        self._log = log
        self._executor = executor
        self._resolver = resolver
        self._timeout = timeout
        # Ids of views that have failed in this command: its readers would all count one cause.
        self._failed: set[str] = set()

    def _record(self, kind: str, view: MaterializedView, refresh_id: str, **payload: Any) -> None:
        by, name = self._log.invocation_id, view.name.full
        event = new_event(
            kind, view.id, name, invocation_id=by, refresh_id=refresh_id, payload=payload
        )
        is_end = kind != kinds.REFRESH_STARTED and payload.get("trigger") == SCHEDULE
        if is_end and isinstance(view.schedule, CronTimes):
            schedule = schedule_json(view.schedule, event.at)
            event = replace(event, payload={**payload, "schedule": schedule})
        self._log.record(event)

    def started(self, run: RefreshRun) -> RefreshRun:
        """A refresh begins to write: to its branch, or to a staging table. Returns it with a label
        that says since when its rows are trusted."""
        covered = self._covered_by(run)
        self._record(
            kinds.REFRESH_STARTED,
            run.view,
            run.id,
            **_who(run.view, run.request),
            method=run.plan.method,
            reason=str(run.plan.reason),
            estimate=run.plan.estimated,
            branch=run.branch,
            storage=list(run.view.storage.parts),
            aside=run.in_staging,
            **covered,
            **{"from": versions_json(run.stored), "to": versions_json(run.label.sources)},
        )
        since = run.id if covered else self._trusted_since(run)
        return replace(run, label=replace(run.label, trusted_since=since))

    def succeeded(
        self,
        view: MaterializedView,
        refresh_id: str,
        commits: Sequence[SnapshotFacts],
        **details: Any,
    ) -> None:
        """A build was published; counts come from the summaries of its commits, newest first,
        where `details` do not have them."""
        newest = commits[0].summary if commits else {}

        def count(*keys: str) -> int:
            found = (iceberg.summary_number(one.summary, key) for one in commits for key in keys)
            return sum(number or 0 for number in found)

        self._record(
            kinds.REFRESH_SUCCEEDED,
            view,
            refresh_id,
            **{
                "rows": view.shown_rows(iceberg.live_rows(newest)),
                "bytes": iceberg.summary_number(newest, "total-files-size"),
                "rows_inserted": count("added-records"),
                "rows_updated": 0,
                "rows_deleted": count("deleted-records", "added-position-deletes"),
                "snapshot_id": commits[0].snapshot_id if commits else None,
                **self._answered(refresh_id),
                **details,
                "expires_us": first_expiry(self._log.state(), view.name, details["expires_us"]),
            },
        )

    def _answered(self, refresh_id: str) -> dict[str, Any]:
        """For the views of the metadata, which compare times."""
        started = self._log.state().started.get(refresh_id)
        until = started.payload.get("covers_us") if started is not None else None
        return {} if until is None else {"covers_us": until}

    def skipped(self, view: MaterializedView, request: Request, reason: Reason) -> None:
        """There was nothing to do."""
        self._record(
            kinds.REFRESH_SKIPPED,
            view,
            uuid.uuid4().hex,
            **_who(view, request),
            method="none",
            reason=str(reason),
            seconds=0.0,
            stale=False,
        )

    def failed(
        self, view: MaterializedView, request: Request, error: str, run: RefreshRun | None = None
    ) -> None:
        """A refresh ended without a build, as `run` or before it was one. Of the failures of one
        view in one command one counts towards suspension."""
        counts = request.trigger in AUTOMATIC and view.id not in self._failed
        if counts:
            self._failed.add(view.id)
        self._record(
            kinds.REFRESH_FAILED,
            view,
            run.id if run else uuid.uuid4().hex,
            **{**_who(view, request), "automatic": counts},
            error=error[: kinds.MAX_ERROR_LENGTH],
            seconds=run.seconds() if run else 0.0,
            stale=True,
        )
        known = self._log.state().views.get(view.name)
        limit = view.options.suspend_after_failures
        if known is not None and known.suspended is None and known.failures >= limit:
            self.suspended(view.id, view.name, f"{known.failures} failures in a row")

    def suspended(self, view_id: str, name: TableName, by: str) -> None:
        """The view is not refreshed automatically from now on."""
        self._say(kinds.SUSPENDED, view_id, name, by=by)

    def resumed(self, view_id: str, name: TableName, by: str) -> None:
        """The view is refreshed automatically again; failures are counted from zero."""
        self._say(kinds.RESUMED, view_id, name, by=by)

    def invalidated(self, view_id: str, name: TableName, by: str, rows: NamedRows) -> None:
        """Stored rows count as wrong until a refresh that begins after this has ended."""
        more = replacing(self._unanswered(view_id), rows)
        self._say(kinds.INVALIDATED, view_id, name, by=by, what=rows.what, stale=True, **more)

    def _covered_by(self, run: RefreshRun) -> dict[str, Any]:
        """Invalidations that were there before anything was read; a refresh of keys answers those
        that it was planned by, one that computes every row again all."""
        if isinstance(run.plan, KeyRefresh) and run.plan.untrusted is not None:
            return run.plan.untrusted.covered
        return covering(self._unanswered(run.view.id)) if run.plan.method == COMPLETE else {}

    def _unanswered(self, view_id: str) -> list[Event]:
        known = self._log.state().of_id(view_id)
        return list(known.invalidations.values()) if known is not None else []

    def _trusted_since(self, run: RefreshRun) -> str | None:
        """Rows that are not computed again are trusted as before."""
        known = self._log.state().of_id(run.view.id)
        if run.plan.method != COMPLETE or known is None or known.answered is None:
            return run.label.trusted_since
        return known.answered.refresh_id

    def _say(self, kind: str, view_id: str, name: TableName, **payload: Any) -> None:
        by_id = self._log.invocation_id
        self._log.record(new_event(kind, view_id, name.full, invocation_id=by_id, payload=payload))

    def storage_dropped(self, view_id: str, name: TableName, storage: TableName) -> None:
        """A storage table that no view reads is gone."""
        self._say(kinds.STORAGE_DROPPED, view_id, name, storage=list(storage.parts))

    def ask_to_cancel(self, started: Event, by: str) -> None:
        """Leave a request that the refresh which recorded `started` finds."""
        self._log.record(
            new_event(
                kinds.CANCEL_REQUESTED,
                started.view_id,
                started.view_name,
                invocation_id=self._log.invocation_id,
                refresh_id=started.refresh_id,
                payload={"by": by},
            )
        )

    def cancelled(self, run: RefreshRun, error: str) -> None:
        """A refresh was ended by somebody; the build is discarded, the flag stays as it was."""
        self._record(
            kinds.REFRESH_CANCELLED,
            run.view,
            run.id,
            **_who(run.view, run.request),
            error=error,
            seconds=run.seconds(),
        )

    def cancel_request(self, refresh_id: str) -> Event | None:
        """Who asks for this refresh to end; reads what other processes have written."""
        self._log.reload_if_moved()
        return self._log.state().cancels.get(refresh_id)

    def abandoned(self, run: RefreshRun, reason: Reason) -> None:
        """A build was discarded, or found to be unnecessary."""
        self._record(kinds.REFRESH_ABANDONED, run.view, run.id, reason=str(reason))

    def close_dead(self, name: TableName | None = None) -> None:
        """Close RUNNING rows whose owner is gone: SUCCEEDED if the build can be read."""
        state = self._log.state()
        for refresh_id, event in list(state.running.items()):
            view = state.of_id(event.view_id)
            if (name is not None and (view is None or view.name != name)) or not owner_is_dead(
                event, self._timeout
            ):
                continue
            snapshot = self._published(event, refresh_id)
            ended = kinds.REFRESH_SUCCEEDED if snapshot else kinds.REFRESH_ABANDONED
            payload: dict[str, Any] = {"reason": str(_end_of(event))}
            if snapshot:
                payload = {
                    **{key: event.payload.get(key) for key in _OF_START},
                    **times_of(read_label([snapshot])),
                    "rows": iceberg.live_rows(snapshot.summary),
                    "stale": False,
                }
            payload["presumed"] = not owner_is_gone(event)
            self._log.record(
                new_event(
                    ended,
                    event.view_id,
                    event.view_name,
                    refresh_id=refresh_id,
                    invocation_id=event.invocation_id,
                    payload=payload,
                )
            )

    def _published(self, event: Event, refresh_id: str) -> SnapshotFacts | None:
        storage = name_of({"parts": event.payload.get("storage")})
        if storage is None:
            return None
        try:
            if event.payload.get("aside") and not self._is_read(storage, event):
                return None
            chain = iceberg.main_chain(self._executor, storage)
        except StatementFailed:
            return None
        return next((s for s in chain if s.summary.get(LABEL_ID) == refresh_id), None)

    def _is_read(self, storage: TableName, event: Event) -> bool:
        name = storage.sibling(str(event.payload.get("table_name")))
        facts = self._resolver.lookup(name)
        return facts is not None and storage_of(name, facts) == storage


def _end_of(event: Event) -> Reason:
    return reasons.OWNER_GONE if owner_is_gone(event) else reasons.OVER_TIME


def _who(view: MaterializedView, request: Request) -> dict[str, Any]:
    return {
        "table_catalog": view.name.catalog,
        "table_schema": view.name.schema,
        "table_name": view.name.name,
        "trigger": request.trigger,
        "automatic": request.trigger in AUTOMATIC,
        "requested_method": request.method,
        "started_us": time.time_ns() // 1000,
        "owner_host": kinds.host(),
        "owner_pid": os.getpid(),
        "owner_started": process_start(os.getpid()),
    }
