"""Fast refreshes of every kind of query, after changes of every kind, against the query itself."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERIES = {
    "filtered": "select id, customer, amount * 2 as twice from @.orders where amount > 5",
    "joined": "select o.id, c.city from @.orders o join @.customers c on o.customer = c.name",
    "with_all": "select o.id, c.city from @.orders o left join @.customers c "
    "on o.customer = c.name",
    "with_both": "select o.id, c.name from @.orders o full join @.customers c "
    "on o.customer = c.name and o.amount > 15",
    "known": "select * from @.orders where customer in (select name from @.customers)",
    "unknown": "select id from @.orders o where not exists "
    "(select 1 from @.customers c where c.name = o.customer)",
    "not_in": "select id from @.orders where customer not in (select name from @.customers)",
    "all_names": "select customer as name from @.orders union all select name from @.customers",
    "some_names": "select customer as name from @.orders union select name from @.customers",
    "cities": "select distinct city from @.customers",
    "totals": "select customer, count(*) as n, sum(amount) as total, avg(amount) as mean, "
    "min(amount) as low, max(amount) as high from @.orders group by customer",
    "hidden_state": "select sum(amount) / count(*) as mean from @.orders group by customer",
    "whole": "select count(*) as n, sum(amount) as total, max(customer) as last from @.orders",
    "by_city": "select c.city, sum(o.amount) as total from @.orders o "
    "join @.customers c on o.customer = c.name group by c.city",
    "large": "select customer, count(distinct amount) as n from @.orders group by customer "
    "having count(*) > 1",
    "ranked": "select id, rank() over (partition by customer order by amount, id) as k "
    "from @.orders",
    "nested": "select n, count(*) as times from (select customer, count(*) as n from @.orders "
    "group by customer) counted group by n",
    "decimals": "select customer, sum(price) as total, avg(price) as mean from @.orders "
    "group by customer",
    "floats": "select customer, sum(cast(amount as double)) as total from @.orders "
    "group by customer",
    "through_view": "select city, count(*) as n from @.places group by city",
}
CHANGES = [
    "insert into @.orders values (11, 'ann', 7, 1.10), (12, null, 8, null), (13, 'new', null, 2)",
    "insert into @.customers values ('new', 'rome'), ('new', 'rome'), (null, null)",
    "update @.orders set amount = amount + 1 where customer = 'ann'",
    "delete from @.orders where id in (3, 12)",
    "merge into @.customers c using (select 'bob' as name) s on c.name = s.name "
    "when matched then update set city = 'oslo'",
    "insert overwrite @.customers values ('ann', 'bern'), ('eve', 'bonn')",
    "delete from @.orders",
    "insert into @.orders values (21, 'ann', 1, 0.5), (22, 'eve', 2, 0.25)",
]


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    """All views over tables of which one deletes by writing files of deletes."""
    lake.spark("drop table @.orders")
    lake.spark(
        "create table @.orders (id bigint, customer string, amount bigint, price decimal(10,2)) "
        "using iceberg"
    )
    lake.spark(
        "insert into @.orders values (1, 'ann', 10, 1.5), (2, 'bob', 20, 2.5), (3, 'ann', 30, 3), "
        "(4, 'ann', 10, 1.5), (5, null, 5, 9.99), (6, 'bob', null, null)"
    )
    lake.spark(
        "create table @.customers (name string, city string) using iceberg tblproperties "
        "('write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', "
        "'write.merge.mode'='merge-on-read')"
    )
    lake.spark("insert into @.customers values ('ann', 'bern'), ('bob', 'rome'), ('cyd', null)")
    lake.spark("create view @.places as select city from @.customers where name is not null")
    for name, query in QUERIES.items():
        lake.sql(f"create materialized view @.{name} options (refresh_method = 'fast') as {query}")


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_rows(lake: Warehouse, number: int) -> None:
    """One change after the other; every view is refreshed fast, and has the query's rows."""
    lake.spark(CHANGES[number])
    lake.restart()
    for name, query in QUERIES.items():
        lake.sql(f"refresh materialized view @.{name}")
        assert_same(lake, f"select * from @.{name}", query)
        assert lake.freshness(name) == "FRESH"
    lake.restart()


def test_methods(lake: Warehouse) -> None:
    """They were fast indeed."""
    for name in QUERIES:
        methods = lake.history(name, "method, state")
        assert methods[0] == ("complete", "SUCCEEDED")
        assert {method for method, _ in methods[1:]} <= {"fast", "none"}
        assert ("fast", "SUCCEEDED") in methods
