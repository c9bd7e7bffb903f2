"""Which partitions of base tables feed which partitions of a materialized view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.base_tables import iceberg_partitions as partitions
from dbt.adapters.spark_mv.base_tables.iceberg_partitions import Partition, Spec
from dbt.adapters.spark_mv.errors import StatementFailed
from dbt.adapters.spark_mv.ivm.partition_keys import restricted
from dbt.adapters.spark_mv.ivm.partition_values import PartitionValue, over_partitions
from dbt.adapters.spark_mv.refresh.analyse import Analysis
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.look import Look
from dbt.adapters.spark_mv.sql.names import TableName

_MOST = 500
_UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")
# SQL of the values of a target's fields, where its columns are given as SQL.
Values = Callable[[Iterable[str], str], "list[tuple[str, str]]"]


@dataclass(frozen=True)
class Owned:
    """A table whose rows each belong to one partition: for each place where the query reads it,
    the partition columns as expressions over it."""

    alias: str
    values: tuple[tuple[exp.Expr, ...], ...]


def owned_tables(query: exp.Query, columns: Sequence[str]) -> dict[str, Owned]:
    """The tables of a canonical query of which, wherever it reads them, each row belongs to one
    partition; `columns` are the partition columns."""
    found: dict[str, list[tuple[exp.Expr, ...]]] = {}

    def note(table: exp.Table, values: list[exp.Expr]) -> None:
        plain = [value.transform(_without_relation) for value in values]
        found.setdefault(table.name, []).append(tuple(plain))

    restricted(query, columns, note)
    times = [table.name for table in query.find_all(exp.Table)]
    return {
        name: Owned(name, tuple(values))
        for name, values in found.items()
        if times.count(name) == len(values)
    }


def _without_relation(node: exp.Expr) -> exp.Expr:
    return exp.column(node.name, quoted=True) if isinstance(node, exp.Column) else node


def partition_columns(
    engine: Engine,
    spec: Spec,
    table: TableName,
    values: Sequence[exp.Expr],
    time_zone: str,
) -> list[exp.Expr] | None:
    """The values over columns of a table as expressions over p0, p1, .. of its partitions; None
    if rows of one partition may have different ones."""
    types = _types(engine, table)
    known: dict[str, list[PartitionValue]] = {}
    for number, field in enumerate(spec.fields):
        value = PartitionValue(
            f"p{number}", field.transform, types[field.column], field.size, time_zone in _UTC
        )
        known.setdefault(field.column, []).append(value)
    found = [over_partitions(value, known) for value in values]
    return [value for value in found if value is not None] if None not in found else None


def _types(engine: Engine, table: TableName) -> dict[str, str]:
    rows = engine.executor.query(f"DESCRIBE QUERY SELECT * FROM {table.sql}")
    return {str(row[0]).lower(): str(row[1]) for row in rows}


def source_partitions(
    engine: Engine,
    look: Look,
    analysis: Analysis,
    placeholder: str,
    values: Sequence[exp.Expr],
    target_values: Values,
    changed: set[Partition],
) -> str | None:
    """SQL of the condition that a row of a base table lies in a partition that feeds one of the
    changed ones; None if that is not known, or would skip nothing."""
    table = analysis.tables[placeholder]
    if all(isinstance(value, exp.Column) for value in values):
        return None  # a condition on the column itself skips partitions as well
    try:
        spec = partitions.spec_of(engine.executor, table)
        if spec is None or not spec.fields:
            return None
        time_zone = look.view.definition.settings.get("spark.sql.session.timeZone", "")
        found = partition_columns(engine, spec, table, values, time_zone)
        if found is None:
            return None
        catalog = look.view.storage.catalog
        texts = [value.sql("spark") for value in found]
        wanted = partitions.is_one_of(target_values(texts, catalog), changed)
        files = partitions.files(table, spec, str(look.versions[table].snapshot_id))
        if partitions.partitions_of(engine.executor, spec, files) is None:
            return None
        with engine.executor.isolated(look.view.definition.settings) as session:
            feeding = partitions.partitions_of(
                session, spec, f"SELECT * FROM ({files}) WHERE {wanted}"
            )
    except StatementFailed:
        return None
    if feeding is None or len(feeding) > _MOST:
        return None
    return partitions.in_partitions(spec, table.catalog, feeding)
