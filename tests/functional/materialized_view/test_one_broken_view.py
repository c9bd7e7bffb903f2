"""A view that cannot be refreshed any more: it is said why, and the others are not kept from it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, count(*) as n from @.orders group by customer"


@pytest.fixture(autouse=True)
def others(lake: Warehouse) -> Iterator[None]:
    """Views before and behind it in any order, which are stale."""
    lake.spark("create or replace table @.t (k int, v int) using iceberg")
    lake.spark("insert into @.t values (1, 10)")
    for name in ("a", "z"):
        lake.sql(f"create or replace materialized view @.{name} as {QUERY}")
    lake.spark("insert into @.orders values (91, 'eve', 7)")
    yield
    lake.restart()
    for name in ("m", "a", "z"):
        lake.sql(f"drop materialized view if exists @.{name}")
    lake.spark("drop view if exists @.w")
    lake.spark("delete from @.orders where id = 91")


def fixed_version(lake: Warehouse) -> None:
    version = lake.snapshot("@.t")
    lake.spark("create view @.w as select k, v from @.t")
    lake.sql("create materialized view @.m as select k, sum(v) as v from @.w group by k")
    lake.spark(f"create or replace view @.w as select k, v from @.t version as of {version}")


def cycle(lake: Warehouse) -> None:
    lake.spark("create view @.w as select k, v from @.t")
    lake.sql("create materialized view @.m as select k, v from @.w")
    lake.spark("create or replace view @.w as select k, v from @.m")


def no_table(lake: Warehouse) -> None:
    lake.sql("create materialized view @.m as select k, v from @.t")
    lake.spark("drop table @.t")


BROKEN = {"a fixed version": fixed_version, "a cycle": cycle, "no table": no_table}


@pytest.mark.behaviour("D3")
@pytest.mark.parametrize("what", BROKEN)
def test_operations_go_on(lake: Warehouse, what: str) -> None:
    """Operations without names report it, and do what they are for with the others."""
    BROKEN[what](lake)
    dry = lake.operation("refresh", dry_run=True)
    assert len(dry.failures) <= 1 and "one_broken_view.z" in str(dry.notes)
    for arguments in ({}, {"all": True}):
        lake.spark("insert into @.orders values (91, 'eve', 7)")
        lake.restart()
        done = lake.operation("refresh", **arguments)
        states = {row[0].split(".")[-1]: row[1] for row in done.rows}
        assert states.pop("m") == "FAILED" and "one_broken_view.m" in "".join(done.failures)
        assert set(states) == {"a", "z"} and "FAILED" not in states.values()
        assert [lake.freshness(name) for name in ("a", "z")] == ["FRESH", "FRESH"]
    assert lake.operation("status", all=True).failures == ()
    kept = lake.operation("maintain")
    assert "one_broken_view.a" in str((kept.rows, kept.notes))
    assert len(lake.operation("verify").rows) == 3


def test_verified_over_other_tables(lake: Warehouse) -> None:
    """A view that it reads was redefined: its rows are not those of this query."""
    lake.spark("create view @.w as select k, v from @.t")
    lake.sql("create materialized view @.m as select k, v from @.w")
    lake.spark("create or replace view @.w as select id as k, amount as v from @.orders")
    lake.restart()
    failures = lake.operation("verify", view="m").failures
    assert "views that it reads were replaced" in str(failures)
    lake.sql("select * from @.m")
    assert lake.operation("verify", view="m").rows[0][1] == "OK"


OPTIONS = {
    "unique_key": ("options (unique_key = 'k')", "unique_key names 'k'"),
    "cluster_by": ("cluster by (k)", "cluster_by names 'k'"),
    "partition_by": ("partitioned by (bucket(4, k))", "partition_by names 'bucket(4, k)'"),
}
GONE = {"renamed": "rename column k to kk", "dropped": "drop column k"}
BACK = {"renamed": "rename column kk to k", "dropped": "add column k int"}


@pytest.mark.behaviour("X17")
@pytest.mark.parametrize("change", GONE)
@pytest.mark.parametrize("option", OPTIONS)
def test_column_of_an_option(lake: Warehouse, option: str, change: str) -> None:
    """A column that is needed and no longer returned by `select *` is named; when it is back, so
    is the view."""
    clause, said = OPTIONS[option]
    lake.sql(f"create materialized view @.m {clause} as select * from @.t")
    lake.spark(f"alter table @.t {GONE[change]}")
    lake.restart()
    with pytest.raises(Exception, match="could not be refreshed") as caught:
        lake.sql("select * from @.m")
    assert said.split("'")[0] in str(caught.value) and "query does not return" in str(caught.value)
    assert lake.history("m")[-1] == ("FAILED",)
    assert lake.operation("refresh").rows != ()
    assert lake.freshness("z") == "FRESH"
    lake.spark(f"alter table @.t {BACK[change]}")
    lake.restart()
    lake.sql("select * from @.m")
    assert_same(lake, "select k, v from @.m", "select k, v from @.t")


def test_two_of_one_name(lake: Warehouse) -> None:
    """A column that a table gets has the name of another one that the query returns."""
    lake.spark("create or replace table @.u (k int, x int) using iceberg")
    query = "select t.*, u.x from @.t t join @.u u on t.k = u.k"
    lake.sql(f"create materialized view @.m as {query}")
    lake.spark("alter table @.t add column x int")
    lake.restart()
    with pytest.raises(Exception, match="returns the column 'x' more than once"):
        lake.sql("select * from @.m")
    lake.spark("alter table @.t drop column x")
    lake.restart()
    assert lake.sql("select * from @.m") == []
    lake.spark("drop table @.u")
