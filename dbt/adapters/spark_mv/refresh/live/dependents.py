"""Live views over something that has another definition now, or whose rows are not trusted: their
texts have the old one, or the stored rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbt.adapters.spark_mv.core.errors import MaterializedViewError, StatementFailed
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.live_sql import live_name
from dbt.adapters.spark_mv.views.registry import find_view


def renew_dependents(services: Services, name: TableName) -> None:
    """Renew the live views of what reads a relation that was replaced or dropped; one that cannot
    be renewed is dropped."""
    for view in _with_live_view(services, services.log.dependents_of(name)):
        try:
            services.live.renew_if_redefined(view)
        except MaterializedViewError as error:
            services.live.drop(view)
            services.warn(
                f"{live_name(view.name)} was dropped, as its query has no right text any more: "
                f"{error.problem.rstrip('.')}. The next read or refresh of {view.name} through dbt "
                "makes it again, if it can."
            )


def renew_distrusted(services: Services, name: TableName) -> None:
    """Have the live view of an invalidated view, and those of views over it, run their queries.
    Raises `StatementFailed` if one goes on to serve stored rows."""
    for view in _with_live_view(services, [name, *services.log.dependents_of(name)]):
        try:
            services.live.renew(view)
        except MaterializedViewError as error:
            raise StatementFailed(
                f"{name} is invalidated, but the live view of {view.name} may still serve its "
                f"stored rows: {error.problem}",
                "Invalidate it again, or refresh it.",
            ) from None


def _with_live_view(services: Services, names: Iterable[TableName]) -> Iterator[MaterializedView]:
    """The views of these names that have a live view."""
    state = services.log.state()
    for name in names:
        known = state.views.get(name)
        if known is None or not known.option("live"):
            continue
        services.resolver.forget()
        view = find_view(services.resolver, name)
        if view is not None:
            yield view
