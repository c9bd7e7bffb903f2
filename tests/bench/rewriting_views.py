"""Queries of TPC-H, the five views that are to answer them, and what somebody writes by hand who
knows these views; `{s}` is the schema of the tables, `{v}` that of the views."""

from __future__ import annotations

_REVENUE = "l_extendedprice * (1 - l_discount)"

# Lines of months, by all that reports on prices ask for.
LINES = f"""
select l_returnflag, l_linestatus, trunc(l_shipdate, 'MM') as ship_month, l_discount, l_quantity,
  sum(l_quantity) as quantity, sum(l_extendedprice) as price, sum({_REVENUE}) as revenue,
  sum({_REVENUE} * (1 + l_tax)) as charge, sum(l_discount) as discount,
  sum(l_extendedprice * l_discount) as discounted, count(*) as line_count
from {{s}}.lineitem
group by l_returnflag, l_linestatus, trunc(l_shipdate, 'MM'), l_discount, l_quantity
"""

# What customers buy from suppliers of their nation.
NATIONS = f"""
select n_name, r_name, trunc(o_orderdate, 'MM') as order_month, sum({_REVENUE}) as revenue
from {{s}}.lineitem
join {{s}}.orders on o_orderkey = l_orderkey
join {{s}}.customer on c_custkey = o_custkey
join {{s}}.supplier on s_suppkey = l_suppkey and s_nationkey = c_nationkey
join {{s}}.nation on n_nationkey = s_nationkey
join {{s}}.region on r_regionkey = n_regionkey
group by n_name, r_name, trunc(o_orderdate, 'MM')
"""

# Lines that came late although they were sent in time.
MODES = """
select l_shipmode, o_orderpriority, trunc(l_receiptdate, 'MM') as receipt_month,
  count(*) as line_count
from {s}.orders join {s}.lineitem on o_orderkey = l_orderkey
where l_commitdate < l_receiptdate and l_shipdate < l_commitdate
group by l_shipmode, o_orderpriority, trunc(l_receiptdate, 'MM')
"""

TYPES = f"""
select p_type, trunc(l_shipdate, 'MM') as ship_month, sum({_REVENUE}) as revenue
from {{s}}.lineitem join {{s}}.part on p_partkey = l_partkey
group by p_type, trunc(l_shipdate, 'MM')
"""

# Orders with their lines: nearly as many rows as lines, stored by the months of the orders.
ORDERS = f"""
select l_orderkey, o_custkey, o_orderdate, o_shippriority, l_returnflag,
  trunc(l_shipdate, 'MM') as ship_month, sum({_REVENUE}) as revenue
from {{s}}.orders join {{s}}.lineitem on l_orderkey = o_orderkey
group by l_orderkey, o_custkey, o_orderdate, o_shippriority, l_returnflag, trunc(l_shipdate, 'MM')
"""

VIEWS = {"lines": LINES, "nations": NATIONS, "modes": MODES, "types": TYPES, "orders_lines": ORDERS}
PARTITIONED = {"orders_lines": "months(o_orderdate)"}

# The parameters are among those that TPC-H draws; those of Q1 and Q3 end with a month.
QUERIES = {
    "Q1": f"""
select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty,
  sum(l_extendedprice) as sum_base_price, sum({_REVENUE}) as sum_disc_price,
  sum({_REVENUE} * (1 + l_tax)) as sum_charge, avg(l_quantity) as avg_qty,
  avg(l_extendedprice) as avg_price, avg(l_discount) as avg_disc, count(*) as count_order
from {{s}}.lineitem where l_shipdate <= date '1998-12-01' - interval '62' day
group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus
""",
    "Q3": f"""
select l_orderkey, sum({_REVENUE}) as revenue, o_orderdate, o_shippriority
from {{s}}.customer, {{s}}.orders, {{s}}.lineitem
where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
  and o_orderdate < date '1995-03-31' and l_shipdate > date '1995-03-31'
group by l_orderkey, o_orderdate, o_shippriority order by revenue desc, o_orderdate limit 10
""",
    "Q5": f"""
select n_name, sum({_REVENUE}) as revenue
from {{s}}.customer, {{s}}.orders, {{s}}.lineitem, {{s}}.supplier, {{s}}.nation, {{s}}.region
where c_custkey = o_custkey and l_orderkey = o_orderkey and l_suppkey = s_suppkey
  and c_nationkey = s_nationkey and s_nationkey = n_nationkey and n_regionkey = r_regionkey
  and r_name = 'ASIA' and o_orderdate >= date '1994-01-01'
  and o_orderdate < date '1994-01-01' + interval '1' year
group by n_name order by revenue desc
""",
    "Q6": """
select sum(l_extendedprice * l_discount) as revenue from {s}.lineitem
where l_shipdate >= date '1994-01-01' and l_shipdate < date '1994-01-01' + interval '1' year
  and l_discount between 0.06 - 0.01 and 0.06 + 0.01 and l_quantity < 24
""",
    "Q10": f"""
select c_custkey, c_name, sum({_REVENUE}) as revenue, c_acctbal, n_name, c_address, c_phone,
  c_comment
from {{s}}.customer, {{s}}.orders, {{s}}.lineitem, {{s}}.nation
where c_custkey = o_custkey and l_orderkey = o_orderkey and o_orderdate >= date '1993-10-01'
  and o_orderdate < date '1993-10-01' + interval '3' month and l_returnflag = 'R'
  and c_nationkey = n_nationkey
group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
order by revenue desc limit 20
""",
    "Q12": """
select l_shipmode,
  sum(case when o_orderpriority = '1-URGENT' or o_orderpriority = '2-HIGH' then 1 else 0 end)
    as high_line_count,
  sum(case when o_orderpriority <> '1-URGENT' and o_orderpriority <> '2-HIGH' then 1 else 0 end)
    as low_line_count
from {s}.orders, {s}.lineitem
where o_orderkey = l_orderkey and l_shipmode in ('MAIL', 'SHIP') and l_commitdate < l_receiptdate
  and l_shipdate < l_commitdate and l_receiptdate >= date '1994-01-01'
  and l_receiptdate < date '1994-01-01' + interval '1' year
group by l_shipmode order by l_shipmode
""",
    "Q14": f"""
select 100.00 * sum(case when p_type like 'PROMO%' then {_REVENUE} else 0 end)
  / sum({_REVENUE}) as promo_revenue
from {{s}}.lineitem, {{s}}.part
where l_partkey = p_partkey and l_shipdate >= date '1995-09-01'
  and l_shipdate < date '1995-09-01' + interval '1' month
""",
}

BY_HAND = {
    "Q1": """
select l_returnflag, l_linestatus, sum(quantity) as sum_qty, sum(price) as sum_base_price,
  sum(revenue) as sum_disc_price, sum(charge) as sum_charge,
  cast(sum(quantity) / sum(line_count) as decimal(19, 6)) as avg_qty,
  cast(sum(price) / sum(line_count) as decimal(19, 6)) as avg_price,
  cast(sum(discount) / sum(line_count) as decimal(19, 6)) as avg_disc,
  sum(line_count) as count_order
from {v}.lines where ship_month <= date '1998-09-01'
group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus
""",
    "Q3": """
select l_orderkey, sum(revenue) as revenue, o_orderdate, o_shippriority
from {v}.orders_lines join {s}.customer on c_custkey = o_custkey
where c_mktsegment = 'BUILDING' and o_orderdate < date '1995-03-31'
  and ship_month >= date '1995-04-01'
group by l_orderkey, o_orderdate, o_shippriority order by revenue desc, o_orderdate limit 10
""",
    "Q5": """
select n_name, sum(revenue) as revenue from {v}.nations
where r_name = 'ASIA' and year(order_month) = 1994 group by n_name order by revenue desc
""",
    "Q6": """
select sum(discounted) as revenue from {v}.lines
where year(ship_month) = 1994 and l_discount between 0.05 and 0.07 and l_quantity < 24
""",
    "Q10": """
select c_custkey, c_name, sum(revenue) as revenue, c_acctbal, n_name, c_address, c_phone, c_comment
from {v}.orders_lines join {s}.customer on c_custkey = o_custkey
join {s}.nation on n_nationkey = c_nationkey
where o_orderdate >= date '1993-10-01' and o_orderdate < date '1994-01-01' and l_returnflag = 'R'
group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
order by revenue desc limit 20
""",
    "Q12": """
select l_shipmode,
  sum(case when o_orderpriority in ('1-URGENT', '2-HIGH') then line_count else 0 end) as high,
  sum(case when o_orderpriority in ('1-URGENT', '2-HIGH') then 0 else line_count end) as low
from {v}.modes where l_shipmode in ('MAIL', 'SHIP') and year(receipt_month) = 1994
group by l_shipmode order by l_shipmode
""",
    "Q14": """
select 100.00 * sum(case when p_type like 'PROMO%' then revenue else 0 end) / sum(revenue)
from {v}.types where ship_month = date '1995-09-01'
""",
}
