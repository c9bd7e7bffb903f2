"""Rows of groups that are not stored yet are appended, without reading those that are stored."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same

VIEWS = {
    "daily": "select day, kind, count(*) as n, max(v) as most from @.visits group by day, kind "
    "having count(*) > 1",
    "kinds": "select day, count(distinct kind) as n from @.visits group by day",
    "numbered": "select day, v, row_number() over (partition by day order by v, kind) as k "
    "from @.visits",
    "named": "select v.day, p.name, sum(v.v) as total from @.visits v left join @.places p "
    "on p.kind = v.kind group by v.day, p.name",
    "prices": "select price, count(*) as n from (select distinct day, price from @.visits) d "
    "group by price",
}
DAYS = ("daily", "kinds", "numbered", "named")


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    lake.spark(
        "create table @.visits (day date, kind string, v int, price decimal(10, 2)) using iceberg"
    )
    lake.spark("create table @.places (kind string, name string) using iceberg")
    lake.spark("insert into @.places values ('a', 'hall'), ('b', 'yard')")
    # There is no 2024-01-05, and there are visits without a day.
    lake.spark(
        "insert into @.visits select date_add(date '2024-01-01', cast(if(id = 4, 7, id) as int)), "
        "substring('abc', 1 + cast(v as int) % 3, 1), cast(v as int), id + 0.5 "
        "from (select explode(sequence(0, 9)) as id), range(6) as r(v)"
    )
    lake.spark("insert into @.visits values (null, 'a', 1, 0.5), (null, 'b', 2, null)")
    for name, query in VIEWS.items():
        lake.sql(f"create materialized view @.{name} options (refresh_method = 'fast') as {query}")


def refreshed(lake: Warehouse, *statements: str) -> dict[str, str]:
    """How the storage table of each view was written after these changes; the rows are right."""
    for statement in statements:
        lake.spark(statement)
    lake.restart()
    found = {}
    for name, query in VIEWS.items():
        lake.sql(f"refresh materialized view @.{name}")
        assert_same(lake, f"select * from @.{name}", query)
        found[name] = lake.value(
            f"select operation from {lake.storage(name)}.snapshots "
            "order by committed_at desc limit 1"
        )
    return found


def test_new_days(lake: Warehouse) -> None:
    """Days after those that are stored."""
    found = refreshed(
        lake,
        "insert into @.visits values (date '2024-03-01', 'a', 1, 0.5), "
        "(date '2024-03-01', 'a', 2, 1.5), (date '2024-03-02', 'x', 3, 0.5)",
        "insert into @.visits values (date '2024-03-02', 'x', 4, 0.5)",
    )
    assert {found[name] for name in DAYS} == {"append"} and found["prices"] == "overwrite"


def test_new_prices(lake: Warehouse) -> None:
    """Values below and above those that are stored."""
    rows = "(date '2023-12-31', 'a', 1, {price}), (date '2023-12-30', 'b', 1, {price})"
    for price in (-10, 1000):
        found = refreshed(lake, f"insert into @.visits values {rows.format(price=price)}")
        assert found["prices"] == "append"


@pytest.mark.parametrize("day", ["+12345-06-07", "-0044-03-15"])
def test_days_that_python_lacks(lake: Warehouse, day: str) -> None:
    """Nothing is known of their bounds, so the stored rows are read."""
    found = refreshed(lake, f"insert into @.visits values (date '{day}', 'a', 1, 0.5)")
    assert {found[name] for name in DAYS} == {"overwrite"}
    lake.spark(f"delete from @.visits where day = date '{day}'")


@pytest.mark.parametrize(
    "statements",
    [
        ("insert into @.visits values (date '2024-03-02', 'a', 9, 0.5)",),
        ("insert into @.visits values (date '2023-12-30', 'a', 9, 9999)",),
        ("insert into @.visits values (date '2024-01-05', 'a', 9, 0.5)",),
        (
            "insert into @.visits select /*+ coalesce(1) */ * from values "
            "(cast(null as date), 'a', 5, null), (date '2025-01-01', 'a', 5, 77777)",
        ),
        (
            "insert into @.visits values (date '2025-02-01', 'a', 5, 88888)",
            "insert into @.places values ('a', 'attic'), ('c', 'cellar')",
        ),
        (
            "insert into @.visits values (date '2025-03-01', 'a', 5, 99999)",
            "delete from @.visits where day = date '2024-01-02' and v < 3",
        ),
        ("update @.visits set day = date '2026-01-01' where day = date '2024-01-03'",),
    ],
    ids=["last", "first", "between", "null", "two_tables", "deleted", "moved"],
)
def test_groups_that_are_there(lake: Warehouse, statements: tuple[str, ...]) -> None:
    """Are not there twice."""
    assert refreshed(lake, *statements)["named"] == "overwrite"
