"""The rows of a stale view as a refresh would leave them, as a query: nothing is written."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.planning.plan import CompleteRefresh, FastRefresh, PartitionRefresh
from dbt.adapters.spark_mv.planning.request import READ, Request
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.rewrite.stored import as_stored
from dbt.adapters.spark_mv.sql.literals import VARIABLE
from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.definition import STORED
from dbt.adapters.spark_mv.views.storage_sql import all_stored_columns


def merged_rows(services: Services, observation: Observation) -> str | Reason:
    """A query of all that the storage table would have after a refresh by what changed, at the
    observed versions; why there is none."""
    if observation.head is None or observation.verdict.missing:
        return not_merged(observation.verdict.reason.text)
    if observation.expansion.storages:
        return not_merged("it is over other materialized views")
    try:
        plan = services.planner.plan(observation, Request(READ))
    except MaterializedViewError as error:
        return not_merged(error.problem)
    text = None
    if isinstance(plan, FastRefresh):
        replaced = None if plan.fast.replaced is None else f"NOT {plan.fast.replaced}"
        text = _rows(services, observation, plan.fast.query, replaced, not plan.fast.appends)
    elif isinstance(plan, PartitionRefresh):
        kept = f"({plan.partition.condition}) IS NOT TRUE"
        text = _rows(services, observation, plan.partition.query, kept, False)
    if text is None:
        why = plan.estimated if isinstance(plan, CompleteRefresh) else None
        return not_merged(f"a refresh would compute every row again ({why or plan.reason.text})")
    return not_merged(f"its text has {VARIABLE!r}") if VARIABLE in text else text


def not_merged(why: str) -> Reason:
    """Why a stale view does not answer together with what has changed."""
    return Reason("VIEW_NOT_FRESH", f"it is stale, and cannot be merged: {why}")


def _rows(
    services: Services, observation: Observation, query: str, kept: str | None, is_all: bool
) -> str:
    """The rows of a query that computes rows of the storage table, with those stored rows that are
    kept; `is_all` says that the query returns these, too."""
    view, head = observation.view, observation.head
    assert head is not None, "only a view that was built can be merged"
    types = dict(services.resolver.columns(view.storage))
    names = all_stored_columns(view)
    values = {
        stored: as_stored(exp.column(name, quoted=True), types[stored])
        for name, stored in names.items()
    }
    computed = ", ".join(f"{value.sql('spark')} AS {quote(n)}" for n, value in values.items())
    new = f"SELECT {computed} FROM (\n{query}\n) AS mv_computed"
    if is_all:
        return new
    listed = ", ".join(map(quote, names.values()))
    old = f"SELECT {listed} FROM {view.storage.sql} VERSION AS OF {head.snapshot_id} AS {STORED}"
    where = f" WHERE {kept}" if kept is not None else ""
    return f"{old}{where}\nUNION ALL\n{new}"
