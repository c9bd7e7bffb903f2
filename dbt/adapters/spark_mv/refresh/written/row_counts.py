"""Counts the rows of a build that was not computed as a whole, before it is published.

Where a query keeps every row of its base table, the rows that are stored, or that its groups count,
are as many as the table has. What that costs: nothing for rows, as both commits count theirs; one
sum over the stored groups after a refresh by partition.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import FastRefreshFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.program import Program, every_row_of
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.planning.plan import FastRefresh, PartitionRefresh, RefreshPlan
from dbt.adapters.spark_mv.refresh.lock import RefreshLock
from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.storage_sql import all_stored_columns

# Commits of one refresh are at most two.
_COMMITS = 3


def refuse_lost_rows(
    executor: Executor,
    analyzer: Analyzer,
    observation: Observation,
    plan: RefreshPlan,
    lock: RefreshLock,
) -> None:
    """Raise `FastRefreshFailed` if what was written does not add up; a complete refresh follows."""
    if not isinstance(plan, (FastRefresh, PartitionRefresh)):
        return
    analysis = analyzer.analysis(observation.current, observation.view)
    if isinstance(analysis, Reason):
        return
    placeholder = every_row_of(analysis.program)
    if placeholder is None:
        return
    table = analysis.tables[placeholder]
    version = observation.versions[table].snapshot_id
    chain = iceberg.main_chain(executor, table, until=version) if version else []
    expected = next((_exact(s.summary) for s in chain if s.snapshot_id == version), None)
    written = _written(executor, observation, plan, lock, analysis.program)
    if expected is not None and written is not None and written != expected:
        raise FastRefreshFailed(
            f"it would have stored {written:,} rows of the {expected:,} that {table.shown} has",
            "Please report the view's query, and how its tables are partitioned.",
        )


def _written(
    executor: Executor,
    observation: Observation,
    plan: RefreshPlan,
    lock: RefreshLock,
    program: Program,
) -> int | None:
    """How many rows of the base table are in the build; None if that is dear to know."""
    if program.additive is None:
        built = iceberg.commits(executor, lock.storage, lock.branch, lock.base, _COMMITS)
        return _exact(built[0].summary) if built else None
    if not isinstance(plan, PartitionRefresh):
        return None
    rows = next(part for part in program.additive.parts if part.argument is None)
    column = all_stored_columns(observation.view)[program.additive.names[rows]]
    ((found,),) = executor.query(
        f"SELECT coalesce(sum({quote(column)}), 0) FROM {lock.storage.sql} "
        f"VERSION AS OF '{lock.branch}'"
    )
    return int(found)


def _exact(summary: Mapping[str, str]) -> int | None:
    """The rows of a snapshot; None if files of deletes, of which some rows may be gone already,
    make that uncertain."""
    deletes = ("total-position-deletes", "total-equality-deletes", "total-delete-files")
    if any(iceberg.summary_number(summary, key) != 0 for key in deletes):
        return None
    return iceberg.summary_number(summary, "total-records")
