"""Two shops, as tutorials of dbt have them: marts over staging views, sums of DOUBLE over joins.

The queries are ours; what they compute is what those projects compute. Only `table` is replaced.
"""

from __future__ import annotations

from tests.bench import tiers
from tests.bench.cell import Cell
from tests.bench.tpch_project import Case, run_case
from tests.bench.world import World

_VIEW = "{{ config(materialized='view') }} "
_METHODS = ("credit_card", "coupon", "bank_transfer", "gift_card")

# Names of tables: queries of their rows, of {n} orders from the number {start} on.
_SMALL_TABLES = {
    "users": "select id, concat('first ', id) as first_name, concat('last ', id) as last_name "
    "from range({start} div 4, ({start} + {n}) div 4)",
    "orders": "select id, id * 7919 % ({start} + {n}) div 4 as user_id, "
    "date_add(date'2018-01-01', cast(id % 900 as int)) as order_date, "
    "element_at(array('placed', 'shipped', 'completed', 'returned'), cast(id % 4 as int) + 1) "
    "as status from range({start}, {start} + {n})",
    "payments": "select id, id div 2 as order_id, element_at(array("
    + ", ".join(f"'{method}'" for method in _METHODS)
    + "), cast(id % 4 as int) + 1) as payment_method, cast(id * 31 % 5000 as int) as amount "
    "from range(2 * {start}, 2 * ({start} + {n}))",
}
_SMALL_MODELS = {
    "stg_customers": _VIEW + "select id as customer_id, first_name, last_name from {s}.users",
    "stg_orders": _VIEW + "select id as order_id, user_id as customer_id, order_date, status "
    "from {s}.orders",
    "stg_payments": _VIEW + "select id as payment_id, order_id, payment_method, "
    "amount / 100 as amount from {s}.payments",
    "customers": """
        with of_orders as (
          select customer_id, min(order_date) as first_order, max(order_date) as latest_order,
            count(order_id) as number_of_orders
          from {{ ref('stg_orders') }} group by customer_id),
        of_payments as (
          select o.customer_id, sum(p.amount) as total_amount
          from {{ ref('stg_payments') }} p
          left join {{ ref('stg_orders') }} o on p.order_id = o.order_id group by o.customer_id)
        select c.customer_id, c.first_name, c.last_name, a.first_order, a.latest_order,
          a.number_of_orders, b.total_amount as lifetime_value
        from {{ ref('stg_customers') }} c
        left join of_orders a on c.customer_id = a.customer_id
        left join of_payments b on c.customer_id = b.customer_id""",
    "orders": """
        with of_payments as (
          select order_id, """
    + ", ".join(
        f"sum(case when payment_method = '{method}' then amount else 0 end) as {method}_amount"
        for method in _METHODS
    )
    + """, sum(amount) as total_amount from {{ ref('stg_payments') }} group by order_id)
        select o.order_id, o.customer_id, o.order_date, o.status, """
    + ", ".join(f"p.{method}_amount" for method in _METHODS)
    + """, p.total_amount as amount from {{ ref('stg_orders') }} o
        left join of_payments p on o.order_id = p.order_id""",
}

_LARGE_TABLES = {
    "buyers": "select concat('c', id) as id, concat('name ', id) as name "
    "from range({start} div 10, ({start} + {n}) div 10)",
    "sales": "select concat('o', id) as id, "
    "concat('c', id * 7919 % ({start} + {n}) div 10) as customer, "
    "timestampadd(minute, cast(id % 700000 as int), timestamp'2023-01-01 08:00:00') "
    "as ordered_at, concat('s', id % 6) as store_id, cast(id * 13 % 4000 as int) as subtotal, "
    "cast(id * 13 % 4000 * 6 div 100 as int) as tax_paid, "
    "cast(id * 13 % 4000 * 106 div 100 as int) as order_total from range({start}, {start} + {n})",
    "items": "select concat('i', id) as id, concat('o', id div 2) as order_id, "
    "concat('sku', id * 5 % 10) as sku from range(2 * {start}, 2 * ({start} + {n}))",
}
# These do not change.
_LARGE_FIXED = {
    "goods": "select concat('sku', id) as sku, concat('good ', id) as name, "
    "if(id < 5, 'jaffle', 'beverage') as type, cast(400 + 70 * id as int) as price from range(10)",
    "supplies": "select concat('sup', id) as id, concat('supply ', id) as name, "
    "cast(10 + id as int) as cost, id % 2 = 0 as perishable, concat('sku', id % 10) as sku "
    "from range(60)",
    "stores": "select concat('s', id) as id, concat('store ', id) as name, "
    "timestamp'2022-05-01 00:00:00' as opened_at, 0.01 * id as tax_rate from range(6)",
}
_LARGE_MODELS = {
    "stg_orders": _VIEW + "select id as order_id, store_id as location_id, customer as customer_id,"
    " subtotal / 100 as subtotal, tax_paid / 100 as tax_paid, order_total / 100 as order_total, "
    "date_trunc('day', ordered_at) as ordered_at from {s}.sales",
    "stg_items": _VIEW + "select id as order_item_id, order_id, sku as product_id from {s}.items",
    "stg_products": _VIEW + "select sku as product_id, name as product_name, type as product_type, "
    "price / 100 as product_price, type = 'jaffle' as is_food, type = 'beverage' as is_drink "
    "from {s}.goods",
    "stg_supplies": _VIEW + "select id as supply_id, sku as product_id, name as supply_name, "
    "cost / 100 as supply_cost, perishable as is_perishable from {s}.supplies",
    "stg_customers": _VIEW + "select id as customer_id, name as customer_name from {s}.buyers",
    "locations": "select id as location_id, name as location_name, tax_rate, "
    "date_trunc('day', opened_at) as opened_date from {s}.stores",
    "products": "select * from {{ ref('stg_products') }}",
    "order_items": """
        with of_supplies as (
          select product_id, sum(supply_cost) as supply_cost
          from {{ ref('stg_supplies') }} group by product_id)
        select i.order_item_id, i.order_id, i.product_id, o.ordered_at, p.product_name,
          p.product_price, p.is_food, p.is_drink, s.supply_cost
        from {{ ref('stg_items') }} i
        left join {{ ref('stg_orders') }} o on i.order_id = o.order_id
        left join {{ ref('stg_products') }} p on i.product_id = p.product_id
        left join of_supplies s on i.product_id = s.product_id""",
    "orders": """
        with of_items as (
          select order_id, sum(supply_cost) as order_cost, sum(product_price) as items_subtotal,
            count(order_item_id) as count_items,
            sum(case when is_food then 1 else 0 end) as count_food,
            sum(case when is_drink then 1 else 0 end) as count_drinks
          from {{ ref('order_items') }} group by order_id)
        select o.*, i.order_cost, i.items_subtotal, i.count_food, i.count_drinks, i.count_items,
          i.count_food > 0 as is_food_order, i.count_drinks > 0 as is_drink_order,
          row_number() over (partition by o.customer_id order by o.ordered_at, o.order_id)
            as customer_order_number
        from {{ ref('stg_orders') }} o left join of_items i on o.order_id = i.order_id""",
    "customers": """
        with of_orders as (
          select customer_id, count(distinct order_id) as count_orders,
            count(distinct order_id) > 1 as is_repeat_buyer, min(ordered_at) as first_ordered_at,
            max(ordered_at) as last_ordered_at, sum(subtotal) as spend_before_tax,
            sum(tax_paid) as tax_paid, sum(order_total) as spend
          from {{ ref('orders') }} group by customer_id)
        select c.customer_id, c.customer_name, o.count_orders, o.first_ordered_at,
          o.last_ordered_at, o.spend_before_tax, o.tax_paid, o.spend,
          case when o.is_repeat_buyer then 'returning' else 'new' end as customer_type
        from {{ ref('stg_customers') }} c left join of_orders o on c.customer_id = o.customer_id""",
}
_SHOPS = {
    tiers.SHOPS[0]: ("small_shop", _SMALL_TABLES, {}, _SMALL_MODELS),
    tiers.SHOPS[1]: ("large_shop", _LARGE_TABLES, _LARGE_FIXED, _LARGE_MODELS),
}


def shop(world: World, name: str, orders: int, rounds: int) -> list[Cell]:
    """The cell of one shop: `dbt run` after 1 % more orders, by each adapter."""
    folder, tables, fixed, models = _SHOPS[name]
    schema = f"{folder}_raw"
    world.sql(f"create schema if not exists {schema}")
    for table, query in {**tables, **fixed}.items():
        rows = query.format(start=0, n=orders)
        world.sql(f"create table {schema}.{table} using iceberg as {rows}")

    def change() -> None:
        for table, query in tables.items():
            more = query.format(start=orders, n=orders // 100)
            world.sql(f"insert into {schema}.{table} {more}")

    case = Case(
        folder,
        {model: query.replace("{s}", schema) for model, query in models.items()},
        tuple(f"{schema}.{table}" for table in tables),
        change,
        {tiers.shop_run(name): 1},
        1,
    )
    return run_case(world, case, f"{orders:,} orders", rounds)
