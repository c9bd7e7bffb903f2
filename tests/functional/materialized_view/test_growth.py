"""Many refreshes and many events: what they leave stays small once `maintain` has run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import new_event
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
REFRESHES = 40
EVENTS = 5_000
COMPLETE = "refresh materialized view @.totals complete"


@pytest.fixture(scope="module", autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.totals as {QUERY}")


def files_of(lake: Warehouse, table: str) -> dict[str, int]:
    """Files below a table's folder, and their sizes in bytes."""
    schema, _, name = table.rpartition(".")
    folder = Path(lake.target["path"]) / schema / name
    return {str(p): os.path.getsize(p) for p in folder.rglob("*") if p.is_file()}


def count(lake: Warehouse, table: str, what: str) -> int:
    return int(lake.value(f"select count(*) from {table}.{what}"))


def test_storage_table(lake: Warehouse) -> None:
    """Snapshots and metadata are bounded whatever the number of refreshes, and rows stay."""
    storage = lake.storage("totals")
    for _ in range(REFRESHES):
        lake.sql(COMPLETE)
    assert count(lake, storage, "snapshots") > REFRESHES
    assert not lake.operation("maintain", view="totals", keep_hours=0).failures
    assert count(lake, storage, "snapshots") <= 5
    assert count(lake, storage, "files") <= 2
    once = files_of(lake, storage)
    for _ in range(REFRESHES):
        lake.sql(COMPLETE)
    lake.operation("maintain", view="totals", keep_hours=0)
    # As many as before: 21 versions of the metadata, and the files of five builds.
    assert len(files_of(lake, storage)) <= len(once) + 5
    assert sum(files_of(lake, storage).values()) <= 1.5 * sum(once.values())
    assert lake.freshness("totals") == "FRESH"
    assert_same(lake, "select * from @.totals", QUERY)


def test_metadata(lake: Warehouse) -> None:
    """Five thousand events are one file of less than 200 bytes each; none is lost."""
    known = lake.history("totals")
    view_id = lake.value("select any_value(view_id) from @meta.mv_events")
    command = lake.command()
    log = command.core.services.log
    for number in range(EVENTS // 2):
        for kind in (kinds.REFRESH_STARTED, kinds.REFRESH_SUCCEEDED):
            log.record(
                new_event(
                    kind,
                    view_id,
                    f"local.{lake.schema}.totals",
                    invocation_id=log.invocation_id,
                    refresh_id=f"r{number}",
                    payload={
                        "table_name": "totals",
                        "table_schema": lake.schema,
                        "method": "complete",
                        "reason": "BASE_TABLE_CHANGED: base tables have changed",
                        "started_us": number,
                        "to": {f"local.{lake.schema}.orders": "iceberg:8211403924182305712/0"},
                    },
                )
            )
        if number % 250 == 0:
            command.flush()
    command.flush()
    lake.restart()
    assert not lake.operation("maintain", keep_hours=0).failures
    events = f"{lake.metadata_schema}.mv_events"
    assert count(lake, events, "files") <= 2
    assert count(lake, events, "snapshots") <= 25
    size = lake.value(f"select sum(file_size_in_bytes) from {events}.files")
    assert size / count(lake, events, "files") and size <= 200 * EVENTS
    lake.restart()
    lake.spark("insert into @.orders values (9, 'zoe', 9)")
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)
    assert len(lake.history("totals")) == len(known) + EVENTS // 2 + 1


def test_history_is_forgotten(lake: Warehouse) -> None:
    """What is older than asked for goes, but for what the view's condition needs."""
    status = lake.spark("select * except (definition) from @meta.mv_status")
    before = lake.value("select count(*) from @meta.mv_events")
    report = lake.operation("maintain", keep_hours=0, keep_history_days=0)
    assert any("forgotten" in note for note in report.notes)
    assert lake.value("select count(*) from @meta.mv_events") < min(before, 20)
    assert lake.spark("select * except (definition) from @meta.mv_status") == status
    lake.restart()
    lake.spark("insert into @.orders values (10, 'zoe', 9)")
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)
    assert lake.freshness("totals") == "FRESH"
