"""Views that somebody has who often asks the queries of TPC-H: each keeps what their parameters are
compared with."""

from __future__ import annotations

REVENUE = "l_extendedprice * (1 - l_discount)"
PROFIT = "l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity"

VIEWS = {
    "lines": f"""
select l_returnflag, l_linestatus, l_shipdate, sum(l_quantity) as quantity,
  sum(l_extendedprice) as price, sum({REVENUE}) as revenue,
  sum({REVENUE} * (1 + l_tax)) as charge, sum(l_discount) as discount, count(*) as line_count
from @.lineitem group by l_returnflag, l_linestatus, l_shipdate""",
    "discounts": """
select l_discount, l_quantity, year(l_shipdate) as ship_year,
  sum(l_extendedprice * l_discount) as discounted
from @.lineitem group by l_discount, l_quantity, year(l_shipdate)""",
    "least_cost": """
select ps_partkey, r_name, min(ps_supplycost) as cost
from @.partsupp, @.supplier, @.nation, @.region
where s_suppkey = ps_suppkey and s_nationkey = n_nationkey and n_regionkey = r_regionkey
group by ps_partkey, r_name""",
    "order_values": f"""
select l_orderkey, o_orderdate, o_shippriority, c_mktsegment, l_shipdate, sum({REVENUE}) as revenue
from @.customer join @.orders on c_custkey = o_custkey join @.lineitem on l_orderkey = o_orderkey
group by l_orderkey, o_orderdate, o_shippriority, c_mktsegment, l_shipdate""",
    "late_orders": """
select o_orderpriority, o_orderdate, count(*) as order_count from @.orders
where exists (
  select * from @.lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate)
group by o_orderpriority, o_orderdate""",
    "nations": f"""
select n_name, r_name, trunc(o_orderdate, 'MM') as order_month, sum({REVENUE}) as revenue
from @.lineitem join @.orders on o_orderkey = l_orderkey join @.customer on c_custkey = o_custkey
join @.supplier on s_suppkey = l_suppkey and s_nationkey = c_nationkey
join @.nation on n_nationkey = s_nationkey join @.region on r_regionkey = n_regionkey
group by n_name, r_name, trunc(o_orderdate, 'MM')""",
    "volumes": f"""
select n1.n_name as supp_nation, n2.n_name as cust_nation, year(l_shipdate) as l_year,
  sum({REVENUE}) as revenue
from @.supplier join @.lineitem on s_suppkey = l_suppkey join @.orders on o_orderkey = l_orderkey
join @.customer on c_custkey = o_custkey join @.nation n1 on s_nationkey = n1.n_nationkey
join @.nation n2 on c_nationkey = n2.n_nationkey
group by n1.n_name, n2.n_name, year(l_shipdate)""",
    "shares": f"""
select r_name, n2.n_name as nation, p_type, year(o_orderdate) as o_year, sum({REVENUE}) as volume
from @.part, @.supplier, @.lineitem, @.orders, @.customer, @.nation n1, @.nation n2, @.region
where p_partkey = l_partkey and s_suppkey = l_suppkey and l_orderkey = o_orderkey
  and o_custkey = c_custkey and c_nationkey = n1.n_nationkey and n1.n_regionkey = r_regionkey
  and s_nationkey = n2.n_nationkey
group by r_name, n2.n_name, p_type, year(o_orderdate)""",
    "profits": f"""
select p_name, n_name, extract(year from o_orderdate) as o_year, sum({PROFIT}) as profit
from @.part, @.supplier, @.lineitem, @.partsupp, @.orders, @.nation
where s_suppkey = l_suppkey and ps_suppkey = l_suppkey and ps_partkey = l_partkey
  and p_partkey = l_partkey and o_orderkey = l_orderkey and s_nationkey = n_nationkey
group by p_name, n_name, extract(year from o_orderdate)""",
    "returns": f"""
select o_custkey, l_returnflag, o_orderdate, sum({REVENUE}) as revenue
from @.orders join @.lineitem on l_orderkey = o_orderkey
group by o_custkey, l_returnflag, o_orderdate""",
    "stock": """
select ps_partkey, n_name, sum(ps_supplycost * ps_availqty) as value
from @.partsupp, @.supplier, @.nation
where ps_suppkey = s_suppkey and s_nationkey = n_nationkey group by ps_partkey, n_name""",
    "modes": """
select l_shipmode, o_orderpriority, l_receiptdate, count(*) as line_count
from @.orders, @.lineitem
where o_orderkey = l_orderkey and l_commitdate < l_receiptdate and l_shipdate < l_commitdate
group by l_shipmode, o_orderpriority, l_receiptdate""",
    "order_counts": """
select c_custkey, count(o_orderkey) as c_count from @.customer
left outer join @.orders on c_custkey = o_custkey and o_comment not like '%special%requests%'
group by c_custkey""",
    "types": f"""
select p_type, trunc(l_shipdate, 'MM') as ship_month, sum({REVENUE}) as revenue
from @.lineitem join @.part on p_partkey = l_partkey group by p_type, trunc(l_shipdate, 'MM')""",
    "suppliers": f"""
select l_suppkey, trunc(l_shipdate, 'MM') as ship_month, sum({REVENUE}) as revenue
from @.lineitem group by l_suppkey, trunc(l_shipdate, 'MM')""",
    "offers": """
select p_brand, p_type, p_size, ps_suppkey, count(*) as n from @.partsupp
join @.part on p_partkey = ps_partkey group by p_brand, p_type, p_size, ps_suppkey""",
    "quantities": """
select l_partkey, avg(l_quantity) as mean from @.lineitem group by l_partkey""",
    "large_orders": """
select l_orderkey, sum(l_quantity) as quantity from @.lineitem group by l_orderkey""",
    "brands": f"""
select p_brand, p_container, p_size, l_quantity, l_shipmode, l_shipinstruct,
  sum({REVENUE}) as revenue
from @.lineitem join @.part on p_partkey = l_partkey
group by p_brand, p_container, p_size, l_quantity, l_shipmode, l_shipinstruct""",
    "shipped": """
select l_partkey, l_suppkey, year(l_shipdate) as ship_year, sum(l_quantity) as quantity
from @.lineitem group by l_partkey, l_suppkey, year(l_shipdate)""",
    "late_suppliers": """
select distinct l_orderkey, l_suppkey from @.lineitem where l_receiptdate > l_commitdate""",
    "balances": """
select substring(c_phone, 1, 2) as code, sum(c_acctbal) as total, count(c_acctbal) as n
from @.customer where c_acctbal > 0.00 group by substring(c_phone, 1, 2)""",
    "buyers": "select distinct o_custkey from @.orders",
}
