"""Reads, appends to and compacts small Iceberg tables over py4j, without a Spark job: by Iceberg's
own reader and writer. The values of all rows cross to Python in one call for each column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from dbt.adapters.spark_mv.core.executor import Texts

# Texts of one column cross as one, with the first between them; the second stands for NULL.
_BETWEEN, _NULL = "\x1e", "\x00"


def is_small(table: Any, columns: Sequence[str]) -> bool:
    """Whether a table can be one: it has no partitions, and has these columns."""
    schema = table.schema()
    has_all = all(schema.findField(name) is not None for name in columns)
    return has_all and bool(table.spec().isUnpartitioned())


class IcebergTable:
    """A `SmallTable`; `call` turns what Java raises into `StatementFailed`."""

    def __init__(self, call: Callable[..., Any], jvm: Any, gateway: Any, table: Any) -> None:
        self._call, self._jvm, self._gateway, self._table = call, jvm, gateway, table

    def rows(self, columns: Sequence[str]) -> list[Texts] | None:
        """Its current rows, each value as Java writes it as a text, None for NULL.

        None if a value has the character in it that separates values.
        """
        return cast("list[Texts] | None", self._call(self._rows, columns))

    def _rows(self, columns: Sequence[str]) -> list[Texts] | None:
        jvm = self._jvm
        records = _records(jvm, self._gateway, self._table, columns)
        count = int(records.size())
        if not count:
            return []
        found = []
        for place in range(len(columns)):
            function = _text_of(jvm, self._gateway, place)
            texts = jvm.com.google.common.collect.Iterables.transform(records, function)
            values = str(jvm.java.lang.String.join(_BETWEEN, texts)).split(_BETWEEN)
            if len(values) != count:
                return None
            found.append([None if value == _NULL else value for value in values])
        return list(zip(*found, strict=True))

    def append(self, rows: Sequence[Mapping[str, str | int | None]]) -> None:
        """Append rows in one commit; a timestamp is given in epoch microseconds."""
        self._call(self._append, rows)

    def _append(self, rows: Sequence[Mapping[str, str | int | None]]) -> None:
        jvm = self._jvm
        records = jvm.java.util.ArrayList()
        empty = jvm.org.apache.iceberg.data.GenericRecord.create(self._table.schema())
        for row in rows:
            record = empty.copy()
            for name, value in row.items():
                record.setField(name, _moment(jvm, value) if isinstance(value, int) else value)
            records.add(record)
        self._table.newAppend().appendFile(_written(jvm, self._table, records)).commit()

    def compact(self, before_ms: int, retain: int) -> None:
        """Rewrite its files as one, and expire snapshots that were committed before an epoch
        millisecond, but for the newest `retain`.

        Nothing is lost: Iceberg refuses the commit if one of the files is gone, and keeps those
        that others have added.
        """
        self._call(self._compact, before_ms, retain)

    def _compact(self, before_ms: int, retain: int) -> None:
        table = self._table
        table.refresh()
        snapshot = table.currentSnapshot()
        if snapshot is not None:
            self._rewrite(snapshot)
        expire = table.expireSnapshots().expireOlderThan(before_ms).retainLast(retain)
        expire.cleanExpiredFiles(True).commit()

    def _rewrite(self, snapshot: Any) -> None:
        jvm, table = self._jvm, self._table
        planned = table.newScan().useSnapshot(snapshot.snapshotId()).planFiles()
        try:
            tasks = list(jvm.com.google.common.collect.Lists.newArrayList(planned))
        finally:
            planned.close()
        # Rows that a file of deletes takes out would be written into a new one that it spares.
        if len(tasks) < 2 or any(task.deletes().size() for task in tasks):
            return
        rewrite = table.newRewrite().validateFromSnapshot(snapshot.snapshotId())
        for task in tasks:
            rewrite.deleteFile(task.file())
        records = _records(jvm, self._gateway, table, None, snapshot)
        rewrite.addFile(_written(jvm, table, records)).commit()


def _moment(jvm: Any, microseconds: int) -> Any:
    seconds, rest = divmod(microseconds, 1_000_000)
    moment = jvm.java.time.Instant.ofEpochSecond(seconds, rest * 1000)
    return moment.atOffset(jvm.java.time.ZoneOffset.UTC)


def _records(
    jvm: Any, gateway: Any, table: Any, columns: Sequence[str] | None, snapshot: Any = None
) -> Any:
    reading = jvm.org.apache.iceberg.data.IcebergGenerics.read(table)
    if columns is not None:
        reading = reading.select(_array(jvm.java.lang.String, gateway, columns))
    if snapshot is not None:
        reading = reading.useSnapshot(snapshot.snapshotId())
    found = reading.build()
    try:
        return jvm.com.google.common.collect.Lists.newArrayList(found)
    finally:
        found.close()


def _written(jvm: Any, table: Any, records: Any) -> Any:
    iceberg = jvm.org.apache.iceberg
    file_format = iceberg.FileFormat.PARQUET
    files = iceberg.io.OutputFileFactory.builderFor(table, 0, 0).format(file_format).build()
    appenders = iceberg.data.GenericAppenderFactory(table.schema(), table.spec())
    file = files.newOutputFile().encryptingOutputFile()
    appender = appenders.newAppender(file, file_format)
    try:
        appender.addAll(records.iterator())
    finally:
        appender.close()
    described = iceberg.DataFiles.builder(table.spec()).withFormat(file_format)
    described = described.withPath(file.location()).withFileSizeInBytes(appender.length())
    return described.withMetrics(appender.metrics()).build()


@lru_cache(maxsize=64)
def _text_of(jvm: Any, gateway: Any, place: int) -> Any:
    """A Java function from a record to the text of its value at a place."""
    handles = jvm.java.lang.invoke.MethodHandles
    get, text, function = _handles(jvm, gateway)
    value = handles.insertArguments(get, 1, _array(jvm.java.lang.Object, gateway, [place]))
    whole = handles.filterReturnValue(value, text)
    return jvm.java.lang.invoke.MethodHandleProxies.asInterfaceInstance(function, whole)


@lru_cache(maxsize=4)
def _handles(jvm: Any, gateway: Any) -> tuple[Any, Any, Any]:
    classes, lang = jvm.java.lang.Class, jvm.java.lang
    loader = lang.Thread.currentThread().getContextClassLoader()
    record = classes.forName("org.apache.iceberg.data.Record", True, loader)
    function = classes.forName("com.google.common.base.Function", True, loader)
    objects, some = classes.forName("java.util.Objects"), classes.forName("java.lang.Object")
    string = classes.forName("java.lang.String")
    method, lookup = lang.invoke.MethodType.methodType, lang.invoke.MethodHandles.publicLookup()
    get = lookup.findVirtual(record, "get", method(some, lang.Integer.TYPE))
    two = _array(lang.Class, gateway, [some, string])
    text = lookup.findStatic(objects, "toString", method(string, two))
    null = _array(lang.Object, gateway, [_NULL])
    return get, lang.invoke.MethodHandles.insertArguments(text, 1, null), function


def _array(kind: Any, gateway: Any, values: Sequence[Any]) -> Any:
    found = gateway.new_array(kind, len(values))
    for place, value in enumerate(values):
        found[place] = value
    return found
