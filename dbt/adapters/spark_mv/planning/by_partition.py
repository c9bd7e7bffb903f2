"""Prepares partition refreshes: which partitions of the storage table a change can have touched,
and the query that computes those."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.catalog import partition_lists, partitions
from dbt.adapters.spark_mv.catalog.partitions import Field, Partition, Spec
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.core.sessions import in_session
from dbt.adapters.spark_mv.ivm.algebra.terms import Context, NotFast
from dbt.adapters.spark_mv.ivm.partitions.lineage import (
    KEY,
    changed_keys,
    key_rows,
    owned_tables,
    restricted,
)
from dbt.adapters.spark_mv.ivm.program import Program
from dbt.adapters.spark_mv.ivm.rewrite.output_names import plainly_named
from dbt.adapters.spark_mv.planning.analysis import Analysis, with_queries
from dbt.adapters.spark_mv.planning.cost import PartitionEstimate
from dbt.adapters.spark_mv.planning.inputs import (
    Inputs,
    changed_rows,
    scanned_rows,
    stored_rows,
)
from dbt.adapters.spark_mv.planning.partition_mapping import fed_by_change, source_partitions
from dbt.adapters.spark_mv.planning.plan import FAST, PartitionQuery
from dbt.adapters.spark_mv.sql.names import TableName, quote
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.definition import Layout, MaterializedView
from dbt.adapters.spark_mv.views.storage_sql import stored_columns

NOT_PARTITIONED = Reason("NOT_PARTITIONED", "it has no partitions; partition_by gives it some")
_FIRST = Reason("LIMIT", "rows of other partitions decide which rows are the first")
_NO_STEERING = Reason("NOT_PARTITIONED", "it is partitioned by a boolean; add another column")
_NOT_TOLD = Reason("NOT_PARTITIONED", "conditions on values cannot select its partitions")
# Spark simplifies conditions on these to what Iceberg cannot replace rows by.
_NOT_STEERING = ("boolean",)
# Values of these do not come back from text as they were.
_INEXACT = ("binary", "float", "double")
_MOST = 500
# From so many changed rows on, or if nobody has counted them, metadata are asked instead of them.
_MANY = 1_000_000
_PART = "mv_part_"


@dataclass(frozen=True)
class Target:
    """How a view is refreshed by partition: the spec of its storage table, and those of its
    fields that steer the refresh, each with the view's column that it is made from."""

    spec: Spec
    fields: tuple[Field, ...]
    columns: tuple[str, ...]

    def values(self, sql: Iterable[str], catalog: str) -> list[tuple[str, str]]:
        """SQL of the fields' values, with their types, where the columns are this SQL."""
        pairs = zip(self.fields, sql, strict=True)
        return [(field.value(column, catalog), field.type) for field, column in pairs]

    def contains(
        self, sql: Iterable[str], catalog: str, wanted: Collection[Partition], pushed: bool = False
    ) -> str:
        """SQL of the condition that a row, of which the columns are this SQL, is in one of these
        partitions; `pushed` as in `Field.holds`."""
        return partitions.is_one_of(
            list(zip(self.fields, sql, strict=True)), catalog, wanted, pushed
        )

    def shown(self, partition: Partition) -> str:
        """A partition as paths spell it."""
        return Spec(self.fields, "").uri(partition)


def target_of(executor: Executor, view: MaterializedView, program: Program) -> Target | Reason:
    """How a view of this program can be refreshed by partition; why it cannot."""
    if not view.layout.partition_by:
        return NOT_PARTITIONED
    if program.first is not None:
        return _FIRST
    spec = partitions.spec_of(executor, view.storage)
    if spec is None or not spec.fields:
        return _NOT_TOLD
    fields = spec.fields[: len(view.options.static_partition_by) or None]
    shown = {stored.lower(): name for name, stored in stored_columns(view).items()}
    chosen = [
        (field, shown[field.column])
        for field in partitions.steering(fields)
        if field.column in shown
        and field.type not in _NOT_STEERING
        and not _reason_against(program.query, shown[field.column])
    ]
    if not chosen:
        columns = [shown[field.column] for field in fields if field.column in shown]
        return _reason_against_all(program.query, columns) or _NO_STEERING
    return Target(spec, tuple(field for field, _ in chosen), tuple(name for _, name in chosen))


def why_not(method: str, view: MaterializedView, found: Analysis | Reason) -> Reason | None:
    """Why a view of this analysis can never be refreshed by a method, None if it can."""
    if isinstance(found, Reason):
        return found
    if method == FAST:
        return found.program.why_not_fast
    if found.program.first is not None:
        return _FIRST
    types = {column.name: column.type for column in view.definition.columns}
    static = view.options.static_partition_by
    layout = Layout(static) if static else view.layout
    named = layout.partitioned(list(types))
    if any(types[name] in _INEXACT for name in named):
        return _NOT_TOLD
    columns = [name for name in named if types[name] not in _NOT_STEERING]
    if view.layout.partition_by and not columns:
        return _NO_STEERING
    against = _reason_against_all(found.program.query, columns)
    return against and found.readable(against)


def _reason_against_all(query: exp.Query, columns: Sequence[str]) -> Reason | None:
    found = [_reason_against(query, column) for column in columns]
    return None if None in found else next(iter(found), NOT_PARTITIONED)


def _reason_against(query: exp.Query, column: str) -> Reason | None:
    try:
        key_rows(query, [column])
    except NotFast as error:
        return error.reason
    return None


def prepare_partition(
    executor: Executor,
    observation: Observation,
    inputs: Inputs,
    totals: Mapping[TableName, int],
    slowness: float,
) -> PartitionQuery | Reason:
    """The query of the partitions that may have changed; why there is none.

    Runs the query of which these are. `totals` are the rows of the base tables, `slowness` is
    as in `PartitionEstimate`.
    """
    program = inputs.analysis.program
    target = target_of(executor, observation.view, program)
    if isinstance(target, Reason):
        return inputs.analysis.readable(target)
    found = _few_partitions(executor, observation, inputs, target)
    if isinstance(found, Reason):
        return inputs.analysis.readable(found)
    changed, present = found
    catalog = observation.view.storage.catalog
    stored = stored_columns(observation.view)
    query = _query(executor, observation, inputs, target, changed)
    outside = [quote(stored[name]) for name in target.columns]
    return PartitionQuery(
        query,
        # Iceberg itself replaces these rows, so it has to understand the condition.
        target.contains(outside, catalog, changed, pushed=True),
        tuple(sorted(target.shown(found) for found in changed)),
        tuple(str(change) for change in inputs.changes),
        PartitionEstimate(
            sum(totals.values()),
            changed_rows(inputs.changes, totals) + scanned_rows(inputs.changes, totals),
            stored_rows(observation),
            len(changed),
            max(len(changed), present, 1),
            slowness,
        ),
    )


def _few_partitions(
    executor: Executor, observation: Observation, inputs: Inputs, target: Target
) -> tuple[set[Partition], int] | Reason:
    try:
        found = changed_partitions(executor, observation, inputs, target)
    except NotFast as error:
        return error.reason
    except StatementFailed as error:
        return Reason("PARTITIONS_UNKNOWN", f"Spark cannot say which changed: {error.problem}")
    if len(found[0]) > _MOST:
        text = f"{len(found[0])} partitions may have changed, more than {_MOST}"
        return Reason("TOO_MANY_PARTITIONS", text)
    return found


def changed_partitions(
    executor: Executor, observation: Observation, inputs: Inputs, target: Target
) -> tuple[set[Partition], int]:
    """Partitions of which a row may be another than it was, and how many there are in the storage
    table; raises `NotFast`."""
    known = _known(executor, observation, inputs, target)
    found = set().union(*known.values())
    context = Context(inputs.changed)
    query = inputs.analysis.program.query
    keys = changed_keys(query, target.columns, context, known.keys())
    if keys and len(found) <= _MOST:
        queries = {name: plainly_named(query).sql("spark") for name, query in context.named.items()}
        more, present = _of_rows(
            executor, observation, target, keys, inputs.queries(observation) | queries
        )
        return found | more, present
    assert observation.head is not None
    storage, version = observation.view.storage, observation.head.snapshot_id
    return found, partition_lists.count(executor, storage, target.spec, version)


def _known(
    executor: Executor, observation: Observation, inputs: Inputs, target: Target
) -> dict[str, set[Partition]]:
    """For changed tables, by their names in the program, the partitions that their files feed, if
    these are sooner known than the changed rows."""
    # Files do not tell which rows are others by the clock.
    written = [change for change in inputs.changes if not change.crossed]
    large = [change for change in written if change.rows is None or change.rows >= _MANY]
    # A compaction leaves the rows as they are, and hardly a file.
    asked = [change for change in written if change in large or not change.compacted]
    owned = owned_tables(inputs.analysis.program.query, target.columns) if asked else {}
    found: dict[str, set[Partition]] = {}
    for change in asked:
        name = inputs.analysis.placeholder(change.table)
        if name not in owned:
            continue
        fed = fed_by_change(
            executor,
            observation,
            change,
            owned[name],
            lambda sql: target.values(sql, observation.view.storage.catalog),
            change not in large,
        )
        if fed is not None:
            found[name] = fed
    return found


def _of_rows(
    executor: Executor,
    observation: Observation,
    target: Target,
    keys: Sequence[exp.Query],
    queries: Mapping[str, str],
) -> tuple[set[Partition], int]:
    """The partitions whose values queries of keys return, and how many the storage table has."""
    columns = [f"{KEY}{number}" for number in range(len(target.columns))]
    values = target.values(columns, observation.view.storage.catalog)
    texts = ", ".join(partitions.encoded(sql, kind) for sql, kind in values)
    union = "\nUNION ALL\n".join(query.sql("spark") for query in keys)
    present = partitions.count(observation.view.storage)
    query = f"SELECT DISTINCT ({present}), {texts} FROM (\n{union}\n) LIMIT {_MOST + 1}"
    settings = observation.view.definition.settings
    text = with_queries(queries, query)
    rows = in_session(executor, settings, lambda session: session.query(text))
    found = {tuple(None if text is None else str(text) for text in row[1:]) for row in rows}
    return found, max((row[0] for row in rows), default=0)


def _query(
    executor: Executor,
    observation: Observation,
    inputs: Inputs,
    target: Target,
    changed: set[Partition],
) -> str:
    """The query of everything that is stored in these partitions."""
    catalog = observation.view.storage.catalog
    queries = inputs.analysis.current(observation.versions, observation.instant_us)

    def restrict(table: exp.Table, values: list[exp.Expr]) -> exp.Expr:
        name = f"{_PART}{len(queries)}"
        texts = [value.sql("spark") for value in values]
        where = [target.contains(texts, catalog, changed)]
        base = inputs.analysis.tables[table.name]
        feeding = source_partitions(
            executor, observation, base, values, lambda sql: target.values(sql, catalog), changed
        )
        if feeding is not None:
            where.append(feeding)
        rows = inputs.analysis.rows(table.name, observation.versions[base], observation.instant_us)
        condition = " AND ".join(f"({text})" for text in where)
        if inputs.analysis.clock.of(table.name):  # a condition may name what the table has not
            rows = f"SELECT * FROM ({rows})"
        queries[name] = f"{rows} AS {quote(table.alias_or_name)} WHERE {condition}"
        return exp.alias_(exp.to_table(name), table.alias_or_name, table=True, quoted=True)

    body = restricted(inputs.analysis.program.stored_query(), target.columns, restrict)
    inside = target.contains([quote(name) for name in target.columns], catalog, changed)
    rows = f"SELECT * FROM (\n{plainly_named(body).sql('spark')}\n) AS mv_rows WHERE {inside}"
    return with_queries(queries, rows)
