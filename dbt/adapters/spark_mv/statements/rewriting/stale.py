"""Refreshes views that would answer a statement, if the profile says so and that is cheap."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.planning.plan import CompleteRefresh
from dbt.adapters.spark_mv.planning.request import REWRITE, Request
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.pinned_versions import PinnedVersions
from dbt.adapters.spark_mv.statements.read_policy import Reader
from dbt.adapters.spark_mv.statements.rewriting.candidates import Matched
from dbt.adapters.spark_mv.views.definition import MaterializedView

_REFRESHED = "refresh"


@dataclass(frozen=True)
class Policy:
    """Which statements are worth it: those that read `least_rows` rows; and what becomes of views
    that are stale: they are refreshed first by `refreshed`, or read with what has changed since if
    it `merges`, or are not read."""

    least_rows: int = 0
    refreshed: StaleViews | None = None
    merges: bool = False


class StaleViews:
    """Brings views up to date that nobody has named."""

    def __init__(self, services: Services, reader: Reader) -> None:
        self._services = services
        self._reader = reader

    def first_refreshed(self, matched: Sequence[Matched]) -> Matched | None:
        """Refresh the first view whose own options allow it, and that takes less than its whole
        query, which would read what the statement reads; None if there is none."""
        for one in matched:
            try:
                if self._is_cheap(one.view):
                    self._reader.prepare([one.view.name], PinnedVersions(), trigger=REWRITE)
                    return one
            except MaterializedViewError as error:
                problem = f"{one.view.name} is not refreshed for a query: {error.problem}"
                self._services.warn(problem)
        return None

    def _is_cheap(self, view: MaterializedView) -> bool:
        options = view.options
        if options.when_stale != _REFRESHED or not self._reader.refreshes_by_itself(view):
            return False
        observation = self._services.observer.observe_with_upstream(view)
        if observation.verdict.is_fresh:
            return False
        if self._has_failed([view.name, *observation.expansion.storages]):
            return False
        plan = self._services.planner.plan(observation, Request(REWRITE))
        return not isinstance(plan, CompleteRefresh)

    def _has_failed(self, names: Collection[TableName]) -> bool:
        """Whether the last refresh of one of these failed: who reads the view by name is told why,
        and a statement that does not would pay for it again and again."""
        known = self._services.log.state().views
        return any(name in known and known[name].last_error is not None for name in names)
