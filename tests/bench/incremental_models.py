"""Views of TPC-H as incremental models of dbt-spark, as somebody writes them who knows that lines
only come with new orders; `{s}` is the schema of the tables."""

from __future__ import annotations

_NEW = "l_orderkey > (select max({key}) from {{{{ this }}}})"
# New groups only, so that they can be appended.
_BY_ORDER = f"""
{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
select l_orderkey, count(*) as line_count, sum(l_extendedprice) as total,
  max(l_shipdate) as last_day
from {{s}}.lineitem
{{% if is_incremental() %}} where {_NEW.format(key="l_orderkey")} {{% endif %}}
group by l_orderkey
"""
# Groups that are there, so that what is stored of them has to be added; and the last order seen.
_DAY_MODE = f"""
{{{{ config(materialized='incremental', incremental_strategy='merge',
  unique_key=['l_shipdate', 'l_shipmode']) }}}}
with added as (
  select l_shipdate, l_shipmode, count(*) as line_count, sum(l_extendedprice) as price,
    max(l_discount) as top_discount, max(l_orderkey) as last_order
  from {{s}}.lineitem
  {{% if is_incremental() %}} where {_NEW.format(key="last_order")} {{% endif %}}
  group by l_shipdate, l_shipmode
)
{{% if is_incremental() %}}
select a.l_shipdate, a.l_shipmode, a.line_count + coalesce(t.line_count, 0) as line_count,
  cast(a.price + coalesce(t.price, 0) as decimal(25, 2)) as price,
  greatest(a.top_discount, t.top_discount) as top_discount, a.last_order
from added a left join {{{{ this }}}} t
  on t.l_shipdate = a.l_shipdate and t.l_shipmode = a.l_shipmode
{{% else %}} select * from added {{% endif %}}
"""
MODELS = {"by_order": _BY_ORDER, "day_mode": _DAY_MODE}
