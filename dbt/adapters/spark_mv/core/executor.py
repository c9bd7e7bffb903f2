"""All that the core knows of Spark: statements, sessions of its own, and facts about relations.

Nothing below the dbt glue imports pyspark; every connection method gives an `Executor`.
A connection whose JVM is in this process also gives a `CatalogClient`, which answers the same
questions as the plain SQL does, without a Spark job.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Protocol

from dbt.adapters.spark_mv.core.lazy import lazy

Row = Sequence[Any]
Value = int | Decimal | date


@dataclass(frozen=True)
class ViewFacts:
    """A view as the catalog stores it; `catalog`/`namespace` resolve the names in `text`. `types`
    are those that its columns are declared with, in Spark's words where Spark and Iceberg differ
    only in them, empty if they are not known. `returned` is None of a view of Iceberg; of one of
    Spark's own it has the names of what `text` returned when the view was made, if they are kept.
    """

    text: str
    catalog: str
    namespace: tuple[str, ...]
    columns: tuple[str, ...]
    properties: Mapping[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    returned: tuple[str, ...] | None = None


@dataclass(frozen=True)
class TableFacts:
    """A table: its format, and for Iceberg the id of its main snapshot and of its schema.

    `metadata_digest` is that of its metadata file if it has other columns than its snapshot.
    """

    provider: str
    snapshot_id: str | None = None
    schema_id: int | None = None
    snapshot_schema_id: int | None = None
    metadata_digest: str | None = None


@dataclass(frozen=True)
class SnapshotFacts:
    """One snapshot of an Iceberg table, ids as text, `committed_at` in epoch milliseconds.

    `schema_id` is that of the schema under which it is read, None if that is not known.
    """

    snapshot_id: str
    parent_id: str | None
    operation: str
    committed_at: int
    summary: Mapping[str, str]
    schema_id: int | None = None


@dataclass(frozen=True)
class ColumnFacts:
    """A column of an Iceberg table: its id, which no other column of the table ever has, and its
    type as a text of Iceberg's."""

    id: int
    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class BranchFacts:
    """A branch of an Iceberg table: its head, and how long it is kept, None if it does not say."""

    snapshot_id: str
    kept_minutes: int | None = None


@dataclass(frozen=True)
class Bounds:
    """No value of a column is below `lower` or above `upper`; some may be NULL if `with_null`."""

    lower: Value
    upper: Value
    with_null: bool


# Name and type.
ColumnType = tuple[str, str]


@dataclass(frozen=True)
class QueryPlan:
    """What a query returns; `count` says how many rows of tables with known statistics it reads, as
    Spark estimates it, which takes about as long as to find out the columns."""

    columns: tuple[ColumnType, ...]
    count: Callable[[], int]

    @lazy
    def rows(self) -> int:
        """The same, counted once; raises `StatementFailed` if Spark cannot plan the query."""
        return self.count()


Texts = tuple[str | None, ...]
# The values of a partition, in the order of its spec's fields.
PartitionTexts = Texts


class SmallTable(Protocol):
    """An unpartitioned table that is read and written in this process, without a Spark job."""

    def rows(self, columns: Sequence[str]) -> list[Texts] | None:
        """Its current rows, each value as a text; None if texts cannot be told apart."""
        ...

    def append(self, rows: Sequence[Mapping[str, str | int | None]]) -> None:
        """Append rows in one commit; a timestamp is given in epoch microseconds."""
        ...

    def compact(self, before_ms: int, retain: int) -> None:
        """Make its files one, and expire snapshots from before an epoch millisecond, but for the
        newest `retain`; fails if another process has rewritten a file, and changes nothing."""
        ...


class CatalogClient(Protocol):
    """Questions to a catalog in this process; `None` stands for "no such relation"."""

    def handles(self, catalog: str) -> bool:
        """Whether relations of this catalog can be asked for here."""
        ...

    def lookup(self, parts: tuple[str, ...]) -> TableFacts | ViewFacts | None:
        """What the name stands for."""
        ...

    def columns(self, parts: tuple[str, ...], whole: bool = False) -> list[ColumnType] | None:
        """Names and Spark's types of the columns of a table."""
        ...

    def columns_at(
        self, parts: tuple[str, ...], snapshot_id: str | None
    ) -> tuple[ColumnFacts, ...]:
        """The columns under which a snapshot is read, or else those of now; none if not known."""
        ...

    def small_table(self, parts: tuple[str, ...], columns: Sequence[str]) -> SmallTable | None:
        """The table of this name, for few rows at a time; None if it is partitioned, or lacks one
        of the columns."""
        ...

    def has_storage_tables(self, catalog: str) -> bool:
        """Whether any schema of the catalog holds a storage table."""
        ...

    def is_temporary_view(self, parts: tuple[str, ...]) -> bool:
        """Whether the caller's session has a temporary view of this name."""
        ...

    def has_cached_plans(self) -> bool:
        """Whether anything is cached by CACHE TABLE, in any session of this Spark."""
        ...

    def chain(
        self, parts: tuple[str, ...], branch: str, limit: int, until: str | None
    ) -> list[SnapshotFacts]:
        """Snapshots of a branch, newest first, down to `until`, at most `limit`."""
        ...

    def added_bounds(
        self, parts: tuple[str, ...], snapshot_ids: Sequence[str], columns: Sequence[str]
    ) -> dict[str, Bounds]:
        """Bounds of columns in the rows that these snapshots added, where they are known."""
        ...

    def bounds(
        self, parts: tuple[str, ...], snapshot_id: str, columns: Sequence[str]
    ) -> dict[str, Bounds]:
        """Bounds of columns in the rows of a snapshot, where they are known."""
        ...

    def changed_partitions(
        self, parts: tuple[str, ...], old: str, new: str, types: Sequence[str]
    ) -> Collection[PartitionTexts] | None:
        """The partitions of files that only one of two snapshots has; None if that is not known.

        `types` are Spark's of the values, which are texts as in `catalog.partitions`.
        """
        ...

    def partitions(
        self, parts: tuple[str, ...], snapshot_id: str, types: Sequence[str]
    ) -> Collection[PartitionTexts] | None:
        """As `changed_partitions`, of all files of a snapshot."""
        ...

    def branches(self, parts: tuple[str, ...]) -> dict[str, BranchFacts]:
        """Branches of a table, by name."""
        ...

    def create_branch(
        self, parts: tuple[str, ...], branch: str, snapshot_id: str, kept_minutes: int
    ) -> None:
        """Create a branch that is kept for so long; fails if it exists."""
        ...

    def publish(self, parts: tuple[str, ...], branch: str, drop: Sequence[str]) -> None:
        """Fast-forward main to `branch` and drop the branches in `drop`, in one commit."""
        ...

    def roll_back(self, parts: tuple[str, ...], base: str, snapshot_id: str) -> None:
        """Take main from the snapshot `base` back to another; fails if it is not at `base`."""
        ...

    def drop_branches(self, parts: tuple[str, ...], drop: Sequence[str]) -> None:
        """Drop those branches that exist."""
        ...

    def session(self) -> tuple[str, tuple[str, ...]]:
        """Current catalog and namespace of the caller's session."""
        ...

    def settings(self) -> Mapping[str, str]:
        """What is set in the caller's session."""
        ...

    def setting(self, key: str) -> str:
        """The value of a setting of Spark in the caller's session, whether it is set or not."""
        ...

    def plan(self, query: str) -> QueryPlan:
        """What the caller's session would do for a query, which does not run."""
        ...

    def returned(self, query: str) -> list[ColumnType]:
        """Names and whole types of what a query returns, with the collations of strings."""
        ...

    def spark_version(self) -> str:
        """The version of Spark, as in 4.1.4."""
        ...

    def is_catalog(self, name: str) -> bool:
        """Whether a catalog of this name is registered."""
        ...


class Executor(Protocol):
    """Runs statements in one Spark session."""

    @property
    def catalog(self) -> CatalogClient | None:
        """The short way to the catalogs, where the JVM is in this process."""
        ...

    def query(self, sql: str) -> list[Row]:
        """Run one statement, return all rows; raises `StatementFailed`."""
        ...

    def isolated(self, settings: Mapping[str, str]) -> AbstractContextManager[Executor]:
        """A session of its own with these settings; nothing of it outlives the block."""
        ...

    def interrupt(self) -> None:
        """End what this session is running, from another thread; its statement then fails."""
        ...


def client_for(executor: Executor, catalog: str) -> CatalogClient | None:
    """The client that knows a catalog without statements; None where these have to ask."""
    client = executor.catalog
    return client if client is not None and client.handles(catalog) else None
