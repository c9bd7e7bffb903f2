"""Processes killed at each step: rows stay right, the next command works, a sweep leaves nothing.

Each case has a view of its own; the processes that die start together, because most of their time
is that of starting Spark.
"""

from __future__ import annotations

import itertools
import os
import signal
from typing import Any

import pytest

from tests.functional.concurrency.processes import Process
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select id, amount from @.orders"
OTHER = "select id, amount + 1 as amount from @.orders"
REFRESH = "refresh materialized view @.{v} complete"
CREATE = "create or replace materialized view @.{v} as "
KILLED = {
    "claim.after": REFRESH,
    "started.after": REFRESH,
    "write.before": REFRESH,
    "write.after": REFRESH,
    "publish.before": REFRESH,
    "publish.after": REFRESH,
    "recorded.after": REFRESH,
    "storage.before": CREATE + QUERY,
    "storage.after": CREATE + QUERY,
    "view.after": CREATE + QUERY,
    "registered.after": CREATE + QUERY,
    "storage.after changed": CREATE + OTHER,
    "view.after changed": CREATE + OTHER,
    "view_dropped.after": "drop materialized view @.{v}",
    "storage_dropped.after": "drop materialized view @.{v}",
}
AT_ONCE = 4


def name_of(case: str) -> str:
    return case.replace(".", "_").replace(" ", "_")


def exists_before(case: str) -> bool:
    return KILLED[case] != CREATE + QUERY


@pytest.fixture(scope="module")
def impatient(lake: Warehouse) -> Warehouse:
    """Takes over from owners that it cannot know to be dead after two seconds."""
    return Warehouse({**lake.target, "refresh_timeout": 2}, lake.schema)


@pytest.fixture(scope="module")
def crashed(impatient: Warehouse) -> dict[str, list[Any]]:
    """Every case's process has died; returns the rows of each view just before."""
    lake = impatient
    for case in KILLED:
        if exists_before(case):
            lake.sql(f"create materialized view @.{name_of(case)} as {QUERY}")
    old = lake.spark(QUERY)
    lake.spark("insert into @.orders values (700, 'zoe', 7)")
    cases = iter(KILLED)
    while batch := list(itertools.islice(cases, AT_ONCE)):
        processes = [
            Process(
                lake,
                KILLED[case].format(v=name_of(case)).replace("{v}", name_of(case)),
                failpoints=f"{case.split()[0]}=kill",
            )
            for case in batch
        ]
        for process in processes:
            process.ready().go()
        for case, process in zip(batch, processes, strict=True):
            assert process.ended() == -signal.SIGKILL, case
    return {case: old for case in KILLED if exists_before(case)}


def plain_rows(lake: Warehouse, name: str) -> list[Any] | None:
    """What a program without dbt reads, None if there is no view."""
    if ("v", name) not in lake.relations():
        return None
    return sorted(lake.spark(f"select id, amount from @.{name}"))


@pytest.mark.parametrize("case", KILLED)
def test_rows_after_a_crash(impatient: Warehouse, crashed: dict[str, list[Any]], case: str) -> None:
    """I6: other programs read old rows or new rows; a read by dbt, or the same again, is right."""
    lake, name = impatient, name_of(case)
    rows = plain_rows(lake, name)
    whole = [sorted(lake.spark(query)) for query in (QUERY, OTHER)]
    assert rows in [*whole, sorted(crashed.get(case, [])), None]
    if case.startswith(("claim", "started", "write")):
        assert rows == sorted(crashed[case])
    lake.restart()
    statement = KILLED[case].format(v=name).replace("{v}", name)
    if not statement.startswith("refresh"):
        lake.sql(statement.replace("drop materialized view", "drop materialized view if exists"))
    if statement.startswith("drop"):
        assert ("v", name) not in lake.relations()
        return
    lake.sql(f"select * from @.{name}")
    assert_same(lake, f"select * from @.{name}", OTHER if "changed" in case else QUERY)
    assert lake.freshness(name) == "FRESH"


def test_sweep_leaves_nothing(impatient: Warehouse, crashed: dict[str, list[Any]]) -> None:
    """No branch, no storage table without a view, no row that says RUNNING."""
    lake = impatient
    lake.restart()
    assert not lake.operation("sweep").failures
    names = [name for kind, name in lake.relations() if kind == "v"]
    storages = {lake.storage(name).rpartition(".")[2] for name in names}
    left = {name for kind, name in lake.relations() if kind == "t" and "__mv_" in name}
    assert left == storages
    for name in names:
        assert lake.spark(f"select name from {lake.storage(name)}.refs") == [("main",)]
    assert lake.spark("select * from @meta.mv_refresh_history where state = 'RUNNING'") == []
    for name in names:
        lake.sql(f"select * from @.{name}")
        assert lake.freshness(name) == "FRESH"


@pytest.mark.parametrize("victim", ["python", "jvm", "both"])
def test_killed_while_it_writes(impatient: Warehouse, victim: str, tmp_path: Any) -> None:
    """Whichever part dies: rows are whole, the next read is right, the history is closed."""
    lake = impatient
    lake.restart()
    lake.sql(f"create or replace materialized view @.victim as {QUERY}")
    lake.spark("insert into @.orders values (701, 'zoe', 7)")
    old = sorted(lake.spark("select * from @.victim"))
    process = Process(
        lake, REFRESH.format(v="victim"), failpoints=f"write.before=pause:{tmp_path}"
    ).ready()
    process.go()
    while not (tmp_path / "reached").exists():
        assert process.ended is not None
    if victim == "both":
        process.kill()
    else:
        os.kill(process.pid if victim == "python" else process.jvm(), signal.SIGKILL)
        (tmp_path / "go").touch()
        process.ended()
    assert sorted(lake.spark("select * from @.victim")) == old
    lake.restart()
    lake.sql("select * from @.victim")
    assert_same(lake, "select * from @.victim", QUERY)
    assert not lake.operation("refresh", view="victim", wait=True).failures
    assert ("RUNNING",) not in lake.history("victim")


@pytest.mark.parametrize("point", ["claim.after", "write.before", "write.after", "publish.before"])
def test_paused_past_the_takeover(impatient: Warehouse, point: str) -> None:
    """Whoever wakes up after another has taken over can only lose; newer rows stay."""
    from tests.functional.materialized_view.faults import Paused

    lake = impatient
    lake.restart()
    lake.sql(f"create or replace materialized view @.slow as {QUERY}")
    lake.spark("insert into @.orders values (702, 'zoe', 7)")
    with Paused(lake, point, REFRESH.format(v="slow")) as sleeper:
        lake.spark("insert into @.orders values (703, 'zoe', 7)")
        lake.command("run-operation").sql("select 1")
        other = lake.command()
        other.sql("select * from @.slow")
        other.flush()
        build = lake.build_of("slow")
        assert_same(lake, "select * from @.slow", QUERY)
        assert sleeper.end() is None
    assert_same(lake, "select * from @.slow", QUERY)
    assert lake.build_of("slow") == build or lake.freshness("slow") == "FRESH"
    lake.operation("sweep")
    assert lake.spark(f"select name from {lake.storage('slow')}.refs") == [("main",)]
