"""Views over a shop's sales, and how statements are answered by them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dbt.adapters.spark_mv.spark.session import spark_session
from tests.functional.materialized_view.warehouse import Command, Warehouse

ROWS = (
    "select cast(id as int) as id, cast(id % 7 as int) as shop, cast(id % 3 as smallint) as kind, "
    "if(id % 11 = 0, null, date_add(date'2023-11-28', cast((id % 9) * 11 as int))) as day, "
    "if(id % 5 = 0, null, cast(id * 1.37 as decimal(10, 2))) as amount, "
    "if(id % 13 = 0, null, concat('c', id % 4)) as city from range(9000)"
)
VIEWS = {
    "by_shop": "select shop, kind, city, day, sum(amount) as total, count(*) as n, "
    "min(amount) as low from @.sales group by shop, kind, city, day",
    "by_month": "select date_trunc('MONTH', day) as month, avg(amount) as mean, sum(id) as ids "
    "from @.sales where shop < 5 group by date_trunc('MONTH', day)",
    "large": "select city, sum(id) as ids from @.sales group by city having sum(id) > 8000000",
    "joined": "select s.shop, t.name, s.day, count(s.amount) as n from @.sales s "
    "join @.shops t on t.shop = s.shop group by s.shop, t.name, s.day",
    "few": "select id, shop, day, amount from @.sales where shop in (1, 2) and amount > 10",
    "outer_joined": "select s.kind, t.name, count(*) as n from @.sales s "
    "left join @.shops t on t.shop = s.shop and t.name <> 'n3' group by s.kind, t.name",
    "cities": "select distinct city, kind from @.sales",
}
ONE = "select shop, sum(amount) as t, count(*) as n from @.sales group by shop"
ZONE = "America/Sao_Paulo"


def of_small_tables(lake: Warehouse) -> Warehouse:
    """The warehouse, with a target to which also statements about few rows are worth it."""
    return Warehouse({**lake.target, "query_rewrite_min_rows": 0}, lake.schema)


def make_shop(lake: Warehouse) -> Warehouse:
    """A warehouse in which small tables are worth it."""
    for run in (lake.sql, lake.spark):
        run(f"set time zone '{ZONE}'")
    made = of_small_tables(lake)
    made.spark(f"create table @.sales using iceberg as {ROWS}")
    made.spark(
        "create table @.shops using iceberg as select cast(id as int) as shop, "
        "concat('n', id) as name from range(6)"
    )
    made.spark("create view @.staged as select shop, kind, day, amount, city from @.sales")
    for name, query in VIEWS.items():
        made.sql(f"create materialized view @.{name} as {query}")
    return made


def explained(shop: Warehouse, query: str, command: Command | None = None) -> list[Any]:
    return (command or shop.command()).sql(f"explain rewrite {query}")


def views_of(shop: Warehouse, query: str, command: Command | None = None) -> list[str]:
    """The views that answer a query."""
    return [str(row[1]).split(".")[1] for row in explained(shop, query, command)[1:] if row[2]]


def reasons_of(shop: Warehouse, query: str) -> set[str]:
    return {str(row[3]) for row in explained(shop, query)[1:]}


def columns(shop: Warehouse, query: str) -> list[tuple[str, str]]:
    frame = spark_session(shop.credentials).sql(shop.text(query))
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]


def assert_same(shop: Warehouse, query: str) -> None:
    assert Counter(shop.apart(query)) == Counter(shop.spark(query))
