"""Live views over something that has another definition now, or whose rows are not trusted: their
texts have the old one, or the stored rows."""

from __future__ import annotations

from dbt.adapters.spark_mv.core.errors import MaterializedViewError, StatementFailed
from dbt.adapters.spark_mv.refresh.live.live_views import not_renewed
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.registry import find_view


def renew_dependents(services: Services, name: TableName) -> None:
    """Renew the live views of what reads a relation that was replaced or dropped; one that cannot
    be renewed is dropped."""
    state = services.log.state()
    for dependent in services.log.dependents_of(name):
        known = state.views.get(dependent)
        if known is None or not known.option("live"):
            continue
        services.resolver.forget()
        view = find_view(services.resolver, dependent)
        if view is None:
            continue
        try:
            services.live.renew(view)
        except MaterializedViewError as error:
            services.live.drop(view)
            services.warn(not_renewed(dependent, error))


def renew_distrusted(services: Services, name: TableName) -> None:
    """Have the live view of an invalidated view, and those of views over it, run their queries.
    Raises `StatementFailed` if one goes on to serve stored rows."""
    known = (services.log.state().views.get(n) for n in (name, *services.log.dependents_of(name)))
    live = [state.name for state in known if state is not None and state.option("live")]
    if live:
        # Whoever publishes from now on, and renews them, has to know.
        services.log.flush()
    for each in live:
        view = find_view(services.resolver, each)
        if view is None:
            continue
        try:
            services.live.renew(view)
        except MaterializedViewError as error:
            raise StatementFailed(
                f"{name} is invalidated, but the live view of {each} may still serve its stored "
                f"rows: {error.problem}",
                "Invalidate it again, or refresh it.",
            ) from None
