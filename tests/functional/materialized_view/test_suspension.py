"""Views that are refreshed only by name: suspended by somebody, or after failures in a row."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.warehouse import Warehouse

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
FRAGILE = "select k, case when v = 0 then raise_error('no zero') else v end as v from @.base"


@pytest.fixture(autouse=True)
def views(lake: Warehouse) -> None:
    lake.spark("create table if not exists @.base (k int, v int) using iceberg")
    lake.spark("insert overwrite @.base values (1, 10)")
    lake.restart()
    lake.sql(f"create or replace materialized view @.totals as {QUERY}")
    lake.sql(
        "create or replace materialized view @.fragile options (suspend_after_failures = 2) "
        f"as {FRAGILE}"
    )
    lake.operation("resume", view=["totals", "fragile"])
    lake.restart()


def status(lake: Warehouse, view: str) -> tuple[Any, ...]:
    (row,) = lake.operation("status", view=view).rows
    return tuple(row)


def fail_once(lake: Warehouse) -> None:
    lake.restart()
    with pytest.raises(Exception, match="could not be refreshed"):
        lake.sql("select * from @.fragile")


def test_suspended_after_failures(lake: Warehouse) -> None:
    """Reads that fail count; a refresh by hand does not, but says that it is broken."""
    lake.spark("insert into @.base values (2, 0)")
    for _ in range(3):
        assert lake.operation("refresh", view="fragile").failures
    assert status(lake, "fragile")[1] == "BROKEN"
    fail_once(lake)
    assert status(lake, "fragile")[1] == "BROKEN"
    fail_once(lake)
    row = status(lake, "fragile")
    assert row[1] == "SUSPENDED" and "2 failures in a row" in row[-1] and "no zero" in row[-1]
    lake.restart()
    assert lake.sql("select k from @.fragile") == [(1,)]
    assert lake.spark(
        "select status, consecutive_failures, next_refresh_time from @meta.mv_status "
        "where table_name = 'fragile'"
    ) == [("SUSPENDED", 2, None)]
    lake.spark("delete from @.base where v = 0")
    lake.spark("insert into @.base values (3, 10)")
    lake.restart()
    assert lake.sql("select k from @.fragile") == [(1,)]
    assert lake.operation("resume", view="fragile").rows[0][1] == "RESUMED"
    lake.restart()
    assert sorted(lake.sql("select k from @.fragile")) == [(1,), (3,)]
    assert status(lake, "fragile")[1] == "READY"


def test_one_command_counts_once(lake: Warehouse) -> None:
    """All readers of a command are told; the last of them does not find the view suspended."""
    lake.sql("create or replace materialized view @.over as select max(v) as v from @.fragile")
    lake.spark("insert into @.base values (2, 0)")
    lake.restart()
    for reader in ("fragile", "fragile", "over", "fragile", "over"):
        with pytest.raises(Exception, match="no zero"):
            lake.sql(f"select * from @.{reader}")
    assert status(lake, "fragile")[1] == "BROKEN"
    fail_once(lake)
    assert status(lake, "fragile")[1] == "SUSPENDED"
    lake.sql("drop materialized view @.over")


def test_suspend_and_resume(lake: Warehouse) -> None:
    """A suspended view is served as stored, and refreshed by name."""
    assert lake.operation("suspend", view="totals").rows[0][1] == "SUSPENDED"
    assert lake.operation("suspend", view="totals").rows[0][1] == "SUSPENDED already"
    lake.change()
    build = lake.build_of("totals")
    command, warnings = lake.command("show"), list[str]()
    command.core.services.warn = warnings.append
    command.sql("select * from @.totals")
    assert "totals is served as stored" in warnings[0] and "SUSPENDED" in warnings[0]
    assert lake.operation("refresh").rows == ()
    assert lake.operation("refresh_due").rows == ()
    assert lake.build_of("totals") == build
    assert status(lake, "totals")[1] == "SUSPENDED"
    assert lake.operation("refresh", view="totals").rows[0][1] == "SUCCEEDED"
    assert status(lake, "totals")[1] == "SUSPENDED"
    assert lake.operation("resume", view="totals").rows[0][1] == "RESUMED"
    assert lake.operation("resume", view="totals").rows[0][1] == "READY already"
    assert status(lake, "totals")[1] == "READY"


def test_dependants_of_a_broken_view(lake: Warehouse) -> None:
    lake.sql("create or replace materialized view @.above as select count(*) as n from @.fragile")
    lake.spark("insert into @.base values (2, 0)")
    assert lake.operation("refresh", view="fragile").failures
    row = status(lake, "above")
    assert "which is BROKEN" in row[-1] and "fragile" in row[-1]
    lake.sql("drop materialized view @.above")


@pytest.mark.parametrize("stopped", ["suspended", "enable_refresh"])
def test_refreshes_over_a_stopped_view(lake: Warehouse, stopped: str) -> None:
    """A view that is refreshed over one that nobody refreshes is fresh only as far as that goes; a
    warning says so, and not where that one is fresh."""
    lake.sql("create or replace materialized view @.above as select count(*) as n from @.totals")
    if stopped == "suspended":
        lake.operation("suspend", view="totals")
    else:
        lake.sql("alter materialized view @.totals set options (enable_refresh = false)")
    for is_stale in (False, True):
        if is_stale:
            lake.spark("insert into @.orders values (1000, 'new', 5)")
        command, warnings = lake.command(), list[str]()
        command.core.services.warn = warnings.append
        command.sql("refresh materialized view @.above")
        assert len(warnings) == is_stale, warnings
        assert all("totals is served as stored: base tables" in text for text in warnings)
    lake.sql("drop materialized view @.above")
    lake.sql("drop materialized view @.totals")
