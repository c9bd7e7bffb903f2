"""Questions are answered by files as they are with Spark, or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.instant.executor import FileExecutor
from dbt.adapters.spark_mv.instant.file_catalog import FileCatalog
from dbt.adapters.spark_mv.instant.folder import Folder, ask
from dbt.adapters.spark_mv.metadata.events import REFRESH_STARTED, Event, host, new_event
from dbt.adapters.spark_mv.metadata.refreshes import refreshes
from dbt.adapters.spark_mv.metadata.store import MetadataStore
from dbt.adapters.spark_mv.metadata.tables import EVENT_COLUMNS, EVENTS
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.refresh.lock_owner import process_start
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.warehouse import Warehouse

COLUMNS = tuple(name for name, _ in EVENT_COLUMNS)


def folder(lake: Warehouse) -> Folder:
    found = lake.credentials
    return Folder(
        found.warehouse_path,
        lake.schema,
        found.metadata_schema,
        found.refresh_timeout,
        found.server_side_parameters,
    )


def store(lake: Warehouse, executor: Executor) -> MetadataStore:
    name = TableName("local", (lake.metadata_schema,), EVENTS)
    return MetadataStore(executor, Resolver(executor), name)


def events(lake: Warehouse) -> list[Event]:
    """All events by the files; they are those that Iceberg's own code reads."""
    client = FileCatalog(lake.credentials.warehouse_path, ("default",))
    found = store(lake, FileExecutor(client))
    own = store(lake, lake.command().core.services.executor)
    assert found.version() == own.version()
    loaded = found.load()
    assert loaded == own.load()
    client.close()
    return loaded


def answer(lake: Warehouse, question: str, **arguments: Any) -> Report:
    """The answer of the files; it is that of the operation with Spark."""
    found = ask(folder(lake), question, arguments, (), print)
    assert found == lake.operation(question, **arguments)
    return found


@pytest.fixture
def views(lake: Warehouse) -> None:
    """A view of each kind."""
    lake.spark("drop table if exists @.items")
    lake.spark("create table @.items using iceberg as select id, amount from @.orders")
    for name, query in {
        "plain": "select customer, sum(amount) as total from @.orders group by customer",
        "other": "select sum(amount) as total from @.items",
        "over": "select max(total) as most from @.plain",
    }.items():
        lake.sql(f"create or replace materialized view @.{name} as {query}")
        lake.sql(f"refresh materialized view @.{name}")
    lake.restart()


def freshness(report: Report) -> dict[str, tuple[str, str]]:
    """Status and freshness by view."""
    return {row[0].rpartition(".")[2]: (row[1], row[2]) for row in report.rows}


def test_fresh_and_stale(lake: Warehouse, views: None) -> None:
    assert set(freshness(answer(lake, "status")).values()) == {("READY", "FRESH")}
    lake.spark("insert into @.items values (9, 9)")
    found = freshness(answer(lake, "status"))
    assert (found["plain"], found["other"]) == (("READY", "FRESH"), ("READY", "STALE"))
    lake.spark("insert into @.orders values (9, 'ann', 9)")
    found = freshness(answer(lake, "status", view="over"))
    assert found == {"over": ("READY", "STALE")}


def test_explain(lake: Warehouse, views: None) -> None:
    """Of a fresh view it says the same; for the plan of another one Spark may be needed."""
    for view in ("plain", "other", "over"):
        assert any("FRESH" in note for note in answer(lake, "explain", view=view).notes)


def test_history(lake: Warehouse, views: None) -> None:
    lake.sql("refresh materialized view @.plain")
    whole = answer(lake, "history")
    assert {row[5] for row in whole.rows} >= {"SUCCEEDED", "SKIPPED"}
    assert (
        answer(lake, "history", view="plain", limit=2).rows
        == tuple(row for row in whole.rows if row[1] == "plain")[-2:]
    )
    columns = ", ".join(f"`{name}`" for name in whole.columns)
    listed = lake.spark(
        f"select {columns} from @meta.mv_refresh_history where table_schema = '{lake.schema}'"
    )
    assert sorted(map(repr, whole.rows)) == sorted(map(repr, listed))


def test_history_of_values_written_by_hand(lake: Warehouse, views: None) -> None:
    """The fold in memory takes every value of a payload for what the view takes it for."""
    values = ('"12"', "1", "1.5", '"7"', '"x"', "true", "null", "[1, 2]", '{"a": "b"}', '""')
    for number, value in enumerate(values):
        payload = f'{{"seconds": {value}, "rows_inserted": {value}, "error": {value}}}'
        lake.spark(
            "insert into @meta.mv_events (event_id, at, view_id, view_name, kind, refresh_id, "
            f"payload) values ('hand{number}', now(), 'v', 'local.a.v', 'REFRESH_FAILED', "
            f"'hand{number}', r'{payload}')"
        )
    found = [
        (one.seconds, one.rows_inserted, one.error)
        for one in refreshes(events(lake))
        if one.table_name is None and one.started_at is None
    ]
    listed = lake.spark(
        "select seconds, rows_inserted, error from @meta.mv_refresh_history "
        "where refresh_id like 'hand%'"
    )
    assert sorted(map(repr, found)) == sorted(map(repr, listed))
    lake.spark("delete from @meta.mv_events where event_id like 'hand%'")


def test_broken_missing_suspended(lake: Warehouse, views: None) -> None:
    lake.spark("drop table @.items")
    lake.operation("suspend", view="over")
    lake.spark("drop view @.plain")
    found = freshness(answer(lake, "status"))
    assert found["other"] == ("BROKEN", "UNKNOWN") and found["plain"] == ("MISSING", "UNKNOWN")
    assert found["over"][0] == "BROKEN" or found["over"][0] == "SUSPENDED"
    lake.spark("create table @.items using iceberg as select id, amount from @.orders")
    assert freshness(answer(lake, "status"))["other"] == ("READY", "STALE")
    lake.operation("resume", view="over")
    lake.operation("sweep")


def test_a_compacted_base_table(lake: Warehouse, views: None) -> None:
    """That the rows are the same is recorded, so Spark is needed once, and never again."""
    for _ in range(6):
        lake.spark("insert into @.items values (9, 9)")
    lake.sql("refresh materialized view @.other")
    lake.restart()
    lake.spark(
        f"call local.system.rewrite_data_files(table => '{lake.schema}.items', "
        "options => map('rewrite-all', 'true'))"
    )
    with pytest.raises(NeedsSpark, match="SAME_ROWS is to be recorded"):
        ask(folder(lake), "status", {}, (), print)
    assert freshness(lake.operation("status", view="other")) == {"other": ("READY", "FRESH")}
    assert freshness(answer(lake, "status", view="other")) == {"other": ("READY", "FRESH")}


def test_a_view_by_hand(lake: Warehouse, views: None) -> None:
    """Rows that somebody wrote to a storage table have no label, also for files."""
    lake.spark(f"insert into {lake.storage('other')} select * from {lake.storage('other')}")
    assert freshness(answer(lake, "status", view="other")) == {"other": ("READY", "UNKNOWN")}
    lake.sql("refresh materialized view @.other")


def test_a_base_table_of_another_catalog(lake: Warehouse, views: None) -> None:
    """Only Spark knows its version: the views beside it are not answered for either."""
    lake.spark(
        "create table if not exists spark_catalog.default.plain_files using parquet "
        "as select 1 as id"
    )
    lake.sql(
        "create or replace materialized view @.over_files as "
        "select id from spark_catalog.default.plain_files"
    )
    with pytest.raises(NeedsSpark, match="Spark has to be asked: .*plain_files"):
        ask(folder(lake), "status", {}, (), print)
    assert freshness(answer(lake, "status", view="plain")) == {"plain": ("READY", "FRESH")}
    lake.sql("drop materialized view @.over_files")
    lake.spark("drop table spark_catalog.default.plain_files")


def started(lake: Warehouse, pid: int) -> Event:
    own = lake.command().core.services
    view = own.log.state().views[TableName("local", (lake.schema,), "plain")]
    payload = {
        "table_catalog": "local",
        "table_schema": lake.schema,
        "table_name": "plain",
        "started_us": 1,
        "owner_host": host(),
        "owner_pid": pid,
        "owner_started": process_start(pid),
        "storage": ["local", lake.schema, "nothing"],
    }
    return new_event(
        REFRESH_STARTED,
        view.id,
        view.name.full,
        invocation_id="i",
        refresh_id=f"started_{pid}",
        payload=payload,
    )


def test_a_running_refresh(lake: Warehouse, views: None) -> None:
    """One that runs is shown; one whose owner is dead is left to Spark, which closes it."""
    own = store(lake, lake.command().core.services.executor)
    own.append([started(lake, os.getpid())])
    assert "RUNNING" in {row[5] for row in answer(lake, "history", view="plain").rows}
    answer(lake, "status")
    own.append([started(lake, 2**22 - 1)])
    for question in ("status", "history"):
        with pytest.raises(NeedsSpark, match="REFRESH_ABANDONED is to be recorded"):
            ask(folder(lake), question, {}, (), print)
    lake.operation("status")
    states = [row[5] for row in answer(lake, "history", view="plain", limit=200).rows]
    assert "ABANDONED" in states and "RUNNING" in states


def test_events_in_every_state(lake: Warehouse, views: None) -> None:
    """Appended one by one, compacted, and deleted in both ways: no event is lost or comes back."""
    own = store(lake, lake.command().core.services.executor)
    before = len(events(lake))
    for number in range(55):
        text = "é\x1e\n\0'\"" * number
        own.append(
            [replace(started(lake, 1), event_id=f"e{number}", kind="NOTE", payload={"t": text})]
        )
    assert len(events(lake)) == before + 55
    lake.operation("maintain", keep_hours=0, keep_history_days=0)
    kept = len(events(lake))
    assert 0 < kept < before + 55
    own.append(
        [replace(started(lake, 1), event_id=f"m{number}", kind="NOTE") for number in range(9)]
    )
    lake.spark(
        "alter table @meta.mv_events set tblproperties ('write.delete.mode' = 'merge-on-read', "
        "'write.metadata.compression-codec' = 'gzip')"
    )
    lake.spark("delete from @meta.mv_events where event_id = 'm3'")
    assert len(events(lake)) == kept + 8
    answer(lake, "status")


def test_no_events(lake: Warehouse, views: None) -> None:
    """Metadata that is empty, and none at all."""
    lake.spark("delete from @meta.mv_events")
    assert events(lake) == []
    assert answer(lake, "status").notes == ("no materialized views",)
    lake.spark("drop table @meta.mv_events")
    assert answer(lake, "history").rows == ()
    lake.restart()


def test_a_table_of_events_that_is_another(lake: Warehouse, views: None) -> None:
    """With partitions it is read by SQL, which files do not answer."""
    lake.spark("alter table @meta.mv_events add partition field kind")
    with pytest.raises(NeedsSpark, match=f"SELECT .*{COLUMNS[0]}"):
        ask(folder(lake), "status", {}, (), print)
    lake.spark("alter table @meta.mv_events drop partition field kind")


def test_without_pyiceberg(lake: Warehouse, views: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not installed Spark reads the events."""
    monkeypatch.setitem(__import__("sys").modules, "pyiceberg.table", None)
    with pytest.raises(NeedsSpark, match="pyiceberg"):
        ask(folder(lake), "status", {}, (), print)


def test_a_folder_with_an_odd_name(dbt_profile_target: dict[str, Any], tmp_path: Path) -> None:
    """Its characters are those of a path, and never of a URI."""
    target = {**dbt_profile_target, "path": str(tmp_path / "my lake #1 100%20 größe")}
    lake = Warehouse(target, "odd")
    lake.spark("create table @.orders using iceberg as select 1 as id")
    lake.sql("create materialized view @.ids as select id from @.orders")
    assert freshness(answer(lake, "status")) == {"ids": ("READY", "FRESH")}
    lake.spark("insert into @.orders values (2)")
    assert freshness(answer(lake, "status")) == {"ids": ("READY", "STALE")}
