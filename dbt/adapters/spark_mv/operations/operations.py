"""The operations behind `dbt run-operation`; each returns a `Report`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from dbt.adapters.spark_mv.answers import MaterializedViewVerbs
from dbt.adapters.spark_mv.errors import MaterializedViewError, UnknownMaterializedView
from dbt.adapters.spark_mv.metadata.fold import ViewState
from dbt.adapters.spark_mv.operations.rebuild import rebuild_metadata
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.operations.selection import Selection
from dbt.adapters.spark_mv.operations.verify import Differences, count_differences
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.explain import explain_view
from dbt.adapters.spark_mv.refresh.look import Look
from dbt.adapters.spark_mv.refresh.request import MANUAL, Request
from dbt.adapters.spark_mv.refresh.run import Refresher
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.registry import find_view

_NOTHING = "nothing to do: no materialized view here, or all are fresh"
_HISTORY_COLUMNS = (
    "table_schema",
    "table_name",
    "trigger",
    "requested_method",
    "method",
    "state",
    "started_at",
    "seconds",
    "rows_inserted",
    "rows_deleted",
    "reason",
    "error",
)


class Operations:
    """Operations of one command, on the views of one project."""

    def __init__(self, engine: Engine, refresher: Refresher, verbs: MaterializedViewVerbs) -> None:
        self._engine = engine
        self._refresher = refresher
        self._verbs = verbs
        self.target_schema = ""
        self.schemas: Iterable[str] = ()

    def _selection(self) -> Selection:
        self._engine.memory.reload_if_moved()
        return Selection(self._engine.memory.state(), self.target_schema, self.schemas)

    def _chosen(self, view: Any, everything: bool = False) -> list[ViewState]:
        selection = self._selection()
        return selection.of_project(everything) if view is None else selection.select(view)

    def refresh(
        self,
        view: Any = None,
        method: str = "auto",
        wait: bool = False,
        dry_run: bool = False,
        all: bool = False,  # noqa: A002 - the user-visible name
    ) -> Report:
        """Refresh views, upstream first; without `view` those of the project that are not fresh."""
        chosen = self._chosen(view, all)
        if view is None:
            chosen = [state for state in chosen if self._needs_refresh(state)]
        request = Request(MANUAL, method.lower(), wait, explicit=True)
        if dry_run:
            return self._explained(chosen, request)
        columns = ("state", "method", "rows", "seconds", "reason")
        return self._each(chosen, lambda state: [self._refresh(state, request)], columns)

    def _needs_refresh(self, state: ViewState) -> bool:
        enabled = state.payload.get("options", {}).get("enable_refresh", True)
        look = self._look(state)
        return bool(enabled) and (look is None or not look.verdict.is_fresh)

    def _refresh(self, state: ViewState, request: Request) -> tuple[Any, ...]:
        out = self._verbs.refresh(state.name, request)
        return (out.state, out.method, out.rows, round(out.seconds, 2), out.reason)

    def _explained(self, chosen: list[ViewState], request: Request) -> Report:
        lines: list[str] = []
        failures: list[str] = []
        for state in chosen:
            try:
                lines += [*explain_view(self._engine, self._refresher, state.name, request), ""]
            except MaterializedViewError as error:
                failures.append(str(error))
        return Report((), (), tuple(failures), tuple(lines[:-1]))

    def _each(
        self,
        chosen: list[ViewState],
        act: Callable[[ViewState], list[tuple[Any, ...]]],
        columns: tuple[str, ...],
    ) -> Report:
        """Act on each view; one failure does not stop the others."""
        rows: list[tuple[Any, ...]] = []
        failures: list[str] = []
        for state in chosen:
            try:
                rows += [(str(state.name), *row) for row in act(state)]
            except MaterializedViewError as error:
                failures.append(str(error))
                rows.append(
                    (str(state.name), "FAILED", *[None] * (len(columns) - 2), error.problem)[
                        : len(columns) + 1
                    ]
                )
        notes = () if chosen else (_NOTHING,)
        return Report(("view", *columns), tuple(rows), tuple(failures), notes)

    def status(self, view: Any = None, all: bool = False) -> Report:  # noqa: A002
        """Freshness of views by their versions, now; and what the metadata says of them."""
        chosen = self._chosen(view, all)
        self._engine.history.close_dead()
        rows = tuple(self._status(state) for state in chosen)
        columns = (
            "view",
            "status",
            "freshness",
            "flag",
            "last_refresh",
            "method",
            "rows",
            "reason",
        )
        return Report(columns, rows, notes=() if rows else ("no materialized views",))

    def _status(self, state: ViewState) -> tuple[Any, ...]:
        build = state.last_build.payload if state.last_build else {}
        flag = "stale" if state.is_stale else ""
        at = state.last_refresh_at
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at / 1e6)) if at else None
        try:
            self._engine.memory.view(state.name)
            look = self._look(state)
        except MaterializedViewError as error:
            return (str(state.name), "BROKEN", "UNKNOWN", flag, when, None, None, error.problem)
        if look is None:
            reason = "the view is gone; run its model again, or rebuild_metadata to forget it"
            return (str(state.name), "MISSING", "UNKNOWN", flag, when, None, None, reason)
        status = (
            "SUSPENDED" if state.suspended else "BROKEN" if self._broken(state, look) else "READY"
        )
        reason = state.last_error or str(look.verdict.reason.text)
        return (
            str(state.name),
            status,
            look.verdict.freshness.value,
            flag,
            when,
            build.get("method"),
            build.get("rows"),
            reason,
        )

    def statistics(self, name: TableName) -> dict[str, tuple[str, str]]:
        """Label and text of what the docs show of a view."""
        state = self._engine.memory.state().views.get(name)
        if state is None:
            return {}
        _, status, freshness, _, when, method, rows, _ = self._status(state)
        return {
            "staleness": ("Staleness", f"{freshness} ({status})"),
            "last_refresh": ("Last refresh", f"{when or '-'} ({method or '-'})"),
            "rows": ("Rows", str(rows if rows is not None else "-")),
        }

    def _broken(self, state: ViewState, look: Look) -> bool:
        return bool(look.verdict.missing) or state.failures > 0

    def _look(self, state: ViewState) -> Look | None:
        view = find_view(self._engine.relations, state.name)
        return self._engine.observer.look_through(view) if view is not None else None

    def history(self, view: Any = None, all: bool = False, limit: int = 50) -> Report:  # noqa: A002
        """The newest refreshes, newest last."""
        chosen = {state.name for state in self._chosen(view, all)}
        self._engine.history.close_dead()
        self._engine.memory.flush()
        with self._engine.memory.open_store() as store:
            if store.version() is None:
                return Report(_HISTORY_COLUMNS, ())
            columns = ", ".join(f"`{name}`" for name in ("table_catalog", *_HISTORY_COLUMNS))
            rows = self._engine.executor.query(
                f"SELECT {columns} FROM {store.events.sibling('mv_refresh_history').sql}"
            )
        kept = [
            tuple(row[1:])
            for row in rows
            if TableName(row[0] or "", tuple((row[1] or "").split(".")), row[2] or "") in chosen
        ]
        return Report(_HISTORY_COLUMNS, tuple(kept[-limit:]))

    def explain(self, view: Any = None) -> Report:
        """What a refresh of each view would do now, and why."""
        return self._explained(self._chosen(view), Request(MANUAL, explicit=True))

    def verify(self, view: Any = None, repair: bool = False, all: bool = False) -> Report:  # noqa: A002
        """Compare stored rows with the query at the pinned versions; `repair` refreshes after."""
        found: list[str] = []

        def check(state: ViewState) -> list[tuple[Any, ...]]:
            counts = count_differences(self._engine, state.name)
            verdict = "OK"
            if counts.any:
                verdict = "REPAIRED" if repair else "DIFFERENT"
                if repair:
                    self._verbs.refresh(state.name, Request(MANUAL, "complete", explicit=True))
                else:
                    found.append(_difference(state.name, counts))
            return [(verdict, counts.missing, counts.unexpected, counts.differing)]

        report = self._each(
            self._chosen(view, all), check, ("result", "missing", "unexpected", "differing")
        )
        return Report(report.columns, report.rows, (*report.failures, *found), report.notes)

    def drop(self, view: Any, if_exists: bool = False) -> Report:
        """Drop one materialized view."""
        try:
            name = self._selection().one(view if isinstance(view, str) else "")
        except UnknownMaterializedView:
            if if_exists:
                return Report(("view", "state"), ((view, "does not exist"),))
            raise
        self._verbs.drop(name.name, if_exists)
        return Report(("view", "state"), ((str(name.name), "DROPPED"),))

    def rebuild_metadata(self, catalog: str) -> Report:
        """Register every materialized view that the catalog holds."""
        done = rebuild_metadata(self._engine, catalog)
        rows = tuple((str(name), what) for name, what in done)
        return Report(("view", "result"), rows, notes=() if rows else ("no materialized views",))


def _difference(name: TableName, counts: Differences) -> str:
    return (
        f"{name} differs from its query: {counts.missing} rows missing, {counts.unexpected} "
        f"unexpected, {counts.differing} differing.\n"
        "Repair it with `dbt run-operation verify --args '{view: .., repair: true}'`."
    )
