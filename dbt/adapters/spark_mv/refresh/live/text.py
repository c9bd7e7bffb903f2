"""The text of a live view: stored rows if they are right at the time of the read, else the query.

Each scan of a base table stands below an anti join with a relation that has a row only as long as
nothing has been committed to any of these tables. Spark's adaptive execution learns that before the
scans begin, and leaves out the branch that can have no rows. Where that is turned off the rows are
the same, and both branches are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dbt.adapters.spark_mv.catalog.resolver import Facts, Resolver
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.refresh.live.logs import TableLog, is_as_it_was
from dbt.adapters.spark_mv.sql.literals import type_sql
from dbt.adapters.spark_mv.sql.names import TableName, literal, quote
from dbt.adapters.spark_mv.sql.reads import Reference
from dbt.adapters.spark_mv.sql.splice import subquery
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.recognition import storage_of
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.storage_sql import stored_rows

# Of these `typeof` says that they are strings.
_PADDED = re.compile(r"\b(?:var)?char\(")


@dataclass(frozen=True)
class Condition:
    """When stored rows are right: as long as the metadata logs of tables are these, and until an
    instant in epoch microseconds, if there is one."""

    logs: tuple[TableLog, ...]
    until_us: int | None = None


def same_in(view: MaterializedView) -> str:
    """The name of the relation that has a row while stored rows are right; no query of a user's
    has it."""
    return f"mv_live_{view.id[:12]}_same"


def live_text(
    resolver: Resolver, view: MaterializedView, condition: Condition | None, guard: str
) -> str:
    """The query of a live view; of a `condition` that is None the view's query and nothing else.

    `guard` is a condition that fails, with a message, in sessions that would compute other rows.
    """
    if condition is None:
        return guarded(view, live_query(resolver, view, ""), "", guard)
    same = same_in(view)
    # With a condition, if only `ON true`, Spark does not always leave out the branch.
    switch = f" LEFT ANTI JOIN {same}"
    return (
        f"WITH {same} AS (\n{unchanged(condition)}\n)\n"
        f"{stored_rows(view, joined=f' LEFT SEMI JOIN {same}')}\n"
        # Aggregates over no rows return one, so there is a switch above the query as well.
        f"UNION ALL\n{guarded(view, live_query(resolver, view, switch), switch, guard)}"
    )


def guarded(view: MaterializedView, query: str, switch: str, guard: str) -> str:
    """A query with the names and types of the view. It takes its columns by name, as others have
    their places after a change of a table behind `*`; and it fails where their types are others, as
    fields of structures have places, too."""
    columns = view.definition.columns
    shown = (
        quote(c.name)
        if "<" in c.type or _PADDED.search(c.type)
        else f"CAST({quote(c.name)} AS {type_sql(c.type)}) AS {quote(c.name)}"
        for c in columns
    )
    known = {c.name: c.type for c in columns if not _PADDED.search(c.type)}
    same = " AND ".join(f"typeof({quote(n)}) = {literal(kind)}" for n, kind in known.items())
    changed = literal(f"{view.name}: columns of its tables have other types now. Refresh it.")
    typed = [f"IF({same}, true, CAST(raise_error({changed}) AS BOOLEAN))"] if known else []
    where = " AND ".join([*([guard] if guard else []), *typed])
    return f"SELECT {', '.join(shown)} FROM (\n{query}\n) AS mv_live_query{switch}" + (
        f"\nWHERE {where}" if where else ""
    )


def live_query(resolver: Resolver, view: MaterializedView, switch: str) -> str:
    """The query of a view with those of all views that it reads, each scan below `switch`."""
    definition = view.definition
    expander = Expander(resolver, str(view.name), for_later=True, settings=definition.settings)

    def replacement(name: TableName, facts: Facts, reference: Reference) -> str | None:
        if storage_of(name, facts) is not None:
            upstream = load_view(resolver, name)
            names = ", ".join(quote(column.name) for column in upstream.definition.columns)
            inner = live_query(resolver, upstream, switch)
            return subquery(f"SELECT {names} FROM (\n{inner}\n) AS mv_upstream", reference)
        if isinstance(facts, ViewFacts) or not switch:
            return None
        return subquery(f"SELECT mv_base.* FROM {name.sql} AS mv_base{switch}", reference)

    return expander.inline(definition.query, definition.home, replacement)


def unchanged(condition: Condition) -> str:
    """A query of one row while a condition holds, and of none later."""
    until = condition.until_us
    before = "" if until is None else f"\nWHERE current_timestamp() < timestamp_micros({until}L)"
    entries, same = is_as_it_was(condition.logs)
    return f"SELECT 1 AS mv_one FROM (\n  {entries}\n) AS mv_logs{before}\nHAVING {same}"
