"""Builds storage tables aside: the first build, and every change of definition or layout.

A storage table is created with its rows and label in one commit, then one CREATE OR REPLACE VIEW
makes it visible. What an interrupted build left is adopted if its label is right, else dropped.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import replace

from dbt.adapters.spark_mv import reasons
from dbt.adapters.spark_mv.base_tables import iceberg
from dbt.adapters.spark_mv.base_tables.versions import UNVERSIONED, Version
from dbt.adapters.spark_mv.errors import (
    MaterializedViewError,
    PublishRefused,
    RefreshFailed,
    StatementFailed,
)
from dbt.adapters.spark_mv.executor import SnapshotFacts, TableFacts
from dbt.adapters.spark_mv.failpoints import reached
from dbt.adapters.spark_mv.freshness import Label, read_label
from dbt.adapters.spark_mv.refresh import statements
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.look import Look
from dbt.adapters.spark_mv.refresh.pin import pinned_query
from dbt.adapters.spark_mv.refresh.plan import RefreshPlan
from dbt.adapters.spark_mv.refresh.registration import register
from dbt.adapters.spark_mv.refresh.request import ADOPTED, SUCCEEDED, Outcome, Request
from dbt.adapters.spark_mv.refresh.swap import swap
from dbt.adapters.spark_mv.sql.names import TableName, quote_parts
from dbt.adapters.spark_mv.views.definition import (
    Column,
    Definition,
    MaterializedView,
    storage_name,
)
from dbt.adapters.spark_mv.views.dependencies import Expansion

_LABEL_CONF = "spark.sql.iceberg.snapshot-property."
_ALREADY_EXISTS = ("TABLE_OR_VIEW_ALREADY_EXISTS", "AlreadyExists", "already exists")
_ATTEMPTS = 8


class Builder:
    """Creates and replaces storage tables."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def with_columns(self, definition: Definition) -> Definition:
        """`definition` with the output columns that Spark reports now; comments are kept."""
        comments = {column.name: column.comment for column in definition.columns}
        home = definition.home
        with self._engine.executor.isolated(definition.settings) as session:
            session.query(_use(home.catalog, home.namespace))
            rows = session.query(statements.describe_query(definition.query))
        columns = tuple(Column(str(row[0]), str(row[1]), comments.get(str(row[0]))) for row in rows)
        return replace(definition, columns=columns)

    def label_settings(self, label: Label) -> dict[str, str]:
        """Session settings under which a commit carries the label."""
        return {_LABEL_CONF + key: value for key, value in label.to_summary().items()}

    def rebuild(
        self, look: Look, definition: Definition, plan: RefreshPlan, request: Request
    ) -> Outcome:
        """The definition means something else now: build it aside and swap."""
        old = look.view
        name = storage_name(old.name, definition.hash, old.layout, old.options.tblproperties)
        view = replace(old, definition=definition, definition_hash=definition.hash, storage=name)
        if view.storage == old.storage and look.storage_exists:
            # Readers keep the old table until the swap, so this build needs a name of its own.
            view = replace(view, storage=old.name.sibling(f"{old.name.name}__mv_{_salt()}"))
        return self.build(view, look.expansion, look.versions, plan, request, replaced=old)

    def build(
        self,
        view: MaterializedView,
        expansion: Expansion,
        versions: Mapping[TableName, Version],
        plan: RefreshPlan,
        request: Request,
        replaced: MaterializedView | None,
        must_be_new: bool = False,
    ) -> Outcome:
        """Make storage table and view, register them, record the refresh.

        With `must_be_new` a view that somebody else made meanwhile is `RelationExists`.
        """
        label = self._new_label(view, versions, plan, request)
        self._engine.history.started(
            view, label.refresh_id, request, None, plan.method, plan.reason, {}, versions
        )
        known = self._engine.memory.state().views.get(view.name)
        if known is not None and view.storage in known.replaced:
            # A sweep would drop this table as replaced if it could not see who builds it again.
            self._engine.memory.flush()
        created = self._make(view, label, request, must_be_new)
        register(self._engine.memory, view, expansion, replaced)
        reached("registered.after")
        snapshot = next(iter(iceberg.main_chain(self._engine.executor, view.storage, 1)), None)
        seconds = time.time() - label.evaluated_at
        if not created:
            self._engine.history.abandoned(view, label.refresh_id, reasons.ADOPTED)
            return Outcome(view.name, ADOPTED, "none", reasons.ADOPTED.text, seconds)
        self.record_success(view, versions, plan, request, label, snapshot, seconds)
        rows = iceberg.summary_number(snapshot.summary, "total-records") if snapshot else None
        return Outcome(view.name, SUCCEEDED, plan.method, plan.reason.text, seconds, rows)

    def _new_label(
        self,
        view: MaterializedView,
        versions: Mapping[TableName, Version],
        plan: RefreshPlan,
        request: Request,
    ) -> Label:
        return Label(
            refresh_id=uuid.uuid4().hex,
            definition_hash=view.definition_hash,
            sources=versions,
            evaluated_at=time.time(),
            storage_schema_id=0,
            reduced=request.reduced,
            method=plan.method,
        )

    def _make(
        self,
        view: MaterializedView,
        label: Label,
        request: Request,
        must_be_new: bool,
    ) -> bool:
        try:
            reached("storage.before")
            created = self._create_storage(view, label)
            reached("storage.after")
            swap(self._engine, view, created, must_be_new)
            reached("view.after")
            return created
        except MaterializedViewError as error:
            self._not_built(view, label, request, error)
            if not isinstance(error, StatementFailed):
                raise
            raise RefreshFailed(
                f"{view.name} could not be built: {error}",
                "Nothing was changed; correct the query or its base tables and run it again.",
            ) from None

    def _not_built(
        self, view: MaterializedView, label: Label, request: Request, error: MaterializedViewError
    ) -> None:
        seconds = round(time.time() - label.evaluated_at, 3)
        by = self._engine.watch.cancelled_by(label.refresh_id)
        if by is not None:
            text = f"cancelled by {by}"
            self._engine.history.cancelled(view, label.refresh_id, request, text, seconds)
            self._engine.watch.check(view.name, label.refresh_id)
        self._engine.history.failed(view, label.refresh_id, request, error.problem, seconds)

    def moves(
        self, unpinned: tuple[TableName, ...], versions: Mapping[TableName, Version]
    ) -> dict[TableName, str]:
        """What tells whether an Iceberg table that is read unpinned has moved; its version does
        not, if it was rolled back meanwhile."""
        executor = self._engine.executor
        tables = [name for name in unpinned if versions[name].kind == iceberg.FORMAT]
        return {name: iceberg.moves(executor, name) for name in tables}

    def refuse_moved(
        self, view: TableName, moves: dict[TableName, str], versions: Mapping[TableName, Version]
    ) -> None:
        """Raise `PublishRefused` if a table that could not be pinned changed since `moves`."""
        if self._has_moved(moves, versions):
            raise PublishRefused(f"{view}: a base table changed while it was read.")

    def _create_storage(self, view: MaterializedView, label: Label) -> bool:
        """Create the storage table; False if a right one was there and is adopted."""
        engine = self._engine
        for _ in range(_ATTEMPTS):
            if self._adopt(view):
                return False
            query, unpinned = pinned_query(
                view.definition, label.sources, engine.executor, engine.relations, str(view.name)
            )
            settings = {**view.definition.settings, **self.label_settings(label)}
            moves = self.moves(unpinned, label.sources)
            try:
                with (
                    engine.executor.isolated(settings) as session,
                    engine.watch.over(session, label.refresh_id),
                ):
                    session.query(statements.create_storage(view, query))
                    if view.layout.cluster_by:
                        session.query(statements.order_storage(view))
                if not self._has_moved(moves, label.sources):
                    return True
                engine.executor.query(statements.drop_storage(view.storage))
            except StatementFailed as error:
                if not any(text in str(error) for text in _ALREADY_EXISTS):
                    raise
        raise StatementFailed(
            f"{view.storage} or its base tables are changed by others all the time."
        )

    def _has_moved(
        self, moves: dict[TableName, str], versions: Mapping[TableName, Version]
    ) -> bool:
        same = self._engine.versions.read(moves) == {name: versions[name] for name in moves}
        return not same or self.moves(tuple(moves), versions) != moves

    def _adopt(self, view: MaterializedView) -> bool:
        engine = self._engine
        if not isinstance(engine.relations.lookup(view.storage), TableFacts):
            return False
        label = read_label(iceberg.labelled_chain(engine.executor, view.storage))
        if label is not None and label.definition_hash == view.definition_hash:
            return not label.reduced
        engine.executor.query(statements.drop_storage(view.storage))
        return False

    def record_success(
        self,
        view: MaterializedView,
        versions: Mapping[TableName, Version],
        plan: RefreshPlan,
        request: Request,
        label: Label,
        snapshot: SnapshotFacts | None,
        seconds: float,
    ) -> None:
        """Write REFRESH_SUCCEEDED and mark dependents."""
        self._engine.history.succeeded(
            view,
            label.refresh_id,
            snapshot,
            trigger=request.trigger,
            method=plan.method,
            reason=str(plan.reason),
            seconds=round(seconds, 3),
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

    def drop_replaced(self, view: MaterializedView) -> None:
        """Drop storage tables of earlier definitions; their readers have had time to end."""
        known = self._engine.memory.view(view.name)
        if known is None or not known.replaced:
            return
        for storage in known.replaced:
            if storage != view.storage and self._engine.relations.lookup(storage) is not None:
                self._engine.executor.query(statements.drop_storage(storage))
        known.replaced = ()


def _salt() -> str:
    return uuid.uuid4().hex[:8]


def _use(catalog: str, namespace: tuple[str, ...]) -> str:
    return f"USE {quote_parts((catalog, *namespace))}"
