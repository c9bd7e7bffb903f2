"""What Iceberg's metadata says of the values in files, over py4j."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice
from typing import Any

from dbt.adapters.spark_mv.core.executor import Bounds, Value

# Each file takes a few calls of the JVM for each column.
_MOST_FILES = 64
_EPOCH = date(1970, 1, 1).toordinal()
_TYPES = ("INTEGER", "LONG", "DATE", "DECIMAL")


def added_bounds(
    table: Any, jvm: Any, snapshot_ids: Sequence[str], columns: Sequence[str]
) -> dict[str, Bounds]:
    """Bounds of the values of those columns of which all added files have them.

    `jvm` has the classes of Java, `table` is an Iceberg table whose snapshots are named.
    """
    snapshots = [table.snapshot(int(snapshot_id)) for snapshot_id in snapshot_ids]
    added = (
        file
        for snapshot in snapshots
        for file in _all_of(snapshot.addedDataFiles(table.io()).iterator())
    )
    return _of_files(jvm, table, list(islice(added, _MOST_FILES + 1)), columns)


def bounds(table: Any, jvm: Any, snapshot_id: str, columns: Sequence[str]) -> dict[str, Bounds]:
    """As `added_bounds`, of all files that a snapshot has."""
    scan = table.newScan().useSnapshot(int(snapshot_id)).includeColumnStats()
    planned = scan.planFiles()
    try:
        files = (task.file() for task in _all_of(planned.iterator()))
        return _of_files(jvm, table, list(islice(files, _MOST_FILES + 1)), columns)
    finally:
        planned.close()


def _all_of(iterator: Any) -> Iterator[Any]:
    while iterator.hasNext():
        yield iterator.next()


def _of_files(
    jvm: Any, table: Any, files: Sequence[Any], columns: Sequence[str]
) -> dict[str, Bounds]:
    """Nothing is known of too many files."""
    if not files or len(files) > _MOST_FILES:
        return {}
    found = {}
    for column in columns:
        field = table.schema().caseInsensitiveFindField(column)
        if field is not None and str(field.type().typeId().toString()) in _TYPES:
            of_files = [_of_file(jvm, file, field) for file in files]
            if None not in of_files:
                known = [one for one in of_files if one is not None]
                found[column] = Bounds(
                    min(one.lower for one in known),
                    max(one.upper for one in known),
                    any(one.with_null for one in known),
                )
    return found


def _of_file(jvm: Any, file: Any, field: Any) -> Bounds | None:
    """The bounds of a column in one file; None if they are not known."""
    number = field.fieldId()
    nulls, values = file.nullValueCounts(), file.valueCounts()
    with_null = nulls is None or nulls.get(number) != 0
    if values is not None and nulls is not None and values.get(number) == nulls.get(number):
        return None
    limits = []
    for listed in (file.lowerBounds(), file.upperBounds()):
        buffer = None if listed is None else listed.get(number)
        if buffer is None:
            return None
        try:
            limits.append(_value(jvm, field.type(), buffer))
        except (OverflowError, ValueError):
            return None  # a day outside of the years of Python
    return Bounds(limits[0], limits[1], with_null)


def _value(jvm: Any, type_: Any, buffer: Any) -> Value:
    found = jvm.org.apache.iceberg.types.Conversions.fromByteBuffer(type_, buffer)
    if str(type_.typeId().toString()) == "DATE":
        return date.fromordinal(_EPOCH + int(found))
    return found
