"""Which partitions of base tables feed which partitions of a materialized view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from dbt.adapters.spark_mv.catalog import partition_lists, partitions
from dbt.adapters.spark_mv.catalog.change_sets import Change
from dbt.adapters.spark_mv.catalog.partition_lists import with_values
from dbt.adapters.spark_mv.catalog.partitions import Partition, Spec
from dbt.adapters.spark_mv.config.time_zones import UTC_NAMES
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.ivm.partitions.transforms import PartitionValue, over_partitions
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.observation import Observation

_MOST = 500
# SQL of the values of a target's fields, where its columns are given as SQL.
Values = Callable[[Iterable[str]], "list[tuple[str, str]]"]


def partition_columns(
    spec: Spec, values: Sequence[exp.Expr], time_zone: str
) -> list[exp.Expr] | None:
    """The values over columns of a table as expressions over p0, p1, .. of its partitions; None
    if rows of one partition may have different ones."""
    known: dict[str, list[PartitionValue]] = {}
    for number, field in enumerate(spec.fields):
        value = PartitionValue(
            f"p{number}", field.transform, field.column_type, field.size, time_zone in UTC_NAMES
        )
        known.setdefault(field.column, []).append(value)
    found = [over_partitions(value, known) for value in values]
    return [value for value in found if value is not None] if None not in found else None


def feeding(
    executor: Executor,
    observation: Observation,
    spec: Spec,
    table: TableName,
    values: Sequence[exp.Expr],
    target_values: Values,
) -> set[tuple[Partition, Partition]] | None:
    """Pairs of a partition of a base table and the one of the view that it feeds; None if the
    query does not map partitions to partitions.

    `values` are the view's partition columns over columns of the table.
    """
    version = str(observation.versions[table].snapshot_id)
    known = partition_lists.current_at_once(executor, table, spec, version)
    files = partition_lists.files(table, spec, version)
    return _pairs(executor, observation, spec, known, files, values, target_values)


def fed_by_change(
    executor: Executor,
    observation: Observation,
    change: Change,
    places: Sequence[Sequence[exp.Expr]],
    target_values: Values,
    at_once: bool,
) -> set[Partition] | None:
    """The partitions of the view that are fed by files which only one version of a changed table
    has; None if the query does not map partitions to partitions, or if it has to be `at_once` and
    needs a Spark job.

    `places` has the view's partition columns over columns of the table, for each place in which
    the table is read.
    """
    spec = partitions.spec_of(executor, change.table)
    old, new = change.old.snapshot_id, change.new.snapshot_id
    if spec is None or not spec.fields or old is None or new is None:
        return None
    known = partition_lists.changed_at_once(executor, change.table, spec, old, new)
    if known is None and at_once:
        return None
    files = partition_lists.changed_files(change.table, spec, old, new)
    found: set[Partition] = set()
    for values in places:
        pairs = _pairs(executor, observation, spec, known, files, values, target_values)
        if pairs is None:
            return None
        found |= {fed for _, fed in pairs}
    return found


def _pairs(
    executor: Executor,
    observation: Observation,
    spec: Spec,
    known: set[Partition] | None,
    files: str,
    values: Sequence[exp.Expr],
    target_values: Values,
) -> set[tuple[Partition, Partition]] | None:
    """The partitions of these files, which may be known, each with the one of the view that it
    feeds."""
    settings = observation.view.definition.settings
    found = partition_columns(spec, values, settings.get("spark.sql.session.timeZone", ""))
    if found is None:
        return None
    fed = target_values([value.sql("spark") for value in found])
    with executor.isolated(settings) as session:
        texts = [partitions.encoded(sql, kind) for sql, kind in fed]
        rows = None if known is None else with_values(session, spec, known, texts)
        if rows is None:
            rows = partition_lists.partitions_of(session, spec, files, texts)
    size = len(spec.fields)
    return None if rows is None else {(row[:size], row[size:]) for row in rows}


def source_partitions(
    executor: Executor,
    observation: Observation,
    table: TableName,
    values: Sequence[exp.Expr],
    target_values: Values,
    changed: set[Partition],
) -> str | None:
    """SQL of the condition that a row of a base table lies in a partition that feeds one of the
    changed ones; None if that is not known, or would skip nothing."""
    if all(isinstance(value, exp.Column) for value in values):
        return None  # a condition on the column itself skips partitions as well
    try:
        spec = partitions.spec_of(executor, table)
        if spec is None or not spec.fields:
            return None
        pairs = feeding(executor, observation, spec, table, values, target_values)
    except StatementFailed:
        return None
    wanted = {source for source, fed in pairs or () if fed in changed}
    if pairs is None or len(wanted) > _MOST:
        return None
    return partitions.in_partitions(spec, table.catalog, wanted)
