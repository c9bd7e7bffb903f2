"""The partitions of the files of a version, or of those that changed.

Iceberg's catalog knows them without a Spark job, where it is in this process; else Spark is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from dbt.adapters.spark_mv.catalog import partitions
from dbt.adapters.spark_mv.catalog.file_changes import live_entries
from dbt.adapters.spark_mv.catalog.partitions import Partition, Spec
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import (
    CatalogClient,
    Executor,
    PartitionTexts,
    Row,
    client_for,
)
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
    files = changed_files(table, spec, old, new)
    return partitions_of(executor, spec, files)


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
    return partitions_of(executor, spec, files(table, spec, snapshot_id))


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
    if not found or not (spec.fields or beside):
        return set(found)
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
    source = f" FROM VALUES {rows} AS mv_files({', '.join(names)})" if names else ""
    answer = executor.query(f"SELECT {', '.join([*listed, *beside])}{source}")
    return {tuple(None if value is None else str(value) for value in row) for row in answer}


def _asked(
    executor: Executor,
    table: TableName,
    question: Callable[[CatalogClient], Collection[PartitionTexts] | None],
) -> set[Partition] | None:
    client = client_for(executor, table.catalog)
    if client is None:
        return None
    try:
        found = question(client)
    except StatementFailed:
        return None
    return None if found is None else set(found)


def files(table: TableName, spec: Spec, snapshot_id: str) -> str:
    """A query of the files of a version: `id`, `spec_id`, the `names` of the fields of its
    partition, how many its manifest knows, and their values p0, p1, .."""
    # Texts, for not every connection returns arrays.
    keys = "json_object_keys(to_json(data_file.partition, map('ignoreNullFields', 'false')))"
    # Files of a table without partitions have no such column.
    names = f"array_join({keys}, ',')" if spec.fields else "''"
    manifests = f"{table.sql}.`manifests` VERSION AS OF {snapshot_id}"
    sizes = "array_sort(collect_set(size(partition_summaries)))"
    known = f"SELECT array_join(CAST({sizes} AS ARRAY<STRING>), ',') FROM {manifests}"
    values = ", data_file.partition.*" if spec.fields else ""
    # A file that was taken out and put in again is another: older deletes pass it by.
    return (
        "SELECT * FROM (SELECT concat_ws(' ', sequence_number, data_file.file_path), "
        f"data_file.spec_id, {names}, ({known}){values} FROM "
        f"{live_entries(table, str(snapshot_id))}) AS mv_files({_columns(spec)})"
    )


def changed_files(table: TableName, spec: Spec, old: str, new: str) -> str:
    """A query of the files, as `files` has them, that only one of two versions has.

    Rows of all others are the same, for a file never changes and deletes are files too.
    """
    columns = _columns(spec)
    return (
        f"SELECT {columns} FROM (SELECT *, 1 AS version FROM ({files(table, spec, new)}) "
        f"UNION ALL SELECT *, -1 FROM ({files(table, spec, old)})) "
        f"GROUP BY {columns} HAVING sum(version) <> 0"
    )


def _columns(spec: Spec) -> str:
    values = (f"p{number}" for number in range(len(spec.fields)))
    return ", ".join(["id", "spec_id", "names", "known", *values])


def partitions_of(
    executor: Executor, spec: Spec, files_query: str, beside: Sequence[str] = ()
) -> set[Partition] | None:
    """The partitions of files; None if there are some of another spec, or this is not known.

    Each partition is followed by the values of the expressions `beside`, over p0, p1, ..
    """
    listed = [
        partitions.encoded(f"p{number}", field.type) for number, field in enumerate(spec.fields)
    ]
    columns = ", ".join(["spec_id", "names", "known", *listed, *beside])
    try:
        rows = executor.query(f"SELECT DISTINCT {columns} FROM ({files_query})")
    except StatementFailed:
        return None
    if spec.fields and not _is_of(spec, rows):
        return None
    return {tuple(None if value is None else str(value) for value in row[3:]) for row in rows}


def _is_of(spec: Spec, rows: Sequence[Row]) -> bool:
    """Whether all files are of this spec: a table may have had others, and may list the files of
    those with NULL for fields that they lack."""
    if len({row[0] for row in rows}) > 1:
        return False
    for _, listed, known, *_ in rows:
        names = str(listed).split(",")
        if str(known) != str(len(spec.fields)) or len(names) != len(spec.fields):
            return False
        for field, name in zip(spec.fields, names, strict=True):
            if name.lower() != field.column and not name.lower().startswith(field.column + "_"):
                return False
    return True
