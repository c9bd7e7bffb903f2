"""A statement of ours fails at each step, or was carried out and its reply is lost."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.core.failpoints import POINTS
from tests.functional.concurrency.ways import COMPLETE, WAYS, change, make_log
from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import sample

QUERY = COMPLETE.query
OTHER = "select id, amount + 1 as amount from @.orders"
CHANGE = f"create or replace materialized view @.v as {OTHER}"
CREATE = f"create materialized view @.fresh as {QUERY}"
DROP = "drop materialized view @.v"
OF_A_BUILD = (
    "storage.before",
    "storage.after",
    "view.before",
    "swap.before",
    "view.after",
    "registered.after",
)
OF_A_DROP = ("view_dropped.after", "storage_dropped.after")
OF_A_REPLACEMENT = ("backed_up.after", "swapped_in.after")
OF_ANYTHING_ELSE = (*OF_A_BUILD, *OF_A_DROP, *OF_A_REPLACEMENT)
OF_A_REFRESH = tuple(point for point in POINTS if point not in OF_ANYTHING_ELSE)
# Where a fast refresh does something of its own; the sample of `make test` takes no others.
OF_A_FAST_REFRESH = ("write.before", "write.one", "write.after", "publish.after")
OTHERS = [("fast", point) for point in OF_A_REFRESH if point not in OF_A_FAST_REFRESH]


@pytest.fixture
def view(lake: Warehouse) -> str:
    """A view that is stale."""
    lake.restart()
    lake.sql(f"create or replace materialized view @.v as {QUERY}")
    lake.restart()
    lake.spark("insert into @.orders values (190, 'lee', 1)")
    return "v"


def raised(lake: Warehouse, point: str, statement: str) -> str:
    """The error of a statement under a failpoint, empty if it got over it."""
    with armed(lake, f"{point}=raise") as command:
        try:
            command.sql(statement)
        except Exception as error:
            text = str(error)
            assert "Traceback" not in text and len(text.splitlines()) <= 4
            return text
        finally:
            command.flush()
    return ""


def assert_nothing_left(lake: Warehouse) -> None:
    """No branch, no table without a view, no row that says RUNNING, also without a sweep."""
    views = [name for kind, name in lake.relations() if kind == "v"]
    for name in views:
        refs = lake.spark(f"select name from {lake.storage(name)}.refs")
        assert refs == [("main",)], refs
    assert lake.spark("select * from @meta.mv_refresh_history where state = 'RUNNING'") == []
    lake.operation("sweep")
    tables = [name for kind, name in lake.relations() if kind == "t" and "__mv_" in name]
    assert len(tables) == len(views)


@pytest.mark.behaviour("D1")
@pytest.mark.parametrize(
    ("way", "point"),
    sample(
        [
            *[("complete", point) for point in OF_A_REFRESH],
            *[("fast", point) for point in OF_A_FAST_REFRESH],
            ("appended", "publish.after"),
            ("partition", "write.after"),
        ],
        [*OTHERS, ("appended", "write.after"), ("partition", "publish.after")],
    ),
)
def test_refresh(lake: Warehouse, request: pytest.FixtureRequest, way: str, point: str) -> None:
    """Old rows or new rows; the next read is right at once, by the same method."""
    if way == "complete":
        name = request.getfixturevalue("view")
    else:
        name = f"{way}_{point.replace('.', '_')}"
        make_log(lake)
        lake.sql(WAYS[way].create(name))
        lake.restart()
        change(lake, 191, move=way != "appended")
    query = WAYS[way].query
    old = sorted(lake.spark(f"select * from @.{name}"))
    error = raised(lake, point, WAYS[way].refresh(name))
    new = sorted(lake.spark(query))
    assert sorted(lake.spark(f"select * from @.{name}")) in ([old, new] if error else [new])
    lake.sql(f"select * from @.{name}")
    assert_same(lake, f"select * from @.{name}", query)
    assert_nothing_left(lake)
    WAYS[way].assert_used(lake, name)
    lake.sql(f"drop materialized view @.{name}")


@pytest.mark.parametrize("point", OF_A_BUILD)
def test_change(lake: Warehouse, view: str, point: str) -> None:
    """The old definition or the new one; saying it again works."""
    raised(lake, point, CHANGE)
    lake.restart()
    lake.sql("select * from @.v")
    rows = sorted(lake.spark("select * from @.v"))
    assert rows in [sorted(lake.spark(query)) for query in (QUERY, OTHER)]
    lake.sql(CHANGE)
    assert_same(lake, "select * from @.v", OTHER)
    assert_nothing_left(lake)


@pytest.mark.parametrize("point", OF_A_BUILD)
def test_create(lake: Warehouse, point: str) -> None:
    """The view is there, whole, or it is not. If it is, reading it works and brings what is new;
    creating or replacing it does anyway."""
    lake.restart()
    lake.sql("drop materialized view if exists @.fresh")
    raised(lake, point, CREATE)
    lake.restart()
    if ("v", "fresh") in lake.relations():
        lake.spark("insert into @.orders values (195, 'ron', 1)")
        lake.sql("select * from @.fresh")
        assert_same(lake, "select * from @.fresh", QUERY)
        assert lake.value("select count(*) from @meta.mv_status where table_name = 'fresh'") == 1
    lake.sql(f"create or replace materialized view @.fresh as {QUERY}")
    assert_same(lake, "select * from @.fresh", QUERY)
    assert_nothing_left(lake)


@pytest.mark.parametrize("point", OF_A_DROP)
def test_drop(lake: Warehouse, view: str, point: str) -> None:
    """The view is gone; dropping it again says so, and a sweep takes the rest."""
    raised(lake, point, DROP)
    lake.restart()
    lake.sql("drop materialized view if exists @.v")
    lake.operation("sweep")
    assert [name for _, name in lake.relations() if name.startswith("v")] == []
    assert lake.spark("select * from @meta.mv_status where table_name = 'v'") == []
