"""Partitions of Iceberg tables: how a table is partitioned, its partitions at a version, and the
conditions under which a row lies in one.

A partition is the tuple of the values of the fields of its table's spec, each as text in the form
of `encoded`, None for NULL.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote as percent_encoded

from dbt.adapters.spark_mv.catalog.time_ranges import in_range
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.sql.literals import value_sql
from dbt.adapters.spark_mv.sql.names import TableName, quote, unquoted

Partition = tuple[str | None, ...]
IDENTITY = "identity"
_TIMES = {"years": "int", "months": "int", "days": "date", "hours": "int"}
_SINCE_1970, _EPOCH = ("years", "months", "hours"), datetime(1970, 1, 1)
_SIZED = ("bucket", "truncate")
_TERM = re.compile(r"(?P<transform>\w+)\((?:(?P<size>\d+),\s*)?(?P<column>.+)\)")
_DEFAULT = "__HIVE_DEFAULT_PARTITION__"
# Types whose values come back from text as they were.
_EXACT = re.compile(
    r"(?:tinyint|smallint|int|bigint|string|date|boolean|timestamp|timestamp_ntz|decimal\(.*\))"
)


@dataclass(frozen=True)
class Field:
    """One field of a partition spec: a transform of a column, the Spark type of its value, and
    that of the column."""

    transform: str
    column: str
    type: str
    column_type: str
    size: int | None = None

    def value(self, column: str, catalog: str) -> str:
        """SQL of the field's value for a row, whose column is the SQL `column`."""
        if self.transform == IDENTITY:
            return column
        size = "" if self.size is None else f"{self.size}, "
        return f"{quote(catalog)}.system.{self.transform}({size}{column})"

    def holds(self, column: str, text: str | None, catalog: str, pushed: bool = False) -> str:
        """SQL of the condition that the field's value for a row, whose column is the SQL
        `column`, is the one of this text.

        Ranges of the column say so of times; they are right however a table is partitioned.
        Functions of Iceberg's are evaluated by Spark unless they may be `pushed` to the table:
        Iceberg 1.11 takes the value of an identity partition for that of the function.
        """
        if text is None:
            return f"{column} IS NULL"
        if self.transform == IDENTITY:
            return f"{column} = {decoded(text, self.type)}"
        if self.transform in _TIMES:
            return in_range(column, self.column_type, self.transform, text)
        value = self.value(column, catalog)
        if pushed:
            return f"{value} = {decoded(text, self.type)}"
        # No table knows hex(), and Spark does not see through it.
        return f"hex({encoded(value, self.type)}) = '{text.encode().hex().upper()}'"

    @property
    def name(self) -> str:
        """The field as the paths of partitions spell it."""
        if self.transform == IDENTITY:
            return self.column
        suffix = "trunc" if self.transform == "truncate" else self.transform.removesuffix("s")
        return f"{self.column}_{suffix}"

    def shown(self, value: str | None) -> str:
        """A value as those paths have it: numbers of years, months and hours since 1970 as these.

        >>> Field("months", "day", "int", "date").shown("676")
        '2026-05'
        """
        if value is None or self.transform not in _SINCE_1970:
            return _DEFAULT if value is None else value
        if self.transform == "hours":
            return (_EPOCH + timedelta(hours=int(value))).strftime("%Y-%m-%d-%H")
        years, months = (int(value), None) if self.transform == "years" else divmod(int(value), 12)
        return str(1970 + years) if months is None else f"{1970 + years}-{months + 1:02d}"


@dataclass(frozen=True)
class Spec:
    """How a table is partitioned, no fields if it is not; `location` is its path."""

    fields: tuple[Field, ...]
    location: str

    def uri(self, partition: Partition) -> str:
        """The path of a partition, in the form of Hive."""
        parts = [
            f"{field.name}={percent_encoded(field.shown(value), safe=' :')}/"
            for field, value in zip(self.fields, partition, strict=True)
        ]
        return self.location.rstrip("/") + "/" + "".join(parts)


def spec_of(executor: Executor, table: TableName) -> Spec | None:
    """The current spec of a table; None if its partitions cannot be told by their values."""
    rows = [
        [str(value or "") for value in row]
        for row in executor.query(f"DESCRIBE TABLE EXTENDED {table.sql}")
    ]
    types: dict[str, str] = {}
    terms: list[str] = []
    section, location = "columns", ""
    for name, kind, *_ in rows:
        if name.startswith("#"):
            section = name if name != "# col_name" else section
        elif section == "columns" and name:
            types[name.lower()] = kind
        elif section == "# Partitioning" and name.startswith("Part "):
            terms.append(kind)
        elif section == "# Partition Information" and name:
            terms.append(name)
        elif name == "Location":
            location = kind
        elif not name:
            section = ""
    fields = [_field(term, types) for term in terms]
    known = [field for field in fields if field is not None]
    return Spec(tuple(known), location) if len(known) == len(fields) else None


def _field(term: str, types: dict[str, str]) -> Field | None:
    found = _TERM.fullmatch(term)
    column = unquoted(found["column"] if found else term).lower()
    kind = types.get(column)
    if kind is None or not _EXACT.fullmatch(kind):
        return None
    if found is None:
        return Field(IDENTITY, column, kind, kind)
    transform = found["transform"]
    if transform in _TIMES:
        return Field(transform, column, _TIMES[transform], kind)
    if transform not in _SIZED or found["size"] is None:
        return None
    size = int(found["size"])
    return Field(transform, column, "int" if transform == "bucket" else kind, kind, size)


def encoded(value: str, kind: str) -> str:
    """SQL of a value of a Spark type as text that says it exactly."""
    return f"CAST({_number(value, kind)} AS STRING)"


def _number(value: str, kind: str) -> str:
    if kind == "timestamp":
        return f"unix_micros({value})"
    return value


def decoded(text: str, kind: str) -> str:
    """SQL of the value that `encoded` made into this text."""
    if kind == "timestamp":
        return f"timestamp_micros({int(text)})"
    return value_sql(text) if kind == "string" else f"CAST({value_sql(text)} AS {kind})"


def is_one_of(
    columns: Sequence[tuple[Field, str]],
    catalog: str,
    partitions: Collection[Partition],
    pushed: bool = False,
) -> str:
    """SQL of the condition that a row is in one of these partitions of fields, each given with the
    SQL of its column; see `Field.holds`.

    Written without IN and `<=>`, on which Iceberg fails for partitions of NULL.
    """
    ordered = sorted(partitions, key=lambda found: [(text is None, text or "") for text in found])
    terms = [
        " AND ".join(
            field.holds(column, text, catalog, pushed)
            for (field, column), text in zip(columns, texts, strict=True)
        )
        for texts in ordered
    ]
    return " OR ".join(f"({term})" for term in terms) or "false"


def in_partitions(spec: Spec, catalog: str, partitions: Collection[Partition]) -> str:
    """SQL of the condition that a row of the table, all of whose files are of this spec, lies in
    one of these partitions."""
    chosen = steering(spec.fields)
    numbers = [spec.fields.index(field) for field in chosen]
    columns = [(field, quote(field.column)) for field in chosen]
    wanted = {tuple(partition[number] for number in numbers) for partition in partitions}
    return is_one_of(columns, catalog, wanted, pushed=True)


def steering(fields: Sequence[Field]) -> tuple[Field, ...]:
    """The fields of a spec by which rows may be asked for: of a column that is partitioned as it
    is no others, for Iceberg would mistake them (see `Field.holds`)."""
    whole = {field.column for field in fields if field.transform == IDENTITY}
    return tuple(f for f in fields if f.transform == IDENTITY or f.column not in whole)


def count(table: TableName) -> str:
    """A query of the number of partitions of a table."""
    return f"SELECT count(*) FROM {table.sql}.`partitions`"


def last_modified(executor: Executor, table: TableName, spec: Spec) -> dict[Partition, int | None]:
    """The partitions of a table, each with the epoch milliseconds of the commit that touched it
    last, if that is still known; empty if they are not of this spec."""
    values = [f"p{number}" for number in range(len(spec.fields))]
    pairs = zip(values, spec.fields, strict=True)
    listed = ", ".join(encoded(value, field.type) for value, field in pairs)
    names = ", ".join(values)
    known = f"SELECT last_updated_at, partition.* FROM {table.sql}.`partitions`"
    try:
        rows = executor.query(
            f"SELECT max(unix_millis(modified)), {listed} "
            f"FROM ({known}) AS mv_partitions(modified, {names}) GROUP BY {names}"
        )
    except StatementFailed:
        return {}
    return {
        tuple(None if value is None else str(value) for value in row[1:]): row[0] for row in rows
    }
