"""A catalog client over the files of an embedded folder: catalog.db and Iceberg's metadata."""

from __future__ import annotations

import gzip
import json
import os
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from dbt.adapters.spark_mv.catalog import metadata_files
from dbt.adapters.spark_mv.config.profile import CATALOG
from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.core.executor import (
    Bounds,
    BranchFacts,
    ColumnFacts,
    ColumnType,
    QueryPlan,
    SnapshotFacts,
    TableFacts,
    ViewFacts,
)
from dbt.adapters.spark_mv.instant.column_types import spark_type
from dbt.adapters.spark_mv.instant.event_rows import FileTable
from dbt.adapters.spark_mv.instant.spark_version import spark_version
from dbt.adapters.spark_mv.sql.names import SESSION_CATALOG, STORAGE_NAME

Parts = tuple[str, ...]
Metadata = Mapping[str, Any]
Found = TypeVar("Found")

_RELATION = (
    "SELECT iceberg_type, metadata_location FROM iceberg_tables "
    "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"
)
_NAMES = "SELECT table_name FROM iceberg_tables WHERE catalog_name = ?"
_TABLE, _VIEW = "TABLE", "VIEW"
_GZIP = b"\x1f\x8b"
_VERSIONS = (1, 2, 3)
# A commit may remove the oldest metadata file between the look into the catalog and that into it.
_ATTEMPTS = 3
_BUSY_SECONDS = 10.0
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class FileCatalog:
    """A `CatalogClient` of the folder `path` that only reads; `home` is the first namespace.

    Every question is answered by what is committed when it is asked. What it cannot read raises
    `NeedsSpark`.
    """

    def __init__(self, path: str, home: Parts) -> None:
        self._home = home
        self._files: dict[str, Metadata] = {}
        self._rows: dict[str, FileTable] = {}
        database = Path(path) / "catalog.db"
        if not database.is_file():
            raise NeedsSpark(f"there is no catalog.db in {path}")
        self._database = _opened(database)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def session(self) -> tuple[str, Parts]:
        """Current catalog and namespace of a session that has just begun."""
        return CATALOG, self._home

    def is_catalog(self, name: str) -> bool:
        """Whether a catalog of this name is registered."""
        return name == CATALOG or name.lower() == SESSION_CATALOG

    def handles(self, catalog: str) -> bool:
        """Whether it is the folder's own catalog."""
        return catalog == CATALOG

    def lookup(self, parts: Parts) -> TableFacts | ViewFacts | None:
        """Facts of the table or view of this name, None if there is none."""
        found = self._find(parts)
        if found is None:
            return None
        kind, location, metadata = found
        if kind == _VIEW:
            return _read(parts, metadata_files.view_facts, metadata, parts[0])
        return _read(parts, metadata_files.table_facts, metadata, location)

    def columns(self, parts: Parts, whole: bool = False) -> list[ColumnType] | None:
        """Names and Spark's types of the columns of a table; None if there is none."""
        metadata = self._table(parts)
        if metadata is None:
            return None
        fields = _read(parts, metadata_files.columns, metadata)
        return [(str(field["name"]), spark_type(field["type"])) for field in fields]

    def columns_at(self, parts: Parts, snapshot_id: str | None) -> tuple[ColumnFacts, ...]:
        """The columns under which a snapshot is read, or else those of now; none if not known."""
        metadata = self._table(parts)
        if metadata is None:
            return ()
        return _read(parts, metadata_files.columns_at, metadata, snapshot_id)

    def small_table(self, parts: Parts, columns: Sequence[str]) -> FileTable | None:
        """The table of this name, for few rows at a time; None if it is partitioned, or lacks one
        of the columns."""
        found = self._find(parts)
        if found is None or found[0] == _VIEW:
            return None
        _, location, metadata = found
        names = {field["name"] for field in _read(parts, metadata_files.columns, metadata)}
        if _read(parts, metadata_files.is_partitioned, metadata) or not names.issuperset(columns):
            return None
        return self._rows.setdefault(location, FileTable(location))

    def has_storage_tables(self, catalog: str) -> bool:
        """Whether any schema of the catalog holds a storage table."""
        return any(STORAGE_NAME.match(str(name)) for (name,) in self._ask(_NAMES, catalog))

    def is_temporary_view(self, parts: Parts) -> bool:
        """Whether the session has a temporary view of this name: there is no session."""
        return False

    def has_cached_plans(self) -> bool:
        """Whether anything is cached: there is no Spark that could."""
        return False

    def settings(self) -> Mapping[str, str]:
        """There is no session: raises `NeedsSpark`."""
        raise NeedsSpark("the settings of a session are asked for")

    def setting(self, key: str) -> str:
        """There is no session: raises `NeedsSpark`."""
        raise NeedsSpark(f"the setting {key} is asked for")

    def plan(self, query: str) -> QueryPlan:
        """There is no session: raises `NeedsSpark`."""
        raise NeedsSpark("a query is to be planned")

    def returned(self, query: str) -> list[ColumnType]:
        """There is no session: raises `NeedsSpark`."""
        raise NeedsSpark("the columns of a query are asked for")

    def spark_version(self) -> str:
        """The version of the Spark that pyspark would start."""
        return spark_version()

    def chain(
        self, parts: Parts, branch: str, limit: int, until: str | None
    ) -> list[SnapshotFacts]:
        """Snapshots of a branch, newest first."""
        metadata = self._table(parts)
        if metadata is None:
            return []
        return _read(parts, metadata_files.chain, metadata, branch, limit, until)

    def branches(self, parts: Parts) -> dict[str, BranchFacts]:
        """Branches of a table, by name; none if there is no table."""
        metadata = self._table(parts)
        return {} if metadata is None else _read(parts, metadata_files.branches, metadata)

    def added_bounds(
        self, parts: Parts, snapshot_ids: Sequence[str], columns: Sequence[str]
    ) -> dict[str, Bounds]:
        """Not read here: raises `NeedsSpark`."""
        _refuse("bounds of the rows of", parts)

    def bounds(self, parts: Parts, snapshot_id: str, columns: Sequence[str]) -> dict[str, Bounds]:
        """Not read here: raises `NeedsSpark`."""
        _refuse("bounds of the rows of", parts)

    def changed_partitions(self, parts: Parts, old: str, new: str, types: Sequence[str]) -> None:
        """Not read here: raises `NeedsSpark`."""
        _refuse("the partitions of", parts)

    def partitions(self, parts: Parts, snapshot_id: str, types: Sequence[str]) -> None:
        """Not read here: raises `NeedsSpark`."""
        _refuse("the partitions of", parts)

    def create_branch(self, parts: Parts, branch: str, snapshot_id: str, kept_minutes: int) -> None:
        """Nothing is written here: raises `NeedsSpark`."""
        _refuse("a new branch of", parts)

    def publish(self, parts: Parts, branch: str, drop: Sequence[str]) -> None:
        """Nothing is written here: raises `NeedsSpark`."""
        _refuse("a commit to", parts)

    def roll_back(self, parts: Parts, base: str, snapshot_id: str) -> None:
        """Nothing is written here: raises `NeedsSpark`."""
        _refuse("a commit to", parts)

    def drop_branches(self, parts: Parts, drop: Sequence[str]) -> None:
        """Nothing is written here: raises `NeedsSpark`."""
        _refuse("a commit to", parts)

    def _table(self, parts: Parts) -> Metadata | None:
        found = self._find(parts)
        return None if found is None or found[0] == _VIEW else found[2]

    def _find(self, parts: Parts) -> tuple[str, str, Metadata] | None:
        """Kind, metadata file and metadata of a relation; None if there is none."""
        for _ in range(_ATTEMPTS):
            row = self._row(parts)
            if row is None:
                if len(parts) > 3 and self._row(parts[:-1]) is not None:
                    _refuse("the name of a part of a table,", parts)
                return None
            kind, location = row
            try:
                return kind, location, self._file(location)
            except FileNotFoundError:
                continue
        raise NeedsSpark(f"the metadata of {'.'.join(parts)} is gone")

    def _row(self, parts: Parts) -> tuple[str, str] | None:
        rows = self._ask(_RELATION, parts[0], ".".join(parts[1:-1]), parts[-1])
        if not rows:
            return None
        ((kind, location),) = rows
        if kind not in (_TABLE, _VIEW, None) or not location:
            _refuse("what the catalog has as", parts)
        return kind or _TABLE, str(location)

    def _ask(self, sql: str, *values: str) -> list[Any]:
        try:
            return self._database.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise NeedsSpark(f"catalog.db cannot be read: {error}") from None

    def _file(self, location: str) -> Metadata:
        if location not in self._files:
            self._files[location] = _parsed(local_path(location))
        return self._files[location]


def local_path(location: str) -> str:
    """The path of a file in this file system, as Iceberg writes it; else raises `NeedsSpark`."""
    path = location
    if location.startswith("file:/"):
        path = "/" + location.removeprefix("file:").lstrip("/")
    elif _HAS_SCHEME.match(location):
        raise NeedsSpark(f"{location} is not a file of this machine")
    if not os.path.isabs(path):
        raise NeedsSpark(f"{location} is not a whole path")
    return path


def _opened(database: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", _BUSY_SECONDS, uri=True)
    except sqlite3.Error as error:
        raise NeedsSpark(f"{database} cannot be opened: {error}") from None


def _parsed(path: str) -> Metadata:
    """The content of a metadata file; raises `FileNotFoundError`, or `NeedsSpark`."""
    try:
        content = Path(path).read_bytes()
        text = gzip.decompress(content) if content.startswith(_GZIP) else content
        found = json.loads(text)
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise NeedsSpark(f"{path} cannot be read: {error}") from None
    if not isinstance(found, dict) or found.get("format-version") not in _VERSIONS:
        raise NeedsSpark(f"{path} is of an unknown format")
    return found


def _read(parts: Parts, function: Callable[..., Found], *arguments: Any) -> Found:
    try:
        return function(*arguments)
    except (AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise NeedsSpark(
            f"the metadata of {'.'.join(parts)} is of an unknown form ({what})"
        ) from None


def _refuse(what: str, parts: Parts) -> NoReturn:
    raise NeedsSpark(f"{what} {'.'.join(parts)} is asked for")
