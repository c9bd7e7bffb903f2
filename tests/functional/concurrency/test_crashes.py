"""Processes killed at each step: rows stay right, the next command works, a sweep leaves nothing.

Each case has a view of its own; the processes that die start together, because most of their time
is that of starting Spark.
"""

from __future__ import annotations

import itertools
import os
import signal
from typing import Any, NamedTuple

import pytest

from tests.functional.concurrency.processes import Process
from tests.functional.concurrency.ways import (
    APPENDED,
    COMPLETE,
    FAST,
    PARTITION,
    WAYS,
    Way,
    change,
    make_log,
)
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import sample, sample_of

QUERY = COMPLETE.query
OTHER = "select id, amount + 1 as amount from @.orders"
CREATE = "create or replace materialized view @.{v} as "
DROP = "drop materialized view @.{v}"
STEPS = (
    "lock.after",
    "started.after",
    "write.before",
    "write.after",
    "publish.before",
    "publish.after",
    "recorded.after",
)
PUBLISHED = ("publish.after", "recorded.after")
AT_ONCE = 4


class Case(NamedTuple):
    """What is killed; `before` is the view that is there, `query` what its statement stands for."""

    statement: str
    before: Way | None = COMPLETE
    query: str = QUERY


def refresh(way: Way) -> Case:
    return Case(way.refresh("{v}"), way, way.query)


EVERY_KILL = {
    **{step: refresh(COMPLETE) for step in STEPS},
    # Before it writes, and once it has published, a refresh does the same in every way.
    **{f"{step} fast": refresh(FAST) for step in ("write.one", *STEPS[2:-1])},
    **{f"{step} appended": refresh(APPENDED) for step in ("write.after", "publish.after")},
    **{f"{step} partition": refresh(PARTITION) for step in STEPS[3:-1]},
    "storage.before": Case(CREATE + QUERY, None),
    "storage.after": Case(CREATE + QUERY, None),
    "view.after": Case(CREATE + QUERY, None),
    "registered.after": Case(CREATE + QUERY, None),
    "storage.after changed": Case(CREATE + OTHER, query=OTHER),
    "swap.before changed": Case(CREATE + OTHER, query=OTHER),
    "view.after changed": Case(CREATE + OTHER, query=OTHER),
    "view_dropped.after": Case(DROP),
    "storage_dropped.after": Case(DROP),
}
# Each costs a Spark of its own; these die at a step, or in a way, that others have.
KILLED = sample_of(
    EVERY_KILL,
    (
        "started.after",
        "write.before fast",
        "write.after fast",
        "publish.before fast",
        "write.after appended",
        "publish.before partition",
        "publish.after partition",
        "storage.before",
        "storage.after",
        "storage.after changed",
        "storage_dropped.after",
    ),
)
Rows = list[Any] | None


def name_of(case: str) -> str:
    return case.replace(".", "_").replace(" ", "_")


def statement_of(case: str) -> str:
    return KILLED[case].statement.format(v=name_of(case))


@pytest.fixture(scope="module")
def impatient(lake: Warehouse) -> Warehouse:
    """Takes over from owners that it cannot know to be dead after two seconds."""
    return Warehouse({**lake.target, "refresh_timeout": 2}, lake.schema)


@pytest.fixture(scope="module")
def crashed(impatient: Warehouse) -> dict[str, tuple[Rows, Rows]]:
    """Every case's process has died, and the base tables were changed again; returns the rows of
    each view before, and as its statement was to leave them."""
    lake = impatient
    make_log(lake)
    for case, (_, before, _) in KILLED.items():
        if before is not None:
            lake.sql(before.create(name_of(case)))
    old: dict[str, Rows] = {
        case: sorted(lake.spark(before.query)) if before is not None else None
        for case, (_, before, _) in KILLED.items()
    }
    change(lake, 700, move=True)
    new = {case: sorted(lake.spark(query)) for case, (_, _, query) in KILLED.items()}
    cases = iter(KILLED)
    while batch := list(itertools.islice(cases, AT_ONCE)):
        kill(lake, batch)
    change(lake, 701)
    lake.restart()
    return {case: (old[case], None if "drop" in case else new[case]) for case in KILLED}


def kill(lake: Warehouse, batch: list[str]) -> None:
    """The processes of these cases die, each at its step."""
    processes = [
        Process(lake, statement_of(case), failpoints=f"{case.split()[0]}=kill") for case in batch
    ]
    for process in processes:
        process.ready().go()
    for case, process in zip(batch, processes, strict=True):
        assert process.ended() == -signal.SIGKILL, case


def plain_rows(lake: Warehouse, name: str) -> Rows:
    """What a program without dbt reads, None if there is no view."""
    if ("v", name) not in lake.relations():
        return None
    return sorted(lake.spark(f"select * from @.{name}"))


@pytest.mark.behaviour("D1", "D31")
@pytest.mark.parametrize("case", KILLED)
def test_rows_after_a_crash(
    impatient: Warehouse, crashed: dict[str, tuple[Rows, Rows]], case: str
) -> None:
    """I6: other programs read old rows or new rows; what is done next by dbt, in the same way or
    not at all, brings the rest of the changes and none twice."""
    lake, name = impatient, name_of(case)
    (old, new), (_, before, query) = crashed[case], KILLED[case]
    statement = statement_of(case)
    rows = plain_rows(lake, name)
    assert rows in [old, new]
    if statement.startswith("refresh"):
        assert rows == (new if case.startswith(PUBLISHED) else old) and old != new
    lake.restart()
    if rows is not None and not statement.startswith("drop"):
        # Whether anybody knows of the view or not, a read finds what has changed since.
        query_now = query if rows == new else COMPLETE.query if before is None else before.query
        lake.sql(f"select * from @.{name}")
        assert_same(lake, f"select * from @.{name}", query_now)
    if not statement.startswith("refresh"):
        lake.sql(statement.replace("drop materialized view", "drop materialized view if exists"))
    if statement.startswith("drop"):
        assert ("v", name) not in lake.relations()
        return
    lake.sql(f"select * from @.{name}")
    assert_same(lake, f"select * from @.{name}", query)
    assert lake.freshness(name) == "FRESH"
    if before is not None:
        before.assert_used(lake, name)


@pytest.mark.behaviour("D13")
def test_sweep_leaves_nothing(impatient: Warehouse, crashed: dict[str, tuple[Rows, Rows]]) -> None:
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


def prepared(lake: Warehouse, case: str, way: str) -> str:
    """The name of a stale view that is refreshed this way."""
    name = name_of(f"{case} {way}")
    lake.restart()
    make_log(lake)
    lake.sql(WAYS[way].create(name))
    change(lake, 702)
    lake.restart()
    return name


@pytest.mark.behaviour("D13")
@pytest.mark.parametrize(
    ("victim", "way"),
    [("python", "complete"), ("jvm", "complete"), ("both", "complete"), ("jvm", "fast")],
)
def test_killed_while_it_writes(impatient: Warehouse, victim: str, way: str, tmp_path: Any) -> None:
    """Whichever part dies: rows are whole, the next read is right, the history is closed."""
    lake, view = impatient, prepared(impatient, f"{victim} killed", way)
    old = sorted(lake.spark(f"select * from @.{view}"))
    failpoints = f"write.before=pause:{tmp_path}"
    process = Process(lake, WAYS[way].refresh(view), failpoints=failpoints).ready()
    process.go()
    process.paused(tmp_path)
    if victim == "both":
        process.kill()
    else:
        os.kill(process.pid if victim == "python" else process.jvm(), signal.SIGKILL)
        (tmp_path / "go").touch()
        process.ended()
    assert sorted(lake.spark(f"select * from @.{view}")) == old
    lake.restart()
    lake.sql(f"select * from @.{view}")
    assert_same(lake, f"select * from @.{view}", WAYS[way].query)
    WAYS[way].assert_used(lake, view)
    assert not lake.operation("refresh", view=view, wait=True).failures
    assert ("RUNNING",) not in lake.history(view)


@pytest.mark.behaviour("D6")
@pytest.mark.parametrize(
    ("point", "way"),
    sample(
        [
            ("lock.after", "complete"),
            ("write.after", "complete"),
            ("write.one", "fast"),
            ("write.before", "appended"),
        ],
        [
            ("write.before", "complete"),
            ("publish.before", "complete"),
            ("publish.before", "fast"),
            ("write.before", "partition"),
        ],
    ),
)
def test_paused_past_the_takeover(impatient: Warehouse, point: str, way: str) -> None:
    """Whoever wakes up after another has taken over can only lose; newer rows stay."""
    lake, view = impatient, prepared(impatient, f"{point} slow", way)
    query = WAYS[way].query
    with Paused(lake, point, WAYS[way].refresh(view)) as sleeper:
        change(lake, 703)
        lake.apart("select 1", "run-operation")
        lake.apart(f"select * from @.{view}")
        build = lake.build_of(view)
        assert_same(lake, f"select * from @.{view}", query)
        assert sleeper.end() is None
    assert_same(lake, f"select * from @.{view}", query)
    assert lake.build_of(view) == build or lake.freshness(view) == "FRESH"
    WAYS[way].assert_used(lake, view)
    lake.operation("sweep")
    assert lake.spark(f"select name from {lake.storage(view)}.refs") == [("main",)]


def test_branch_dropped_between_writes(impatient: Warehouse) -> None:
    """The second write would make the branch anew without the first: it is not published."""
    lake, view = impatient, prepared(impatient, "dropped between", "fast")
    with Paused(lake, "write.one", FAST.refresh(view)) as sleeper:
        ((branch,),) = lake.spark(
            f"select name from {lake.storage(view)}.refs where name <> 'main'"
        )
        lake.spark(f"alter table {lake.storage(view)} drop branch `{branch}`")
        assert sleeper.end() is None
    assert_same(lake, f"select * from @.{view}", FAST.query)
    assert lake.history(view, "state")[-2:] == [("ABANDONED",), ("SUCCEEDED",)]
