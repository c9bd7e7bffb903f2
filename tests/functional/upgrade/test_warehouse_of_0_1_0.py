"""A warehouse made by version 0.1.0 is read, refreshed and verified without a rebuild.

The tests go on from each other, as somebody would who installs this version.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse
from tests.functional.upgrade.old_project import (
    FILES,
    LEFT,
    OPTIONS,
    STRICT,
    TABLES,
    history,
    statement,
)
from tests.functional.upgrade.releases import Release, Running, checkout

__all__ = ["FILES"]
CHANGES = (
    "insert into @.sales values (9, 'f', 60), (10, 'a', 70)",
    "delete from @.sales where id = 2",
    "update @.shops set city = 'Bonn' where name = 'b'",
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return checkout("0.1.0", tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module", autouse=True)
def storages(lake: Warehouse, project: DbtProject, release: Release) -> dict[str, str]:
    """The storage tables of the views as the earlier version has left them."""
    for text in TABLES:
        lake.spark(text)
    done = release.run(project.folder, history(lake.schema))
    failed = [one["text"] for one in done if not one["success"]]
    assert len(failed) == 1 and "negative" in failed[0], failed
    lake.restart()
    return {view: lake.storage(view) for view in LEFT}


@pytest.fixture(scope="module")
def refreshing(
    lake: Warehouse,
    project: DbtProject,
    release: Release,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Running]:
    """The earlier version in the midst of a refresh of `totals`."""
    folder = tmp_path_factory.mktemp("paused")
    commands = [statement(f"refresh materialized view {lake.schema}.totals")]
    running = release.start(project.folder, commands, f"write.before=pause:{folder}")
    try:
        running.paused(folder)
        # Its events are written in the background.
        running.wait_until(lambda: newest(lake)["totals"][1] == "RUNNING")
        yield running
    finally:
        running.kill()


def newest(lake: Warehouse) -> dict[str, tuple[str, str]]:
    """Method and state of the newest refresh of each view."""
    return {view: refreshes[-1] for view, refreshes in lake.methods().items()}


def statuses(lake: Warehouse) -> dict[str, tuple[str, str, str]]:
    """Status, freshness and method of each view, as the operation says."""
    rows = lake.operation("status").rows
    return {row[0].rpartition(".")[2]: (row[1], row[2], row[5]) for row in rows}


def test_status(lake: Warehouse) -> None:
    """Events, properties and labels are understood, and asking changes nothing."""
    before = lake.state()
    others = {"fragile": "BROKEN", "resting": "SUSPENDED"}
    assert statuses(lake) == {
        view: (others.get(view, "READY"), "STALE", STRICT.get(view, "complete")) for view in LEFT
    }
    assert lake.state() == before


def test_metadata_views(lake: Warehouse) -> None:
    """They are those of the earlier version, and say of a refresh of this one what they said."""
    rows = lake.spark("select table_name, can_be_fast, can_be_by_partition from @meta.mv_status")
    possible = {view: {"fast": fast, "partition": parts} for view, fast, parts in rows}
    assert {view: possible[view][method] for view, method in STRICT.items()} == dict.fromkeys(
        STRICT, "yes"
    )
    options = "select option_name, option_value from @meta.table_options where table_name = 'kept'"
    assert OPTIONS.items() <= dict(lake.spark(options)).items()


def test_the_lock_of_a_living_process(lake: Warehouse, refreshing: Running) -> None:
    """It is held, as if this version had it."""
    report = lake.operation("refresh", view="totals")
    assert len(report.failures) == 1 and "running" in report.failures[0], report


def test_the_lock_of_a_dead_process(lake: Warehouse, refreshing: Running) -> None:
    """It is taken over at once, and the refresh is the one that it would have been."""
    refreshing.kill()
    assert not lake.operation("refresh", view="totals").failures
    assert lake.methods()["totals"][-2:] == [("fast", "ABANDONED"), ("fast", "SUCCEEDED")]


def test_a_read(lake: Warehouse, project: DbtProject) -> None:
    """What is stale is refreshed before it is read, by its own method; upstream first."""
    for view in ("by_city", "by_shop", "most"):
        project.show(f"select * from {{{{ ref('{view}') }}}}")
    found = newest(lake)
    assert (found["by_city"][0], found["by_shop"][0]) == ("fast", "partition")
    assert {lake.freshness(view) for view in ("by_city", "by_shop", "totals", "most")} == {"FRESH"}


def test_a_run(lake: Warehouse, project: DbtProject, storages: dict[str, str]) -> None:
    """Nothing is built again: the definitions mean what they meant."""
    lake.spark("delete from @.shaky where amount < 0")
    for change in CHANGES:
        lake.spark(change)
    project.dbt("run", "--exclude", "gone")
    found = newest(lake)
    assert {view: found[view] for view in STRICT} == {
        view: (method, "SUCCEEDED") for view, method in STRICT.items()
    }
    assert {view: lake.storage(view) for view in LEFT} == storages


def test_verification(lake: Warehouse) -> None:
    """The rows are those of the queries, also of what the run left out."""
    assert not lake.operation("resume", view="resting").failures
    assert not lake.operation("refresh").failures
    assert statuses(lake) == {
        view: ("READY", "FRESH", STRICT.get(view, "complete")) for view in LEFT
    }
    verified = lake.operation("verify")
    results = {row[0].rpartition(".")[2]: row[1] for row in verified.rows}
    assert results == dict.fromkeys(LEFT, "OK")


def test_metadata_made_anew(lake: Warehouse, storages: dict[str, str]) -> None:
    """Properties and labels alone tell everything but the history."""
    lake.spark("drop table @meta.mv_events purge")
    lake.restart()
    lake.operation("rebuild_metadata", catalog="local")
    assert {view: found[:2] for view, found in statuses(lake).items()} == dict.fromkeys(
        LEFT, ("READY", "FRESH")
    )
    lake.spark("insert into @.sales values (11, 'b', 80)")
    assert not lake.operation("refresh", view="totals").failures
    assert newest(lake)["totals"] == ("fast", "SUCCEEDED")
    assert {view: lake.storage(view) for view in LEFT} == storages


def test_drops(lake: Warehouse) -> None:
    """Nothing stays of a view that is dropped. Of a table that the earlier version replaced nobody
    says that it is not being built: it is swept once it is older than refresh_timeout."""
    for view in ("most", *(view for view in LEFT if view != "most")):
        lake.sql(f"drop materialized view @.{view}")
    lake.spark("drop view @.positive")
    Warehouse({**lake.target, "refresh_timeout": 1}, lake.schema).operation("sweep")
    assert {name for _, name in lake.relations()} == {"orders", "sales", "shops", "shaky"}
