"""Versions of base tables: what the content of a table is known by.

An Iceberg table has (main snapshot, current schema), both readable without a Spark job, and while
it has other columns than its snapshot a digest of its metadata file; a table of plain files has a
digest of its file listing; anything else has no version.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark_mv.catalog import file_tables, iceberg, table_heads
from dbt.adapters.spark_mv.catalog.resolver import Facts, Resolver
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, TableFacts, client_for
from dbt.adapters.spark_mv.sql.names import TableName

MISSING = "missing"
UNVERSIONED = "unversioned"


@dataclass(frozen=True)
class Version:
    """One table's version; two are the same content only if `is_same` says so."""

    kind: str
    snapshot_id: str | None = None
    schema_id: int | None = None
    digest: str | None = None

    def is_same(self, other: Version) -> bool:
        """Whether both are known to be the same content."""
        return self == other and self.kind not in (UNVERSIONED, MISSING)

    def has_columns_of(self, other: Version) -> bool:
        """Whether two snapshots of a table, of which both are kept, have the same columns for
        certain: those of a snapshot itself keep their number."""
        return self.schema_id == other.schema_id and self.digest is None and other.digest is None

    @property
    def can_pin(self) -> bool:
        """Whether a query can read the table at this version, that is, with its columns."""
        return self._is_snapshot and self.digest is None

    @property
    def is_altered(self) -> bool:
        """Whether it is a snapshot of an Iceberg table that has other columns by then."""
        return self._is_snapshot and self.digest is not None

    @property
    def _is_snapshot(self) -> bool:
        return self.kind == iceberg.FORMAT and self.snapshot_id is not None

    def to_json(self) -> dict[str, Any]:
        """The version as the label writes it."""
        return {key: value for key, value in vars(self).items() if value is not None}

    def __str__(self) -> str:
        return self.snapshot_id or self.digest or self.kind


def version_from_json(content: Mapping[str, Any]) -> Version:
    """The version written by `Version.to_json`."""
    return Version(
        kind=str(content["kind"]),
        snapshot_id=content.get("snapshot_id"),
        schema_id=content.get("schema_id"),
        digest=content.get("digest"),
    )


def keeps_columns(
    executor: Executor,
    table: TableName,
    old: Version,
    new: Version,
    needed: Collection[str] | None,
) -> bool:
    """Whether two snapshots of a table have the same columns, or the new one has further ones, and
    the old one those that are `needed`; None if all are.

    A column that is gone may have hidden another one of its name, so none may be.
    """
    if old.has_columns_of(new):
        return True
    client = client_for(executor, table.catalog)
    if client is None or needed is None or not (old.can_pin and new.can_pin):
        return False
    assert old.snapshot_id and new.snapshot_id
    then, now = (
        client.columns_at(table.parts, snapshot) for snapshot in (old.snapshot_id, new.snapshot_id)
    )
    names = {column.name.lower() for column in then}
    return set(then) <= set(now) and all(name.lower() in names for name in needed)


class Versions:
    """Reads versions of base tables; the catalog client and SQL give equal values."""

    def __init__(self, executor: Executor, resolver: Resolver) -> None:
        self._executor = executor
        self._resolver = resolver

    def read(
        self,
        names: Iterable[TableName],
        heads: Mapping[TableName, table_heads.Head] | None = None,
        facts: Mapping[TableName, Facts] | None = None,
    ) -> dict[TableName, Version]:
        """The current version of each table, in the order given.

        `heads` are those of Iceberg tables that were read just now, `facts` what was found out of
        tables just now.
        """
        names, heads, seen = tuple(dict.fromkeys(names)), heads or {}, facts or {}
        found: dict[TableName, Version] = {}
        asked: dict[TableName, table_heads.Head] = {}
        unread: list[TableName] = []
        for name in names:
            table = seen.get(name) or self._resolver.lookup(name)
            if not isinstance(table, TableFacts):
                found[name] = Version(MISSING)
            elif table.provider != iceberg.FORMAT:
                found[name] = self._version_of_files(name, table)
            elif table.schema_id is not None:
                head = table.snapshot_id, table.schema_id
                found[name] = self._version_of_iceberg(name, head, table.metadata_digest)
            elif name in heads:
                asked[name] = heads[name]
            else:
                unread.append(name)
        asked |= table_heads.heads(self._executor, unread)
        digests = table_heads.altered(self._executor, asked)
        for name, head in asked.items():
            found[name] = self._version_of_iceberg(name, head, digests.get(name))
        # A table may go between two questions.
        return {name: found.get(name, Version(MISSING)) for name in names}

    def rows_unchanged(self, name: TableName, old: Version, new: Version) -> bool:
        """Whether everything committed between two versions left the rows as they were."""
        if old.kind != iceberg.FORMAT or new.kind != iceberg.FORMAT:
            return False
        if not old.has_columns_of(new) or not old.snapshot_id or not new.snapshot_id:
            return False
        return iceberg.rows_unchanged(
            self._executor, name, old.snapshot_id, new.snapshot_id, old.schema_id
        )

    def history(self, name: TableName) -> list[iceberg.HistoryEntry]:
        """What an Iceberg table has been, in the order in which it became that."""
        return iceberg.history(self._executor, name)

    def schema_of(self, name: TableName, snapshot_id: str) -> int | None:
        """Id of the schema of a snapshot, None if it cannot be read any more."""
        return table_heads.snapshot_schema(self._executor, name, snapshot_id)

    def _version_of_iceberg(
        self, name: TableName, head: table_heads.Head, digest: str | None
    ) -> Version:
        snapshot_id, schema_id = head
        if snapshot_id is not None:
            return Version(iceberg.FORMAT, snapshot_id, schema_id, digest)
        # Without a snapshot nothing tells a dropped and re-created table from the old one.
        return Version(iceberg.FORMAT, None, schema_id, self._columns_digest(name))

    def _version_of_files(self, name: TableName, facts: TableFacts) -> Version:
        if facts.provider not in file_tables.FORMATS:
            return Version(UNVERSIONED)
        try:
            return Version("files", digest=file_tables.listing_digest(self._executor, name))
        except StatementFailed:
            return Version(UNVERSIONED)

    def _columns_digest(self, name: TableName) -> str:
        rows = self._executor.query(f"DESCRIBE TABLE {name.sql}")
        text = repr([(str(row[0]), str(row[1])) for row in rows])
        return hashlib.sha256(re.sub(r"\s+", " ", text).encode()).hexdigest()[:16]
