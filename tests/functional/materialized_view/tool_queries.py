"""Queries in the forms in which semantic layers and tools of reports write them, over one shop."""

from __future__ import annotations

ORDERS = (
    "select id as order_id, id % 37 as customer_id, id % 11 as product_id, "
    "timestamp'2024-01-01 00:30:00' + make_interval(0, 0, 0, id % 150, id % 23) as ordered_at, "
    "element_at(array('new', 'paid', 'sent', null), cast(id % 4 as int) + 1) as status, "
    "cast(id * 1.25 as decimal(12, 2)) as amount, cast(id % 7 % 5 as int) as quantity, "
    "id % 9 = 0 as is_refund from range(40000)"
)
TABLES = {
    "orders": ORDERS,
    "customers": "select id as customer_id, concat('R', id % 4) as region, "
    "if(id % 3 = 0, 'b2b', 'b2c') as segment from range(40)",
    "products": "select id as product_id, concat('C', id % 3) as category from range(11)",
}
_JOINED = "from @.orders o left join @.customers c on o.customer_id = c.customer_id"
VIEWS = {
    "by_category": "select date_trunc('DAY', o.ordered_at) as day, c.region, p.category, "
    "count(*) as orders, sum(o.amount) as revenue, sum(o.quantity) as units from @.orders o "
    "join @.customers c on o.customer_id = c.customer_id "
    "join @.products p on o.product_id = p.product_id group by 1, 2, 3",
    "by_status": "select cast(ordered_at as date) as day, status, product_id, is_refund, "
    "count(*) as n, sum(amount) as amount, sum(quantity) as quantity from @.orders "
    "group by cast(ordered_at as date), status, product_id, is_refund",
    "by_customer": "select customer_id, date_trunc('DAY', ordered_at) as day, count(*) as n, "
    "sum(amount) as amount from @.orders group by 1, 2",
    "by_region": "select date_trunc('DAY', o.ordered_at) as day, c.region, c.segment, "
    f"count(*) as orders, sum(o.amount) as revenue {_JOINED} group by 1, 2, 3",
}
# Metrics whose measures and dimensions are named by one subquery in another.
_MEASURED = "select date_trunc('day', ordered_at) as metric_time__day, {} from @.orders src_1"
_WITH_CUSTOMER = f"({_MEASURED.format('customer_id as customer, amount as revenue')}) subq_4"
_LOOKED_UP = "left outer join @.customers src_2 on subq_4.customer = src_2.customer_id"
METRICS = {
    "simple": "select metric_time__day, sum(revenue) as revenue from "
    f"({_MEASURED.format('amount as revenue')}) subq_3 group by metric_time__day",
    "deep": "select metric_time__month, revenue from (select metric_time__month, sum(revenue) as "
    "revenue from (select metric_time__month, revenue from (select date_trunc('month', ordered_at) "
    "as metric_time__month, date_trunc('day', ordered_at) as metric_time__day, amount as revenue, "
    "status as order__status from @.orders src_1) subq_1) subq_2 "
    "group by metric_time__month) subq_3",
    "by a dimension": "select subq_4.metric_time__day as metric_time__day, src_2.region as "
    f"customer__region, sum(subq_4.revenue) as revenue from {_WITH_CUSTOMER} {_LOOKED_UP} "
    "group by subq_4.metric_time__day, src_2.region",
    "of some": "select metric_time__day, sum(revenue) as revenue from (select "
    "subq_4.metric_time__day as metric_time__day, src_2.region as customer__region, "
    f"subq_4.revenue as revenue from {_WITH_CUSTOMER} {_LOOKED_UP}) subq_8 "
    "where customer__region = 'R1' group by metric_time__day",
    "ratio": "select metric_time__day, cast(refunds as double) / cast(nullif(orders, 0) as double) "
    "as rate from (select coalesce(a.metric_time__day, b.metric_time__day) as metric_time__day, "
    "max(a.refunds) as refunds, max(b.orders) as orders from (select metric_time__day, "
    f"sum(refunds) as refunds from ({_MEASURED.format('amount as refunds')}) s group by "
    "metric_time__day) a full outer join (select metric_time__day, sum(orders) as orders from "
    f"({_MEASURED.format('1 as orders')}) s group by metric_time__day) b "
    "on a.metric_time__day = b.metric_time__day "
    "group by coalesce(a.metric_time__day, b.metric_time__day)) c",
    "cte": f"with sma_1_cte as ({_MEASURED.format('1 as orders, amount as revenue')}) select "
    "metric_time__day, sum(orders) as orders, sum(revenue) as revenue from sma_1_cte sma_1_cte "
    "group by metric_time__day",
    "distinct": "select metric_time__month, count(distinct customers) as customers from (select "
    "date_trunc('month', ordered_at) as metric_time__month, customer_id as customers "
    "from @.orders) s group by metric_time__month",
    "days": "select metric_time__day, sum(revenue) as revenue from "
    f"({_MEASURED.format('amount as revenue')} where date_trunc('day', ordered_at) between "
    "'2024-02-01' and '2024-03-01') s group by metric_time__day",
    "of booleans": "select metric_time__day, sum(refunds) as refunds from "
    f"({_MEASURED.format('case when is_refund then 1 else 0 end as refunds')}) s "
    "group by metric_time__day",
}
_HALF = "ordered_at >= cast('2024-02-01 00:00:00.000000' as timestamp) and ordered_at < "
CHARTS = {
    "months": "select date_trunc('MONTH', ordered_at) as `__timestamp`, sum(amount) as "
    f"`SUM(amount)` from @.orders where {_HALF} cast('2024-06-01 00:00:00.000000' as timestamp) "
    "group by date_trunc('MONTH', ordered_at) order by `SUM(amount)` desc limit 1000",
    "one status": "select date_trunc('day', `ordered_at`) as `__timestamp`, `status` as `status`, "
    "count(*) as `count` from @.orders where `ordered_at` >= cast('2024-02-01' as date) and "
    "`ordered_at` < cast('2024-03-01' as date) and ((status = 'paid')) group by "
    "date_trunc('day', `ordered_at`), `status` order by `count` desc limit 10000",
    "largest series": "select date_trunc('WEEK', o.ordered_at) as wk, o.status as status, "
    "sum(o.quantity) as q from @.orders o join (select status as status__, sum(quantity) as "
    "mme_inner__ from @.orders group by status order by mme_inner__ desc limit 3) as series_limit "
    "on o.status = series_limit.status__ group by 1, 2",
    "dataset": "select region as region, sum(amount) as `SUM(amount)` from (select o.*, c.region, "
    f"c.segment {_JOINED}) as virtual_table where region in ('R1', 'R2') group by region limit 100",
    "having": "select status, avg(amount) as `AVG(amount)` from @.orders group by status "
    "having ((count(*) > 10)) order by `AVG(amount)` desc limit 50",
}
_QUOTED = "from @.`orders` `orders`"
BOARDS = {
    "group": f"select `orders`.`status` as `status`, sum(`orders`.`amount`) as `sum_ok` {_QUOTED} "
    "group by `orders`.`status`",
    "total": f"select sum(`orders`.`amount`) as `sum_ok` {_QUOTED} having (count(1) > 0)",
    "quarter": "select quarter(`orders`.`ordered_at`) as `qr`, year(`orders`.`ordered_at`) as "
    f"`yr`, count(1) as n {_QUOTED} "
    "group by quarter(`orders`.`ordered_at`), year(`orders`.`ordered_at`)",
    "truncated": "select cast(trunc(`orders`.`ordered_at`, 'MM') as timestamp) as `tmn`, "
    f"sum(`orders`.`amount`) as `s` {_QUOTED} "
    "group by cast(trunc(`orders`.`ordered_at`, 'MM') as timestamp)",
    "filter": f"select `c`.`region` as `region`, sum(`o`.`amount`) as `s` {_JOINED} where "
    "(case when `c`.`region` in ('R1', 'R3') then true else false end) group by `c`.`region`",
    "of each customer": "select `o`.`status` as `status`, avg(cast(`t0`.`x` as double)) as `a` "
    "from @.`orders` `o` join (select `customer_id`, sum(`amount`) as `x` from @.`orders` "
    "group by `customer_id`) `t0` on (`o`.`customer_id` = `t0`.`customer_id`) "
    "group by `o`.`status`",
    "with null": "select `status`, count(distinct `product_id`) as `ctd` from @.`orders` where "
    "((`status` in ('paid', 'new')) or (`status` is null)) group by `status`",
    "weekday": f"select dayofweek(`orders`.`ordered_at`) as `wd`, sum(amount) as s {_QUOTED} "
    "group by dayofweek(`orders`.`ordered_at`)",
}
_EXPLORED = "from @.orders as orders left join @.customers as customers on " \
    "orders.customer_id = customers.customer_id"  # fmt: skip
EXPLORES = {
    "month": "select date_format(orders.ordered_at, 'yyyy-MM') as `orders.ordered_month`, "
    "customers.region as `customers.region`, coalesce(sum(orders.amount), 0) as `orders.total`, "
    f"count(*) as `orders.count` {_EXPLORED} where ((( orders.ordered_at ) >= "
    "((timestamp '2024-02-01')) and ( orders.ordered_at ) < ((timestamp '2024-04-01')))) "
    "group by 1, 2 order by 1 desc limit 500",
    "measure": "select to_date(orders.ordered_at) as `orders.date`, coalesce(sum(case when "
    "(orders.status = 'paid') then orders.amount else null end), 0) as `x` "
    "from @.orders as orders group by 1 order by 1 desc limit 500",
    "case": "select case when customers.segment = 'b2b' then 'business' when customers.segment = "
    f"'b2c' then 'people' else 'other' end as seg, count(*) as n {_EXPLORED} group by 1",
    "tier": "select case when orders.product_id < 3 then 'Below 3' when orders.product_id >= 3 and "
    "orders.product_id < 7 then '3 to 6' when orders.product_id >= 7 then '7 or Above' else "
    "'Undefined' end as tier, sum(orders.amount) as s from @.orders orders group by 1",
    "share": "select status, sum(amount) / sum(sum(amount)) over () as share from @.orders "
    "group by status",
    "like": "select p.category, sum(o.amount) as s from @.orders o join @.products p on "
    "o.product_id = p.product_id join @.customers c on c.customer_id = o.customer_id "
    "where upper(p.category) like upper('%c1%') group by 1",
}
_SOURCE = "date_trunc('month', `source`.`ordered_at`)"
_NAMED = "`Customers - Customer`"
QUESTIONS = {
    "source": f"select {_SOURCE} as `ordered_at`, sum(`source`.`amount`) as `sum` from (select "
    f"o.* from @.`orders` o) as `source` group by {_SOURCE} order by {_SOURCE} asc",
    "joined": f"select {_NAMED}.`region` as `r`, count(*) as `count` from @.`orders` left join "
    f"@.`customers` as {_NAMED} on `orders`.`customer_id` = {_NAMED}.`customer_id` where "
    "(`orders`.`ordered_at` >= timestamp '2024-02-01 00:00:00') and (`orders`.`ordered_at` < "
    f"timestamp '2024-03-01 00:00:00') group by {_NAMED}.`region` order by `count` desc",
    "nested": "select `source`.`status` as `status`, `source`.`sum` as `sum` from (select "
    "`orders`.`status` as `status`, sum(`orders`.`amount`) as `sum` from @.`orders` group by "
    "`orders`.`status`) as `source` where `source`.`sum` > 100 limit 1048575",
    "count_if": "select date_trunc('day', ordered_at) as d, count_if(status = 'paid') as n "
    "from @.orders group by 1",
    "share": "select date_trunc('day', ordered_at) as d, sum(case when status = 'paid' then 1 else "
    "0.0 end) / count(*) as share from @.orders group by 1",
    "share of all": "select sum(case when status = 'paid' then 1 when status = 'new' then null "
    "else 0.00 end) / count(*) as share, sum(if(is_refund, 0.0, 1)) as kept from @.orders",
    "sum where": "select product_id, sum(case when status = 'paid' then amount else 0.0 end) as s "
    "from @.orders group by 1",
}
REPORTS = {
    "folded": "select `region`, sum(`amount`) as `a0` from (select `basetable0`.`amount` as "
    "`amount`, `basetable1`.`region` as `region` from @.`orders` as `basetable0` left outer join "
    "@.`customers` as `basetable1` on (`basetable0`.`customer_id` = `basetable1`.`customer_id`)) "
    "as `rows` group by `region`",
    "top": "select top.c1, top.a0 from (select `OTBL`.`status` as c1, sum(`OTBL`.`amount`) as a0, "
    "count(1) as a1 from (select `order_id`, `customer_id`, `ordered_at`, `status`, `amount` from "
    "@.`orders`) as `OTBL` group by `OTBL`.`status`) as top where not top.a0 is null limit 1000001",
    "filtered": "select `status`, a0 from (select `status`, sum(`amount`) as a0 from (select "
    "`status`, `amount` from @.`orders` where `ordered_at` >= timestamp'2024-02-01 00:00:00' and "
    "`ordered_at` < timestamp'2024-05-01 00:00:00') as `ITBL` group by `status`) as `ITBL2` "
    "where not a0 is null order by a0 desc limit 501",
    "blank": "select `C1`, count(distinct `C2`) as a0 from (select case when `OTBL`.`status` is "
    "null then 'blank' else `OTBL`.`status` end as `C1`, `OTBL`.`product_id` as C2 from @.`orders` "
    "as `OTBL`) t group by `C1`",
    "not null": "select `orders`.status `orders__status`, count(*) `orders__count` from @.orders "
    "as `orders` where (`orders`.status is not null) group by 1 order by 2 desc limit 10000",
    "rollup": "select status, product_id, sum(amount) as s from @.orders "
    "group by rollup(status, product_id)",
}
_STAGED = "orders as (select * from @.orders), customers as (select * from @.customers)"
MODELS = {
    "steps": f"with {_STAGED}, joined as (select o.*, c.region from orders o left join customers c "
    "using (customer_id)), final as (select region, date_trunc('month', ordered_at) as m, "
    "sum(amount) as revenue, count(*) as n from joined group by 1, 2) select * from final",
    "month over month": "with m as (select date_trunc('month', ordered_at) as m, sum(amount) as "
    "revenue from @.orders group by 1) select m, revenue, revenue - lag(revenue) over (order by m) "
    "as diff from m",
    "filters": "select product_id, sum(amount) filter (where status = 'paid') as paid, sum(amount) "
    "filter (where is_refund) as refunded, count(*) filter (where status is null) as odd "
    "from @.orders group by product_id",
    "date spine": "with days as (select explode(sequence(date'2024-01-01', date'2024-03-01', "
    "interval 1 day)) as d), o as (select cast(ordered_at as date) as d, sum(amount) as s from "
    "@.orders group by 1) select days.d, coalesce(o.s, 0) as s from days left join o "
    "on o.d = days.d",
    "first and last": "select customer_id, min(cast(ordered_at as date)) as first, "
    "max(to_date(ordered_at)) as last from @.orders group by customer_id",
    "exists": "select c.region, count(*) as n from @.customers c where exists (select 1 from "
    "@.orders o where o.customer_id = c.customer_id) group by c.region",
    "best day": "select * from (select customer_id, date_trunc('day', ordered_at) as d, "
    "sum(amount) as s, row_number() over (partition by customer_id order by sum(amount) desc, "
    "date_trunc('day', ordered_at)) as rn from @.orders group by 1, 2) where rn = 1",
    "above mean": "select customer_id, sum(amount) as s from @.orders group by customer_id having "
    "sum(amount) > (select avg(x) from (select sum(amount) as x from @.orders "
    "group by customer_id))",
    "means": "select region, category, avg(o.amount) as mean, sum(o.amount) / sum(o.quantity) as "
    "price from @.orders o join @.customers c using (customer_id) join @.products p "
    "using (product_id) group by region, category",
    "parts": "select extract(year from ordered_at) as y, extract(month from ordered_at) as m, "
    "count(*) as n from @.orders where ordered_at >= '2024-03-01' group by all",
    "ends": "select last_day(cast(ordered_at as date)) as e, dateadd(month, 1, date_trunc('month', "
    "ordered_at)) as following, sum(amount) as s from @.orders group by 1, 2",
    "buckets": "select floor(product_id / 4) as b, sum(amount) as s, sum(amount * 1.1) as gross "
    "from @.orders group by 1",
    "customers": "select count(*) as n from (select distinct customer_id from @.orders)",
    "newest": "select * from @.orders where ordered_at >= (select max(date_trunc('day', "
    "ordered_at)) from @.orders)",
}
TOOLS = {
    "metrics": METRICS,
    "charts": CHARTS,
    "boards": BOARDS,
    "explores": EXPLORES,
    "questions": QUESTIONS,
    "reports": REPORTS,
    "models": MODELS,
}
