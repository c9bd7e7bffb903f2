"""How a read of a stale view is answered: when_stale, max_staleness, enable_refresh, errors."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
TOTAL = "select sum(total) from @.{view}"
Make = Callable[..., str]
# No two tests share a name: a history is kept by name, also after a drop.
_numbers = itertools.count()


@pytest.fixture
def make(lake: Warehouse) -> Any:
    """Create a view with options, then make it stale by another program's write."""
    made: list[str] = []

    def create(options: str, query: str = QUERY) -> str:
        name = f"v{next(_numbers)}"
        lake.sql(f"create materialized view @.{name} options ({options}) as {query}")
        made.append(name)
        lake.spark("insert into @.orders values (7, 'gus', 100)")
        return name

    yield create
    for name in reversed(made):
        lake.sql(f"drop materialized view if exists @.{name}")


def now(lake: Warehouse) -> Any:
    return lake.value("select sum(amount) from @.orders")


def read(lake: Warehouse, view: str) -> Any:
    ((found,),) = lake.sql(TOTAL.format(view=view))
    return found


@pytest.mark.behaviour("X1", "E2")
def test_refresh(lake: Warehouse, make: Make) -> None:
    """A read refreshes by default."""
    view = make("when_stale = 'refresh'")
    assert read(lake, view) == now(lake)
    assert lake.builds(view) == 2


@pytest.mark.behaviour("X1")
def test_inline(lake: Warehouse, make: Make) -> None:
    """The query runs in place of the stored rows, which stay as they are."""
    view = make("when_stale = 'inline'")
    build = lake.build_of(view)
    assert read(lake, view) == now(lake)
    assert lake.build_of(view) == build
    assert lake.value(TOTAL.format(view=view)) == now(lake) - 100


def test_inline_through_a_view(lake: Warehouse, make: Make) -> None:
    """The inlined view stands below a logical view, and beside a fresh one."""
    view = make("when_stale = 'inline'")
    lake.sql(f"create or replace view @.over as select customer as c, total from @.{view}")
    lake.sql("create or replace view @.over2 as select c, total from @.over where total > 0")
    build = lake.build_of(view)
    rows = lake.sql("select x.c, x.total, y.total from @.over2 x join @.over y on x.c = y.c")
    expected = lake.spark(QUERY)
    assert sorted(rows) == sorted((c, total, total) for c, total in expected)
    assert lake.build_of(view) == build


@pytest.mark.parametrize(
    "statement",
    [
        "select {v}.total from @.{v} where {v}.customer = 'gus'",
        "select a.total from @.{v} as a where a.customer = 'gus'",
        "with {v} as (select * from @.{v}) select total from {v} where customer = 'gus'",
        "select total from (select * from @.{v}) where customer = 'gus'",
        "select (select max(total) from @.{v} where customer = 'gus')",
        "select /* @.{v} */ total from @.`{v}` where customer = 'gus' -- @.{v}",
    ],
)
def test_inline_in_every_place(lake: Warehouse, make: Make, statement: str) -> None:
    """The text around the name is untouched, and so are columns qualified by it."""
    view = make("when_stale = 'inline'")
    expected = lake.value("select sum(amount) from @.orders where customer = 'gus'")
    assert lake.sql(statement.format(v=view)) == [(expected,)]


def test_inline_in_a_write(lake: Warehouse, make: Make) -> None:
    """INSERT and CTAS from an inlined view."""
    view = make("when_stale = 'inline'")
    lake.sql(f"create or replace table @.copy using iceberg as select * from @.{view}")
    assert_same(lake, "select * from @.copy", QUERY)
    lake.sql(f"insert into @.copy select * from @.{view}")
    assert_same(lake, "select * from @.copy", f"{QUERY} union all {QUERY}")


def test_inline_with_shadowing_names(lake: Warehouse, make: Make) -> None:
    """A CTE of the reader named as a base table does not capture the view's query."""
    lake.spark("use local." + lake.schema)
    view = make("when_stale = 'inline'")
    ((found,),) = lake.sql(
        f"with orders as (select 1 as amount) select sum(total) from @.{view}, orders"
    )
    assert found == now(lake)


def read_with_warnings(lake: Warehouse, view: str) -> tuple[Any, list[str]]:
    """What a read in a command of its own returns, and what the command warns of."""
    command, warnings = lake.command("show"), list[str]()
    command.core.services.warn = warnings.append
    ((found,),) = command.sql(TOTAL.format(view=view))
    command.flush()
    return found, warnings


@pytest.mark.behaviour("X1", "E2")
def test_serve(lake: Warehouse, make: Make) -> None:
    """Old rows, no refresh, and a warning with the reason."""
    view = make("when_stale = 'serve'")
    found, (warning,) = read_with_warnings(lake, view)
    assert found == now(lake) - 100
    assert f"{lake.schema}.{view} is served stale: " in warning and "orders" in warning
    assert lake.builds(view) == 1


def test_no_warning_of_a_fresh_view(lake: Warehouse, make: Make) -> None:
    """Warnings are of what is stale, and of nothing else."""
    for options in ("when_stale = 'serve'", "enable_refresh = false", "when_stale = 'refresh'"):
        view = make(options)
        lake.sql(f"refresh materialized view @.{view}")
        assert read_with_warnings(lake, view) == (now(lake), [])


@pytest.mark.behaviour("X1")
def test_fail(lake: Warehouse, make: Make) -> None:
    """The read fails and names view and cause; an explicit refresh helps."""
    view = make("when_stale = 'fail'")
    with pytest.raises(Exception, match=rf"{lake.schema}\.{view} is STALE.*orders"):
        read(lake, view)
    assert lake.builds(view) == 1
    lake.sql(f"refresh materialized view @.{view}")
    assert read(lake, view) == now(lake)


@pytest.mark.behaviour("E2")
def test_max_staleness(lake: Warehouse, make: Make) -> None:
    """A stale view younger than the limit is served as it is; an older one is refreshed."""
    view = make("max_staleness = 'INTERVAL 1 HOUR'")
    assert read(lake, view) == now(lake) - 100
    lake.sql(f"alter materialized view @.{view} set options (max_staleness = '0-0 0 0:0:1')")
    time.sleep(1.1)
    assert read(lake, view) == now(lake)


def test_max_staleness_and_fail(lake: Warehouse, make: Make) -> None:
    """The limit comes first, the policy after it."""
    view = make("max_staleness = 'INTERVAL 1 SECOND', when_stale = 'fail'")
    lake.sql(f"refresh materialized view @.{view}")
    lake.spark("insert into @.orders values (7, 'gus', 100)")
    time.sleep(1.1)
    with pytest.raises(Exception, match="STALE"):
        read(lake, view)


@pytest.mark.behaviour("B9")
def test_enable_refresh(lake: Warehouse, make: Make) -> None:
    """Never refreshed by a read, which warns; still refreshed when asked to."""
    view = make("enable_refresh = false")
    found, (warning,) = read_with_warnings(lake, view)
    assert found == now(lake) - 100
    assert f"{lake.schema}.{view} is served as stored: " in warning
    assert "orders" in warning and "(enable_refresh is false)" in warning
    assert lake.builds(view) == 1
    lake.sql(f"refresh materialized view @.{view}")
    assert read(lake, view) == now(lake)


def test_enable_refresh_and_fail(lake: Warehouse, make: Make) -> None:
    """With when_stale 'fail' the reader is told instead."""
    view = make("enable_refresh = false, when_stale = 'fail'")
    with pytest.raises(Exception, match=view):
        read(lake, view)


def break_base(lake: Warehouse) -> None:
    lake.spark("insert into @.fragile values ('no number')")


@pytest.fixture
def fragile(lake: Warehouse) -> str:
    lake.spark("create or replace table @.fragile (t string) using iceberg")
    lake.spark("insert into @.fragile values ('1'), ('2')")
    return "select sum(cast(t as int)) as total from @.fragile"


@pytest.mark.behaviour("A21", "A22", "X6")
@pytest.mark.parametrize("policy", ["fail", "serve"])
def test_on_refresh_error(lake: Warehouse, make: Make, fragile: str, policy: str) -> None:
    """A failing refresh fails the read, or old rows are served; each read retries."""
    lake.sql("set spark.sql.ansi.enabled = true")
    view = make(f"on_refresh_error = '{policy}'", fragile)
    build = lake.build_of(view)
    break_base(lake)
    for attempt in (1, 2):
        if policy == "serve":
            found, (warning,) = read_with_warnings(lake, view)
            assert found == 3 and "no number" in warning
            assert warning.endswith("Its old rows are served.")
        else:
            with pytest.raises(Exception, match=rf"{view} could not be refreshed.*no number"):
                read(lake, view)
        assert lake.history(view)[1:] == [("FAILED",)] * attempt
    assert lake.build_of(view) == build and lake.value(TOTAL.format(view=view)) == 3
    status = f"select status, status_reason from @meta.mv_status where table_name = '{view}'"
    ((found, reason),) = lake.spark(status)
    assert found == "BROKEN" and "no number" in reason
    lake.spark("delete from @.fragile where t = 'no number'")
    lake.spark("insert into @.fragile values ('4')")
    assert read(lake, view) == 7
    assert lake.spark(status) == [("READY", None)]
