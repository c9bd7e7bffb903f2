"""What a definition depends on: base tables behind CTEs, views, subqueries, other views."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same


@pytest.fixture(autouse=True)
def tables(lake: Warehouse) -> None:
    if lake.spark(f"show tables in {lake.schema} like 'customers'"):
        return
    lake.spark("create table @.customers (name string, city string) using iceberg")
    lake.spark("insert into @.customers values ('ann', 'Rome'), ('bob', 'Oslo')")
    lake.spark("create table @.items (id bigint, tags array<string>) using iceberg")
    lake.spark("insert into @.items values (1, array('x', 'y')), (2, array('z'))")
    lake.sql("create view @.big as select * from @.orders where amount > 10")
    lake.sql("create view @.bigger as select b.* from @.big b where b.amount > 15")


@pytest.fixture
def dropped(lake: Warehouse) -> Any:
    yield
    lake.sql("drop materialized view if exists @.v")


def edges(lake: Warehouse, columns: str = "source_name") -> list[Any]:
    return lake.spark(
        f"select {columns} from @meta.mv_dependencies_graph where table_name = 'v' "
        f"and table_schema = '{lake.schema}' order by depth, source_name"
    )


CASES = {
    "join": ("select * from @.orders join @.customers on customer = name", "customers orders"),
    "self join": ("select a.id from @.orders a join @.orders b on a.id = b.id", "orders"),
    "quoted": ("select id from `{s}`.`orders`", "orders"),
    "catalog": ("select id from local.{s}.orders", "orders"),
    "cte": (
        "with customers as (select 'x' as name, 1 as n from @.orders) select * from customers",
        "orders",
    ),
    "cte of the same name": (
        "with orders as (select * from @.orders) select * from orders",
        "orders",
    ),
    "inner cte ends": (
        "select * from (with items as (select id from @.orders) select id from items) "
        "union all select id from @.items",
        "items orders",
    ),
    "correlated": (
        "select id from @.orders o where exists "
        "(select 1 from @.customers c where c.name = o.customer)",
        "customers orders",
    ),
    "scalar": (
        "select id, (select max(city) from @.customers c where c.name = o.customer) as city "
        "from @.orders o",
        "customers orders",
    ),
    "in": (
        "select id from @.orders where customer in (select name from @.customers) and id not in "
        "(select id from @.items)",
        "customers items orders",
    ),
    "union": ("select id from @.orders union select id from @.items", "items orders"),
    "except": ("select id from @.orders except select id from @.items", "items orders"),
    "explode": ("select id, explode(tags) as tag from @.items", "items"),
    "lateral view": (
        "select id, tag from @.items lateral view explode(tags) t as tag",
        "items",
    ),
    "lateral": (
        "select i.id, l.n from @.items i, lateral (select size(i.tags) as n) l",
        "items",
    ),
    "range": ("select o.id, r.id as n from @.orders o cross join range(2) r", "orders"),
    "values": (
        "select o.id, w.n from @.orders o join (values (1), (2)) as w(n) on o.id = w.n",
        "orders",
    ),
    "inline": ("select o.id, t.x from @.orders o, inline(array(struct(1 as x))) t", "orders"),
    "unused source": ("select 1 as one from @.orders, @.items", "items orders"),
    "using": (
        "select id from @.orders full join @.items using (id)",
        "items orders",
    ),
    "window": (
        "select id, sum(amount) over (partition by customer order by id) as s from @.orders",
        "orders",
    ),
    "pivot": (
        "select * from (select customer, amount from @.orders) "
        "pivot (sum(amount) as s for customer in ('ann' as ann, 'bob' as bob))",
        "orders",
    ),
    "recursive": (
        "with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) "
        "select r.n, count(o.id) as c from r left join @.orders o on o.id = r.n group by r.n",
        "orders",
    ),
    "parenthesised": ("(select id from @.orders)", "orders"),
    "comments and odd layout": (
        "select /* @.items */ id -- @.customers\n from @ . orders".replace("@ . ", "@."),
        "orders",
    ),
}


ROWS = {
    "orders": "(2, 'ann', 5)",
    "items": "(2, array('y'))",
    "customers": "('cy', 'Rome')",
}


@pytest.mark.behaviour("A5", "B16", "B17", "X10", "X15")
@pytest.mark.parametrize("case", CASES)
def test_base_tables(lake: Warehouse, dropped: None, case: str) -> None:
    """Edges are exactly the tables that are read; each write to one is seen."""
    query, expected = CASES[case]
    query = query.replace("{s}", lake.schema)
    lake.sql(f"create materialized view @.v as {query}")
    assert [name for (name,) in edges(lake)] == expected.split()
    assert_same(lake, "select * from @.v", query)
    for table, row in ROWS.items():
        lake.spark(f"insert into @.{table} values {row}")
        assert lake.freshness("v") == ("STALE" if table in expected.split() else "FRESH")
        lake.sql("select * from @.v")
        assert_same(lake, "select * from @.v", query)


@pytest.mark.behaviour("X9")
def test_through_views(lake: Warehouse, dropped: None) -> None:
    """Views are expanded to base tables, and are edges themselves."""
    query = "select customer, count(*) as n from @.bigger group by customer"
    lake.sql(f"create materialized view @.v as {query}")
    assert edges(lake, "source_name, source_kind, depth") == [
        ("bigger", "VIEW", 1),
        ("big", "VIEW", 2),
        ("orders", "TABLE", 3),
    ]
    lake.sql("insert into @.orders values (20, 'ann', 99)")
    assert lake.flag("v")
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", query)


def test_changed_view_below(lake: Warehouse, dropped: None) -> None:
    """A logical view that is replaced changes the definition; no base table has moved."""
    lake.sql("create or replace view @.limits as select * from @.orders where amount > 10")
    lake.sql("create materialized view @.v as select id, amount from @.limits")
    lake.spark("create or replace view @.limits as select * from @.orders where amount > 20")
    assert lake.freshness("v") == "STALE"
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", "select id, amount from @.orders where amount > 20")
    assert lake.freshness("v") == "FRESH"


def test_read_through_views(lake: Warehouse, dropped: None) -> None:
    """A read of a view over a view over the materialized view refreshes it."""
    lake.sql("create materialized view @.v as select sum(amount) as s from @.orders")
    lake.sql("create or replace view @.over as select s from @.v")
    lake.sql("create or replace view @.over2 as select s from @.over")
    lake.spark("insert into @.orders values (21, 'ann', 1)")
    ((found,),) = lake.sql("select s from @.over2")
    assert found == lake.value("select sum(amount) from @.orders")


def test_read_through_a_temporary_view(lake: Warehouse, dropped: None) -> None:
    """A temporary view made from a stale view reads fresh rows."""
    lake.sql("create materialized view @.v as select sum(amount) as s from @.orders")
    lake.spark("insert into @.orders values (22, 'ann', 1)")
    lake.sql("create or replace temporary view passing as select s from @.v")
    ((found,),) = lake.sql("select s from passing")
    assert found == lake.value("select sum(amount) from @.orders")
    lake.sql("drop view passing")


@pytest.mark.behaviour("X10")
def test_unqualified_names(lake: Warehouse, dropped: None) -> None:
    """An unqualified name is one of the current schema, then and at every refresh."""
    lake.sql(f"use local.{lake.schema}")
    try:
        lake.sql("create materialized view v as select count(*) as n from orders")
    finally:
        lake.sql("use local.default")
    assert edges(lake, "source_schema, source_name") == [(lake.schema, "orders")]
    lake.spark("insert into @.orders values (23, 'ann', 1)")
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", "select count(*) from @.orders")


def test_names_differ_in_letter_case(lake: Warehouse, dropped: None) -> None:
    """The embedded catalog tells `orders` from `Orders`; so do we."""
    lake.spark("create table if not exists @.Orders (id bigint) using iceberg")
    lake.sql("create materialized view @.v as select id from @.Orders")
    assert edges(lake) == [("Orders",)]
    lake.spark("insert into @.orders values (24, 'ann', 1)")
    assert lake.freshness("v") == "FRESH"
    lake.spark("insert into @.Orders values (1)")
    assert lake.freshness("v") == "STALE"


@pytest.mark.behaviour("B27")
def test_time_travel_reads(lake: Warehouse, dropped: None) -> None:
    """A read of a fixed version refreshes nothing, neither of what is stored nor of a name
    that was a table then and is a materialized view now."""
    lake.sql("create materialized view @.v as select count(*) as n from @.orders")
    storage, build = lake.storage("v"), lake.build_of("v")
    ((before,),) = lake.spark("select n from @.v")
    lake.spark("insert into @.orders values (25, 'ann', 1)")
    assert lake.sql(f"select n__mv from {storage} version as of {build}") == [(before,)]
    with pytest.raises(Exception, match="no versions of its own"):
        lake.sql(f"select * from @.v version as of {build}")
    assert lake.build_of("v") == build
