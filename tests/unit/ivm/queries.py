"""Queries of every form that has a delta rule, over three tables of numbers and NULLs."""

from __future__ import annotations

R, S, T = "mv_table_0", "mv_table_1", "mv_table_2"

ROW_BY_ROW = {
    "filter": f"select a, b + 1 as c from {R} where v > 1 or b is null",
    "join": f"select r.a, s.b from {R} r join {S} s on r.a = s.a",
    "joins": f"select r.a, s.b, t.v from {R} r join {S} s on r.a = s.a join {T} t on s.b < t.b "
    "where r.v <> t.v",
    "self_join": f"select x.a, y.a as a2 from {R} x join {R} y on x.b = y.b",
    "cross_join": f"select r.a, s.b, t.v from {R} r, {S} s cross join {T} t",
    "left_join": f"select r.a, s.b from {R} r left join {S} s on r.a = s.a and s.v > 1",
    "without_partner": f"select r.a from {R} r left join {S} s on r.a = s.a where s.b is null",
    "right_join": f"select s.a, r.b from {R} r right join {S} s on r.a = s.a",
    "full_join": f"select r.a, s.b, coalesce(r.a, s.a) c from {R} r full join {S} s "
    "on r.a = s.a and r.v < s.v",
    "full_and_left": f"select * from {R} full join {S} using (a) left join {T} using (b)",
    "left_and_left": f"select r.a, s.b, t.v from {R} r left join {S} s on r.a = s.a "
    f"left join {T} t on s.b = t.b where r.v > 1",
    "mixed_joins": f"select r.a, s.b, t.v from {R} r join {S} s on r.a = s.a "
    f"left join {T} t on s.b = t.b and r.v = t.v join {S} s2 on s2.a = t.a",
    "left_self_join": f"select r.a, r.b, q.v from {R} r left join {R} q on r.a = q.b",
    "semi_join": f"select r.a from {R} r left semi join {S} s on r.a = s.a and s.v > r.v",
    "anti_join": f"select r.a, v from {R} r left anti join {S} s on r.a = s.a",
    "exists": f"select a, v from {R} r where exists (select 1 from {S} s where s.a = r.a "
    "and s.b > 1) and r.v > 1",
    "not_exists": f"select a, v from {R} r where not exists (select 1 from {S} s join {T} t "
    "on s.a = t.a where s.b = r.b and t.v >= r.v)",
    "in": f"select a, v from {R} r where r.a in (select s.a from {S} s where s.b = r.b)",
    "not_in": f"select a, v from {R} r where r.a not in (select a from {S} where v = 2)",
    "not_in_correlated": f"select a from {R} r where a not in (select s.a from {S} s "
    "where s.v = r.v)",
    "several_conditions": f"select a, v from {R} r where a in (select a from {S}) and not exists "
    f"(select 1 from {T} t where t.b = r.b) and b in (select b from {R})",
    "in_pairs": f"select a, v from {R} where (a, b) in (select a, b from {S})",
    "in_groups": f"select a, v from {R} where a in (select a from {S} group by a "
    "having count(*) > 1)",
    "exists_anything": f"select a, v from {R} where exists (select 1 from {S} where v = 3)",
    "union_all": f"select a, b from {R} union all select b, v from {S}",
    "named_like_columns": f"select a.v, b.b from {R} as a left join {S} as b on a.v = b.a "
    f"where exists (select 1 from {T} v where v.b = a.b)",
    "quoted_lateral": f"select r.a, `l v`.x from {R} r lateral view "
    "explode(array(r.a, r.b)) `l v` as x where r.v > 1",
    "unused_with": f"with c as (select a from {S}) select a, b from {R}",
    "with": f"with c as (select a, b from {R}), d as (select c.a from c where b > 1) "
    "select d.a, c.b from d join c on c.a = d.a "
    f"where d.a in (with c as (select b from {S}) select b from c)",
}
BY_GROUP = {
    "union": f"select a, b from {R} union select b, v from {S}",
    "intersect": f"select a, b from {R} intersect select b, v from {S}",
    "except": f"select a, b from {R} except select b, v from {S}",
    "intersect_all": f"select a, b from {R} intersect all select b, v from {S}",
    "except_all": f"select a, b from {R} except all select b, v from {S}",
    "distinct": f"select distinct a, b from {R}",
    "distinct_explode": f"select distinct explode(array(a, b)) x from {R}",
    "distinct_join": f"select distinct r.a, s.v from {R} r join {S} s on r.b = s.b",
    "distinct_groups": f"select distinct n from (select a, count(*) n from {R} group by a) d",
    "distinct_over_groups": f"select distinct count(*) n, max(b) m from {R} group by a",
    "group": f"select a, count(*) n, sum(v) s, min(b) m from {R} group by a",
    "having": f"select a + b as k, count(distinct v) n from {R} group by a + b having count(*) > 1",
    "group_left_join": f"select r.a, s.b, sum(r.v) x from {R} r left join {S} s on r.a = s.a "
    "group by r.a, s.b",
    "nested": f"select n, count(*) c from (select a, count(*) n from {R} group by a) d group by n",
    "joined_groups": f"select d.a, d.n, s.b from (select a, count(*) n from {R} group by a) d "
    f"join {S} s on s.v = d.n",
    "full_join_of_groups": "select d.a, e.m from "
    f"(select a, count(*) n from {R} group by a) d full join "
    f"(select b, max(v) m from {S} group by b) e on d.a = e.b",
    "with_twice": f"with c as (select a, sum(v) x from {R} group by a) "
    "select c.a, c2.x from c join c c2 on c.x = c2.x",
    "rank": f"select a, v, rank() over (partition by a order by v, b) k from {R}",
    "two_windows": f"select a, v, sum(v) over (partition by a, b) k, "
    f"count(*) over (partition by b, a order by v) l from {R} where v > 1",
    "first_of_each": "select a, k from (select a, v, rank() over "
    f"(partition by a order by v, b) k from {R}) d where k = 1",
    "keys_of_conditions": f"select distinct a > 1 or b > 1 as x, v is null as y from {R}",
    "groups_of_conditions": f"select not a > 1 as x, count(distinct v) n from {R} "
    "group by not a > 1, a = b and b = v",
    "condition_in": f"select a from {R} where (a > 1 and b > 1) in (select a = 1 from {S}) "
    f"and (not a > 1) not in (select b = 1 from {T})",
    "keys_of_groups": f"select a from (select a, count(*) n from {R} group by a) d where n > 1",
    "keys_of_intersect": f"select x + 1 as y from (select a x from {R} intersect "
    f"select b from {S}) d",
    "size_of_partition": f"select a, count(*) over (partition by a) n from {R}",
    "semi_join_of_groups": f"select r.a, r.b from {R} r left semi join "
    f"(select a, count(*) n from {S} group by a) d on d.a = r.a and d.n < r.b",
    "exists_in_groups": f"select a from {R} r where not exists (select 1 from "
    f"(select b, max(v) m from {S} where a in (select a from {T}) group by b) d "
    "where d.b = r.b and d.m > r.v)",
    "groups_of_groups": f"select n, a from (select a, b, count(*) n from {R} group by a, b) d "
    "where n > 1 and b is null",
    "named_window": f"select a, v, sum(v) over w k from {R} window w as (partition by b)",
    "union_of_groups": f"select a, b from {R} where a > 1 union all "
    f"select b, sum(v) from {S} group by b union all select 1, 2",
    "self_join_of_groups": f"select x.a, y.n from {R} x join "
    f"(select a, count(*) n from {R} group by a) y on x.a = y.a "
    f"where y.n > 1 and x.v in (select v from {S})",
}
ADDED = {
    "all_functions": f"select a, count(*) n, sum(v) s, min(b) m, avg(v) x from {R} group by a",
    "one_group": f"select count(*) n, sum(v) + 1 s, max(b) m, coalesce(avg(v), 0) x from {R}",
    "expressions": f"select a + b k, 2 * sum(v) - count(b) s, max(v) x from {R} group by a + b, v",
    "left_join_groups": "select r.a, s.b, count(*) n, max(r.v) x, min(s.v) y "
    f"from {R} r left join {S} s on r.a = s.a group by r.a, s.b",
    "unused_with_of_groups": f"with c as (select a from {S}) select a + b k, sum(v) s from {R} "
    "group by a + b, b",
    "one_group_semi": f"select sum(v) s from {R} where a in (select a from {S})",
    "union_below": "select a, sum(v) s, count(v) c, sum(b) t from "
    f"(select a, b, v from {R} union all select b, a, v from {T}) u group by a",
}
AT_THE_TOP = {
    "last_of_each": "select a, b, k + 1 as l from (select a, b, v, row_number() over "
    f"(partition by a order by v desc, b) k from {R}) d where k = 1 and v > 1",
}
NOT_FAST = {
    f"select count(distinct v) n from {R}": "NOT_ADDITIVE",
    f"select try_sum(v) n from {R} where a in (select a from {S})": "NOT_ADDITIVE",
    f"select a from {R} where b in (select mean(b) from {S})": "ONE_GROUP",
    f"select rank() over (order by v) k from {R}": "WINDOW",
    f"select a, count(*) n from {R} group by rollup (a)": "GROUPING_SETS",
    f"select a, count(*) n from {R} group by grouping sets ((a), ())": "GROUPING_SETS",
    f"select a from {R} order by a limit 1": "LIMIT",
    f"select a, (select max(v) from {S}) m from {R}": "SCALAR_SUBQUERY",
    f"select a from {R} where v > (select max(v) from {S})": "SUBQUERY",
    f"select a from {R} where v > 1 or a in (select a from {S})": "SUBQUERY",
    f"select a from {R} tablesample (10 percent)": "SAMPLE",
    f"select a, b, sum(count(*)) over (partition by a) k from {R} group by a, b": "WINDOW",
    f"with recursive c as (select a from {R} union all select a + 1 from c where a < 3) "
    "select a from c": "RECURSIVE",
    "select x from nowhere": "NOT_PARSED",
    f"select posexplode(array(a, b)) as (n, x) from {R}": "NOT_PARSED",
    f"select d.a, s.b from (select a, first(v) x from {R} group by a) d "
    f"join {S} s on s.v = d.x": "ORDER_DEPENDENT",
    f"select r.a, t.b from {R} r left semi join {S} s on r.a = s.a "
    f"full join {T} t on r.a = t.a": "SEMI_JOIN",
    f"select r.a, x from {R} r, "
    f"lateral (select max(v) x from {S} s where s.a = r.a) l": "CORRELATED",
    f"select a from {R} qualify rank() over (partition by a order by v) = 1": "WINDOW",
}
