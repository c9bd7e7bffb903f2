"""The text of a live view that computes changed partitions only, and takes the others as stored.

It has three branches: stored rows of partitions whose files are as they were, the query over the
other partitions, and the query over everything, for what files do not show (columns, other tables).

Names are looked up in the order of the text. The first and the last question about a fact have the
same answer only if it has not moved in between, so that the files that were seen are those that are
read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.ivm.partitions.lineage import restricted
from dbt.adapters.spark_mv.planning.analysis import with_queries
from dbt.adapters.spark_mv.refresh.live.aligned import Alignment, Fact, digests
from dbt.adapters.spark_mv.refresh.live.logs import only_rows
from dbt.adapters.spark_mv.refresh.live.text import (
    Condition,
    guarded,
    live_query,
    same_in,
    unchanged,
)
from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.storage_sql import stored_columns, stored_rows


@dataclass(frozen=True)
class _Names:
    """What the relations of a live view are called."""

    same: str

    @property
    def dirty(self) -> str:
        """The values of partitions that have changed."""
        return f"{self.same}_not"

    @property
    def some(self) -> str:
        """A row if there is any such partition."""
        return f"{self.same}_some"

    def of_fact(self, number: int, what: str) -> str:
        """What is read of a fact."""
        return f"{self.same}_{what}_{number}"


def aligned_text(
    resolver: Resolver,
    view: MaterializedView,
    condition: Condition,
    alignment: Alignment,
    guard: str,
) -> str:
    """The query of a live view; as `live_text`, but that facts may have other rows."""
    names = _Names(same_in(view))
    stored, column = quote(stored_columns(view)[alignment.column]), quote(alignment.column)
    kept = (
        f" AS mv_s LEFT ANTI JOIN {names.dirty} AS mv_d ON mv_s.{stored} = mv_d.mv_p "
        f"LEFT SEMI JOIN {names.same}"
    )
    # A side of a set operation that reads no fact has rows of all partitions, if only constants.
    has_sides = alignment.analysis.program.query.find(exp.SetOperation) is not None
    chosen = f" LEFT SEMI JOIN {names.dirty} AS mv_d ON mv_live_query.{column} = mv_d.mv_p"
    in_part = f"{chosen if has_sides else ''} LEFT SEMI JOIN {names.same}"
    whole = f" LEFT ANTI JOIN {names.same}"
    # Without sides its groups have keys, so that of no rows it has none, and needs no other switch.
    everything = live_query(resolver, view, whole)
    return (
        f"WITH {_definitions(condition, alignment, names)}\n"
        f"{stored_rows(view, joined=kept)}\n"
        f"UNION ALL\n{guarded(view, _changed_rows(view, alignment, names), in_part, guard)}\n"
        f"UNION ALL\n{guarded(view, everything, whole if has_sides else '', guard)}"
    )


def _definitions(condition: Condition, alignment: Alignment, names: _Names) -> str:
    """What the branches read, in the order in which it is to be looked up."""
    facts = list(enumerate(alignment.facts))
    dirty = " UNION ".join(f"SELECT mv_p FROM {names.of_fact(n, 'dirty')}" for n, _ in facts)
    parts = [
        *(f"{names.of_fact(n, 'before')} AS ({_main(fact)})" for n, fact in facts),
        *(f"{names.of_fact(n, 'dirty')} AS (\n{_dirty(fact)}\n)" for n, fact in facts),
        *(f"{names.of_fact(n, 'rows')} AS (SELECT * FROM {f.table.sql})" for n, f in facts),
        f"{names.dirty} AS ({dirty})",
        f"{names.some} AS (SELECT 1 AS mv_one FROM {names.dirty} LIMIT 1)",
        f"{names.same} AS (\n{_same(condition, alignment, names)}\n)",
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


def _same(condition: Condition, alignment: Alignment, names: _Names) -> str:
    """A query of one row while files of partitions tell all that has changed."""
    logs = {log.table: log for log in condition.logs}
    facts = {fact.table for fact in alignment.facts}
    others = tuple(log for log in condition.logs if log.table not in facts)
    joined = [f"(\n{unchanged(replace(condition, logs=others))}\n) AS mv_others"]
    for number, fact in enumerate(alignment.facts):
        joined.append(f"({only_rows(logs[fact.table])}) AS mv_log{number}")
        last = "SELECT max_by(snapshot_id, made_current_at) AS mv_last"
        joined.append(
            f"(SELECT 1 FROM {names.of_fact(number, 'before')} JOIN "
            f"({last} FROM {fact.table.sql}.history) ON mv_id = mv_last) AS mv_moment{number}"
        )
    # Rows without a partition are compared with nothing.
    none = f"LEFT ANTI JOIN (SELECT 1 FROM {names.dirty} WHERE mv_p IS NULL) AS mv_null"
    return f"SELECT 1 AS mv_one FROM {' CROSS JOIN '.join(joined)} {none}"


def _changed_rows(view: MaterializedView, alignment: Alignment, names: _Names) -> str:
    """The query of rows of which those of other partitions than the changed ones may be left out.

    What is no fact is not read unless there is such a partition.
    """
    analysis = alignment.analysis
    numbers = {fact.placeholder: number for number, fact in enumerate(alignment.facts)}
    queries: dict[str, str] = {}
    for name, table in analysis.tables.items():
        columns = ", ".join(quote(column) for column in analysis.columns[name])
        queries[name] = f"SELECT {columns} FROM {table.sql} LEFT SEMI JOIN {names.some}"

    def restrict(table: exp.Table, values: list[exp.Expr]) -> exp.Expr | None:
        number = numbers.get(table.name)
        if number is None:
            return None
        fact = alignment.facts[number]
        columns = ", ".join(f"mv_all.{quote(c)}" for c in analysis.columns[fact.placeholder])
        queries[f"mv_part_{number}"] = (
            f"SELECT {columns} FROM {names.of_fact(number, 'rows')} AS mv_all "
            f"JOIN {names.dirty} AS mv_dirty ON mv_all.{quote(fact.column)} = mv_dirty.mv_p"
        )
        return exp.alias_(
            exp.to_table(f"mv_part_{number}"), table.alias_or_name, table=True, quoted=True
        )

    body = restricted(analysis.program.stored_query(), [alignment.column], restrict)
    shown = ", ".join(quote(column.name) for column in view.definition.columns)
    where = f" WHERE NOT {quote(view.spare)}" if view.spare else ""
    rows = f"SELECT {shown} FROM (\n{body.sql('spark')}\n) AS mv_part_rows{where}"
    return with_queries(queries, rows)
