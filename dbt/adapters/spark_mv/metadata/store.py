"""Reads and appends events in Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone

from dbt.adapters.spark_mv.catalog import iceberg, maintenance, table_heads
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.creation import beside_others
from dbt.adapters.spark_mv.core.errors import CorruptMetadata, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, SmallTable, TableFacts, client_for
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.tables import EVENT_COLUMNS, create_events_table, create_views
from dbt.adapters.spark_mv.sql.names import TableName, quote_parts

# Each commit adds a file, and every command reads them all.
MOST_FILES = 50
# Iceberg's cache has a table as it was up to 30 seconds ago.
KEPT_SNAPSHOTS, _READING_SECONDS = 20, 45.0
_NAMES = tuple(name for name, _ in EVENT_COLUMNS)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class MetadataStore:
    """The event table of one metadata schema."""

    def __init__(self, executor: Executor, resolver: Resolver, events: TableName) -> None:
        self._executor = executor
        self._resolver = resolver
        self.events = events

    def version(self) -> str | None:
        """Changes whenever an event is appended; None if there is no metadata."""
        if client_for(self._executor, self.events.catalog) is None:
            head = table_heads.heads_if_tables(self._executor, [self.events]).get(self.events)
            if head is not None:
                return head[0] or "empty"
        facts = self._resolver.lookup(self.events)
        if not isinstance(facts, TableFacts):
            return None
        return facts.snapshot_id or "empty"

    @beside_others
    def create(self) -> None:
        """Create schema, table and views where they are missing."""
        schema = quote_parts((self.events.catalog, *self.events.namespace))
        self._executor.query(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        self._executor.query(create_events_table(self.events))
        for statement in create_views(self.events):
            self._executor.query(statement)

    def append(self, events: Sequence[Event]) -> tuple[str | None, str | None]:
        """Append events in one commit; creates the tables if somebody dropped them, and compacts
        them if they have many files.

        Returns the version after it and the version that it came upon.
        """
        try:
            self._insert(events)
        except StatementFailed:
            if self._resolver.lookup(self.events) is not None:
                raise
            self.create()
            self._insert(events)
        chain = iceberg.main_chain(self._executor, self.events, 1)
        if not chain:
            return None, None
        if int(chain[0].summary.get("total-data-files", 0)) > MOST_FILES:
            self._compact()
        return chain[0].snapshot_id, chain[0].parent_id

    def _compact(self) -> None:
        # Whoever reads an older snapshot has planned it a moment ago.
        before = time.time() - _READING_SECONDS
        # Another process that compacts at the same time, or forgets, was first: all is well.
        with suppress(StatementFailed):
            small = self._small_table()
            if small is not None:
                small.compact(int(before * 1000), KEPT_SNAPSHOTS)
                return
            maintenance.compact(self._executor, self.events)
            maintenance.expire(self._executor, self.events, before, KEPT_SNAPSHOTS)

    def _small_table(self) -> SmallTable | None:
        client = self._executor.catalog
        return None if client is None else client.small_table(self.events.parts, _NAMES)

    def _insert(self, events: Sequence[Event]) -> None:
        # Not every driver lets Iceberg's classes be reached; an event that is there twice is one.
        with suppress(StatementFailed):
            small = self._small_table()
            if small is not None:
                small.append([_values(event) for event in events])
                return
        self._executor.query(self._statement(events))

    def _statement(self, events: Sequence[Event]) -> str:
        rows = ", ".join(_row(event) for event in events)
        columns = ", ".join(f"`{name}`" for name in _NAMES)
        # In hex no quoting rule and no substitution of Spark's can touch a text.
        values = ", ".join(
            f"timestamp_micros(`{name}`)" if name == "at" else f"decode(unhex(`{name}`), 'UTF-8')"
            for name in _NAMES
        )
        return (
            f"INSERT INTO {self.events.sql} ({columns}) "
            f"SELECT /*+ COALESCE(1) */ {values} FROM VALUES {rows} AS t({columns})"
        )

    def load(self) -> list[Event]:
        """Every event in order of time, repeated ones once.

        Raises `CorruptMetadata` naming the event whose payload cannot be read.
        """
        found = {str(row[0]): self._event(row) for row in self._rows()}
        return sorted(found.values(), key=lambda event: (event.at, event.event_id))

    def _rows(self) -> Iterable[Sequence[object]]:
        with suppress(StatementFailed):
            small = self._small_table()
            texts = None if small is None else small.rows(_NAMES)
            if texts is not None:
                return [(row[0], _microseconds(row[1]), *row[2:]) for row in texts]
        columns = ", ".join("unix_micros(`at`)" if name == "at" else f"`{name}`" for name in _NAMES)
        return self._executor.query(f"SELECT {columns} FROM {self.events.sql}")

    def forget(self, before_us: int, kept: Collection[str], version: str) -> None:
        """Delete events from before a time, in epoch microseconds, but for those that are kept, and
        those that are not in a version of the table: nobody has looked at them."""
        but = ", ".join(_hex(event_id) for event_id in kept)
        others = f" AND hex(event_id) NOT IN ({but.upper()})" if kept else ""
        seen = f"SELECT event_id FROM {self.events.sql} VERSION AS OF {version}"
        self._executor.query(
            f"DELETE FROM {self.events.sql} WHERE at < timestamp_micros({before_us}){others} "
            f"AND event_id IN ({seen})"
        )

    def _event(self, row: Sequence[object]) -> Event:
        event_id, at, view_id, view_name, kind, refresh_id, payload, invocation_id, writer = row
        try:
            content = json.loads(str(payload)) if payload else {}
            if not isinstance(content, dict):
                raise ValueError("the payload is no object")
        except (ValueError, RecursionError) as error:
            content = {"corrupt": str(error)}
        return Event(
            event_id=str(event_id),
            at=int(str(at)) if at is not None else 0,
            view_id=str(view_id),
            view_name=str(view_name),
            kind=str(kind),
            refresh_id=None if refresh_id is None else str(refresh_id),
            payload=content,
            invocation_id=str(invocation_id or ""),
            writer=str(writer or ""),
        )


def corrupt(events: TableName, event: Event) -> CorruptMetadata:
    """The error for an event that cannot be read."""
    return CorruptMetadata(
        f"{events} has an event of {event.view_name} that cannot be read "
        f"(event_id = {event.event_id}): {event.payload.get('corrupt', 'unexpected content')}.",
        "Run `dbt run-operation rebuild_metadata`, or delete that row.",
    )


def _values(event: Event) -> dict[str, str | int | None]:
    """The values of an event by column; its time in epoch microseconds."""
    values: dict[str, str | int | None] = {
        "event_id": event.event_id,
        "at": event.at,
        "view_id": event.view_id,
        "view_name": event.view_name,
        "kind": event.kind,
        "refresh_id": event.refresh_id,
        "payload": event.payload_json,
        "invocation_id": event.invocation_id,
        "writer": event.writer,
    }
    # Half a pair of surrogates is no character of a file.
    return {
        name: value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        if isinstance(value, str)
        else value
        for name, value in values.items()
    }


def _row(event: Event) -> str:
    values = (
        str(value) if isinstance(value, int) else _hex(value) for value in _values(event).values()
    )
    return f"({', '.join(values)})"


def _microseconds(text: str | None) -> int | None:
    """Epoch microseconds of a time as Java writes it: `2026-11-25T02:04:35.972962Z`."""
    if text is None:
        return None
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _hex(text: str | None) -> str:
    if text is None:
        return "CAST(NULL AS STRING)"
    return f"'{text.encode('utf-8').hex()}'"
