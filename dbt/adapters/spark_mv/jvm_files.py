"""What Iceberg's metadata says of the values in the files that commits added, over py4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from dbt.adapters.spark_mv.executor import Bounds, Value

# Each file takes a few calls of the JVM for each column.
_MOST_FILES = 64
_EPOCH = date(1970, 1, 1).toordinal()
_TYPES = ("INTEGER", "LONG", "DATE", "DECIMAL")


def added_bounds(
    jvm: Any, table: Any, snapshot_ids: Sequence[str], columns: Sequence[str]
) -> dict[str, Bounds]:
    """Bounds of the values of those columns of which all added files have them.

    `jvm` is py4j's view of the classes, `table` an Iceberg table whose snapshots are named.
    """
    files = _added_files(table, snapshot_ids)
    if not files:
        return {}
    found = {}
    for column in columns:
        field = table.schema().caseInsensitiveFindField(column)
        if field is not None and str(field.type().typeId().toString()) in _TYPES:
            bounds = [_of_file(jvm, file, field) for file in files]
            if None not in bounds:
                known = [one for one in bounds if one is not None]
                found[column] = Bounds(
                    min(one.lower for one in known),
                    max(one.upper for one in known),
                    any(one.with_null for one in known),
                )
    return found


def _added_files(table: Any, snapshot_ids: Sequence[str]) -> list[Any]:
    """The data files of these commits; none if there are too many."""
    files: list[Any] = []
    for snapshot_id in snapshot_ids:
        added = table.snapshot(int(snapshot_id)).addedDataFiles(table.io()).iterator()
        while added.hasNext():
            files.append(added.next())
            if len(files) > _MOST_FILES:
                return []
    return files


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
        limits.append(_value(jvm, field.type(), buffer))
    return Bounds(limits[0], limits[1], with_null)


def _value(jvm: Any, type_: Any, buffer: Any) -> Value:
    found = jvm.org.apache.iceberg.types.Conversions.fromByteBuffer(type_, buffer)
    if str(type_.typeId().toString()) == "DATE":
        return date.fromordinal(_EPOCH + int(found))
    return found
