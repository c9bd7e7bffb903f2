"""Queries that are refreshed fast, by name; `@.` stands for the schema."""

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
    # Of groups that are left out the quotient is an error.
    "frequent": "select customer, 100 / (count(*) - 1) as x, avg(amount) as mean, max(id) as last "
    "from @.orders group by customer having count(*) > 1 and avg(amount) > 1",
    "final": "with priced as (select * from @.orders), summed as (select customer, amount, "
    "sum(price) as total, count(*) as n from priced group by all), final as (select * from summed "
    "where customer <> 'bob' and n < 3) select amount, customer, total / n as mean from final",
    "on_both_sides": "select customer from @.orders intersect select name from @.customers",
    "on_one_side": "select customer as name from @.orders except select name from @.customers",
    "ranked": "select id, rank() over (partition by customer order by amount, id) as k "
    "from @.orders",
    "latest": "select id, customer, amount from (select *, row_number() over "
    "(partition by customer order by amount desc nulls last, id) as k from @.orders) ranked "
    "where k = 1",
    # The newest of each customer, whichever it is of equal ones, below others.
    "newest": "with numbered as (select *, row_number() over (partition by customer "
    "order by amount desc nulls last, id) as k from @.orders), newest as (select * from numbered "
    "where k = 1) select c.city, count(*) as n, sum(o.price) as total from newest o "
    "left join @.customers c on c.name = o.customer group by c.city",
    "steps": "select id, amount - lag(amount) over (partition by customer order by amount, id) "
    "as step from @.orders",
    "lateral_first": "select c.name, l.id, l.amount from @.customers c left join lateral "
    "(select o.id, o.amount from @.orders o where o.customer = c.name "
    "order by o.amount desc, o.id limit 2) l on true",
    "nested": "select n, count(*) as times from (select customer, count(*) as n from @.orders "
    "group by customer) counted group by n",
    "decimals": "select customer, sum(price) as total, avg(price) as mean from @.orders "
    "group by customer",
    "floats": "select customer, sum(cast(amount as double)) as total from @.orders "
    "group by customer",
    "named_alike": "select s.id as d, customer.city as s from @.orders as s "
    "full join @.customers as customer on s.customer = customer.name",
    "lateral_names": "select o.id, l.twice, m.more from @.orders o, lateral (select "
    "o.amount * 2 as twice) l, lateral (select l.twice + 1 as more) m",
    "lateral_rows": "select o.id, l.city from @.orders o left join lateral (select c.city from "
    "@.customers c where c.name = o.customer and o.amount > 5) l on true",
    "lateral_groups": "select c.name, l.n, l.high from @.customers c, lateral (select "
    "count(*) as n, max(o.amount) as high from @.orders o where o.customer = c.name) l",
    "lateral_keys": "select c.name, l.amount, l.n from @.customers c left join lateral (select "
    "o.amount, count(*) as n from @.orders o where o.customer = c.name group by o.amount) l "
    "on true",
    "unused": "with c as (select name from @.customers) select id, amount from @.orders",
    "pairs": "select o.id, c.name from @.orders o, @.customers c where o.amount > 15",
    "distinct_conditions": "select distinct amount > 15 or customer = 'ann' as x, "
    "amount is null as y from @.orders",
    "names_only": "select customer from (select customer, count(*) as n from @.orders "
    "group by customer) counted where n > 1",
    "with_count": "select customer, count(*) over (partition by customer) as n from @.orders",
    "of_groups": "select o.id from @.orders o left semi join (select name, count(*) as n from "
    "@.customers group by name) c on c.name = o.customer",
    "mean": "select customer, mean(amount) as m from @.orders group by customer",
    "conditions": "select customer, count(*) filter (where amount > 5) as n, "
    "sum(price) filter (where amount > 5) as total, count_if(amount > 10) as many, "
    "every(amount > 5) as each, bool_or(amount > 20) as one, mean(amount) as middle "
    "from @.orders group by customer",
    "shares": "select customer, amount, count(*) as n, "
    "sum(count(*)) over (partition by customer) as of_all, "
    "rank() over (partition by customer order by sum(price) desc) as place "
    "from @.orders group by customer, amount having count(*) > 0",
    "rolled_up": "select customer, amount, grouping(amount) as g, grouping_id() as i, "
    "count(*) as n, sum(price) as total, max(amount) as high "
    "from @.orders group by rollup (customer, amount)",
    "cubed": "select o.customer, c.city, avg(o.amount) as mean, min(o.id) as low "
    "from @.orders o left join @.customers c on o.customer = c.name "
    "group by cube (o.customer, c.city)",
    "in_sets": "select customer, coalesce(amount, -1) as amount, grouping(customer) as g, "
    "grouping_id() as i, count(distinct price) as n from @.orders "
    "group by grouping sets ((customer, amount), (amount))",
    "above_mean": "select id, amount - (select min(amount) from @.orders) as over from @.orders "
    "where amount > (select avg(amount) from @.orders) or amount is null",
    "beside": "select c.name, c.city, t.total from @.customers c cross join "
    "(select sum(amount) as total from @.orders) t",
    "spent": "select name, (select sum(o.price) from @.orders o where o.customer = c.name "
    "and o.amount > 5) as spent, (select count(*) from @.orders o where o.customer <=> c.name) "
    "as n from @.customers c",
    "above_all": "select customer, sum(amount) as total from @.orders group by customer "
    "having sum(amount) > (select avg(amount) from @.orders)",
    "marked": "select id, exists (select 1 from @.customers c where c.name = o.customer) as known "
    "from @.orders o",
    "either": "select id from @.orders o where amount > 15 or customer not in "
    "(select name from @.customers)",
    "named_in_full": "select @.orders.id, @.customers.city from @.orders "
    "join @.customers on @.orders.customer = @.customers.name",
    "some_ids": "select id from @.orders group by id",
    "through_view": "select city, count(*) as n from @.places group by city",
}
