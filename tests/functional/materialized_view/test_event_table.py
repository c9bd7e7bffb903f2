"""The table of events: by Iceberg's own code if the JVM is in this process, else by SQL. Both
write and read the same events, and files stay few without anybody's care."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import permutations

import pytest

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.metadata import store as stores
from dbt.adapters.spark_mv.metadata.events import CREATED, DROPPED, Event
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.projection import fold
from dbt.adapters.spark_mv.metadata.store import MetadataStore
from dbt.adapters.spark_mv.metadata.tables import EVENTS
from dbt.adapters.spark_mv.spark.clients import SessionExecutor, session_executor, sessions_beside
from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.warehouse import Warehouse

TEXTS = (
    "",
    "plain",
    "two\nlines\ttab\r\0null",
    "quotes ' \" ` and \\ and ${x} and {{ y }}",
    "Zoë 漢字 \U0001f600",
    "null",
    "\x1e between \x1e",
    "long " * 5_000,
)
TIMES = (0, 1, 1_000_000, 1_764_000_000_123_456, 253_402_300_799_999_999)


def store_of(lake: Warehouse, by_sql: bool) -> MetadataStore:
    """A store of the schema's metadata, by SQL alone or not."""
    session = spark_session(lake.credentials)
    executor: Executor = (
        SessionExecutor(session.newSession(), None, sessions_beside(session))
        if by_sql
        else session_executor(session, None)
    )
    name = TableName("local", (lake.metadata_schema,), EVENTS)
    return MetadataStore(executor, Resolver(executor), name)


@pytest.fixture(params=[False, True], ids=["iceberg", "sql"])
def store(lake: Warehouse, request: pytest.FixtureRequest) -> Iterator[MetadataStore]:
    lake.spark("drop table if exists @meta.mv_events")
    yield store_of(lake, request.param)


def event(number: int, text: str = "text", **others: object) -> Event:
    payload = {"text": text, "number": number}
    return Event(f"e{number}", number, "v", "local.a.v", "REFRESH", None, payload, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize("reads_by_sql", [False, True], ids=["read by iceberg", "read by sql"])
def test_values(lake: Warehouse, store: MetadataStore, reads_by_sql: bool) -> None:
    """Every text and time is read as it was written, by the same way and by the other."""
    written = [
        Event(f"e{number} {text}", at, "v", text, text, text or None, {"t": text}, text, text)
        for number, (text, at) in enumerate((text, at) for text in TEXTS for at in TIMES)
    ]
    store.append(written)
    found = store_of(lake, reads_by_sql).load()
    assert sorted(found, key=repr) == sorted(written, key=repr)


def test_no_character(store: MetadataStore) -> None:
    """Half a pair of surrogates in a name is no reason to lose an event."""
    store.append([event(1, writer="half \ud83d")])
    assert [found.event_id for found in store.load()] == ["e1"]


def test_few_files(lake: Warehouse, store: MetadataStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever number of commits there was, files, snapshots and metadata are few; no event is
    lost."""
    monkeypatch.setattr(stores, "MOST_FILES", 10)
    monkeypatch.setattr(stores, "_READING_SECONDS", -60.0)
    for number in range(45):
        store.append([event(number)])
    assert [found.payload["number"] for found in store.load()] == list(range(45))
    assert lake.value("select count(*) from @meta.mv_events.files") <= 10
    # Twenty are kept, and at most ten have come since.
    assert lake.value("select count(*) from @meta.mv_events.snapshots") <= 31
    path = lake.value(
        "select file from @meta.mv_events.metadata_log_entries order by timestamp desc limit 1"
    )
    assert os.path.getsize(str(path).removeprefix("file:")) < 60_000


def test_two_writers(
    lake: Warehouse, store: MetadataStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both append, and compact at the same time: every event is there, once."""
    monkeypatch.setattr(stores, "MOST_FILES", 3)
    monkeypatch.setattr(stores, "_READING_SECONDS", -60.0)
    store.append([event(0)])

    def append(first: int) -> None:
        own = store_of(lake, by_sql=False)
        for number in range(first, first + 15):
            own.append([event(number)])

    threads = [threading.Thread(target=append, args=[first]) for first in (100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [0, *range(100, 115), *range(200, 215)]
    assert [found.payload["number"] for found in store.load()] == expected
    assert lake.value("select count(*) from @meta.mv_events") == len(expected)


def test_no_job(lake: Warehouse) -> None:
    """Where the JVM is in this process no job of Spark reads, writes or compacts events."""
    lake.spark("drop table if exists @meta.mv_events")
    store = store_of(lake, by_sql=False)
    store.append([event(1)])
    scheduler = spark_session(lake.credentials)._jsc.sc().dagScheduler()
    before = scheduler.numTotalJobs()
    store.append([event(2)])
    assert len(store.load()) == 2
    store._compact()
    assert scheduler.numTotalJobs() == before
    assert lake.value("select count(*) from @meta.mv_events.files") == 1


def test_other_tables(lake: Warehouse) -> None:
    """A table with partitions, with a file of deletes or without a column is read by SQL."""
    lake.spark("drop table if exists @meta.mv_events")
    store = store_of(lake, by_sql=False)
    store.append([event(1)])
    lake.spark("alter table @meta.mv_events add partition field kind")
    store.append([event(2)])
    lake.spark(
        "alter table @meta.mv_events set tblproperties ('write.delete.mode'='merge-on-read')"
    )
    lake.spark("insert into @meta.mv_events select * from @meta.mv_events where event_id = 'e1'")
    assert len(store.load()) == 2
    lake.spark("alter table @meta.mv_events drop partition field kind")
    store.append([event(3)])
    lake.spark("delete from @meta.mv_events where event_id = 'e2'")
    store._compact()
    assert [found.event_id for found in store.load()] == ["e1", "e3"]


def late_drops() -> list[tuple[str, ...]]:
    """All orders in which three views of one name are recorded that were created one after the
    other: a drop is recorded at any time after the creation. The last one is dropped, or not."""
    created, dropped = [f"+{n}" for n in range(3)], [f"-{n}" for n in range(3)]
    orders = (*permutations([*created, *dropped]), *permutations([*created, *dropped[:2]]))
    return [
        order
        for order in orders
        if [step for step in order if step in created] == created
        and all(order.index(f"+{step[1]}") < order.index(step) for step in order if step[0] == "-")
    ]


def test_late_drops(lake: Warehouse) -> None:
    """SQL and the program list the view that exists, whatever was recorded last of its name."""
    lake.spark("drop table if exists @meta.mv_events")
    store, events, expected = store_of(lake, by_sql=False), [], set()
    for number, order in enumerate(late_drops()):
        name = f"v{number}"
        payload = {"table_catalog": "local", "table_schema": lake.schema, "table_name": name}
        for at, (step, which) in enumerate(order):
            kind, view_id = CREATED if step == "+" else DROPPED, f"{name}_{which}"
            full = f"local.{lake.schema}.{name}"
            events.append(Event(f"{view_id}{step}", at, view_id, full, kind, None, payload))
        if "-2" not in order:
            expected.add((name, f"{name}_2"))
    store.append(events)
    views = fold(store.load()).views
    assert expected and {(name.name, view.id) for name, view in views.items()} == expected
    listed = lake.spark("select table_name from @meta.mv_status")
    assert sorted(listed) == sorted((name,) for name, _ in expected)


def test_loaded_again_after_what_is_being_written(
    store: MetadataStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits for it knows of others' events, and each of its own is there once."""
    log = MetadataLog(lambda: nullcontext(store), lambda text: None, "here")
    log.record(event(1))
    log.flush()
    begun, ended = threading.Event(), threading.Event()
    append = log._append

    def slow(batch: list[Event]) -> None:
        begun.set()
        assert ended.wait(60)
        append(batch)

    monkeypatch.setattr(log, "_append", slow)
    log.record(replace(event(2), refresh_id="r2"))
    assert begun.wait(60)
    store.append([replace(event(3), refresh_id="r3")])
    log.reload_if_moved()
    assert not log.state().ended & {"r3"}
    waiting = threading.Thread(target=log.reload_if_moved, args=(60,))
    waiting.start()
    ended.set()
    waiting.join()
    assert log.state().ended == {"r2", "r3"}
