"""Writes to a base table while a view over it is being refreshed."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.refresh import staging
from dbt.adapters.spark_mv.views import storage_sql
from tests.functional.concurrency.processes import Watcher
from tests.functional.concurrency.ways import WAYS, change, make_log
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import sample

QUERY = "select customer, sum(amount) as total, count(*) as n from @.orders group by customer"


@pytest.fixture(scope="module", autouse=True)
def view(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.totals as {QUERY}")


@pytest.mark.behaviour("D7")
@pytest.mark.parametrize(
    ("way", "point"),
    [
        *[("complete", point) for point in ("write.before", "write.after", "publish.before")],
        *[("fast", point) for point in ("lock.before", "write.before", "publish.before")],
        ("appended", "write.before"),
        *[("partition", point) for point in ("lock.before", "write.before", "publish.before")],
    ],
)
def test_write_during_a_refresh(lake: Warehouse, way: str, point: str) -> None:
    """The rows are those of the pinned version, and the view is honestly stale afterwards;
    what is left of the changes is what the next refresh applies."""
    name, query = f"{way}_{point.replace('.', '_')}", WAYS[way].query
    make_log(lake)
    lake.sql(WAYS[way].create(name))
    change(lake, 120, move=way != "appended")
    before = lake.spark(query)
    with Paused(lake, point, WAYS[way].refresh(name)) as refresh:
        change(lake, 121, move=way != "appended")
        assert refresh.end() is None
    assert sorted(lake.spark(f"select * from @.{name}")) == sorted(before)
    assert lake.freshness(name) == "STALE"
    lake.restart()
    lake.sql(f"select * from @.{name}")
    assert_same(lake, f"select * from @.{name}", query)
    WAYS[way].assert_used(lake, name)


def test_base_table_replaced_under_a_refresh(lake: Warehouse) -> None:
    """The pinned version is gone: one retry at the new version; never wrong rows."""
    lake.spark("create or replace table @.brief (k int) using iceberg")
    lake.spark("insert into @.brief values (1)")
    lake.sql("create materialized view @.briefs as select k from @.brief")
    with Paused(lake, "write.before", "refresh materialized view @.briefs complete") as refresh:
        replace_brief(lake)
        assert refresh.end() is None
    assert lake.spark("select k from @.briefs") == [(2,)]


@pytest.mark.behaviour("D14")
@pytest.mark.parametrize("method", ["fast", "partition"])
def test_base_table_replaced_under_a_strict_refresh(lake: Warehouse, method: str) -> None:
    """What changed can never be known: an error that says so, the old rows, and nothing left."""
    lake.spark("create or replace table @.brief (k int) using iceberg")
    lake.spark("insert into @.brief values (1)")
    name = f"briefs_{method}"
    lake.sql(f"create materialized view @.{name} partitioned by (k) as select k from @.brief")
    lake.spark("insert into @.brief values (3)")
    with Paused(lake, "write.before", f"refresh materialized view @.{name} {method}") as refresh:
        replace_brief(lake)
        assert "cannot be refreshed" in str(refresh.end())
    assert lake.spark(f"select k from @.{name}") == [(1,)]
    assert lake.spark(f"select name from {lake.storage(name)}.refs") == [("main",)]
    lake.restart()
    lake.sql(f"select * from @.{name}")
    assert lake.spark(f"select k from @.{name}") == [(2,)]


def replace_brief(lake: Warehouse) -> None:
    lake.spark("drop table @.brief")
    lake.spark("create table @.brief (k int) using iceberg")
    lake.spark("insert into @.brief values (2)")


def test_unpinned_table_rolled_back(lake: Warehouse, tmp_path: Path) -> None:
    """A table whose schema is newer than its snapshot is read as it is: here it moves before it is
    read, and has its version of before when that is compared. The build must be discarded."""
    lake.spark("create or replace table @.altered (k int) using iceberg")
    lake.spark("insert into @.altered values (1)")
    lake.sql("create materialized view @.over_altered as select k from @.altered")
    lake.spark("alter table @.altered add column more int")
    old = lake.snapshot(f"{lake.schema}.altered")
    after = tmp_path / "after"
    after.mkdir()
    refresh = "refresh materialized view @.over_altered complete"
    with Paused(lake, "write.before", refresh, more=f"write.after=pause:{after}") as sleeper:
        lake.spark("insert into @.altered values (2, 2)")
        sleeper.go()
        while not (after / "reached").exists():
            time.sleep(0.05)
        lake.spark(f"call local.system.rollback_to_snapshot('{lake.schema}.altered', {old})")
        (after / "go").touch()
        assert sleeper.end() is None
    assert ("ABANDONED",) in lake.history("over_altered")
    assert lake.spark("select k from @.over_altered") == [(1,)]
    assert lake.freshness("over_altered") == "FRESH"


EMPTIED = {
    "dropped": ("drop table @.{}", "create table @.{} (k int) using iceberg"),
    "replaced": ("create or replace table @.{} (k int) using iceberg",),
}


@pytest.mark.parametrize("how", EMPTIED)
def test_empty_table_filled_while_it_is_read(lake: Warehouse, how: str, tmp_path: Path) -> None:
    """A table without a snapshot is read as it is, too: its rows are read, and then there is
    another one, as empty as it was."""
    name = f"empty_{how}"
    query = over_empty(lake, name)
    lake.sql(f"create materialized view @.of_{name} as {query}")
    lake.spark(f"insert into @.{name}_more values (8)")
    refresh = f"refresh materialized view @.of_{name} complete"
    with Paused(lake, "write.before", refresh, more=f"write.after=pause:{tmp_path}") as sleeper:
        lake.spark(f"insert into @.{name} values (1), (2)")
        sleeper.go()
        while not (tmp_path / "reached").exists():
            time.sleep(0.05)
        for statement in EMPTIED[how]:
            lake.spark(statement.format(name))
        (tmp_path / "go").touch()
        assert sleeper.end() is None
    assert lake.freshness(f"of_{name}") == "FRESH"
    assert_same(lake, f"select * from @.of_{name}", query)


@pytest.mark.parametrize("how", EMPTIED)
def test_empty_table_filled_while_a_view_is_made(
    lake: Warehouse, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same of the first build."""
    name = f"first_{how}"
    query = over_empty(lake, name)
    creates, compares = storage_sql.create_storage, staging.refuse_duplicates
    fill = [f"insert into @.{name} values (1), (2)"]
    empty = [statement.format(name) for statement in EMPTIED[how]]

    def once(statements: list[str]) -> None:
        while statements:
            lake.spark(statements.pop(0))

    monkeypatch.setattr(
        storage_sql, "create_storage", lambda *given: (once(fill), creates(*given))[1]
    )
    monkeypatch.setattr(
        staging, "refuse_duplicates", lambda *given: (compares(*given), once(empty))[0]
    )
    lake.sql(f"create materialized view @.of_{name} as {query}")
    assert not fill and not empty
    assert lake.freshness(f"of_{name}") == "FRESH"
    assert_same(lake, f"select * from @.of_{name}", query)


def over_empty(lake: Warehouse, name: str) -> str:
    """A table without a snapshot, and a query of it and of another one."""
    lake.spark(f"create or replace table @.{name} (k int) using iceberg")
    lake.spark(f"create or replace table @.{name}_more (k int) using iceberg")
    lake.spark(f"insert into @.{name}_more values (7)")
    return f"select k from @.{name} union all select k from @.{name}_more"


@pytest.mark.behaviour("B25", "D42")
def test_writers_and_readers(lake: Warehouse) -> None:
    """A read that begins after a commit sees it, also while others write and refresh;
    after all writers have stopped one read makes the view right."""
    ((before,),) = lake.spark("select count(*) from @.orders")
    committed = Counter({"rows": int(before)})
    lock = threading.Lock()

    def write(number: int) -> None:
        command = lake.command()
        for step in range(3):
            command.sql(f"insert into @.orders values ({number}, 'w{number}', {step})")
            with lock:
                committed["rows"] += 1
        command.flush()

    def read(_: int) -> None:
        command = lake.command()
        for _ in range(3):
            with lock:
                least = committed["rows"]
            ((found,),) = command.sql("select sum(n) from @.totals")
            assert found >= least
        command.flush()

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(job, n) for n in (1, 2) for job in (write, read)]
        for job in jobs:
            job.result(120)
    lake.restart()
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)
    assert lake.freshness("totals") == "FRESH"


SEEN = {
    "complete": ("select side, v from @.pair", "", "insert overwrite"),
    "fast": ("select side, sum(v) as v from @.pair group by side", "", "insert into"),
    "partition": ("select side, v from @.pair", "partitioned by (side)", "insert overwrite"),
}


@pytest.mark.behaviour("X19", "C17", "D2")
@pytest.mark.parametrize("way", sample(["complete", "fast"], ["partition"]))
def test_readers_see_old_or_new_rows(lake: Warehouse, way: str) -> None:
    """During refreshes another program reads whole builds, never none and never a
    mix; a complete refresh is one commit."""
    query, layout, write = SEEN[way]
    lake.spark("create or replace table @.pair (side string, v int) using iceberg")
    lake.spark("insert into @.pair values ('l', 0), ('r', 0)")
    lake.sql(f"create or replace materialized view @.pairs {layout} as {query}")
    with Watcher(lake, "select side, v from @.pairs") as watcher:
        for step in range(1, 6):
            value = 1 if write == "insert into" else step
            lake.spark(f"{write} @.pair values ('l', {value}), ('r', {value})")
            lake.sql(f"refresh materialized view @.pairs {way}")
    assert watcher.errors == []
    assert all(rows in [[["l", step], ["r", step]] for step in range(6)] for rows in watcher.seen)
    assert len(watcher.seen) > 1
    assert lake.spark("select distinct v from @.pairs") == [(5,)]
    if way == "complete":
        # The build, and one commit for each refresh: nobody finds another state in the history.
        assert lake.value(f"select count(*) from {lake.storage('pairs')}.history") == 6
