"""Tables whose columns were altered, written to, and altered back: a snapshot has others then than
its table, though the table has those it had at first. Nothing reads it under the wrong ones.
"""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.planning import pinning
from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

# What is altered, written, and altered back.
BACK = {
    "other column": (
        ("rename column v to w", "add column v int"),
        "insert into @.t (k, v, w) values (7, 70, 71)",
        ("drop column v", "rename column w to v"),
    ),
    "renamed": (
        ("rename column v to w",),
        "insert into @.t values (7, 71)",
        ("rename column w to v",),
    ),
    "swapped": (
        ("rename column v to w", "rename column k to v", "rename column w to k"),
        "insert into @.t values (7, 71)",
        ("rename column v to w", "rename column k to v", "rename column w to k"),
    ),
}
QUERY = "select k, v from @.t"


@pytest.fixture(params=["client", "statements"])
def road(request: pytest.FixtureRequest, lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "statements":
        reach_by_statements(monkeypatch)
    lake.restart()
    yield
    lake.sql("drop materialized view if exists @.v")
    lake.restart()


def alter_and_back(lake: Warehouse, what: str) -> int:
    """Make the table; returns the snapshot whose columns are no longer the table's."""
    lake.spark("drop table if exists @.t")
    lake.spark("create table @.t (k int, v int) using iceberg")
    lake.spark("insert into @.t values (1, 10)")
    there, write, back = BACK[what]
    for alteration in there:
        lake.spark(f"alter table @.t {alteration}")
    lake.spark(write)
    for alteration in back:
        lake.spark(f"alter table @.t {alteration}")
    assert sorted(lake.spark(QUERY)) == [(1, 10), (7, 71)]
    return lake.snapshot("@.t")


@pytest.mark.behaviour("X17")
@pytest.mark.parametrize("what", BACK)
def test_written_to_during_a_read(
    lake: Warehouse, road: None, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Between the look at the versions and the refresh: rows of one version or the other, and
    never called fresh at the one before if they are not."""
    snapshot = alter_and_back(lake, what)
    lake.sql(f"create materialized view @.v as {QUERY} where k > 0")
    lake.spark("insert into @.t values (8, 80)")
    lake.spark(f"call local.system.rollback_to_snapshot('{lake.schema}.t', {snapshot})")
    lake.sql(f"create or replace materialized view @.v as {QUERY}")
    written = race(lake, monkeypatch)
    lake.sql("refresh materialized view @.v complete")
    assert written == [True]
    lake.restart()
    assert_same(lake, "select * from @.v", QUERY if lake.freshness("v") == "FRESH" else OLD)
    lake.spark(f"call local.system.rollback_to_snapshot('{lake.schema}.t', {snapshot})")
    lake.restart()
    assert sorted(lake.sql("select * from @.v")) == [(1, 10), (7, 71)]


OLD = "select * from values (1, 10), (7, 71) as t(k, v)"


def race(lake: Warehouse, patch: pytest.MonkeyPatch) -> list[bool]:
    """Somebody writes to the table before it is found out how it can be read."""
    ask, written = pinning.unpinned_tables, list[bool]()

    def late(*arguments: Any) -> Any:
        if not written:
            written.append(True)
            lake.spark("insert into @.t values (8, 80)")
        return ask(*arguments)

    patch.setattr(pinning, "unpinned_tables", late)
    return written


@pytest.mark.behaviour("X17")
@pytest.mark.parametrize("what", BACK)
def test_rows_of_before(lake: Warehouse, road: None, what: str) -> None:
    """Rows are verified with the columns that they were computed from, while they can be, and keys
    are not refreshed with others."""
    alter_and_back(lake, what)
    lake.sql(f"create materialized view @.v options (unique_key = 'k') as {QUERY}")
    assert lake.operation("verify", view="v").rows[0][1] == "OK"
    lake.spark("insert into @.t values (8, 80)")
    lake.restart()
    verified = lake.operation("verify", view="v")
    assert "cannot be read again as it was" in str(verified.failures or verified.rows)
    failures = lake.operation("refresh", view="v", keys=[7]).failures
    assert "versions that cannot be read again" in str(failures)
    assert sorted(lake.spark("select * from @.v")) == [(1, 10), (7, 71)]
    assert sorted(lake.sql("select * from @.v")) == [(1, 10), (7, 71), (8, 80)]


def compact(lake: Warehouse) -> None:
    options = "options => map('rewrite-all', 'true')"
    lake.spark(f"call local.system.rewrite_data_files(table => '{lake.schema}.t', {options})")


def expire(lake: Warehouse, more: str = "") -> None:
    lake.spark(
        f"call local.system.expire_snapshots(table => '{lake.schema}.t', retain_last => 1, "
        f"older_than => timestamp '2100-01-01 00:00:00'{more})"
    )


def same_number_again(lake: Warehouse) -> None:
    """A view over a column; then another column of its name, whose schema has the same id, over
    rows that were compacted twice."""
    lake.spark("drop table if exists @.t")
    lake.spark("create table @.t (k int, v int) using iceberg")
    lake.spark("alter table @.t add column x int")
    lake.spark("insert into @.t values (1, 1, 5)")
    lake.sql("create materialized view @.v as select k, x from @.t")
    lake.spark("alter table @.t drop column x")
    compact(lake)
    expire(lake, ", clean_expired_metadata => true")
    lake.spark("alter table @.t add column x int")
    compact(lake)


@pytest.mark.behaviour("X17")
def test_number_of_a_removed_schema(lake: Warehouse, road: None) -> None:
    """A snapshot that is gone says nothing of the columns that it had."""
    same_number_again(lake)
    assert lake.freshness("v") == "STALE"
    lake.restart()
    assert lake.sql("select * from @.v") == [(1, None)]


def test_mutant_of_numbers(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rule is for: without it the view counts as fresh."""
    same_number_again(lake)
    monkeypatch.setattr(iceberg, "_has_schema", lambda *_: True)
    lake.restart()
    assert lake.freshness("v") == "FRESH"
    monkeypatch.undo()
    lake.restart()
    lake.sql("drop materialized view @.v")


def test_compacted_and_expired(lake: Warehouse, road: None) -> None:
    """The upkeep of a table leaves views fresh, also if nobody has looked in between."""
    lake.spark("drop table if exists @.t")
    lake.spark("create table @.t (k int, v int) using iceberg")
    lake.spark("alter table @.t add column x int")
    lake.spark("insert into @.t values (1, 1, 5)")
    lake.sql("create materialized view @.v as select k, x from @.t")
    compact(lake)
    expire(lake, ", clean_expired_metadata => true")
    lake.restart()
    assert lake.freshness("v") == "FRESH"
