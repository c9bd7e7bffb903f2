"""The views that are refreshed over TPC-H; `{s}` is the schema of the tables."""

from __future__ import annotations

_REVENUE = "l_extendedprice * (1 - l_discount)"

Q1 = f"""
select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty,
  sum(l_extendedprice) as sum_base_price, sum({_REVENUE}) as sum_disc_price,
  sum({_REVENUE} * (1 + l_tax)) as sum_charge, avg(l_quantity) as avg_qty,
  avg(l_extendedprice) as avg_price, avg(l_discount) as avg_disc, count(*) as count_order
from {{s}}.lineitem where l_shipdate <= date'1998-09-02' group by l_returnflag, l_linestatus
"""

DAY_MODE = """
select l_shipdate, l_shipmode, count(*) as line_count, sum(l_extendedprice) as price,
  max(l_discount) as top_discount
from {s}.lineitem group by l_shipdate, l_shipmode
"""

NATION_YEAR = f"""
select n_name, year(o_orderdate) as order_year, sum({_REVENUE}) as revenue, count(*) as line_count
from {{s}}.lineitem
join {{s}}.orders on o_orderkey = l_orderkey
join {{s}}.customer on c_custkey = o_custkey
join {{s}}.nation on n_nationkey = c_nationkey
group by n_name, year(o_orderdate)
"""

CUSTOMER = """
select o_custkey, count(*) as line_count, sum(l_extendedprice) as total
from {s}.orders join {s}.lineitem on l_orderkey = o_orderkey group by o_custkey
"""

# As many groups as orders: a large storage table.
BY_ORDER = """
select l_orderkey, count(*) as line_count, sum(l_extendedprice) as total,
  max(l_shipdate) as last_day
from {s}.lineitem group by l_orderkey
"""

# Rows, no groups.
LATE_LINES = """
select l_orderkey, l_linenumber, o_custkey, o_orderdate, l_shipmode, l_receiptdate, l_extendedprice
from {s}.lineitem join {s}.orders on o_orderkey = l_orderkey
where l_receiptdate > date_add(l_commitdate, 60)
"""

# Groups that cannot be added to, so those of changed rows are recomputed.
SUPPLIERS_DAY = """
select l_shipdate, count(distinct l_suppkey) as suppliers, count(*) as line_count
from {s}.lineitem group by l_shipdate
"""

VIEWS = {
    "q1": Q1,
    "day_mode": DAY_MODE,
    "nation_year": NATION_YEAR,
    "customer": CUSTOMER,
    "by_order": BY_ORDER,
    "late_lines": LATE_LINES,
    "suppliers_day": SUPPLIERS_DAY,
}

# What somebody writes by hand who knows that lines only arrive: stored sums, no averages.
_Q1_SUMS = f"""
select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty,
  sum(l_extendedprice) as sum_base_price, sum({_REVENUE}) as sum_disc_price,
  sum({_REVENUE} * (1 + l_tax)) as sum_charge, sum(l_discount) as sum_disc,
  count(*) as count_order
from {{lines}} where l_shipdate <= date'1998-09-02' group by l_returnflag, l_linestatus
"""


def q1_by_hand(lines: str) -> str:
    """The stored sums of Q1 over `lines`."""
    return _Q1_SUMS.format(lines=lines)


def q1_merged(stored: str, lines: str) -> str:
    """The stored sums of Q1 with those of new `lines`."""
    sums = ("sum_qty", "sum_base_price", "sum_disc_price", "sum_charge", "sum_disc", "count_order")
    merged = ", ".join(f"sum({name}) as {name}" for name in sums)
    return (
        f"select l_returnflag, l_linestatus, {merged} "
        f"from (select * from {stored} union all {q1_by_hand(lines)}) "
        "group by l_returnflag, l_linestatus"
    )


def q1_shown(stored: str) -> str:
    """The columns of Q1 from the stored sums."""
    averages = {"avg_qty": "sum_qty", "avg_price": "sum_base_price", "avg_disc": "sum_disc"}
    shown = ", ".join(
        f"cast({total} / count_order as decimal(19, 6)) as {name}"
        for name, total in averages.items()
    )
    return (
        "select l_returnflag, l_linestatus, sum_qty, sum_base_price, sum_disc_price, sum_charge, "
        f"{shown}, count_order from {stored}"
    )
