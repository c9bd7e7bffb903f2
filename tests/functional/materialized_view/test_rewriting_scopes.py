"""Texts whose parts mean something else for Spark than where they stand in sqlglot's tree."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.rewritten import explained, of_small_tables, views_of
from tests.functional.materialized_view.warehouse import Warehouse

# A condition behind a pipe is one of what is before it, whatever that does.
PIPED = (
    "select shop, sum(amount) as amount from @.sales group by shop |> where amount > 5",
    "select kind as shop, count(*) as n from @.sales group by kind |> where shop > 1",
    "select id, row_number() over (order by amount, id) as r from @.sales |> where id > 390",
    "select distinct kind as shop from @.sales |> where shop > 0",
    "select * from (select shop, sum(amount) as amount from @.sales group by shop "
    "|> where amount > 900) q where shop < 5",
    "select shop, amount from @.piped",
    "from @.sales |> aggregate sum(amount) as s group by shop |> where s > 900",
)
# Names that WITH gives before INSERT hide the tables of the schema.
INSERTED = (
    "select 0, cast(0 as decimal(20, 2)) union all "
    "select shop, sum(amount) from sales group by shop",
    "select shop, sum(amount) from sales group by shop",
    "select q.shop, q.s from (select shop, sum(amount) as s from sales group by shop) q",
)
HIDING = "with sales as (select shop, amount from @.sales where shop = 1 and amount > 3) "
# Conditions of an inner join are conditions, whatever is in them.
JOINED = {
    "select s.shop, count(*) as n from @.sales s join @.shops t on t.shop = s.shop "
    "and s.kind = (select max(kind) from @.sales) group by s.shop": "of_latest",
    "select t.name, count(*) as n from @.shops t join @.sales s on s.shop = t.shop and exists "
    "(select 1 from @.sales o where o.shop = t.shop and o.kind > 1) group by t.name": "of_tested",
}


@pytest.fixture(scope="module")
def shop(lake: Warehouse) -> Warehouse:
    made = of_small_tables(lake)
    made.spark(
        "create table @.sales using iceberg as select cast(id as int) as id, cast(id % 7 as int) "
        "as shop, cast(id % 3 as int) as kind, cast(id % 5 as decimal(10, 2)) as amount "
        "from range(2000)"
    )
    made.spark("create table @.shops using iceberg as select id as shop, 'n' as name from range(9)")
    made.spark(
        "create view @.piped as select shop, sum(amount) as amount from @.sales group by shop "
        "|> where amount > 5"
    )
    made.sql(
        "create materialized view @.finest as select shop, kind, amount, id, count(*) as n, "
        "sum(amount) as total from @.sales group by shop, kind, amount, id"
    )
    made.sql(
        "create materialized view @.by_shop as select shop, sum(amount) as s, count(*) as n "
        "from @.sales group by shop"
    )
    for query, name in JOINED.items():
        made.sql(f"create materialized view @.{name} as {query}")
    return made


@pytest.mark.parametrize("query", PIPED)
def test_pipes(shop: Warehouse, query: str) -> None:
    assert views_of(shop, query) == []
    assert Counter(shop.sql(query)) == Counter(shop.spark(query))


@pytest.mark.parametrize("query", PIPED[:2])
def test_definitions_with_pipes(shop: Warehouse, query: str) -> None:
    """Such a view has the rows of its query, and answers no others."""
    shop.sql(f"create or replace materialized view @.of_pipes as {query}")
    shop.spark("insert into @.sales values (9001, 1, 2, 4)")
    assert Counter(shop.sql("select * from @.of_pipes")) == Counter(shop.spark(query))
    other = "select shop, sum(amount) as s from @.sales where amount > 5 group by shop"
    assert "of_pipes" not in views_of(shop, other)
    assert Counter(shop.sql(other)) == Counter(shop.spark(other))
    shop.spark("delete from @.sales where id = 9001")
    shop.sql("drop materialized view @.of_pipes")


@pytest.mark.parametrize("query", INSERTED)
def test_with_before_insert(shop: Warehouse, query: str) -> None:
    for name in ("one", "two"):
        shop.spark(f"create or replace table @.{name} (shop int, s decimal(20, 2)) using iceberg")
    for run, name in ((shop.sql, "one"), (shop.spark, "two")):
        run(f"use {shop.schema}")
        run(f"{HIDING} insert into @.{name} {query}")
    found, right = (Counter(shop.spark(f"select * from @.{name}")) for name in ("one", "two"))
    assert found == right


@pytest.mark.parametrize("query", JOINED)
def test_subqueries_in_on(shop: Warehouse, query: str) -> None:
    shop.sql(f"refresh materialized view @.{JOINED[query]}")
    assert views_of(shop, query) == [JOINED[query]], explained(shop, query)
    assert Counter(shop.sql(query)) == Counter(shop.spark(query))
