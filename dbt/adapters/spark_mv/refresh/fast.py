"""Prepares fast refreshes: whether the stored rows can be brought up to date by what changed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbt.adapters.spark_mv.base_tables import iceberg
from dbt.adapters.spark_mv.base_tables.changes import COMPARED, Change, change_between
from dbt.adapters.spark_mv.ivm.additive import STORED
from dbt.adapters.spark_mv.ivm.program import rows_after
from dbt.adapters.spark_mv.ivm.tree import CHANGES, OLD, TABLE, WEIGHT, NotFast
from dbt.adapters.spark_mv.reasons import Reason
from dbt.adapters.spark_mv.refresh.analyse import Analysis, rows_at, with_queries
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.estimate import Estimate
from dbt.adapters.spark_mv.refresh.look import Look
from dbt.adapters.spark_mv.refresh.pin import unpinned_tables
from dbt.adapters.spark_mv.refresh.plan import FastQuery
from dbt.adapters.spark_mv.refresh.statements import all_stored_columns
from dbt.adapters.spark_mv.sql.names import TableName, quote

OTHER_LAYOUT = Reason("OTHER_LAYOUT", "its storage table lacks columns that are needed")


def prepare(engine: Engine, look: Look) -> FastQuery | Reason:
    """The query that brings the rows that were looked at up to date; why not if there is none."""
    view, label = look.view, look.label
    if label is None or look.head is None or not look.verdict.changed:
        return Reason("NO_BASE", "there are no stored rows to start from")
    analysis = engine.analyst.analysis(look.current, str(view.name))
    if isinstance(analysis, Reason):
        return analysis
    if tuple(analysis.program.hidden) != view.hidden:
        return OTHER_LAYOUT
    unpinned = unpinned_tables(look.versions, engine.executor, engine.relations)
    if unpinned:
        names = ", ".join(name.shown for name in unpinned)
        return Reason("NOT_PINNED", f"cannot be read at a fixed version: {names}")
    changes: list[Change] = []
    for table in look.verdict.changed:
        found = change_between(engine.executor, table, label.sources[table], look.versions[table])
        if isinstance(found, Reason):
            return found
        changes.append(found)
    try:
        return _query(engine, look, analysis, changes)
    except NotFast as error:
        return error.reason


def _query(engine: Engine, look: Look, analysis: Analysis, changes: Sequence[Change]) -> FastQuery:
    changed = frozenset(analysis.placeholder(change.table) for change in changes)
    inserts_only = all(change.inserts_only for change in changes)
    types = [column.type for column in look.current.columns]
    rows = rows_after(analysis.program, changed, inserts_only, types)
    queries = analysis.current(look.versions)
    for change in changes:
        name = analysis.placeholder(change.table)
        number, columns = name.removeprefix(TABLE), analysis.columns[name]
        queries[OLD + number] = rows_at(change.table, change.old, columns)
        queries[CHANGES + number] = change.sql(columns, WEIGHT)
    queries[STORED] = _stored(look)
    queries |= {name: query.sql("spark") for name, query in rows.named.items()}
    query = with_queries(queries, rows.query)
    return FastQuery(
        query,
        rows.appends,
        tuple(str(change) for change in changes),
        _estimate(engine, look, analysis, changes, rows.appends, query),
    )


def _estimate(
    engine: Engine,
    look: Look,
    analysis: Analysis,
    changes: Sequence[Change],
    appends: bool,
    query: str,
) -> Estimate:
    """Counted in what commits say of themselves; a table that says nothing counts as unchanged."""
    totals = {table: _total(engine, table) for table in look.versions}
    changed = 0
    for change in changes:
        compared = change.rows is None or change.way == COMPARED
        changed += 2 * totals[change.table] if compared else change.rows or 0
    joined = sum(
        total * _times_read(analysis.placeholder(table), query) for table, total in totals.items()
    )
    stored = iceberg.summary_number(look.head.summary, "total-records") if look.head else 0
    return Estimate(
        sum(totals.values()),
        changed,
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


def _total(engine: Engine, table: TableName) -> int:
    chain = iceberg.main_chain(engine.executor, table, 1)
    return (iceberg.summary_number(chain[0].summary, "total-records") or 0) if chain else 0


def _stored(look: Look) -> str:
    assert look.head is not None
    listed = ", ".join(
        quote(stored) if stored == name else f"{quote(stored)} AS {quote(name)}"
        for name, stored in all_stored_columns(look.view).items()
    )
    return f"SELECT {listed} FROM {look.view.storage.sql} VERSION AS OF {look.head.snapshot_id}"
