"""The operations behind `dbt run-operation`; each returns a `Report`."""

from __future__ import annotations

from typing import Any

from dbt.adapters.spark_mv.core.errors import (
    CorruptMetadata,
    MaterializedViewError,
    UnknownMaterializedView,
)
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.operations import status
from dbt.adapters.spark_mv.operations.choice import REFRESH_COLUMNS, Choice, each, refreshed
from dbt.adapters.spark_mv.operations.rebuild import rebuild_metadata
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.operations.verify import Differences, count_differences
from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.ddl import MaterializedViewStatements

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

    def __init__(self, services: Services, ddl: MaterializedViewStatements, choice: Choice) -> None:
        self._services = services
        self._ddl = ddl
        self._choice = choice

    def refresh(
        self,
        view: Any = None,
        method: str = "auto",
        wait: bool = False,
        dry_run: bool = False,
        all: bool = False,  # noqa: A002 - the user-visible name
    ) -> Report:
        """Refresh views, upstream first; without `view` those of the project that are not fresh."""
        chosen = self._choice.views(view, all)
        if view is None:
            chosen = [state for state in chosen if self._needs_refresh(state)]
        request = Request(MANUAL, method.lower(), wait, explicit=True)
        if dry_run:
            return self._explained(chosen, request)

        def act(state: ViewState) -> list[tuple[Any, ...]]:
            return [refreshed(self._ddl.refresh(state.name, request))]

        return each(chosen, act, REFRESH_COLUMNS)

    def _needs_refresh(self, state: ViewState) -> bool:
        enabled = state.payload.get("options", {}).get("enable_refresh", True)
        if state.suspended is not None:
            return False
        try:
            observation = status.observe_by_name(
                self._services.resolver, self._services.observer, state
            )
        except CorruptMetadata:  # its refresh will say so, and that of others goes on
            return True
        return bool(enabled) and (observation is None or not observation.verdict.is_fresh)

    def _explained(self, chosen: list[ViewState], request: Request) -> Report:
        lines: list[str] = []
        failures: list[str] = []
        for state in chosen:
            try:
                lines += [*self._services.explainer.explain(state.name, request), ""]
            except MaterializedViewError as error:
                failures.append(str(error))
        return Report((), (), tuple(failures), tuple(lines[:-1]))

    def status(self, view: Any = None, all: bool = False) -> Report:  # noqa: A002
        """Freshness of views by their versions, now; and what the metadata says of them."""
        chosen = self._choice.views(view, all)
        self._services.history.close_dead()
        rows = tuple(status.status_of(self._services, state) for state in chosen)
        return Report(status.COLUMNS, rows, notes=() if rows else ("no materialized views",))

    def statistics(self, name: TableName) -> dict[str, tuple[str, str]]:
        """Label and text of what the docs show of a view."""
        state = self._services.log.state().views.get(name)
        return {} if state is None else status.statistics(self._services, state)

    def history(self, view: Any = None, all: bool = False, limit: int = 50) -> Report:  # noqa: A002
        """The newest refreshes, newest last."""
        chosen = {state.name for state in self._choice.views(view, all)}
        self._services.history.close_dead()
        self._services.log.flush()
        with self._services.log.open_store() as store:
            if store.version() is None:
                return Report(_HISTORY_COLUMNS, ())
            columns = ", ".join(f"`{name}`" for name in ("table_catalog", *_HISTORY_COLUMNS))
            rows = self._services.executor.query(
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
        return self._explained(self._choice.views(view), Request(MANUAL, explicit=True))

    def verify(self, view: Any = None, repair: bool = False, all: bool = False) -> Report:  # noqa: A002
        """Compare stored rows with the query at the pinned versions; `repair` refreshes after."""
        found: list[str] = []

        def check(state: ViewState) -> list[tuple[Any, ...]]:
            counts = count_differences(self._services, state.name)
            verdict = "OK"
            if counts.any:
                verdict = "REPAIRED" if repair else "DIFFERENT"
                if repair:
                    self._ddl.refresh(state.name, Request(MANUAL, "complete", explicit=True))
                else:
                    found.append(_difference(state.name, counts))
            return [(verdict, counts.missing, counts.unexpected, counts.differing)]

        report = each(
            self._choice.views(view, all), check, ("result", "missing", "unexpected", "differing")
        )
        return Report(report.columns, report.rows, (*report.failures, *found), report.notes)

    def drop(self, view: Any, if_exists: bool = False) -> Report:
        """Drop one materialized view."""
        try:
            name = self._choice.selection().one(view)
        except UnknownMaterializedView:
            if if_exists:
                return Report(("view", "state"), ((view, "does not exist"),))
            raise
        self._ddl.drop(name.name, if_exists)
        return Report(("view", "state"), ((str(name.name), "DROPPED"),))

    def rebuild_metadata(self, catalog: str) -> Report:
        """Register every materialized view that the catalog holds."""
        done = rebuild_metadata(self._services, catalog)
        rows = tuple((str(name), what) for name, what in done)
        return Report(("view", "result"), rows, notes=() if rows else ("no materialized views",))


def _difference(name: TableName, counts: Differences) -> str:
    return (
        f"{name} differs from its query: {counts.missing} rows missing, {counts.unexpected} "
        f"unexpected, {counts.differing} differing.\n"
        "Repair it with `dbt run-operation verify --args '{view: .., repair: true}'`."
    )
