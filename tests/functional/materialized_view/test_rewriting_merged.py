"""Stale views that answer with what has changed since, on Spark: `query_rewrite_stale: merge`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.statements.rewriting import merged
from tests.functional.materialized_view.rewritten import (
    assert_same,
    columns,
    explained,
    reasons_of,
    views_of,
)
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

VIEWS = {
    "added": "refresh_method = 'fast') as select kind, city, sum(amount) as t, count(*) as n, "
    "max(id) as top from @.{t} group by kind, city",
    "listed": "refresh_method = 'fast') as select id, day, kind, amount from @.{t} "
    "where id % 5 = kind",
    "cities": "refresh_method = 'fast') as select distinct city from @.{t}",
    "by_day": "refresh_method = 'partition') partitioned by (day) as select day, kind, "
    "max(city) as c, sum(amount) as t, count(distinct city) as n from @.{t} group by day, kind",
}
QUERIES = {
    "select city, sum(amount) as t, count(*) as n from @.{t} group by city": "added",
    "select id, amount from @.{t} where kind = id % 5 and amount > 50": "listed",
    "select day, kind, count(distinct city) as n, max(city) as c from @.{t} group by day, kind": (
        "by_day"
    ),
    "select distinct city from @.{t} order by 1": "cities",
}
CHANGES = [
    "insert into @.{t} select id + 9000, kind, day, amount, city from @.{t} "
    "where id < 400 and id % 9 = 1",
    "insert into @.{t} values (-1, 1, date'2030-01-01', 60.00, 'new'), (-2, 2, null, null, null)",
    "delete from @.{t} where id % 97 = 0",
    "update @.{t} set city = 'other', amount = amount + 1 where id between 100 and 140",
    "delete from @.{t} where day = date'2023-12-09'",
    "insert into @.{t} select * from @.{t} where id in (5, 6)",
    "insert overwrite @.{t} partition (day = date'2024-01-11') "
    "select id, kind, amount, city from @.{t} where id between 700 and 720",
    "call local.system.rewrite_data_files(table => '@.{t}')",
]
FORMATS = {
    "v2": "'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read'",
    "v3": "'format-version'='3'",
}


@pytest.fixture(scope="module", params=FORMATS)
def merging(shop: Warehouse, request: pytest.FixtureRequest) -> Iterator[tuple[Warehouse, str]]:
    """Views over a table of one format, and its name."""
    made = Warehouse({**shop.target, "query_rewrite_stale": "merge"}, shop.schema)
    table = f"changing_{request.param}"
    shop.spark(
        f"create table @.{table} using iceberg partitioned by (day) "
        f"tblproperties ({FORMATS[request.param]}) as "
        "select id, kind, day, amount, city from @.sales"
    )
    for name, text in VIEWS.items():
        made.sql(
            f"create materialized view @.{name}_{request.param} options (" + text.format(t=table)
        )
    yield made, table


@pytest.mark.behaviour("C20")
def test_after_each_change(merging: tuple[Warehouse, str]) -> None:
    """Every view that can be brought up to date by what changed answers, and is not written. In the
    sample half of the queries have their turn, those of v2 where it is not that of those of v3."""
    lake, table = merging
    used: set[str] = set()
    for number, change in enumerate(CHANGES):
        lake.spark(change.format(t=table))
        turn = slice(None) if WHOLE else slice((number + int(table[-1])) % 2, None, 2)
        for text, view in list(QUERIES.items())[turn]:
            query = text.format(t=table)
            found = [one.rpartition("_")[0] for one in views_of(lake, query)]
            assert found in ([], [view]), explained(lake, query)
            used |= set(found)
            assert_same(lake, query)
    assert used == set(VIEWS)
    assert {lake.freshness(f"{name}_{table[-2:]}") for name in VIEWS} == {"STALE"}


def test_names_and_types(merging: tuple[Warehouse, str]) -> None:
    lake, table = merging
    query = next(iter(QUERIES)).format(t=table)
    lake.sql(f"refresh materialized view @.added_{table[-2:]}")
    lake.spark(f"insert into @.{table} values (-3, 1, null, 1.00, 'x')")
    text, *attempts = explained(lake, query)
    assert [row[4] for row in attempts if row[2]] == [
        "it is read with what has changed since it was refreshed"
    ]
    assert len([row for row in attempts if str(row[1]).endswith(f"added_{table[-2:]}")]) == 1
    assert columns(lake, text[4]) == columns(lake, query)
    assert "-- " not in text[4]


def test_skipped_by_default(merging: tuple[Warehouse, str], shop: Warehouse) -> None:
    lake, table = merging
    query = next(iter(QUERIES)).format(t=table)
    lake.spark(f"insert into @.{table} values (-4, 1, null, 2.00, 'y')")
    assert views_of(shop, query) == []
    assert "VIEW_NOT_FRESH" in reasons_of(shop, query)


@pytest.mark.parametrize("view", ["listed", "by_day"])
def test_without_taking_away_what_is_replaced(
    merging: tuple[Warehouse, str], view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant: stored rows that were computed again stay, or all are computed twice."""
    lake, table = merging
    lake.sql(f"refresh materialized view @.{view}_{table[-2:]}")
    lake.spark(
        f"insert into @.{table} select id + 20000, kind, day, amount, city from @.{table} "
        "where day = date'2023-12-20' and id % 5 = kind"
    )
    made = merged._rows
    monkeypatch.setattr(
        merged,
        "_rows",
        lambda services, seen, query, kept, is_all: (
            made(services, seen, query, None, False)
            if kept is not None
            else f"{made(services, seen, query, None, True)} UNION ALL "
            f"{made(services, seen, query, None, False)}"
        ),
    )
    query = next(text for text, name in QUERIES.items() if name == view).format(t=table)
    assert Counter(lake.apart(query)) != Counter(lake.spark(query))


def test_why_not(merging: tuple[Warehouse, str]) -> None:
    """A stale view that is not merged says why: a refresh by what changed costs more, or none is
    possible, or it would fail for rows that nobody asks for."""
    lake, table = merging
    query = f"select city, max(amount) as most from @.{table} group by city"
    lake.sql(f"create materialized view @.unmerged as {query}")
    lake.spark(f"insert into @.{table} values (-5, 1, null, 3.00, 'z')")
    (why,) = [row[4] for row in explained(lake, query) if str(row[1]).endswith("unmerged")]
    assert "it is stale, and cannot be merged: a refresh would compute every row again" in why
    assert "not fast" in why
    lake.sql("drop materialized view @.unmerged")
