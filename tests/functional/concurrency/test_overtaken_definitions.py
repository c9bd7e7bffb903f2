"""A view is defined anew while its base tables change, and others refresh or read it: nobody gets
older rows than somebody has had, and no refresh counts that nobody can read."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.refresh import branch_writer, swap
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Command, Rows, Warehouse, assert_same

OLD = "select customer, sum(amount) as amount from @.orders group by customer"
NEW = "select customer, sum(amount) as amount, 'new' as v from @.orders group by customer"
CHANGE = f"create or replace materialized view @.sums as {NEW}"
# Where a refresh of the old definition is overtaken by the swap.
OVERTAKEN = ["lock.after", "write.before", "write.after", "publish.before", "publish.after"]


@pytest.fixture(autouse=True)
def sums(lake: Warehouse) -> None:
    lake.spark("delete from @.orders where id >= 1000")
    lake.spark("insert into @.orders values (1000, 'first', 1)")
    lake.sql(f"create or replace materialized view @.sums as {OLD}")
    lake.sql("refresh materialized view @.sums")
    lake.restart()


def _read_while_it_changes(lake: Warehouse, point: str) -> Paused:
    """A read that refreshes the old definition, and ends after another one, of older rows, was
    swapped in."""
    with Paused(lake, "view.before", CHANGE) as change:
        lake.spark("insert into @.orders values (1001, 'second', 2)")
        with Paused(lake, point, "select customer, amount from @.sums") as read:
            assert change.end() is None
            assert read.end() is None
    return read


@pytest.mark.behaviour("A19")
@pytest.mark.parametrize("point", OVERTAKEN)
def test_readers_of_the_old_definition(lake: Warehouse, point: str) -> None:
    read = _read_while_it_changes(lake, point)
    assert ("second", 2) in read.rows
    assert lake.freshness("sums") == "FRESH"
    assert_same(lake, "select * from @.sums", NEW)


def test_what_is_published_too_late(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refresh that nobody can read does not count."""
    _read_while_it_changes(lake, "write.before")
    assert ("ABANDONED",) in lake.history("sums")
    monkeypatch.setattr(branch_writer.BranchWriter, "has_changed", lambda *arguments: None)
    lake.spark("delete from @.orders where id = 1001")
    lake.sql(f"create or replace materialized view @.sums as {OLD}")
    monkeypatch.setattr(swap, "_locked", lambda *arguments: None)
    read = _read_while_it_changes(lake, "write.before")
    assert lake.freshness("sums") == "STALE", "the mutant is not caught"
    assert read.error is None


@pytest.mark.parametrize("point", ["storage.before", "storage.after", "view.before"])
def test_a_newer_build(lake: Warehouse, point: str) -> None:
    """Rows that somebody has refreshed are not replaced by older ones."""
    with Paused(lake, point, CHANGE) as change:
        lake.spark("insert into @.orders values (1001, 'second', 2)")
        assert ("second", 2) in lake.apart("select customer, amount from @.sums")
        assert change.end() is None
    assert lake.freshness("sums") == "FRESH"
    assert_same(lake, "select * from @.sums", NEW)


def test_a_newer_build_matters(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap, "_locked", lambda *arguments: None)
    with Paused(lake, "view.before", CHANGE) as change:
        lake.spark("insert into @.orders values (1001, 'second', 2)")
        lake.apart("select customer, amount from @.sums")
        assert change.end() is None
    found = lake.spark("select customer, amount from @.sums")
    assert ("second", 2) not in found, "the mutant is not caught"


def test_nothing_is_published_during_the_swap(lake: Warehouse) -> None:
    """Who refreshes then waits, and finds the new definition."""
    with Paused(lake, "swap.before", CHANGE) as change:
        lake.spark("insert into @.orders values (1001, 'second', 2)")
        with pytest.raises(Exception, match="another refresh is running, by process"):
            lake.apart("refresh materialized view @.sums", "run-operation")
        assert change.end() is None
    assert ("second", 2) in lake.apart("select customer, amount from @.sums")
    assert_same(lake, "select * from @.sums", NEW)


def test_two_definitions(lake: Warehouse) -> None:
    """The one that ends last stays, with rows that are not older than those of the other."""
    other = NEW.replace("new", "other")
    with Paused(lake, "view.before", CHANGE) as change:
        lake.spark("insert into @.orders values (1001, 'second', 2)")
        lake.apart(f"create or replace materialized view @.sums as {other}")
        assert change.end() is None
    assert lake.freshness("sums") == "FRESH"
    assert_same(lake, "select * from @.sums", NEW)


def test_first_builds(lake: Warehouse) -> None:
    """Two commands make a view at once: the second one finds it, and makes nothing."""
    create = CHANGE.replace("sums", "made")
    with Paused(lake, "view.before", create) as change:
        lake.spark("insert into @.orders values (1001, 'second', 2)")
        lake.apart(create)
        storage = lake.storage("made")
        assert change.end() is None
    assert lake.storage("made") == storage
    assert_same(lake, "select * from @.made", NEW)
    lake.sql("drop materialized view @.made")


@pytest.mark.parametrize("after", ["sweep", "time"])
def test_readers_have_time_to_end(
    lake: Warehouse, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that a definition has left stays for as long as a refresh may take."""
    left = lake.storage("sums")
    lake.sql(CHANGE)
    lake.sql("refresh materialized view @.sums complete")
    assert lake.spark(f"select count(*) from {left}") != []
    if after == "sweep":
        lake.operation("sweep")
    else:
        monkeypatch.setenv("DBT_SPARK_MV_CLOCK_OFFSET", "3700")
        lake.apart("refresh materialized view @.sums complete")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        lake.spark(f"select count(*) from {left}")


SAME = f"create or replace materialized view @.sums as {OLD}"


def test_dropped_while_its_model_runs(lake: Warehouse) -> None:
    """The run makes it again: that is what it is for."""
    lake.spark("insert into @.orders values (1001, 'second', 2)")
    with Paused(lake, "lock.before", SAME) as run:
        lake.apart("drop materialized view @.sums")
        assert run.end() is None
    assert_same(lake, "select * from @.sums", OLD)


def test_dropped_while_all_are_refreshed(lake: Warehouse) -> None:
    """Who names no view is not told of one that is gone as of a failure."""
    lake.spark("insert into @.orders values (1001, 'second', 2)")
    reports = []

    def refresh(command: Command) -> Rows:
        command.core.choice.target_schema = lake.schema
        reports.append(command.core.operation("refresh")())
        return []

    with Paused(lake, "lock.before", refresh, "run-operation") as run:
        lake.apart("drop materialized view @.sums")
        assert run.end() is None
    (report,) = reports
    assert not report.failures
    assert [row[:2] for row in report.rows if row[0].endswith(".sums")] == [
        (f"{lake.schema}.sums", "DROPPED")
    ]
