"""A storage table is taken back to its newest build while others write, refresh or die."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import StatementFailed
from tests.functional.concurrency.processes import Process
from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select id, amount from @.orders"
READ = "select * from @.{}"
STEPS = ("restore.before", "restore.checked", "restore.after")
BY_STATEMENTS = "by statements"


@pytest.fixture(params=["by the catalog", BY_STATEMENTS])
def raced(lake: Warehouse, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Its view `v` was written by hand; returns it with the snapshots of before and after that."""
    if request.param == BY_STATEMENTS:
        reach_by_statements(monkeypatch)
    lake.sql("drop materialized view if exists @.v")
    lake.sql(f"create materialized view @.v as {QUERY}")
    build = lake.build_of("v")
    by_hand(lake, "v")
    return Warehouse(lake.target, lake.schema), build, lake.build_of("v")


def by_hand(lake: Warehouse, view: str) -> None:
    lake.spark(f"update {lake.storage(view)} set amount = amount + 1")


def is_right(lake: Warehouse, view: str) -> None:
    assert lake.freshness(view) == "FRESH"
    assert_same(lake, READ.format(view), QUERY)
    storage = lake.storage(view)
    assert lake.spark(f"select name from {storage}.refs") == [("main",)]


def methods(lake: Warehouse) -> list[Any]:
    return lake.history("v", "method, state")


@pytest.mark.behaviour("E7")
def test_alone(raced: Any) -> None:
    lake, build, _ = raced
    lake.apart(READ.format("v"))
    assert methods(lake)[-1] == ("restore", "SUCCEEDED")
    assert lake.build_of("v") == build
    is_right(lake, "v")


@pytest.mark.parametrize("step", STEPS)
def test_written(raced: Any, step: str) -> None:
    """Something else writes once more: the rows are right after it, and its snapshot is named."""
    lake, build, _ = raced
    with Paused(lake, step, READ.format("v")) as paused:
        by_hand(lake, "v")
        head = lake.build_of("v")
        assert paused.end() is None
    assert sorted(paused.rows) == sorted(lake.spark(QUERY))
    is_right(lake, "v")
    assert lake.build_of("v") == build
    assert str(head) in "\n".join(str(row[0]) for row in lake.history("v", "reason"))


@pytest.mark.parametrize("step", STEPS)
def test_published(raced: Any, step: str) -> None:
    """Another build gets in between, as if the lock had been lost; it is not."""
    lake, build, head = raced
    with Paused(lake, step, READ.format("v")) as paused:
        lake.spark(f"alter table {lake.storage('v')} drop branch refresh_{head}_1")
        if step == "restore.after":
            lake.spark("insert into @.orders values (77, 'sue', 5)")
        lake.operation("refresh", view="v", method="complete")
        published = lake.build_of("v")
        assert published not in (build, head)
        assert paused.end() is None
    assert lake.build_of("v") == published
    is_right(lake, "v")


def test_seen_before_another_one(raced: Any) -> None:
    """What was written by hand was taken back before this one had the lock: nothing to do."""
    lake, build, _ = raced
    with Paused(lake, "lock.before", READ.format("v")) as late:
        lake.apart(READ.format("v"))
        before = methods(lake)
        assert before[-1] == ("restore", "SUCCEEDED")
        assert late.end() is None
    assert methods(lake) == before
    assert lake.build_of("v") == build
    is_right(lake, "v")


def test_two_at_once(raced: Any) -> None:
    """The second waits for the first, and has nothing to do."""
    lake, build, _ = raced
    with Paused(lake, "restore.checked", READ.format("v")) as first:
        second = Process(lake, READ.format("v"))
        second.ready().go()
        assert first.end() is None
        assert second.ended() == 0
    assert lake.build_of("v") == build
    assert methods(lake)[-1] == ("restore", "SUCCEEDED")
    is_right(lake, "v")


def test_lost_reply(raced: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Main itself says whether it was moved."""
    lake, build, _ = raced
    moved = iceberg.roll_back

    def lost(*arguments: Any) -> None:
        moved(*arguments)
        raise StatementFailed("CommitStateUnknown: no answer")

    monkeypatch.setattr(iceberg, "roll_back", lost)
    lake.apart(READ.format("v"))
    assert methods(lake)[-1] == ("restore", "SUCCEEDED")
    assert lake.build_of("v") == build


@pytest.mark.behaviour("D1")
def test_killed(lake: Warehouse) -> None:
    """Before and after it was taken back: the next read is right, and nothing stays behind."""
    patient = Warehouse({**lake.target, "refresh_timeout": 2}, lake.schema)
    names = {step: step.replace(".", "_") for step in ("restore.checked", "restore.after")}
    builds = {}
    for name in names.values():
        lake.sql(f"create materialized view @.{name} as {QUERY}")
        builds[name] = lake.build_of(name)
        by_hand(lake, name)
    heads = {name: lake.build_of(name) for name in names.values()}
    processes = [
        Process(patient, READ.format(name), failpoints=f"{step}=kill")
        for step, name in names.items()
    ]
    for process in processes:
        process.ready().go()
    for process in processes:
        assert process.ended() == -signal.SIGKILL
    assert lake.build_of(names["restore.checked"]) == heads[names["restore.checked"]]
    assert lake.build_of(names["restore.after"]) == builds[names["restore.after"]]
    for name in names.values():
        patient.apart(READ.format(name))
        assert lake.build_of(name) == builds[name]
        assert_same(lake, f"select * from @.{name}", QUERY)
        assert lake.freshness(name) == "FRESH"
