"""Views whose storage tables have rows that the views do not show: groups that HAVING leaves out,
rows of one side of a set operation. No query reads them by its rewriting."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.statements.rewriting import stored_views
from tests.functional.materialized_view.rewritten import of_small_tables, views_of
from tests.functional.materialized_view.warehouse import Warehouse

HIDING = {
    "groups": "select shop, kind, count(*) as n from @.many group by shop, kind "
    "having count(*) > 40",
    "rollup": "select shop, kind, count(*) as n from @.many group by rollup (shop, kind) "
    "having count(*) > 150",
    "told": "select shop, kind, sum(x) as n, grouping(shop) as a, grouping(kind) as b from @.many "
    "group by cube (shop, kind) having sum(x) > 30000",
    "by_grouping": "select shop, kind, count(*) as n, grouping(kind) as b from @.many "
    "group by rollup (shop, kind) having grouping(kind) = 1",
    "sets": "select shop, kind, count(*) as n, sum(x) as s from @.many "
    "group by grouping sets ((shop, kind), (shop)) having count(*) > 150 and shop is not null",
    "filtered": "select shop, n from (select shop, kind, count(*) as n from @.many "
    "group by rollup (shop, kind)) where n > 150",
    "except_rows": "select shop from @.many except select shop from @.few",
    "intersect_rows": "select kind from @.many intersect select shop from @.few",
    "intersect_all": "select kind from @.many intersect all select kind from @.few",
    "united": "select shop, sum(x) as s from @.many group by shop having sum(x) > 30000 "
    "union all select shop, count(*) from @.few group by shop having count(*) > 2",
    "distinct_rows": "select distinct shop, n from (select shop, kind, count(*) as n from @.many "
    "group by shop, kind having count(*) > 40)",
    "window": "select shop, count(*) as n, rank() over (order by count(*), shop) as r from @.many "
    "group by shop having count(*) > 150",
}
# Of which a fast refresh would need all rows.
BY_ROWS = ("window",)
AROUND = (
    "{}",
    "select count(*) as c from ({})",
    "select * from ({}) where {column} > 1",
    "select {column}, count(*) as c from ({}) group by {column}",
)


@pytest.fixture(scope="module")
def shop(lake: Warehouse) -> Warehouse:
    made = of_small_tables(lake)
    made.spark(
        "create table @.many using iceberg tblproperties ('format-version'='3', "
        "'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read') as "
        "select cast(id % 11 % 7 as int) as shop, "
        "cast(if(id % 13 = 0, null, id % 5) as int) as kind, cast(id % 300 as int) as x "
        "from range(1500)"
    )
    made.spark(
        "create table @.few using iceberg as select cast(id % 4 as int) as shop, "
        "cast(id % 3 as int) as kind from range(9)"
    )
    return made


def _queries(view: str) -> list[str]:
    query = HIDING[view]
    column = query.removeprefix("select ").removeprefix("distinct ").split(",")[0].split(" ")[0]
    return [text.replace("{column}", column).replace("{}", query) for text in AROUND]


@pytest.mark.behaviour("C20")
@pytest.mark.parametrize("view", HIDING)
def test_same_rows(shop: Warehouse, view: str) -> None:
    shop.sql(f"create materialized view @.{view} as {HIDING[view]}")
    try:
        for change in (
            "",
            "insert into @.many select 3, 1, 7 from range(200)",
            "delete from @.many where shop = 3",
        ):
            if change:
                shop.spark(change)
                shop.sql(f"select * from @.{view}")
            assert views_of(shop, HIDING[view]) == [view]
            for query in _queries(view):
                assert Counter(shop.apart(query)) == Counter(shop.spark(query)), query
    finally:
        shop.sql(f"drop materialized view @.{view}")


@pytest.mark.behaviour("C20")
def test_merged(shop: Warehouse) -> None:
    """Stored rows together with what has changed since."""
    merging = Warehouse({**shop.target, "query_rewrite_stale": "merge"}, shop.schema)
    for run in (shop.sql, shop.spark):
        run("set spark.sql.ansi.enabled = false")
    answered = set()
    for view, query in HIDING.items():
        shop.sql(
            f"create materialized view @.{view} options (refresh_method = 'fast') as {query}"
            if view not in BY_ROWS
            else f"create materialized view @.{view} as {query}"
        )
        shop.spark("insert into @.many select 3, 1, 7 from range(200)")
        answered.update(views_of(merging, query))
        for text in _queries(view):
            assert Counter(merging.apart(text)) == Counter(shop.spark(text)), text
        assert shop.freshness(view) == "STALE"
        shop.sql(f"drop materialized view @.{view}")
    assert answered >= {"groups", "rollup", "intersect_rows"}


def test_hidden_rows_matter(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_views, "_of_shown_rows", lambda stored, spare: stored)
    for view in ("rollup", "except_rows", "filtered"):
        shop.sql(f"create materialized view @.{view} as {HIDING[view]}")
        query = HIDING[view]
        assert Counter(shop.apart(query)) != Counter(shop.spark(query)), view
        shop.sql(f"drop materialized view @.{view}")
