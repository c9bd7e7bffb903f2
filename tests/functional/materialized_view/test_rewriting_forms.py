"""Which queries are answered by which views: the same rows, names and types."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.spark.session import spark_session
from tests.functional.materialized_view.rewritten import (
    assert_same,
    columns,
    explained,
    reasons_of,
    views_of,
)
from tests.functional.materialized_view.warehouse import Warehouse

# Queries, and the view that answers each.
ANSWERED = {
    "select shop, sum(amount) as t, count(*) as n from @.sales group by shop": "by_shop",
    "select shop, avg(amount) as m, min(amount) as low, count(amount) as c from @.sales "
    "where kind = 1 group by shop": "by_shop",
    "select sum(amount), count(*) from @.sales where shop > 100": "by_shop",
    "select year(day) as y, quarter(day) as q, sum(amount) as t from @.sales "
    "where city in ('c1', 'c2') or city is null group by 1, 2": "by_shop",
    "select city, kind, count(*) from @.sales where day >= '2023-12-05' and day < '2024-01-10' "
    "group by all having count(*) > 3 order by 3 desc, city, kind limit 9": "by_shop",
    "select shop, count_if(kind = 1) as a, sum(amount) filter (where city = 'c1') as b "
    "from @.sales group by shop": "by_shop",
    "select max(day), count(distinct city) from @.sales where shop = 3": "by_shop",
    "select quarter(day) as q, sum(id) as ids from @.sales where shop < 5 and "
    "day between '2023-12-01' and '2024-01-31' group by quarter(day)": "by_month",
    "select sum(id) as ids from @.sales where shop < 5 and day >= date'2024-01-01' - interval '1' "
    "month and day < date'2024-01-01' + interval 1 month": "by_month",
    "select shop, sum(case when kind = 1 then amount else 0 end) / sum(amount) as part, "
    "sum(if(city = 'c1', 1, 0)) as n from @.sales group by shop": "by_shop",
    "select city, sum(id) as ids from @.sales group by city": "large",
    "select city, sum(id) as i from @.sales group by city having sum(id) > 8500000": "large",
    "select t.name, count(s.amount) as n from @.shops t, @.sales s where s.shop = t.shop "
    "and s.day > date'2024-01-15' group by t.name": "joined",
    "select id, amount from @.sales where shop = 2 and amount >= 20 and id > 5": "few",
    "select s.kind, t.name, count(*) as n from @.sales s left join @.shops t "
    "on t.name <> 'n3' and s.shop = t.shop group by s.kind, t.name": "outer_joined",
    "select distinct kind from @.sales where city = 'c1'": "cities",
    "with raw as (select * from @.staged), per as (select shop, count(*) as n from raw group by "
    "shop) select per.*, t.name from per join @.shops t on t.shop = per.shop": "by_shop",
    "select * from (select shop, sum(total) as t from (select shop, amount as total from @.staged "
    "where kind <> 2) as x group by shop) as y limit 500": "by_shop",
    "select shop, sum(amount) from @.sales group by shop union all select 99, 0.5": "by_shop",
    "select sum(shop) as s, sum(-amount) as less, sum(amount * 1.5) as more, sum(3) as threes, "
    "count(distinct shop, city) as pairs from @.sales where (shop, city) in ((1, 'c1'), (2, 'c2'), "
    "(3, 'c3'))": "by_shop",
    "select city, sum(shop) as s, avg(shop) as mean, sum(2.5) as h from @.sales where day >= "
    "add_months(date'2024-01-15', -1) and day < last_day('2024-01-03') group by city": "by_shop",
    "select shop, n from (select shop, count(*) as n from @.sales group by shop) as x "
    "where n > 1": "by_shop",
}
# Queries that no view answers, and the reason of one of them.
LEFT = {
    # Names of a recursive WITH are no tables.
    "with recursive sales(shop) as (select 1 union all select shop + 1 from sales where shop < 3) "
    "select (select count(*) from sales) as n, (select sum(s.shop) from @.sales s) as s": (
        "QUERY_NOT_SUPPORTED"
    ),
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 3), u as (select "
    "shop, count(*) as c from @.sales group by shop) select n, c from r join u on n = shop": (
        "QUERY_NOT_SUPPORTED"
    ),
    "select id, shop from @.sales where shop = 1": "ROWS_NOT_COVERED",
    "select city, max(id) from @.sales group by city": "AGGREGATE_NOT_DERIVABLE",
    "select city, count(*) from @.sales where city <=> rand() group by city": (
        "NOT_A_FUNCTION_OF_ROWS"
    ),
    "select shop, sum(amount) over (partition by shop) from @.sales": "AGGREGATE_NOT_DERIVABLE",
    "select weekofyear(day), sum(id) from @.sales where shop < 5 group by 1": "COLUMN_NOT_COVERED",
    "select sum(id) from @.sales where shop < 5 and day <= '2023-12-30'": "COLUMN_NOT_COVERED",
    "select shop, count(*) from @.sales version as of 1 group by shop": "QUERY_NOT_SUPPORTED",
    "select name, count(*) from @.shops group by name": "DIFFERENT_TABLES",
}


@pytest.mark.behaviour("C20")
@pytest.mark.behaviour("C21")
@pytest.mark.behaviour("C22")
@pytest.mark.behaviour("C27")
@pytest.mark.behaviour("C28")
@pytest.mark.behaviour("C30")
@pytest.mark.parametrize("query", ANSWERED)
def test_answered(shop: Warehouse, query: str) -> None:
    text, *attempts = explained(shop, query)
    assert ANSWERED[query] in views_of(shop, query), attempts
    assert_same(shop, query)
    assert columns(shop, text[4]) == columns(shop, query)


@pytest.mark.behaviour("X18")
@pytest.mark.behaviour("C29")
@pytest.mark.parametrize("query", LEFT)
def test_left(shop: Warehouse, query: str) -> None:
    assert views_of(shop, query) == []
    assert LEFT[query] in reasons_of(shop, query)
    if " version as of " not in query:
        assert_same(shop, query)


STATEMENTS = {
    "create or replace table @.made using iceberg partitioned by (shop) comment 'as select' as "
    "/* select */ select shop, sum(amount) as t from @.sales group by shop": "@.made",
    "create table @.again using iceberg as with s as (select * from @.staged) "
    "select shop, count(*) as t from s group by shop": "@.again",
    "insert into @.made (shop, t) select shop, sum(amount) + 1 from @.sales group by shop": (
        "@.made"
    ),
    "insert overwrite @.again with s as (select * from @.staged) select shop, count(*) from s "
    "where city = 'c1' group by shop": "@.again",
    "create or replace temporary view passing__dbt_tmp as select shop, sum(amount) as t "
    "from @.sales group by shop": "passing__dbt_tmp",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(shop: Warehouse, statement: str) -> None:
    """What is stored by a rewritten statement is what plain Spark stores."""
    made = STATEMENTS[statement]
    assert views_of(shop, statement) == ["by_shop"]
    shop.apart(statement)
    rows = spark_session(shop.credentials).sql(shop.text(f"select * from {made}")).collect()
    query = statement[statement.rindex("select shop") :]
    if "from s" in query:
        query = "with s as (select * from @.staged) " + query
    expected = Counter(shop.spark(query))
    found = Counter(tuple(row) for row in rows)
    if statement.startswith("insert into"):
        assert expected <= found
    else:
        assert found == expected
