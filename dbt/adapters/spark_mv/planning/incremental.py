"""Prepares fast refreshes: whether the stored rows can be brought up to date by what changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.change_sets import with_deletes
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.algebra.stored import REPLACED, Replaced
from dbt.adapters.spark_mv.ivm.algebra.terms import CHANGES, OLD, TABLE, NotFast, compared_columns
from dbt.adapters.spark_mv.ivm.program import Rows, rows_after
from dbt.adapters.spark_mv.ivm.rewrite.output_names import plainly_named
from dbt.adapters.spark_mv.planning.analysis import with_queries
from dbt.adapters.spark_mv.planning.append_only import columns_of_change, makes_only_new
from dbt.adapters.spark_mv.planning.cost import Estimate, Written, is_better_in_part
from dbt.adapters.spark_mv.planning.inputs import (
    Inputs,
    changed_rows,
    scanned_rows,
    stored_rows,
)
from dbt.adapters.spark_mv.planning.plan import FastQuery
from dbt.adapters.spark_mv.sql.names import TableName, quote
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.definition import STORED, MaterializedView
from dbt.adapters.spark_mv.views.storage_sql import all_stored_columns

# So many rows are soonest worked on by one task.
_ROWS_OF_ONE_TASK = 100_000


def prepare_fast(
    executor: Executor,
    observation: Observation,
    inputs: Inputs,
    totals: Mapping[TableName, int],
    slowness: float,
) -> FastQuery | Reason:
    """The query that brings the stored rows up to date; why not if there is none.

    `totals` are the rows of the base tables, `slowness` is as in `Estimate`.
    """
    program = inputs.analysis.program
    if not inputs.changes:
        return _nothing(observation, totals)
    if program.why_not_fast is not None:
        return program.why_not_fast
    changed = changed_rows(inputs.changes, totals)
    try:
        rows, queries = _rows(executor, observation, inputs, changed)
    except NotFast as error:
        return inputs.analysis.readable(error.reason)
    query = with_queries(queries, rows.query)
    estimate = _estimate(observation, inputs, totals, _written(rows), query, slowness)
    if not estimate.joined_rows and changed + estimate.stored_rows <= _ROWS_OF_ONE_TASK:
        queries = _in_one_task(queries)
        query = with_queries(queries, rows.query)
    changes = tuple(str(change) for change in inputs.changes)
    replaced = _condition(observation.view, rows.replaced, queries) if rows.replaced else None
    rewritten = _rewritten(inputs, totals, estimate)
    return FastQuery(query, rows.appends, changes, estimate, replaced, rewritten)


def _nothing(observation: Observation, totals: Mapping[TableName, int]) -> FastQuery:
    """Time has passed, and no row is another one by that."""
    query = f"{_stored(observation)} WHERE FALSE"
    estimate = Estimate(sum(totals.values()), 0, 0, stored_rows(observation), Written.NONE)
    return FastQuery(query, True, (), estimate)


def _estimate(
    observation: Observation,
    inputs: Inputs,
    totals: Mapping[TableName, int],
    written: Written,
    query: str,
    slowness: float,
) -> Estimate:
    program = inputs.analysis.program
    joined = sum(
        total * _times_read(inputs.analysis.placeholder(table), query)
        for table, total in totals.items()
    )
    return Estimate(
        sum(totals.values()),
        changed_rows(inputs.changes, totals),
        joined,
        stored_rows(observation),
        written,
        program.additive is None and program.groups is not None,
        slowness,
        changed_rows([change for change in inputs.changes if change.inserts_only], totals),
        scanned_rows(inputs.changes, totals),
        program.groups is not None and program.groups.is_inexact,
    )


def _rewritten(
    inputs: Inputs, totals: Mapping[TableName, int], estimate: Estimate
) -> tuple[TableName, ...]:
    """The tables whose files were written anew, if the refresh would be worth it if they had
    files of deletes instead, and few rows had changed."""
    changes = [with_deletes(change) for change in inputs.changes]
    other = replace(
        estimate,
        changed_rows=changed_rows(changes, totals),
        scanned=scanned_rows(changes, totals),
    )
    if estimate.is_worth_it or not other.is_worth_it:
        return ()
    return tuple(change.table for change in inputs.changes if change.rewritten)


def _rows(
    executor: Executor, observation: Observation, inputs: Inputs, changed: int
) -> tuple[Rows, dict[str, str]]:
    """The rows after the change, and the queries that they read; raises `NotFast`."""
    program = inputs.analysis.program
    columns = columns_of_change(inputs)
    wanted = compared_columns(program.query) | {name.lower() for name in columns.values()}
    bounded = inputs.bounded(executor, wanted)
    only_new = makes_only_new(executor, observation, bounded, columns)
    in_part = only_new or _is_better_in_part(observation, changed)
    types = [column.type for column in observation.current.columns]
    rows = rows_after(program, inputs.changed, inputs.inserts_only, types, in_part)
    queries = bounded.queries(observation)
    queries[STORED] = _stored(observation)
    if only_new:
        queries[STORED] += " WHERE FALSE"
        rows = replace(rows, replaced=None)
    return rows, queries | {
        name: plainly_named(query).sql("spark") for name, query in rows.named.items()
    }


def _in_one_task(queries: Mapping[str, str]) -> dict[str, str]:
    """The queries with changed and stored rows each in one partition: they are grouped and merged
    without an exchange."""
    return {
        name: f"SELECT /*+ COALESCE(1) */ * FROM (\n{query}\n)"
        if name == STORED or name.startswith(CHANGES)
        else query
        for name, query in queries.items()
    }


def _is_better_in_part(observation: Observation, changed: int) -> bool:
    summary = observation.head.summary if observation.head else {}
    taken_away = iceberg.summary_number(summary, "total-position-deletes") or 0
    return is_better_in_part(stored_rows(observation), taken_away, changed)


def _written(rows: Rows) -> Written:
    if rows.replaced is not None:
        return Written.REPLACED
    return Written.NONE if rows.appends else Written.ALL


def _condition(view: MaterializedView, replaced: Replaced, queries: Mapping[str, str]) -> str:
    """Whether a row of the storage table, there called mv_stored, is replaced."""
    names = all_stored_columns(view)
    pairs = " AND ".join(
        f"{STORED}.{quote(names[stored])} <=> {REPLACED}.{quote(name)}"
        for stored, name in replaced.columns.items()
    )
    rows = with_queries(queries, f"SELECT * FROM {replaced.by}")
    return f"EXISTS (SELECT 1 FROM (\n{rows}\n) AS {REPLACED} WHERE {pairs})"


def _times_read(placeholder: str, query: str) -> int:
    """How often a table is read as a whole, at either version."""
    number = placeholder.removeprefix(TABLE)
    names = (placeholder, OLD + number)
    found = sum(len(re.findall(rf"\b{name}\b", query)) for name in names)
    return found - sum(f"{name} AS (" in query for name in names)


def _stored(observation: Observation) -> str:
    assert observation.head is not None
    listed = ", ".join(
        quote(stored) if stored == name else f"{quote(stored)} AS {quote(name)}"
        for name, stored in all_stored_columns(observation.view).items()
    )
    version = observation.head.snapshot_id
    return f"SELECT {listed} FROM {observation.view.storage.sql} VERSION AS OF {version}"
