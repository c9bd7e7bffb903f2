"""Refreshes views whose policy is `on_write`, after a node of dbt has written what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dbt.adapters.spark_mv.config.option_types import ON_WRITE
from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.planning.request import SKIPPED, WRITE, Request
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.pinned_versions import PinnedVersions
from dbt.adapters.spark_mv.statements.read_policy import Reader
from dbt.adapters.spark_mv.views.registry import find_view


class WriteRefresher:
    """Who writes pays: once for a node, however many statements it has sent."""

    def __init__(self, services: Services, reader: Reader) -> None:
        self._services = services
        self._reader = reader

    def refresh(
        self, written: Iterable[TableName], is_built_later: Callable[[TableName], bool]
    ) -> None:
        """Refresh what depends on these relations, upstream views first, but for views that the
        command builds anyway.

        A view that cannot be refreshed is warned of: what the node wrote is there all the same.
        """
        state = self._services.log.state()
        dependents: dict[TableName, ViewState] = {}
        for name in written:
            dependents.update({view.name: view for view in state.dependents_of(name)})
        for view in dependents.values():
            if view.option("refresh_policy") != ON_WRITE:
                continue
            if not is_built_later(view.name):
                self._refresh(view.name)

    def _refresh(self, name: TableName) -> None:
        services = self._services
        try:
            view = find_view(services.resolver, name)
            if view is None or not self._reader.refreshes_by_itself(view):
                return
            outcome = self._reader.upstream_first(name, Request(WRITE), PinnedVersions())
        except MaterializedViewError as error:
            services.warn(f"{error.problem} What was written is there; its next read tries again.")
            return
        if outcome.state != SKIPPED:
            services.info(str(outcome))
