"""A view is created and dropped at the same time: it is there, whole, or it is gone, whole."""

from __future__ import annotations

import threading

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select id, amount from @.orders"
CREATE = f"create materialized view @.brief as {QUERY}"
REPLACE = "create or replace materialized view @.brief as select id, amount + 1 as a from @.orders"
DROP = "drop materialized view if exists @.brief"


@pytest.fixture(autouse=True)
def no_view(lake: Warehouse) -> None:
    lake.restart()
    lake.sql(DROP)


def there(lake: Warehouse) -> bool:
    return ("v", "brief") in lake.relations()


def assert_consistent(lake: Warehouse) -> None:
    """The metadata says what the catalog says, and a sweep leaves nothing else."""
    lake.restart()
    lake.operation("sweep")
    tables = [name for kind, name in lake.relations() if kind == "t" and "brief" in name]
    known = lake.spark("select * from @meta.mv_status where table_name = 'brief'")
    assert len(tables) == len(known) == there(lake)
    if there(lake):
        lake.sql("select * from @.brief")
        assert lake.freshness("brief") == "FRESH"


@pytest.mark.parametrize("point", ["storage.before", "storage.after", "view.before"])
def test_dropped_before_it_is_visible(lake: Warehouse, point: str) -> None:
    """There was nothing to drop yet: the view is there."""
    with Paused(lake, point, CREATE) as create:
        lake.sql(DROP)
        assert create.end() is None
    assert_consistent(lake)
    assert_same(lake, "select * from @.brief", QUERY)


@pytest.mark.parametrize("point", ["view.after", "registered.after"])
def test_dropped_as_soon_as_it_is_visible(lake: Warehouse, point: str) -> None:
    """The view is gone, also from the metadata."""
    with Paused(lake, point, CREATE) as create:
        lake.sql("drop materialized view @.brief")
        create.end()
    assert not there(lake)
    assert_consistent(lake)


@pytest.mark.parametrize("point", ["view_dropped.after", "storage_dropped.after"])
def test_created_during_the_drop(lake: Warehouse, point: str) -> None:
    """The new view has another storage table, so the drop cannot take it away."""
    lake.sql(CREATE)
    with Paused(lake, point, "drop materialized view @.brief") as drop:
        lake.sql(CREATE)
        assert drop.end() is None
    assert there(lake)
    assert_consistent(lake)
    assert_same(lake, "select * from @.brief", QUERY)


@pytest.mark.parametrize("point", ["storage.after", "view.before"])
def test_dropped_during_a_change(lake: Warehouse, point: str) -> None:
    """CREATE OR REPLACE creates what is not there any more."""
    lake.sql(CREATE)
    with Paused(lake, point, REPLACE) as create:
        lake.sql(DROP)
        assert create.end() is None
    assert there(lake)
    assert_consistent(lake)


def test_many_times(lake: Warehouse) -> None:
    """Whatever the interleaving: no error but that it exists, or does not."""
    errors: list[str] = []

    def repeat(statement: str) -> None:
        command = lake.command()
        for _ in range(6):
            try:
                command.sql(statement)
            except Exception as error:
                errors.append(str(error))
        command.flush()

    threads = [threading.Thread(target=repeat, args=(s,)) for s in (CREATE, REPLACE, DROP)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert all("exist" in error for error in errors), errors
    assert_consistent(lake)
