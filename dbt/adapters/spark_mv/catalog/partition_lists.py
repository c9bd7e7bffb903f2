"""The partitions of the files of a version, or of those that changed.

Iceberg's catalog knows them without a Spark job, where it is in this process; else Spark is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from dbt.adapters.spark_mv.catalog import partitions
from dbt.adapters.spark_mv.catalog.partitions import Partition, Spec
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import CatalogClient, Executor, PartitionTexts
from dbt.adapters.spark_mv.sql.names import TableName

# A statement that names more of them takes longer than a job.
_MOST_NAMED = 500


def changed(
    executor: Executor, table: TableName, spec: Spec, old: str, new: str
) -> set[Partition] | None:
    """The partitions of files that only one version has; None if there are some of another spec,
    or this is not known."""
    found = changed_at_once(executor, table, spec, old, new)
    if found is not None:
        return found
    files = partitions.changed_files(table, spec, old, new)
    return partitions.partitions_of(executor, spec, files)


def changed_at_once(
    executor: Executor, table: TableName, spec: Spec, old: str, new: str
) -> set[Partition] | None:
    """As `changed`, if no Spark job is needed for it; None otherwise."""
    types = [field.type for field in spec.fields]
    return _asked(
        executor, table, lambda client: client.changed_partitions(table.parts, old, new, types)
    )


def current(
    executor: Executor, table: TableName, spec: Spec, snapshot_id: str
) -> set[Partition] | None:
    """As `changed`, of all files of a version."""
    found = current_at_once(executor, table, spec, snapshot_id)
    if found is not None:
        return found
    return partitions.partitions_of(executor, spec, partitions.files(table, spec, snapshot_id))


def current_at_once(
    executor: Executor, table: TableName, spec: Spec, snapshot_id: str
) -> set[Partition] | None:
    """As `current`, if no Spark job is needed for it; None otherwise."""
    types = [field.type for field in spec.fields]
    return _asked(
        executor, table, lambda client: client.partitions(table.parts, snapshot_id, types)
    )


def count(executor: Executor, table: TableName, spec: Spec, snapshot_id: str) -> int:
    """How many partitions a version has."""
    known = current_at_once(executor, table, spec, snapshot_id)
    if known is not None:
        return len(known)
    ((found,),) = executor.query(partitions.count(table))
    return int(found)


def with_values(
    executor: Executor, spec: Spec, found: Collection[Partition], beside: Sequence[str]
) -> set[Partition] | None:
    """These partitions, each followed by the values of the expressions `beside`, over p0, p1, ..;
    None if they are too many for one statement."""
    if len(found) > _MOST_NAMED:
        return None
    if not found:
        return set()
    names = [f"p{number}" for number in range(len(spec.fields))]
    listed = [
        partitions.encoded(name, field.type) for name, field in zip(names, spec.fields, strict=True)
    ]
    rows = ", ".join(
        "("
        + ", ".join(
            f"CAST(NULL AS {field.type})" if text is None else partitions.decoded(text, field.type)
            for text, field in zip(partition, spec.fields, strict=True)
        )
        + ")"
        for partition in sorted(found, key=lambda texts: [text or "" for text in texts])
    )
    answer = executor.query(
        f"SELECT {', '.join([*listed, *beside])} FROM VALUES {rows} AS mv_files({', '.join(names)})"
    )
    return {tuple(None if value is None else str(value) for value in row) for row in answer}


def _asked(
    executor: Executor,
    table: TableName,
    question: Callable[[CatalogClient], Collection[PartitionTexts] | None],
) -> set[Partition] | None:
    client = executor.catalog
    if client is None or not client.handles(table.catalog):
        return None
    try:
        found = question(client)
    except StatementFailed:
        return None
    return None if found is None else set(found)
