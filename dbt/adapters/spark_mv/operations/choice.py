"""Which views an operation is about, and acting on each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dbt.adapters.spark_mv.core.errors import InvalidName, MaterializedViewError
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.operations.selection import Selection
from dbt.adapters.spark_mv.planning.request import Outcome

REFRESH_COLUMNS = ("state", "method", "rows", "seconds", "reason")
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


def each(
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
            failed = (str(state.name), "FAILED", *[None] * (len(columns) - 2), error.problem)
            rows.append(failed[: len(columns) + 1])
    return Report(("view", *columns), tuple(rows), tuple(failures), () if chosen else (_NOTHING,))


def refreshed(outcome: Outcome) -> tuple[Any, ...]:
    """What a refresh did, under `REFRESH_COLUMNS`."""
    return (
        outcome.state,
        outcome.method,
        outcome.rows,
        round(outcome.seconds, 2),
        outcome.reason,
    )
