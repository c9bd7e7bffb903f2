"""Operations that only say what is known of views; they need no more than catalog and metadata."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import Any

from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.metadata.refreshes import Cost, costs, refreshes
from dbt.adapters.spark_mv.operations import scheduling, status
from dbt.adapters.spark_mv.operations.choice import Choice, each
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName

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


_COST_COLUMNS = tuple(column.name for column in fields(Cost))


class Questions:
    """What one command asks, of the views of one project; each answer is a `Report`."""

    def __init__(self, services: Services, choice: Choice) -> None:
        self._services = services
        self._choice = choice

    def status(self, view: Any = None, all: bool = False) -> Report:  # noqa: A002
        """Freshness of views by their versions, now; and what the metadata says of them."""
        chosen = self._choice.views(view, all)
        self._services.history.close_dead()
        rows = tuple(status.status_of(self._services, state) for state in chosen)
        return Report(status.COLUMNS, rows, notes=() if rows else ("no materialized views",))

    def statistics(self, name: TableName) -> dict[str, tuple[str, str | int]]:
        """Label and text of what the docs show of a view."""
        state = self._services.log.state().views.get(name)
        return {} if state is None else status.statistics(self._services, state)

    def history(
        self,
        view: Any = None,
        all: bool = False,  # noqa: A002 - the user-visible name
        limit: int = 50,
        summary: bool = False,
    ) -> Report:
        """The newest refreshes, newest last; or what all of them took, by view and trigger."""
        chosen = {state.name for state in self._choice.views(view, all)}
        self._services.history.close_dead()
        self._services.log.flush()
        with self._services.log.open_store() as store:
            events = [] if store.version() is None else store.load()
        found = [refresh for refresh in refreshes(events) if refresh.view in chosen]
        if summary:
            return Report(_COST_COLUMNS, tuple(astuple(cost) for cost in costs(found)))
        kept = [
            tuple(getattr(refresh, column) for column in _HISTORY_COLUMNS)
            for refresh in found[-limit:]
        ]
        return Report(_HISTORY_COLUMNS, tuple(kept))

    def check_staleness(self, view: Any = None, all: bool = False) -> Report:  # noqa: A002
        """Hold how long views have been stale against `warn_after` and `error_after`."""
        chosen = self._choice.views(view, all)
        if view is None:
            chosen = [state for state in chosen if scheduling.has_threshold(state)]
        failures: list[str] = []

        def check(state: ViewState) -> list[tuple[Any, ...]]:
            observation = status.observe_by_name(
                self._services.resolver, self._services.observer, state
            )
            found = scheduling.staleness_of(self._services, state, observation)
            if found.level == scheduling.ERROR:
                failures.append(
                    f"{state.name} has been stale for {found.seconds:.0f} s: more than its "
                    f"{found.limit}.\nRefresh it, or see `dbt run-operation status` for the reason."
                )
            freshness = observation.verdict.freshness.value if observation else "MISSING"
            return [(found.level, freshness, round(found.seconds, 1), found.limit)]

        report = each(chosen, check, ("level", "freshness", "seconds_stale", "limit"))
        notes = () if chosen else ("no materialized view has warn_after or error_after",)
        return Report(report.columns, report.rows, (*report.failures, *failures), notes)

    def explain(self, view: Any = None) -> Report:
        """What a refresh of each view would do now, and why."""
        chosen = self._choice.views(view)
        return explained(self._services, chosen, Request(MANUAL, explicit=True))


def explained(
    services: Services, chosen: list[ViewState], request: Request, as_of: str | None = None
) -> Report:
    """What `request` would do to each view, in lines, with an empty one between two views."""
    lines: list[str] = []
    failures: list[str] = []
    for state in chosen:
        try:
            lines += [*services.explainer.explain(state.name, request, as_of), ""]
        except MaterializedViewError as error:
            failures.append(str(error))
    return Report((), (), tuple(failures), tuple(lines[:-1]))
