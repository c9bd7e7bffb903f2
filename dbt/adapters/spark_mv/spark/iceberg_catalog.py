"""The catalog client of Iceberg where the JVM is in this process: no Spark job, no SQL."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from dbt.adapters.spark_mv.catalog.metadata_files import view_facts
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import (
    Bounds,
    BranchFacts,
    ColumnFacts,
    ColumnType,
    PartitionTexts,
    SnapshotFacts,
    TableFacts,
    ViewFacts,
)
from dbt.adapters.spark_mv.spark import iceberg_branches, iceberg_files, iceberg_partitions
from dbt.adapters.spark_mv.spark.held_tables import HeldTable
from dbt.adapters.spark_mv.spark.iceberg_rows import IcebergTable, is_small
from dbt.adapters.spark_mv.spark.session_client import Parts, SessionClient, columns_of
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME


class IcebergCatalog(SessionClient):
    """A `CatalogClient` over py4j; `session` is the user's SparkSession."""

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._lock = threading.Lock()
        self._catalogs: dict[str, Any] = {}
        self._tables: dict[Parts, HeldTable] = {}
        self._views: dict[Parts, tuple[Any, str, ViewFacts]] = {}
        self._identifiers: dict[Parts, Any] = {}
        # Schemas by the names of their tables: as Iceberg has each, as Spark does, its columns.
        self._converted: dict[Parts, tuple[Any, Any, tuple[ColumnType, ...]]] = {}
        self._view_parser = self._jvm.org.apache.iceberg.view.ViewMetadataParser
        self._schema_util = self._jvm.org.apache.iceberg.spark.SparkSchemaUtil

    def handles(self, catalog: str) -> bool:
        """Whether it is an Iceberg catalog with tables and views."""
        return self._call(self._catalog, catalog) is not None

    def _catalog(self, name: str) -> Any:
        with self._lock:
            if name not in self._catalogs:
                self._catalogs[name] = self._load_catalog(name)
            return self._catalogs[name]

    def _load_catalog(self, name: str) -> Any:
        if not self._is_catalog(name):
            return None
        plugin = self._manager.catalog(name)
        if plugin.getClass().getName() != "org.apache.iceberg.spark.SparkCatalog":
            return None
        catalog = plugin.icebergCatalog()
        # A caching catalog answers with old versions (its cache lives 30 s after the last use).
        if "Caching" in catalog.getClass().getSimpleName():
            return None
        return catalog if self._is(catalog, "org.apache.iceberg.catalog.ViewCatalog") else None

    def _is(self, what: Any, of_class: str) -> bool:
        """Whether an object of the JVM is of a class, which no attribute of it in Python tells."""
        return bool(self._jvm.py4j.reflection.TypeUtil.isInstanceOf(of_class, what))

    def _identifier(self, parts: Parts) -> Any:
        found = self._identifiers.get(parts)
        if found is None:
            names = self._session._sc._gateway.new_array(self._jvm.java.lang.String, len(parts) - 1)
            for index, part in enumerate(parts[1:]):
                names[index] = part
            found = self._jvm.org.apache.iceberg.catalog.TableIdentifier.of(names)
            self._identifiers[parts] = found
        return found

    def lookup(self, parts: Parts) -> TableFacts | ViewFacts | None:
        """Facts of the table or view of this name, None if there is none."""
        return self._call(self._lookup, parts)

    def _lookup(self, parts: Parts) -> TableFacts | ViewFacts | None:
        # What it was last is asked first: a name seldom changes from table to view.
        if parts in self._views:
            return self._view(parts) or self._table_facts(parts)
        return self._table_facts(parts) or self._view(parts)

    def _view(self, parts: Parts) -> ViewFacts | None:
        remembered = self._views.get(parts)
        if remembered is not None:
            operations, location, facts = remembered
            try:
                current = operations.refresh()
            except Exception:  # dropped since
                self._views.pop(parts, None)
                return self._view(parts)
            if current.metadataFileLocation() == location:
                return facts
        else:
            catalog, identifier = self._catalog(parts[0]), self._identifier(parts)
            if not catalog.viewExists(identifier):
                return None
            operations = catalog.loadView(identifier).operations()
            current = operations.current()
        facts = view_facts(json.loads(self._view_parser.toJson(current)), parts[0])
        self._views[parts] = (operations, current.metadataFileLocation(), facts)
        return facts

    def _table_facts(self, parts: Parts) -> TableFacts | None:
        held, metadata = self._newest(parts)
        return None if held is None else held.facts(metadata)

    def _table(self, parts: Parts) -> Any:
        held, _ = self._newest(parts)
        return None if held is None else held.table

    def _newest(self, parts: Parts) -> tuple[HeldTable, Any] | tuple[None, None]:
        """A table and its newest metadata."""
        held = self._tables.get(parts)
        if held is not None:
            try:
                return held, held.refresh()
            except Exception:  # dropped, or dropped and created again under another uuid
                self._tables.pop(parts, None)
        catalog, identifier = self._catalog(parts[0]), self._identifier(parts)
        if not catalog.tableExists(identifier):
            return None, None
        table = catalog.loadTable(identifier)
        has_own = self._is(table, "org.apache.iceberg.HasTableOperations")
        self._tables[parts] = held = HeldTable(table, table.operations() if has_own else None)
        return held, held.refresh()

    def columns(self, parts: Parts, whole: bool = False) -> list[ColumnType] | None:
        """Names and Spark's types of the columns of a table; None if there is none."""
        return self._call(self._columns, parts, whole)

    def _columns(self, parts: Parts, whole: bool) -> list[ColumnType] | None:
        table = self._table(parts)
        if table is None:
            return None
        schema, found = self._schema(parts, table)
        if whole or not any("struct<" in kind for _, kind in found):
            return [*found]
        # Of structures Spark prints as many fields as the session says, and so do statements to
        # which this is compared.
        kinds = (field.dataType().simpleString() for field in schema.fields())
        return [(name, str(kind)) for (name, _), kind in zip(found, kinds, strict=True)]

    def columns_at(self, parts: Parts, snapshot_id: str | None) -> tuple[ColumnFacts, ...]:
        """The columns under which a snapshot is read, or else those of now; none if not known."""
        return self._call(self._columns_at, parts, snapshot_id)

    def _columns_at(self, parts: Parts, snapshot_id: str | None) -> tuple[ColumnFacts, ...]:
        held, metadata = self._newest(parts)
        as_json = self._jvm.org.apache.iceberg.SchemaParser.toJson
        return () if held is None else held.columns_at(metadata, snapshot_id, as_json)

    def _schema(self, parts: Parts, table: Any) -> tuple[Any, tuple[ColumnType, ...]]:
        """The schema of a table as Spark has it, and its columns."""
        schema, known = table.schema(), self._converted.get(parts)
        if known is None or not known[0].sameSchema(schema):
            converted = self._schema_util.convert(schema)
            known = self._converted[parts] = schema, converted, columns_of(converted)
        return known[1:]

    def small_table(self, parts: Parts, columns: Sequence[str]) -> IcebergTable | None:
        """The table of this name, for few rows at a time; None if it is partitioned, or lacks one
        of the columns."""
        table = self._call(self._table, parts) if self.handles(parts[0]) else None
        if table is None or not self._call(is_small, table, columns):
            return None
        return IcebergTable(self._call, self._jvm, self._session._sc._gateway, table)

    def has_storage_tables(self, catalog: str) -> bool:
        """Whether any schema of the catalog holds a storage table of a materialized view."""
        return bool(self._call(self._has_storage_tables, catalog))

    def _has_storage_tables(self, catalog: str) -> bool:
        iceberg = self._catalog(catalog)
        if iceberg is None:
            return False
        schemas = iceberg.listNamespaces()
        for index in range(schemas.size()):
            tables = iceberg.listTables(schemas.get(index))
            names = (str(tables.get(at).name()) for at in range(tables.size()))
            if any(STORAGE_NAME.match(name) for name in names):
                return True
        return False

    def chain(
        self, parts: Parts, branch: str, limit: int, until: str | None
    ) -> list[SnapshotFacts]:
        """Snapshots of a branch, newest first."""
        return self._call(self._chain, parts, branch, limit, until)

    def _chain(
        self, parts: Parts, branch: str, limit: int, until: str | None
    ) -> list[SnapshotFacts]:
        held, metadata = self._newest(parts)
        if held is None:
            return []
        return held.chain(metadata, branch, limit, until, self._json.writeValueAsString)

    def added_bounds(
        self, parts: Parts, snapshot_ids: Sequence[str], columns: Sequence[str]
    ) -> dict[str, Bounds]:
        """Bounds of columns in the rows that these snapshots added, where they are known."""
        return self._of_table(iceberg_files.added_bounds, parts, self._jvm, snapshot_ids, columns)

    def bounds(self, parts: Parts, snapshot_id: str, columns: Sequence[str]) -> dict[str, Bounds]:
        """Bounds of columns in the rows of a snapshot, where they are known."""
        return self._of_table(iceberg_files.bounds, parts, self._jvm, snapshot_id, columns)

    def changed_partitions(
        self, parts: Parts, old: str, new: str, types: Sequence[str]
    ) -> frozenset[PartitionTexts] | None:
        """The partitions of files that only one of two snapshots has; None if it is not known."""
        return self._of_table(iceberg_partitions.changed, parts, old, new, types)

    def partitions(
        self, parts: Parts, snapshot_id: str, types: Sequence[str]
    ) -> frozenset[PartitionTexts] | None:
        """As `changed_partitions`, of all files of a snapshot."""
        return self._of_table(iceberg_partitions.current, parts, self._jvm, snapshot_id, types)

    def branches(self, parts: Parts) -> dict[str, BranchFacts]:
        """Branches of a table, by name."""
        return dict(self._call(lambda: iceberg_branches.branches(self._jvm, self._table(parts))))

    def create_branch(self, parts: Parts, branch: str, snapshot_id: str, kept_minutes: int) -> None:
        """Create a branch at a snapshot; fails if it exists."""
        self._of_table(iceberg_branches.create, parts, branch, int(snapshot_id), kept_minutes)

    def _of_table(self, function: Callable[..., Any], parts: Parts, *arguments: Any) -> Any:
        return self._call(lambda: function(self._existing_table(parts), *arguments))

    def _existing_table(self, parts: Parts) -> Any:
        table = self._table(parts)
        if table is None:
            raise StatementFailed(f"NoSuchTable: {'.'.join(parts)} has been dropped")
        return table

    def publish(self, parts: Parts, branch: str, drop: Sequence[str]) -> None:
        """Fast-forward main to `branch` and drop branches, in one commit."""

        def publish() -> None:
            iceberg_branches.publish(self._jvm, self._existing_table(parts), branch, drop)

        self._call(publish)

    def roll_back(self, parts: Parts, base: str, snapshot_id: str) -> None:
        """Take main from the snapshot `base` back to another; fails if it is not at `base`."""

        def roll_back() -> None:
            table = self._existing_table(parts)
            iceberg_branches.roll_back(self._jvm, table, base, int(snapshot_id))

        self._call(roll_back)

    def drop_branches(self, parts: Parts, drop: Sequence[str]) -> None:
        """Drop those branches that exist."""
        self._call(lambda: iceberg_branches.drop(self._jvm, self._table(parts), drop))

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        def once_more() -> Any:
            try:
                return function(*arguments)
            except Exception as error:
                # Another thread has just found a table dropped that both of them hold.
                if "TableOperations.current()" not in str(error):
                    raise
                self._tables.clear()
                return function(*arguments)

        return super()._call(once_more)
