"""Conditions with subqueries on Spark: the same rows, names and types, at the versions of the
stored rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dbt.adapters.spark_mv.statements.rewriting.candidates import Candidates, Matched
from tests.functional.materialized_view.rewritten import (
    assert_same,
    columns,
    explained,
    reasons_of,
    views_of,
)
from tests.functional.materialized_view.warehouse import Warehouse

IN_THE_VIEW = (
    "select kind, id, amount from @.sales where shop in (select shop from @.shops where shop < 3)"
)
ANSWERED = {
    "select city, count(*) as n from @.sales where shop in (select shop from @.shops "
    "where name <> 'n3') group by city": "by_shop",
    "select city, sum(amount) as t from @.sales s where s.shop not in (select shop from @.shops) "
    "and s.day > '2023-12-01' group by city": "by_shop",
    "select kind, count(amount) as n from @.sales s where exists (select 1 from @.shops t "
    "where t.shop = s.shop and t.name > 'n1') group by kind": "by_shop",
    "select kind, avg(amount) as mean from @.sales s where not exists (select t.* from @.shops t "
    "where t.shop = s.shop) and (kind = 1 or kind = 2) group by kind": "by_shop",
    "select shop, count(*) as n from @.sales where kind < (select avg(shop) from @.shops) "
    "group by shop having sum(amount) > (select 2 * max(shop) from @.shops)": "by_shop",
    "select shop, sum(amount) as t from @.sales s where kind = (select max(t.shop) from @.shops t "
    "where t.shop <= s.shop and t.shop < 3) group by shop": "by_shop",
    "select distinct city from @.sales where kind in (select shop from @.shops group by shop "
    "having count(*) = 1) or city is null": "cities",
    "select id, amount from @.sales as s where amount > 50 and shop in (select t.shop "
    "from @.shops as t where 3 > t.shop) and kind = 1": "listed",
    "select city, sum(amount) / (select sum(amount) from @.sales where kind = 1) as part, "
    "(select max(name) from @.shops) as last from @.sales group by city order by 1": "by_shop "
    "by_shop",
    "select max(kind) as most, (select count(*) from @.shops) as n from @.sales": "cities",
    # In a left join of a table that the view lacks.
    "select s.kind, t.name, count(*) as n from @.sales s left join (select * from @.shops where "
    "shop in (select min(shop) + kind from @.sales group by kind)) t on t.shop = s.kind "
    "group by s.kind, t.name": "cities by_shop",
    # A view, and a materialized view, in the subquery.
    "select kind, count(*) as n from @.sales where shop in (select shop from @.known where name "
    "like 'n%') group by kind": "by_shop",
    "select kind, sum(amount) as t from @.sales where city in (select city from @.large) "
    "group by kind": "by_shop",
    # Other views in subqueries, also twice the same, and one in another.
    "select id from @.sales where shop in (1, 2) and amount > 20 and shop in (select shop from "
    "@.sales group by shop having sum(amount) > 8000 and count(*) > 3)": "few by_shop",
    "select city, kind from @.sales where exists (select shop from @.sales where kind = 1 group by "
    "shop having count(*) > 5) and kind + 1 > (select count(distinct kind) from @.sales) - 1 "
    "group by city, kind": "cities cities by_shop",
    "select day, count(*) as n from @.sales s where kind in (select max(kind) from @.sales) or "
    "shop in (select max(kind) from @.sales) group by day": "by_shop cities",
    "select kind, sum(amount) as t from @.sales where city in (select city from @.sales where kind "
    "in (select max(kind) from @.sales where shop = 2) group by city) group by kind": "by_shop "
    "cities by_shop",
}
LEFT = {
    "select city, count(*) from @.sales where shop in (select shop from @.shops limit 2) "
    "group by city": "QUERY_NOT_SUPPORTED",
    "select city, count(*) from @.sales where shop in (select shop from @.shops where "
    "rand() < 2) group by city": "NOT_A_FUNCTION_OF_ROWS",
    "select city, count(*) from @.sales s where amount > (select max(t.shop) from @.shops t "
    "where t.shop = s.shop) group by city": "COLUMN_NOT_COVERED",
}


@pytest.fixture(scope="module")
def subqueries(shop: Warehouse) -> Warehouse:
    shop.sql(f"create materialized view @.listed as {IN_THE_VIEW}")
    shop.spark("create view @.known as select * from @.shops where shop > 0")
    return shop


@pytest.mark.behaviour("C20")
@pytest.mark.parametrize("query", ANSWERED)
def test_answered(subqueries: Warehouse, query: str) -> None:
    text, *attempts = explained(subqueries, query)
    assert views_of(subqueries, query) == ANSWERED[query].split(), attempts
    assert_same(subqueries, query)
    assert columns(subqueries, text[4]) == columns(subqueries, query)


@pytest.mark.parametrize("query", LEFT)
def test_left(subqueries: Warehouse, query: str) -> None:
    assert views_of(subqueries, query) == []
    assert LEFT[query] in reasons_of(subqueries, query)


def test_a_subquery_is_of_the_version_of_the_stored_rows(subqueries: Warehouse) -> None:
    """Also where it reads the base table of the view."""
    query = (
        "select city, count(*) as n from @.sales where kind = (select max(id) % 3 from @.sales) "
        "group by city"
    )
    joined = next(text for text in ANSWERED if "left join" in text)
    joined = joined.replace("min(shop)", "min(id) % 7")
    for one in (query, joined):
        text = explained(subqueries, one)[0][4]
        assert views_of(subqueries, one) == ["cities"]
        assert text.count("VERSION AS OF") == 2, text
        assert_same(subqueries, one)


def test_a_subquery_of_a_table_that_changed(subqueries: Warehouse) -> None:
    """Of a table that the view reads it is stale; of another one the new rows are read."""
    condition = "where shop in (select shop from @.shops where shop < 3)"
    beside = f"select kind, count(*) as n from @.sales {condition} group by kind"
    inside = f"select id from @.sales {condition} and kind = 2"
    assert views_of(subqueries, beside) == ["by_shop"]
    assert views_of(subqueries, inside) == ["listed"]
    subqueries.spark("insert into @.shops values (-1, 'n6'), (2, 'n7')")
    assert views_of(subqueries, beside) == ["by_shop"]
    assert views_of(subqueries, inside) == []
    for query in (beside, inside):
        assert_same(subqueries, query)


def test_a_view_of_a_subquery_that_is_stale(subqueries: Warehouse) -> None:
    """The one around it is used alone."""
    subqueries.sql("create materialized view @.names as select distinct shop, name from @.shops")
    query = (
        "select kind, count(*) as n from @.sales where shop in (select shop from @.shops where "
        "name > 'n2') group by kind"
    )
    assert views_of(subqueries, query) == ["by_shop", "names"]
    # One value has to be one: how often it is there counts.
    one_value = query.replace("in (select", "= (select").replace("> 'n2'", "= 'n2'")
    assert views_of(subqueries, one_value) == ["by_shop"]
    assert_same(subqueries, one_value)
    subqueries.spark("insert into @.shops values (6, 'n9')")
    assert views_of(subqueries, query) == ["by_shop"]
    assert_same(subqueries, query)


def test_a_view_of_a_subquery_with_rows_of_another_version(
    subqueries: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write and a refresh between the looks at two views: the subquery reads the base table at
    the version of the first."""
    query = next(text for text in ANSWERED if "having sum(amount) > 8000" in text)
    expected = Counter(subqueries.spark(query))
    observed, looks = Candidates.observed, list[str]()

    def late(self: Candidates, matched: Matched, settings: Any) -> Any:
        found = observed(self, matched, settings)
        looks.append(matched.view.name.name)
        if looks == ["few"]:
            subqueries.spark("insert into @.sales select 9001, 1, 1, day, 9000, city from @.sales")
            subqueries.apart("refresh materialized view @.by_shop", "run-operation")
        return found

    monkeypatch.setattr(Candidates, "observed", late)
    command = subqueries.command()
    text, *attempts = explained(subqueries, query, command)
    assert looks[0] == "few" and "by_shop" in looks
    assert [row[1].split(".")[1] for row in attempts if row[2]] == ["few"], attempts
    assert "NOT_PINNABLE" in {row[3] for row in attempts}
    assert text[4].count("VERSION AS OF") == 2
    assert Counter(subqueries.spark(text[4])) == expected


def test_stars_of_semi_joins(subqueries: Warehouse) -> None:
    """The columns of USING come first, in a view and in a statement."""
    subqueries.operation("refresh")
    rows = "(select id, kind, shop from @.sales where kind = 1) as q"
    subqueries.sql(
        f"create materialized view @.known_shops as select * from {rows} semi join @.shops "
        "using (shop)"
    )
    for query, view in {
        f"select * from {rows} left semi join @.shops using (shop) where id > 8": "known_shops",
        "select id, kind from @.sales semi join @.shops using (shop) where kind = 1": "known_shops",
        "select * from (select id, shop, amount from @.sales where shop in (1, 2) and amount > 10) "
        "as q left anti join (select shop from @.shops where name = 'n1') as t using (shop)": "few",
    }.items():
        assert view in views_of(subqueries, query), explained(subqueries, query)
        assert_same(subqueries, query)
        text = explained(subqueries, query)[0][4]
        assert columns(subqueries, text) == columns(subqueries, query)
