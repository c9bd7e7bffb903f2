"""Prepares fast refreshes: whether the stored rows can be brought up to date by what changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from dbt.adapters.spark_mv.base_tables import iceberg
from dbt.adapters.spark_mv.ivm.additive import STORED
from dbt.adapters.spark_mv.ivm.program import rows_after
from dbt.adapters.spark_mv.ivm.tree import OLD, TABLE, NotFast, compared_columns
from dbt.adapters.spark_mv.reasons import Reason
from dbt.adapters.spark_mv.refresh.analyse import with_queries
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.estimate import Estimate
from dbt.adapters.spark_mv.refresh.inputs import Inputs, changed_rows
from dbt.adapters.spark_mv.refresh.look import Look
from dbt.adapters.spark_mv.refresh.plan import FastQuery
from dbt.adapters.spark_mv.refresh.statements import all_stored_columns
from dbt.adapters.spark_mv.sql.names import TableName, quote


def prepare_fast(
    engine: Engine, look: Look, inputs: Inputs, totals: Mapping[TableName, int], slowness: float
) -> FastQuery | Reason:
    """The query that brings the rows that were looked at up to date; why not if there is none.

    `totals` are the rows of the base tables, `slowness` is as in `Estimate`.
    """
    program = inputs.analysis.program
    if program.why_not_fast is not None:
        return program.why_not_fast
    types = [column.type for column in look.current.columns]
    try:
        rows = rows_after(program, inputs.changed, inputs.inserts_only, types)
    except NotFast as error:
        return error.reason
    bounded = inputs.bounded(engine, compared_columns(program.query))
    queries = bounded.queries(look)
    queries[STORED] = _stored(look)
    queries |= {name: query.sql("spark") for name, query in rows.named.items()}
    query = with_queries(queries, rows.query)
    return FastQuery(
        query,
        rows.appends,
        tuple(str(change) for change in inputs.changes),
        replace(_estimate(look, inputs, totals, rows.appends, query), slowness=slowness),
    )


def _estimate(
    look: Look, inputs: Inputs, totals: Mapping[TableName, int], appends: bool, query: str
) -> Estimate:
    """Counted in what commits say of themselves; a table that says nothing counts as unchanged."""
    analysis = inputs.analysis
    joined = sum(
        total * _times_read(analysis.placeholder(table), query) for table, total in totals.items()
    )
    stored = iceberg.summary_number(look.head.summary, "total-records") if look.head else 0
    return Estimate(
        sum(totals.values()),
        changed_rows(inputs.changes, totals),
        joined,
        0 if appends else stored or 0,
        analysis.program.additive is None and analysis.program.groups is not None,
    )


def _times_read(placeholder: str, query: str) -> int:
    """How often a table is read as a whole, at either version."""
    number = placeholder.removeprefix(TABLE)
    names = (placeholder, OLD + number)
    found = sum(len(re.findall(rf"\b{name}\b", query)) for name in names)
    return found - sum(f"{name} AS (" in query for name in names)


def _stored(look: Look) -> str:
    assert look.head is not None
    listed = ", ".join(
        quote(stored) if stored == name else f"{quote(stored)} AS {quote(name)}"
        for name, stored in all_stored_columns(look.view).items()
    )
    return f"SELECT {listed} FROM {look.view.storage.sql} VERSION AS OF {look.head.snapshot_id}"
