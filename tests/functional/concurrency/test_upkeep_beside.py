"""`sweep`, `maintain`, `rebuild_metadata` and `verify` while another process is at work."""

from __future__ import annotations

import importlib
import signal
from collections.abc import Callable
from typing import Any

import pytest

from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.metadata.events import INVALIDATED, new_event
from dbt.adapters.spark_mv.metadata.store import MetadataStore
from dbt.adapters.spark_mv.refresh import backups
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.concurrency.processes import Process
from tests.functional.materialized_view.warehouse import Warehouse

QUERY = "select id, amount from @.orders"
CREATE = f"create or replace materialized view @.v options (live = true) as {QUERY}"
sweeping = importlib.import_module("dbt.adapters.spark_mv.operations.sweep")
verifying = importlib.import_module("dbt.adapters.spark_mv.operations.verify")


@pytest.fixture(autouse=True)
def view(lake: Warehouse) -> TableName:
    lake.sql("drop materialized view if exists @.v")
    lake.sql("drop materialized view if exists @.w")
    lake.sql(CREATE)
    lake.restart()
    return TableName("local", (lake.schema,), "v")


def known(lake: Warehouse, name: str = "v") -> Any:
    """What a new command knows of a view."""
    state = lake.command().core.services.log.state()
    return state.views.get(TableName("local", (lake.schema,), name))


def away(lake: Warehouse, name: TableName) -> None:
    """The state that a run leaves behind which dies while it gives the name to something else."""
    services = lake.command().core.services
    backups.move_to_backup(services.executor, services.resolver, name)


def back(lake: Warehouse, name: TableName) -> None:
    command = lake.command()
    assert backups.restore_backup(command.core.services, name)
    command.flush()


def swept(lake: Warehouse) -> None:
    found = dict(lake.operation("sweep").rows)
    assert found[f"view {lake.schema}.v"] == "kept: another relation is about to take its place"


def rebuilt(lake: Warehouse) -> None:
    rows = lake.operation("rebuild_metadata", catalog="local").rows
    assert not [row for row in rows if "__dbt_backup" in str(row)]


UPKEEP: dict[str, Callable[[Warehouse], None]] = {"sweep": swept, "rebuild": rebuilt}


@pytest.mark.parametrize("upkeep", UPKEEP)
def test_a_view_at_its_backup(lake: Warehouse, view: TableName, upkeep: str) -> None:
    """It keeps what was said of it, and its live view; later events are about it, too."""
    lake.operation("invalidate", view=f"{lake.schema}.v")
    lake.operation("suspend", view=f"{lake.schema}.v")
    away(lake, view)
    UPKEEP[upkeep](lake)
    back(lake, view)
    assert lake.freshness("v") == "STALE" and known(lake).suspended is not None
    assert lake.spark("select count(*) from @.v__live") == lake.spark("select count(*) from @.v")
    lake.operation("resume", view=f"{lake.schema}.v")
    lake.operation("refresh", view=f"{lake.schema}.v")
    assert lake.freshness("v") == "FRESH"
    lake.operation("invalidate", view=f"{lake.schema}.v")
    assert lake.freshness("v") == "STALE" and known(lake).last_build is not None
    assert "v" in {row[0] for row in lake.spark("select table_name from @meta.mv_status")}


@pytest.mark.parametrize("moved", [away, back])
def test_a_view_that_is_renamed_during_a_sweep(
    lake: Warehouse, view: TableName, monkeypatch: pytest.MonkeyPatch, moved: Any
) -> None:
    """Between the listing and the look at it: its storage table is in use under either name."""
    if moved is back:
        away(lake, view)
    listed, done = sweeping._views_in, []

    def late(*arguments: Any) -> Any:
        found = listed(*arguments)
        if not done:
            done.append(moved(lake, view))
        return found

    monkeypatch.setattr(sweeping, "_views_in", late)
    lake.operation("sweep")
    if moved is away:
        back(lake, view)
    assert lake.spark("select * from @.v") == lake.spark(QUERY)


def test_a_view_that_another_program_renames(lake: Warehouse) -> None:
    """What is said of it is said of the one name that it has."""
    lake.sql("create or replace materialized view @.w as select id from @.orders")
    lake.spark("drop view if exists @.other")
    lake.spark("alter view @.w rename to @.other")
    lake.restart()
    lake.sql("select * from @.other")
    lake.operation("invalidate", view=f"{lake.schema}.other")
    assert lake.freshness("other") == "STALE"
    lake.operation("rebuild_metadata", catalog="local")
    names = {row[0] for row in lake.spark("select table_name from @meta.mv_status")}
    assert "other" in names and "w" not in names
    lake.sql("drop materialized view @.other")


def test_events_that_come_during_maintain(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """An event is not deleted by who has not seen it."""
    event = new_event(
        INVALIDATED,
        known(lake).id,
        f"local.{lake.schema}.v",
        invocation_id="other",
        payload={"what": "all rows", "by": "ann", "stale": True},
    )
    lake.sql("insert into @.orders values (901, 'ann', 1)")
    lake.sql("refresh materialized view @.v")
    lake.restart()
    forget = MetadataStore.forget

    def late(store: MetadataStore, *arguments: Any) -> None:
        store.append([event])
        forget(store, *arguments)

    monkeypatch.setattr(MetadataStore, "forget", late)
    lake.operation("maintain", keep_history_days=0)
    assert lake.freshness("v") == "STALE"
    lake.sql("delete from @.orders where id = 901")


def test_a_refresh_during_verify(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are compared with the label that they have."""
    lake.spark("insert into @.orders values (902, 'ann', 1)")
    look, done = verifying._refuse_moved, []

    def late(*arguments: Any) -> None:
        look(*arguments)
        if not done:
            done.append(lake.apart("refresh materialized view @.v", "run-operation"))

    monkeypatch.setattr(verifying, "_refuse_moved", late)
    report = lake.operation("verify", view=f"{lake.schema}.v")
    assert done and not report.failures
    lake.spark("delete from @.orders where id = 902")


def test_a_refresh_that_died_and_was_closed_expires(
    lake: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was published, and what `status` says of it then says when its rows end."""
    lake.sql(
        "create or replace materialized view @.w as select id from @.orders "
        "where current_timestamp() < timestamp'2126-01-01'"
    )
    lake.restart()
    process = Process(
        lake, "refresh materialized view @.w complete", failpoints="publish.after=kill"
    )
    process.ready().go()
    assert process.ended() == -signal.SIGKILL
    lake.operation("status")
    build = known(lake, "w").last_build.payload
    assert build["expires_us"] and build["evaluated_ms"] and build["trigger"]
    monkeypatch.setenv(clock.OFFSET, str(150 * 366 * 86_400))
    rows = lake.operation("refresh", expired=True).rows
    assert f"{lake.schema}.w" in {row[0] for row in rows}
