"""Which views an operation is about, and acting on each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from dbt.adapters.spark_mv.core.errors import InvalidName, MaterializedViewError
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.operations.selection import Selection
from dbt.adapters.spark_mv.planning.request import Outcome
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName

REFRESH_COLUMNS = ("state", "method", "rows", "seconds", "reason")
# Rows of a report, and the text of a failure.
Acted = tuple[list[tuple[Any, ...]], str | None]
Tasks = Mapping[TableName, Callable[[], Acted]]
_TRY_AGAIN = "Remove the cause, or try again if tables were changed meanwhile."
_NOTHING = "nothing to do: no materialized view here, or all are fresh"


class Choice:
    """The views of one project; `schemas` are those of its nodes."""

    def __init__(self, log: MetadataLog) -> None:
        self._log = log
        self.target_schema = ""
        self.schemas: Iterable[str] = ()

    def selection(self) -> Selection:
        """Selection among the views that are registered now."""
        self._log.reload_if_moved()
        return Selection(self._log.state(), self.target_schema, self.schemas)

    def views(self, view: Any, everything: bool = False) -> list[ViewState]:
        """The views that `view` names, upstream first; without it those of the project, or all."""
        selection = self.selection()
        return selection.of_project(everything) if view is None else selection.select(view)

    def named(self, view: Any) -> list[ViewState]:
        """The views that `view` names; raises `InvalidName` without it."""
        if view is None:
            raise InvalidName(
                "The operation needs the name of a materialized view.",
                "Name it: --args '{view: name}', or a list, or tag:x.",
            )
        return self.selection().select(view)

    def all_schemas(self) -> list[str]:
        """The schemas of the project's nodes, and the target's."""
        return sorted({self.target_schema, *self.schemas} - {""})


def _one_by_one(tasks: Tasks) -> list[Acted]:
    return [task() for task in tasks.values()]


def each(
    chosen: list[ViewState],
    act: Callable[[ViewState], list[tuple[Any, ...]]],
    columns: tuple[str, ...],
    run: Callable[[Tasks], list[Acted]] = _one_by_one,
) -> Report:
    """Act on each view; one failure does not stop the others."""
    tasks = {state.name: partial(_acted, act, state, columns) for state in chosen}
    done = run(tasks)
    rows = tuple(row for found, _ in done for row in found)
    failures = tuple(failure for _, failure in done if failure is not None)
    return Report(("view", *columns), rows, failures, () if chosen else (_NOTHING,))


def _acted(
    act: Callable[[ViewState], list[tuple[Any, ...]]], state: ViewState, columns: tuple[str, ...]
) -> Acted:
    try:
        return [(str(state.name), *row) for row in act(state)], None
    except MaterializedViewError as error:
        failed = (str(state.name), "FAILED", *[None] * (len(columns) - 2), error.problem)
        # Spark's own words name no view, and no way out.
        text = str(error) if error.way_out else f"{state.name}: {error.problem}\n{_TRY_AGAIN}"
        return [failed[: len(columns) + 1]], text


def side_by_side(services: Services) -> Callable[[Tasks], list[Acted]]:
    """Runs tasks of views side by side, each view after those that it reads."""

    def run(tasks: Tasks) -> list[Acted]:
        after: dict[TableName, set[TableName]] = {name: set() for name in tasks}
        for name in tasks:
            for dependent in services.log.dependents_of(name):
                after.get(dependent, set()).add(name)
        return services.workers.run(tasks, after)

    return run


def refreshed(outcome: Outcome) -> tuple[Any, ...]:
    """What a refresh did, under `REFRESH_COLUMNS`."""
    return (
        outcome.state,
        outcome.method,
        outcome.rows,
        round(outcome.seconds, 2),
        outcome.reason,
    )
