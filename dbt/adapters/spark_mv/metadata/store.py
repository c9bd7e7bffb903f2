"""Reads and appends events in Spark."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.errors import CorruptMetadata, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, TableFacts
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.tables import EVENT_COLUMNS, create_events_table, create_views
from dbt.adapters.spark_mv.sql.names import TableName, quote_parts


class MetadataStore:
    """The event table of one metadata schema."""

    def __init__(self, executor: Executor, resolver: Resolver, events: TableName) -> None:
        self._executor = executor
        self._resolver = resolver
        self.events = events

    def version(self) -> str | None:
        """Changes whenever an event is appended; None if there is no metadata."""
        if self._executor.catalog is None:
            head = iceberg.heads_if_tables(self._executor, [self.events]).get(self.events)
            if head is not None:
                return head[0] or "empty"
        facts = self._resolver.lookup(self.events)
        if not isinstance(facts, TableFacts):
            return None
        return facts.snapshot_id or "empty"

    def create(self) -> None:
        """Create schema, table and views where they are missing."""
        schema = quote_parts((self.events.catalog, *self.events.namespace))
        self._executor.query(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        self._executor.query(create_events_table(self.events))
        for statement in create_views(self.events):
            self._executor.query(statement)

    def append(self, events: Sequence[Event]) -> tuple[str | None, str | None]:
        """Append events in one commit; creates the tables if somebody dropped them.

        Returns the version after it and the version that it came upon.
        """
        self._insert_rows(events)
        chain = iceberg.main_chain(self._executor, self.events, 1)
        return (chain[0].snapshot_id, chain[0].parent_id) if chain else (None, None)

    def _insert_rows(self, events: Sequence[Event]) -> None:
        statement = self._insert(events)
        try:
            self._executor.query(statement)
        except StatementFailed:
            if self._resolver.lookup(self.events) is not None:
                raise
            self.create()
            self._executor.query(statement)

    def _insert(self, events: Sequence[Event]) -> str:
        rows = ", ".join(_row(event) for event in events)
        columns = ", ".join(f"`{name}`" for name, _ in EVENT_COLUMNS)
        # In hex no quoting rule and no substitution of Spark's can touch a text.
        values = ", ".join(
            f"timestamp_micros(`{name}`)" if name == "at" else f"decode(unhex(`{name}`), 'UTF-8')"
            for name, _ in EVENT_COLUMNS
        )
        return (
            f"INSERT INTO {self.events.sql} ({columns}) "
            f"SELECT /*+ COALESCE(1) */ {values} FROM VALUES {rows} AS t({columns})"
        )

    def load(self) -> list[Event]:
        """Every event in order of time, repeated ones once.

        Raises `CorruptMetadata` naming the event whose payload cannot be read.
        """
        columns = ", ".join(
            "unix_micros(`at`)" if name == "at" else f"`{name}`" for name, _ in EVENT_COLUMNS
        )
        rows = self._executor.query(f"SELECT {columns} FROM {self.events.sql}")
        found = {str(row[0]): self._event(row) for row in rows}
        return sorted(found.values(), key=lambda event: (event.at, event.event_id))

    def forget(self, before_us: int, kept: Collection[str]) -> None:
        """Delete events from before a time, in epoch microseconds, but for those that are kept."""
        but = ", ".join(_hex(event_id) for event_id in kept)
        others = f" AND hex(event_id) NOT IN ({but.upper()})" if kept else ""
        self._executor.query(
            f"DELETE FROM {self.events.sql} WHERE at < timestamp_micros({before_us}){others}"
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


def _row(event: Event) -> str:
    texts = (
        event.view_id,
        event.view_name,
        event.kind,
        event.refresh_id,
        event.payload_json,
        event.invocation_id,
        event.writer,
    )
    values = ", ".join(_hex(text) for text in texts)
    return f"({_hex(event.event_id)}, {event.at}, {values})"


def _hex(text: str | None) -> str:
    if text is None:
        return "CAST(NULL AS STRING)"
    return f"'{text.encode('utf-8', 'surrogatepass').hex()}'"
