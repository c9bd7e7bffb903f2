"""Windows, sets of keys, set operations, outer joins on Spark: the same rows, names, types."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.rewritten import (
    assert_same,
    columns,
    explained,
    views_of,
)
from tests.functional.materialized_view.warehouse import Warehouse

WINDOW = "row_number() over (partition by shop order by id desc)"
LATEST = f"select * from (select *, {WINDOW} as place from @.sales) where place = 1"
BOTH = "select id, city from @.sales where kind = 0 union all select shop, name from @.shops"
VIEWS = {
    "ranked": f"select id, shop, kind, amount, {WINDOW} as place from @.sales where shop < 3",
    "latest": LATEST,
    "rolled": "select shop, kind, grouping(kind) as g, count(*) as n, sum(amount) as total "
    "from @.sales group by rollup (shop, kind)",
    "both": BOTH,
    "either": "select city from @.sales union select name from @.shops",
    "all_sales": "select s.id, s.day, s.amount, t.name, t.shop as partner from @.sales s "
    "left join @.shops t on t.shop = s.shop where s.kind = 1",
    "both_tables": "select s.id, t.name, s.kind, s.shop from @.shops t join @.sales s "
    "on s.shop = t.shop where kind = 2",
    "months": "select cast(date_trunc('month', day) as date) as month, shop, kind, "
    "count(*) as n, sum(amount) as total, bool_or(amount > 50) as large from @.sales "
    "where day is not null group by 1, 2, 3",
}
ANSWERED = {
    "select * from (select kind, id, shop from @.sales) join @.shops using (shop) where kind = 2": (
        "both_tables"
    ),
    f"select id, amount, {WINDOW} as n from @.sales where shop = 2": "ranked",
    "select shop, kind, max(id) as id from @.sales where shop < 2 group by shop, kind": "ranked",
    f"with x as (select *, {WINDOW} as p from @.sales) select city, count(*) as n, sum(amount) "
    "from x where p = 1 and shop > 2 group by city": "latest",
    "select shop, n, total from (select kind, shop, sum(amount) as total, count(*) as n from "
    "@.sales group by rollup (shop, kind)) as q where kind is null and n > 3 order by n": "rolled",
    "select shop, kind, sum(amount), grouping(kind) from @.sales group by rollup (shop, kind) "
    "having count(*) > 400": "rolled",
    "select city, count(*) as n from (select shop as id, name as city from @.shops union all "
    "select id, city from @.sales where 0 = kind) group by city": "both",
    f"select * from ({BOTH}) as q where id < 100": "both",
    "select kind, shop, count(*) as n, avg(amount) as mean from @.sales group by kind, shop": (
        "rolled"
    ),
    "select kind, sum(amount) as total from @.sales where shop > 1 group by kind": "rolled",
    "select kind, shop, count(*) as n from @.sales where kind = 1 group by rollup (kind, shop)": (
        "rolled"
    ),
    "select shop, month(day) as m, grouping_id() as part, count(*) as n, sum(amount) as total from "
    "@.sales where day > '2023-12-31' group by cube (shop, month(day)) having n > 1": "months",
    "select city as place from @.sales union select name from @.shops order by place limit 3": (
        "either"
    ),
    "select s.id, t.name from @.sales s join @.shops t on s.shop = t.shop and s.amount > 3 "
    "where kind = 1": "all_sales",
    "select s.id, s.amount from @.sales s left join @.shops t on t.shop = s.shop "
    "where t.name like 'n%' and kind = 1": "all_sales",
    "select t.name, sum(s.amount) as total, count(*) as n from @.sales s left join @.shops t "
    "on t.shop = s.shop and t.name <> 'n2' where s.day is not null group by t.name": "months",
    "select t.name, sum(case when t.name = 'n1' then s.amount end) as total from @.sales s "
    "left join @.shops t on t.shop = s.shop where s.day > '2023-12-31' group by t.name": "months",
    "select date_format(day, 'yyyy-MM') as m, extract(year from day) as y, count(*) as n, "
    "rank() over (order by sum(amount) desc) as place from @.sales where day is not null "
    "group by 1, 2": "months",
    "select shop, sum(case when kind = 1 then 1 else 0 end) as ones, avg(case when kind = 1 then "
    "amount end) as mean, bool_or(amount > 50) as large, count(kind) as kinds from @.sales "
    "where year(day) >= 2024 group by shop": "months",
    "select trunc(day, 'quarter') as q, 100.0 * sum(if(kind = 2, amount, 0)) / sum(amount) as part "
    "from @.sales where day >= '2023-12-01' group by 1": "months",
    "select /*+ coalesce(1) */ distinct shop, count(*) as n from @.sales where day is not null "
    "and kind < year(current_date()) group by shop": "months",
}
# The answer is of other rows, or needs what is not stored.
LEFT = (
    f"select id, {WINDOW} as n, kind from @.sales version as of 1",
    "select shop, kind, count(distinct id) from @.sales group by rollup (kind, shop)",
    "select name from @.shops except select city from @.sales",
    "select lag(id) ignore nulls over (order by id) from @.sales",
)


@pytest.fixture(scope="module")
def wholes(shop: Warehouse) -> Iterator[Warehouse]:
    for _, name, *_ in shop.spark(f"show views in {shop.schema}"):
        if name != "staged":
            shop.sql(f"drop materialized view @.{name}")
    for name, query in VIEWS.items():
        shop.sql(f"create materialized view @.{name} as {query}")
    yield shop


@pytest.mark.behaviour("C20")
@pytest.mark.behaviour("C22")
@pytest.mark.parametrize("query", ANSWERED)
def test_answered(wholes: Warehouse, query: str) -> None:
    text, *attempts = explained(wholes, query)
    assert views_of(wholes, query) == [ANSWERED[query]], attempts
    if " limit " not in query:
        assert_same(wholes, query)
    assert columns(wholes, text[4]) == columns(wholes, query)


@pytest.mark.parametrize("query", LEFT)
def test_left(wholes: Warehouse, query: str) -> None:
    assert views_of(wholes, query) == []


def test_a_stale_view_around_a_fresh_one(wholes: Warehouse) -> None:
    """What is inside of a block is tried if no fresh view answers the whole."""
    query = (
        "select city, n from (select city, count(*) as n from @.sales group by city) as q "
        "join @.shops t on t.name <> q.city"
    )
    wholes.sql(f"create materialized view @.whole as {query}")
    wholes.sql(
        "create materialized view @.inside as select city, count(*) as n from @.sales group by city"
    )
    assert views_of(wholes, query) == ["whole"]
    wholes.spark("insert into @.shops values (7, 'n7')")
    assert views_of(wholes, query) == ["inside"]
    assert_same(wholes, query)
    for name in ("whole", "inside"):
        wholes.sql(f"drop materialized view @.{name}")
