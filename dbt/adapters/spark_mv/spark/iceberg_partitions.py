"""In which partitions files of an Iceberg table lie, over py4j; each file takes several calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import chain, islice
from typing import Any

from dbt.adapters.spark_mv.core.executor import PartitionTexts

_MOST_FILES, _MOST_SNAPSHOTS = 400, 100
_EPOCH, _DAY_0 = datetime(1970, 1, 1), date(1970, 1, 1)


class _Unknown(Exception):
    """Something that only Spark can tell."""


def changed(
    table: Any, old: str, new: str, types: Sequence[str]
) -> frozenset[PartitionTexts] | None:
    """The partitions of files that only one of two snapshots has; None if the table has had another
    spec, if a value has no text here, if `old` is not below `new`, or if there are many."""
    try:
        return _partitions(table, _differing(table, old, new), types)
    except _Unknown:
        return None


def current(
    table: Any, jvm: Any, snapshot_id: str, types: Sequence[str]
) -> frozenset[PartitionTexts] | None:
    """As `changed`, of all files that a snapshot has."""
    try:
        return _partitions(table, _at_most(_files(jvm, table, snapshot_id)), types)
    except _Unknown:
        return None


def _files(jvm: Any, table: Any, snapshot_id: str) -> Iterator[Any]:
    snapshot = table.snapshot(int(snapshot_id))
    if snapshot is None:
        raise _Unknown
    io, specs, manifests = table.io(), table.specs(), jvm.org.apache.iceberg.ManifestFiles
    for read, listed in (
        (manifests.read, snapshot.dataManifests(io)),
        (manifests.readDeleteManifest, snapshot.deleteManifests(io)),
    ):
        for manifest in _all_of(listed):
            reader = read(manifest, io, specs)
            try:
                yield from _all_of(reader)
            finally:
                reader.close()


def _differing(table: Any, old: str, new: str) -> list[Any]:
    """The files that were added after `old` and are in `new`, and those that went between."""
    io, counts = table.io(), dict[Any, int]()
    files: dict[Any, Any] = {}
    for snapshot in _above(table, old, new):
        added = chain(_all_of(snapshot.addedDataFiles(io)), _all_of(snapshot.addedDeleteFiles(io)))
        gone = chain(
            _all_of(snapshot.removedDataFiles(io)), _all_of(snapshot.removedDeleteFiles(io))
        )
        for sign, listed in ((1, added), (-1, gone)):
            for file in listed:
                # Several lists of deletes are in one file.
                offset = file.contentOffset()
                # A file may come back, by `add_files`: deletes of before are then not about it.
                key = str(file.location()), offset, file.dataSequenceNumber()
                counts[key] = counts.get(key, 0) + sign
                files[key] = file
                if len(files) > _MOST_FILES:
                    raise _Unknown
    return [file for key, file in files.items() if counts[key]]


def _above(table: Any, old: str, new: str) -> Iterator[Any]:
    """The snapshots from `new` down to the one above `old`."""
    snapshot = table.snapshot(int(new))
    for _ in range(_MOST_SNAPSHOTS):
        if snapshot is None:
            break
        if str(snapshot.snapshotId()) == old:
            return
        yield snapshot
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)
    raise _Unknown


def _partitions(
    table: Any, files: Iterable[Any], types: Sequence[str]
) -> frozenset[PartitionTexts]:
    # What had another spec once is read as if it had no partitions.
    if table.specs().size() != 1 or table.spec().fields().size() != len(types):
        raise _Unknown
    found = set()
    for file in files:
        values = file.partition()
        found.add(tuple(_text(values.get(at), kind) for at, kind in enumerate(types)))
    return frozenset(found)


def _text(value: Any, kind: str) -> str | None:
    """A value as Iceberg holds it, as the text that Spark makes of it."""
    if value is None:
        return None
    made = _TEXTS.get(kind.partition("(")[0])
    if made is None:
        raise _Unknown
    try:
        return made(value)
    except (OverflowError, ValueError):
        raise _Unknown from None


def _moment(micros: Any) -> str:
    text = (_EPOCH + timedelta(microseconds=int(micros))).isoformat(" ")
    return text.rstrip("0") if "." in text else text


_TEXTS: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "timestamp", "string"), str),
    "boolean": lambda value: str(value).lower(),
    "date": lambda days: (_DAY_0 + timedelta(days=int(days))).isoformat(),
    "timestamp_ntz": _moment,
    "decimal": lambda value: f"{value:f}",
}


def _at_most(files: Iterator[Any]) -> list[Any]:
    found = list(islice(files, _MOST_FILES + 1))
    if len(found) > _MOST_FILES:
        raise _Unknown
    return found


def _all_of(listed: Any) -> Iterator[Any]:
    iterator = listed.iterator()
    while iterator.hasNext():
        yield iterator.next()
