"""Makes views: the first build, and every change of definition or layout.

The storage table is built aside, then one CREATE OR REPLACE VIEW makes it visible.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.versions import UNVERSIONED, Version
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import (
    MaterializedViewError,
    PublishRefused,
    RefreshFailed,
    StatementFailed,
)
from dbt.adapters.spark_mv.core.executor import SnapshotFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.planning.plan import RefreshPlan
from dbt.adapters.spark_mv.planning.request import SUCCEEDED, Outcome, Request
from dbt.adapters.spark_mv.refresh.registration import register
from dbt.adapters.spark_mv.refresh.services import Engine
from dbt.adapters.spark_mv.refresh.staging import Build, discard, make_storage
from dbt.adapters.spark_mv.refresh.swap import swap
from dbt.adapters.spark_mv.sql.names import TableName, use
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import Column, Definition, MaterializedView
from dbt.adapters.spark_mv.views.registry import find_view


class Builder:
    """Creates and replaces storage tables."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def with_columns(self, definition: Definition) -> Definition:
        """`definition` with the output columns that Spark reports now; comments are kept."""
        comments = {column.name: column.comment for column in definition.columns}
        home = definition.home
        with self._engine.executor.isolated(definition.settings) as session:
            session.query(use(home))
            rows = session.query(storage_sql.describe_query(definition.query))
        columns = tuple(Column(str(row[0]), str(row[1]), comments.get(str(row[0]))) for row in rows)
        return replace(definition, columns=columns)

    def build(self, build: Build) -> Outcome:
        """Make storage table and view, register them, record the refresh.

        Raises `RelationExists` if the view must be new and somebody else made it meanwhile,
        `PublishRefused` if the view or a base table has changed in a way that asks for another
        look, `RefreshFailed` with the cause if it cannot be built.
        """
        engine, view = self._engine, build.view
        engine.history.close_dead(view.name)
        label = Label(
            refresh_id=uuid.uuid4().hex,
            definition_hash=view.definition_hash,
            sources=build.versions,
            evaluated_at=time.time(),
            storage_schema_id=0,
            reduced=build.request.reduced,
            method=build.plan.method,
        )
        self._record_start(build, label)
        snapshot = self._make(build, label)
        commits = (snapshot,) if snapshot else ()
        seconds = time.time() - label.evaluated_at
        self.record_success(
            view, build.versions, build.plan, build.request, label, commits, seconds
        )
        rows = view.shown_rows(iceberg.live_rows(snapshot.summary) if snapshot else None)
        return Outcome(
            view.name, SUCCEEDED, build.plan.method, build.plan.reason.text, seconds, rows
        )

    def _record_start(self, build: Build, label: Label) -> None:
        self._engine.history.started(
            build.view,
            label.refresh_id,
            build.request,
            build.branch,
            build.plan.method,
            build.plan.reason,
            {},
            build.versions,
            aside=True,
        )

    def _make(self, build: Build, label: Label) -> SnapshotFacts | None:
        engine, view = self._engine, build.view
        try:
            reached("storage.before")
            make_storage(engine, view, label)
            reached("storage.after")
            swap(engine, build)
            reached("view.after")
            register(engine, view, build.expansion, build.replaced)
            reached("registered.after")
            return next(iter(iceberg.main_chain(engine.executor, view.storage, 1)), None)
        except PublishRefused as error:
            engine.history.abandoned(view, label.refresh_id, reasons.lost_race(error.problem))
            raise
        except MaterializedViewError as error:
            self._not_built(build, label, error)
            if not isinstance(error, StatementFailed):
                raise
            raise RefreshFailed(
                f"{view.name} could not be built: {error}",
                "Nothing was changed; correct the query or its base tables and run it again.",
            ) from None

    def _not_built(self, build: Build, label: Label, error: MaterializedViewError) -> None:
        view, history = build.view, self._engine.history
        seconds = round(time.time() - label.evaluated_at, 3)
        by = self._engine.watch.cancelled_by(label.refresh_id)
        if by is not None:
            text = f"cancelled by {by}"
            history.cancelled(view, label.refresh_id, build.request, text, seconds)
            self._engine.watch.check(view.name, label.refresh_id)
        history.failed(view, label.refresh_id, build.request, error.problem, seconds)

    def record_success(
        self,
        view: MaterializedView,
        versions: Mapping[TableName, Version],
        plan: RefreshPlan,
        request: Request,
        label: Label,
        commits: Sequence[SnapshotFacts],
        seconds: float,
    ) -> None:
        """Write REFRESH_SUCCEEDED and mark dependents; `commits` are newest first."""
        self._engine.history.succeeded(
            view,
            label.refresh_id,
            commits,
            trigger=request.trigger,
            method=plan.method,
            reason=str(plan.reason),
            seconds=round(seconds, 3),
            cost=plan.cost,
            to={str(name): str(version) for name, version in versions.items()},
            evaluated_ms=int(label.evaluated_at * 1000),
            watermark=self._watermark(versions, label),
            stale=label.reduced or any(v.kind == UNVERSIONED for v in versions.values()),
        )
        self._engine.memory.mark_dependents(view.name, "REFRESH")

    def _watermark(self, versions: Mapping[TableName, Version], label: Label) -> int:
        """Commit time in epoch milliseconds of the oldest base version read."""
        times = [int(label.evaluated_at * 1000)]
        for name, version in versions.items():
            if version.can_pin:
                chain = iceberg.main_chain(self._engine.executor, name, 20, version.snapshot_id)
                times += [s.committed_at for s in chain if s.snapshot_id == version.snapshot_id]
        return min(times)

    def drop_replaced(self, name: TableName) -> None:
        """Drop storage tables of earlier definitions; their readers have had time to end.

        Builds that have ended are in the view now, or never will be.
        """
        engine = self._engine
        ended = set(engine.memory.state().built.get(name.full, ()))
        if len(ended) < 2:
            return
        engine.relations.forget()
        now = find_view(engine.relations, name)
        if now is None:
            return
        for storage in sorted(ended - {now.storage}):
            discard(engine, storage)
            engine.history.storage_dropped(now.id, name, storage)
