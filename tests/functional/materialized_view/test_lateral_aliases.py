"""Columns that are computed of others beside them, as in `SELECT a + 1 AS b, b * 2 AS c`."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import plan_check
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample

CHANGES = (
    "insert into @.orders values (81, 'ann', 7), (82, null, 8), (83, 'ann', null)",
    "delete from @.orders where customer = 'bob'",
    "update @.orders set amount = amount + 1 where id in (81, 83)",
)
# What a column is computed of, with the name that comes after it.
FIRST = (
    "amount + 1 as x",
    "coalesce(amount, id) as X",
    "cast(amount as decimal(10, 2)) as `x`",
    "case when amount > 7 then id end as x",
    # A column of FROM is meant, where there is one of the name.
    "id * 10 as amount, amount as x",
)
# Columns of it, of which some are computed of one another.
NEXT = (
    "x * 2 as y",
    "x + x as y, y - x as z",
    "case when x is null then 0 else x end as y, concat(y, '/', x) as z",
    "x > 7 as y, if(y, x, -x) as z, z + 1 as w",
)
# The query that they stand in; `{}` is the list.
AROUND = (
    "select id, {} from @.orders",
    "select o.id, {} from @.orders o join @.cities c on c.name = o.customer where amount > 6",
    "with t as (select id as n, {} from @.orders) select *, y as last from t where x is not null",
    "select id, {} from @.orders union all select id, {} from @.orders where amount > 7",
    "select y, count(*) as n from (select {} from @.orders) d group by y",
)
FORMS = [
    around.replace("{}", f"{first}, {following}")
    for first, following, around in product(FIRST, NEXT, AROUND)
]
GROUPED = (
    "select customer, sum(amount) as s, count(*) as n, s / n as mean from @.orders "
    "group by customer",
    "select customer as k, upper(k) as u, max(id) as m, m + length(u) as e from @.orders "
    "group by customer",
    "select sum(amount) as s, s + count(*) as t from @.orders",
)
# Spark plans a step between those of the columns, so nobody knows that they are the same.
NOT_UNDERSTOOD = (
    "select customer, sum(amount) as s, s * 2 as d, d + s as e from @.orders group by customer "
    "having s > 7",
    "select id, row_number() over (partition by customer order by id) as r, r * 2 as d, r + d as e "
    "from @.orders",
)
DEEP = ("select id, amount + amount as x0", " from @.orders")


@pytest.fixture
def shop(lake: Warehouse) -> Warehouse:
    lake.spark("create table if not exists @.cities (name string, city string) using iceberg")
    lake.spark("delete from @.cities")
    lake.spark("insert into @.cities values ('ann', 'bern'), ('ann', 'rome'), ('bob', 'oslo')")
    return lake


def _assert_kept(lake: Warehouse, name: str, query: str) -> None:
    options = "options (refresh_method = 'fast')"
    lake.sql(f"create or replace materialized view @.{name} {options} as {query}")
    for change in CHANGES:
        lake.spark(change)
        lake.sql(f"refresh materialized view @.{name}")
        rows = lake.spark(f"select * from @.{name}")
        assert rows and Counter(rows) == Counter(lake.spark(query)), change


@pytest.mark.parametrize("query", sample(FORMS[::13], FORMS))
def test_fast(shop: Warehouse, query: str) -> None:
    _assert_kept(shop, "computed", query)


@pytest.mark.parametrize("query", GROUPED)
def test_fast_by_group(shop: Warehouse, query: str) -> None:
    _assert_kept(shop, "grouped", query)


@pytest.mark.parametrize("query", NOT_UNDERSTOOD)
def test_complete(shop: Warehouse, query: str) -> None:
    shop.sql(f"create or replace materialized view @.others as {query}")
    for change in CHANGES:
        shop.spark(change)
        assert Counter(shop.sql("select * from @.others")) == Counter(shop.spark(query))


def test_plans_are_compared(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: without the setting Spark's plan is another one than that of what is printed."""
    monkeypatch.setattr(plan_check, "_WRITTEN_OUT", {})
    query = "select id, amount + 1 as x, x * 2 as y, x * 3 as z from @.orders"
    with pytest.raises(MaterializedViewFailure, match="NOT_UNDERSTOOD"):
        _assert_kept(shop, "unlike", query)


def test_doubled_twenty_times(shop: Warehouse) -> None:
    """A column that would be written out 2^20 times is computed by Spark alone."""
    chain = "".join(f", if(x{n} > 9, x{n} - 9, x{n}) as x{n + 1}" for n in range(20))
    query = chain.join(DEEP)
    shop.sql(f"create materialized view @.doubled as {query}")
    found = shop.operation("explain", view=f"{shop.schema}.doubled").lines()
    assert "computed of others over and over" in str(found)
    for change in CHANGES:
        shop.spark(change)
        assert Counter(shop.sql("select * from @.doubled")) == Counter(shop.spark(query))


def test_doubled_by_queries(shop: Warehouse) -> None:
    """The same in queries over queries, as models often are, beside a view that could answer."""
    shop.sql("create materialized view @.plain as select id, amount from @.orders")
    query = "select id, amount as x from @.orders"
    for number in range(40):
        query = f"select id, if(x > 9, x - {number % 3}, x) as x from ({query})"
    found = shop.sql(f"explain rewrite {query}")
    assert "its expressions are too large" in str(found)
    assert Counter(shop.sql(query)) == Counter(shop.spark(query))
    shop.sql(f"create materialized view @.deep as {query}")
    for change in CHANGES:
        shop.spark(change)
        assert Counter(shop.sql("select * from @.deep")) == Counter(shop.spark(query))
