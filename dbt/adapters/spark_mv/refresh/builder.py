"""Makes views: the first build, and every change of definition or layout.

The storage table is a staging table, then one CREATE OR REPLACE VIEW makes it visible.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.versions import UNVERSIONED, Version
from dbt.adapters.spark_mv.core import clock, reasons
from dbt.adapters.spark_mv.core.errors import (
    MaterializedViewError,
    PublishRefused,
    RefreshFailed,
    StatementFailed,
)
from dbt.adapters.spark_mv.core.executor import SnapshotFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.planning.request import SUCCEEDED, Outcome
from dbt.adapters.spark_mv.refresh.history import versions_json
from dbt.adapters.spark_mv.refresh.live.dependents import renew_dependents
from dbt.adapters.spark_mv.refresh.live.live_views import not_renewed
from dbt.adapters.spark_mv.refresh.registration import register
from dbt.adapters.spark_mv.refresh.run import RefreshRun
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.staging import Build, discard, make_storage, with_expiry
from dbt.adapters.spark_mv.refresh.swap import swap
from dbt.adapters.spark_mv.sql.names import TableName, use
from dbt.adapters.spark_mv.state.freshness import Label, times_of
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import Column, Definition, MaterializedView
from dbt.adapters.spark_mv.views.registry import find_view


class Builder:
    """Creates and replaces storage tables."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def with_columns(self, definition: Definition) -> Definition:
        """`definition` with the output columns that Spark reports now; comments are kept."""
        comments = {column.name: column.comment for column in definition.columns}
        home = definition.home
        with self._services.executor.isolated(definition.settings) as session:
            session.query(use(home))
            rows = session.query(storage_sql.describe_query(definition.query))
        columns = tuple(Column(str(row[0]), str(row[1]), comments.get(str(row[0]))) for row in rows)
        return replace(definition, columns=columns)

    def build(self, build: Build) -> Outcome:
        """Make storage table and view, register them, record the refresh.

        Raises `RelationExists` if the view must be new and somebody else has made it,
        `PublishRefused` if the view or a base table has changed in a way that asks for another
        observation, `RefreshFailed` with the cause if it cannot be built.
        """
        services, view = self._services, build.view
        services.history.close_dead(view.name)
        label = Label(
            refresh_id=uuid.uuid4().hex,
            definition_hash=view.definition_hash,
            sources=build.versions,
            evaluated_at=build.instant,
            storage_schema_id=0,
            reduced=build.request.reduced,
            method=build.plan.method,
            declared_types=build.expansion.declared_types,
        )
        run = RefreshRun(view, build.request, build.plan, label, build.branch, {}, in_staging=True)
        run = services.history.started(run)
        run = replace(run, label=self._with_expiry(run))
        run, snapshot = self._make(build, run)
        outcome = self.record_success(run, (snapshot,) if snapshot else ())
        if build.replaced is not None:
            renew_dependents(services, view.name)
        return outcome

    def _with_expiry(self, run: RefreshRun) -> Label:
        try:
            label = with_expiry(self._services, run.view, run.view.definition, run.label)
        except MaterializedViewError as error:
            self._not_built(run, error)
            raise
        if label.expiry is not None and label.expiry.is_at_once:
            reason = label.expiry.reason
            self._services.warn(f"{run.view.name}: {reason.text} ({reason.code}). {reason.way_out}")
        return label

    def _make(self, build: Build, run: RefreshRun) -> tuple[RefreshRun, SnapshotFacts | None]:
        services, view = self._services, build.view
        is_visible = False
        try:
            reached("storage.before")
            run = replace(run, label=make_storage(services, view, run.label))
            reached("storage.after")
            self._replace_live(build)
            swap(services, build)
            is_visible = True
            reached("view.after")
            register(services.resolver, services.log, view, build.expansion, build.replaced)
            reached("registered.after")
            return run, next(iter(iceberg.main_chain(services.executor, view.storage, 1)), None)
        except PublishRefused as error:
            services.history.abandoned(run, reasons.lost_race(error.problem))
            raise
        except MaterializedViewError as error:
            self._not_built(run, error)
            if not isinstance(error, StatementFailed):
                raise
            raise RefreshFailed(
                f"{view.name} could not be built: {error.problem}",
                "The view has its new rows; run its model again, or `rebuild_metadata`."
                if is_visible
                else "Nothing was changed; correct the query or its base tables and run it again.",
            ) from None

    def _not_built(self, run: RefreshRun, error: MaterializedViewError) -> None:
        self._services.watch.end(run)
        self._services.history.failed(run.view, run.request, error.problem, run)

    def record_success(
        self, run: RefreshRun, commits: Sequence[SnapshotFacts], **details: int
    ) -> Outcome:
        """Write REFRESH_SUCCEEDED and mark dependents; `commits` are newest first, and `details`
        are what they do not say."""
        view, plan, label, versions = run.view, run.plan, run.label, run.label.sources
        seconds = run.seconds()
        self._services.history.succeeded(
            view,
            run.id,
            commits,
            trigger=run.request.trigger,
            method=plan.method,
            reason=str(plan.reason),
            seconds=seconds,
            cost=plan.cost,
            to=versions_json(versions),
            **{
                **times_of(label),
                "watermark": self._watermark(versions, label),
                "stale": label.reduced
                or run.request.as_of is not None
                or any(version.kind == UNVERSIONED for version in versions.values()),
                **details,
            },
        )
        self._services.log.mark_dependents(view.name, "REFRESH")
        self._renew_live(view)
        rows = view.shown_rows(iceberg.live_rows(commits[0].summary) if commits else None)
        return Outcome(view.name, SUCCEEDED, plan.method, plan.reason.text, seconds, rows)

    def _replace_live(self, build: Build) -> None:
        """The live view of another definition would be right about that one for ever."""
        replaced, view = build.replaced, build.view
        if replaced is None or not replaced.options.live:
            return
        if not view.options.live:
            self._services.live.drop(replaced)
        elif view.definition_hash != replaced.definition_hash:
            self._services.live.run_query(view)

    def _renew_live(self, view: MaterializedView) -> None:
        """The rows are there, whatever becomes of the live view: with its old text it is right."""
        if not view.options.live:
            return
        try:
            self._services.live.renew(view)
        except MaterializedViewError as error:
            self._services.warn(not_renewed(view.name, error))

    def _watermark(self, versions: Mapping[TableName, Version], label: Label) -> int:
        """Commit time in epoch milliseconds of the oldest base version read."""
        times = [int(label.evaluated_at * 1000)]
        for name, version in versions.items():
            if version.can_pin:
                chain = iceberg.main_chain(self._services.executor, name, 20, version.snapshot_id)
                times += [s.committed_at for s in chain if s.snapshot_id == version.snapshot_id]
        return min(times)

    def drop_replaced(self, name: TableName) -> None:
        """Drop storage tables of earlier definitions whose readers have had time to end: as long as
        a refresh may take.

        Builds that have ended are in the view now, or never will be.
        """
        services = self._services
        ended = services.log.state().built.get(name.full, {})
        left = replaced_before(ended, clock.now_us() - round(services.timeout * 1e6))
        if not left:
            return
        services.resolver.forget()
        now = find_view(services.resolver, name)
        if now is None:
            return
        for storage in sorted(left - {now.storage}):
            discard(services.executor, storage)
            services.history.storage_dropped(now.id, name, storage)


def replaced_before(ended: Mapping[TableName, int], until_us: int) -> set[TableName]:
    """The staging tables of builds after which another one had succeeded by a time, in epoch
    microseconds; `ended` says when each did, 0 if it did not.

    >>> sorted(replaced_before({"a": 10, "b": 20, "failed": 0, "c": 30}, until_us=25))
    ['a', 'failed']
    """
    newest = max((at for at in ended.values() if at <= until_us), default=0)
    return {storage for storage, at in ended.items() if at < newest}
