"""The text of a live view that computes changed partitions only, and takes the others as stored.

It has three branches: stored rows of partitions whose files are as they were, the query over the
other partitions, and the query over everything, for what files do not show (columns, other tables).

Names are looked up in the order of the text. The first and the last question about a fact have the
same answer only if it has not moved in between, so that the files that were seen are those that are
read.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.ivm.partitions.lineage import restricted
from dbt.adapters.spark_mv.planning.analyzer import with_queries
from dbt.adapters.spark_mv.refresh.live.aligned import Alignment, Fact, digests
from dbt.adapters.spark_mv.refresh.live.text import (
    SAME,
    Condition,
    MetadataFile,
    guarded,
    is_current,
    live_query,
    unchanged,
)
from dbt.adapters.spark_mv.sql.names import TableName, quote
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.storage_sql import stored_columns, stored_rows

_DIRTY, _SOME, _BEFORE, _ROWS = "mv_live_dirty", "mv_live_some", "mv_live_before", "mv_live_rows"


def aligned_text(
    resolver: Resolver,
    view: MaterializedView,
    condition: Condition,
    alignment: Alignment,
    guard: str,
) -> str:
    """The query of a live view; `condition` is as in `live_text`, `guard` too."""
    stored = quote(stored_columns(view)[alignment.column])
    kept = f" LEFT ANTI JOIN {_DIRTY} ON {stored} = mv_p LEFT SEMI JOIN {SAME}"
    column = quote(alignment.column)
    in_part = f" LEFT SEMI JOIN {_DIRTY} ON mv_live_query.{column} = mv_p LEFT SEMI JOIN {SAME}"
    whole = f" LEFT ANTI JOIN {SAME}"
    return (
        f"WITH {_definitions(condition, alignment)}\n"
        f"{stored_rows(view, joined=kept)}\n"
        f"UNION ALL\n{guarded(view, _changed_rows(view, alignment), in_part, guard)}\n"
        f"UNION ALL\n{guarded(view, live_query(resolver, view, whole), whole, guard)}"
    )


def _definitions(condition: Condition, alignment: Alignment) -> str:
    """What the branches read, in the order in which it is to be looked up."""
    facts = alignment.facts
    tables = {fact.table for fact in facts}
    logs = {found.table: found for found in condition.files if found.table in tables}
    others = tuple(found for found in condition.files if found.table not in tables)
    dirty = " UNION ".join(f"SELECT mv_p FROM {_DIRTY}{n}" for n in range(len(facts)))
    parts = [
        *(f"{_BEFORE}{n} AS ({_main(fact)})" for n, fact in enumerate(facts)),
        *(f"{_DIRTY}{n} AS (\n{_dirty(fact)}\n)" for n, fact in enumerate(facts)),
        *(f"{_ROWS}{n} AS (SELECT * FROM {fact.table.sql})" for n, fact in enumerate(facts)),
        f"{_DIRTY} AS ({dirty})",
        f"{_SOME} AS (SELECT 1 AS mv_one FROM {_DIRTY} LIMIT 1)",
        f"{SAME} AS (\n{_same(Condition(others, condition.until_us), alignment, logs)}\n)",
    ]
    return ",\n".join(parts)


def _main(fact: Fact) -> str:
    return f"SELECT max(snapshot_id) AS mv_id FROM {fact.table.sql}.refs WHERE name = 'main'"


def _dirty(fact: Fact) -> str:
    """The partitions whose files are others than they were: changed, new or gone."""
    known = ", ".join(f"({value}, {digest}L)" for value, digest in fact.digests)
    return (
        f"SELECT mv_p FROM (\n  {digests(fact)}\n"
        f"  UNION ALL SELECT * FROM VALUES {known} AS mv_known(mv_p, mv_digest)\n"
        ") GROUP BY mv_p HAVING count(*) <> 2 OR min(mv_digest) <> max(mv_digest)"
    )


def _same(condition: Condition, alignment: Alignment, logs: dict[TableName, MetadataFile]) -> str:
    """A query of one row while files of partitions tell all that has changed."""
    joined = [f"(\n{unchanged(condition)}\n) AS mv_others"]
    for number, fact in enumerate(alignment.facts):
        name = fact.table.sql
        log = logs[fact.table]
        # Each commit of rows has a snapshot of its own; what has none changed something else.
        joined.append(
            f"(SELECT 1 FROM {name}.metadata_log_entries "
            f"WHERE timestamp >= timestamp_micros({log.at_us}L) HAVING count_if({is_current(log)}) "
            f"= 1 AND count(*) = count(DISTINCT latest_snapshot_id)) AS mv_log{number}"
        )
        joined.append(
            f"(SELECT 1 FROM {_BEFORE}{number} JOIN (SELECT max_by(snapshot_id, made_current_at) "
            f"AS mv_last FROM {name}.history) ON mv_id = mv_last) AS mv_moment{number}"
        )
    # Rows without a partition are compared with nothing.
    none = f"LEFT ANTI JOIN (SELECT 1 FROM {_DIRTY} WHERE mv_p IS NULL) AS mv_null"
    return f"SELECT 1 AS mv_one FROM {' CROSS JOIN '.join(joined)} {none}"


def _changed_rows(view: MaterializedView, alignment: Alignment) -> str:
    """The query of rows of which those of other partitions than the changed ones may be left out.

    What is no fact is not read unless there is such a partition.
    """
    analysis = alignment.analysis
    numbers = {fact.placeholder: number for number, fact in enumerate(alignment.facts)}
    queries: dict[str, str] = {}
    for name, table in analysis.tables.items():
        columns = ", ".join(quote(column) for column in analysis.columns[name])
        queries[name] = f"SELECT {columns} FROM {table.sql} LEFT SEMI JOIN {_SOME}"

    def restrict(table: exp.Table, values: list[exp.Expr]) -> exp.Expr | None:
        number = numbers.get(table.name)
        if number is None:
            return None
        fact = alignment.facts[number]
        columns = ", ".join(f"b.{quote(c)}" for c in analysis.columns[fact.placeholder])
        queries[f"mv_part_{number}"] = (
            f"SELECT {columns} FROM {_ROWS}{number} AS b "
            f"JOIN {_DIRTY} AS d ON b.{quote(fact.column)} = d.mv_p"
        )
        return exp.alias_(
            exp.to_table(f"mv_part_{number}"), table.alias_or_name, table=True, quoted=True
        )

    body = restricted(analysis.program.stored_query(), [alignment.column], restrict)
    shown = ", ".join(quote(column.name) for column in view.definition.columns)
    return with_queries(queries, f"SELECT {shown} FROM (\n{body.sql('spark')}\n) AS mv_part_rows")
