"""Queries of every form that has a delta rule, over three tables of numbers and NULLs."""

from __future__ import annotations

R, S, T = "mv_table_0", "mv_table_1", "mv_table_2"

ROW_BY_ROW = {
    "filter": f"select a, b + 1 as c from {R} where v > 1 or b is null",
    "join": f"select r.a, s.b from {R} r join {S} s on r.a = s.a",
    "subquery_in_on": f"select r.a, s.b, t.v from {R} r join {S} s on r.a = s.a and s.v >= "
    f"(select min(v) from {T}) left join {T} t on t.a = s.a and t.b > 1",
    "underscores": f"select r.s__v x, r__s.v from (select a, b as s__v from {R}) r "
    f"left join {S} r__s on r__s.a = r.a",
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
    "constant_value": f"select a, v - (select max(v) from {S} where b > 1) x from {R}",
    "compared_value": f"select a, v from {R} where v > (select avg(v) from {R}) or b is null",
    "value_of_with": f"with m as (select max(v) x, min(v) y from {S}) "
    "select a, (select y from m) l "
    f"from {R} where v < (select x from m)",
    "crossed_row": f"select r.a, m.n, m.x from {R} r cross join "
    f"(select count(*) n, max(v) x from {S}) m left join {T} t on t.a = m.x",
    "left_row": f"select r.a, m.x from {R} r left join (select max(v) x from {S}) m on r.v = m.x",
    "in_one_row": f"select a from {R} where v in (select max(v) from {R}) and b not in "
    f"(select min(b) from {S})",
    "lateral_rows": f"select r.a, l.v, l.w from {R} r, lateral (select s.v, s.b + r.v as w "
    f"from {S} s where s.a = r.a and s.v > r.b and s.b > 0) l where l.w > 1 or r.b is null",
    "lateral_on": f"select r.a, l.v from {R} r join lateral (select s.v, s.b from {S} s "
    f"where s.a = r.a) l on l.b <= r.v join {T} t on t.a = l.v",
    "lateral_left": f"select r.a, l.w, l.v from {R} r left join lateral (select "
    f"coalesce(r.b, 0) as w, s.v from {S} s where s.a = r.a) l on l.v > 1",
    "lateral_alike": f"select r.a, l.v, m.w from {R} r, lateral (select l.v from {S} l where "
    f"l.a = r.a and l.v in (select l.b from {T} l)) l, lateral (select l.v + r.b as w) m "
    f"where exists (select 1 from {T} l where l.a = r.b)",
    "lateral_groups": f"select r.a, l.n, l.x + r.v as x, m.y from {R} r cross join lateral "
    f"(select count(*) n, max(s.v) x from {S} s where s.a = r.a) l left join lateral "
    f"(select sum(t.v) y from {T} t where t.b = l.x) m on true where l.n < 3",
    "lateral_by_groups": f"select r.a, l.b, l.n from {R} r, lateral (select s.b, count(*) n, "
    f"max(s.v) x from {S} s where s.a = r.a and s.v > 0 group by s.b having count(*) < 3) l "
    "where l.x > r.b",
    "lateral_left_groups": f"select r.a, l.b, l.n from {R} r left join lateral (select s.b, "
    f"sum(s.v) n from {S} s where s.a <=> r.a and s.v = r.v group by s.b) l",
    "lateral_key_group": f"select r.a, l.n from {R} r join lateral (select s.a as k, count(*) n "
    f"from {S} s where s.a = r.a group by 1) l on l.n > 1",
    "lateral_distinct": f"select r.a, l.w, l.b from {R} r left join lateral (select distinct "
    f"s.v + 1 as w, s.b from {S} s where s.a = r.b) l",
    "lateral_names": f"select x, y from {R} r, lateral (select r.a + r.b as x, r.v as v "
    "where r.v > 0) l, lateral (select l.x * l.v as y) m",
    "lateral_all_rows": f"select r.a, l.x, t.b from {R} r, lateral (select s.v + r.v as x "
    f"from {S} s) l join {T} t on t.a = r.a",
    "lateral_alone": f"select r.a, l.x from {R} r, lateral (select max(v) x from {S}) l",
    "lateral_twice": f"select r.a, l.v, m.v as w from {R} r, lateral (select s.v, s.b from {S} s "
    f"where s.a = r.a) l, lateral (select t.v from {T} t where t.b = l.b) m",
    "nested_values": f"select a from {R} where v >= (select min(v) from {S} where v > "
    f"(select min(v) from {T}))",
    "value_by_key": f"select a, (select sum(s.v) + count(s.b) from {S} s where s.a = r.a "
    f"and s.b > 1) x, (select count(*) from {S} s where r.b = s.b and s.a <=> r.a) n from {R} r",
    "value_of_itself": f"select a, v from {R} r where v = (select max(v) from {R} i "
    "where i.a = r.a) or v is null",
    "value_after_joins": "select r.a, t.v, coalesce((select max(s.v) from "
    f"{S} s join {T} u on s.b = u.b where s.a = t.a and r.b = s.b), 0) x "
    f"from {R} r left join {T} t on r.a = t.a where r.v > 1 and exists "
    f"(select 1 from {S} s where s.b = r.b)",
    "exists_as_value": f"select a, exists (select 1 from {S} s where s.a = r.a and s.v > 1) x, "
    f"not exists (select 1 from {T} where v > 2) y from {R} r",
    "exists_limited": f"select a, v from {R} r where exists (select distinct s.v from {S} s "
    f"where s.a = r.a order by s.v limit 1) and b not in (select distinct v from {T} order by v)",
    "exists_group": f"select a, v from {R} r where not exists (select s.b, max(s.v) from {S} s "
    "where s.a = r.a and s.v > r.v group by s.b)",
    "exists_groups": f"select a, v from {R} r where exists (select s.b from {S} s "
    "where s.a = r.a and s.v > 1 group by s.b having count(*) > 1)",
    "not_exists_groups": f"select a, v, exists (select s.a from {S} s where s.a = r.b "
    f"group by s.a having min(s.v) < 2) x from {R} r where v > 2 or not exists (select 1 "
    f"from {T} t where t.b <=> r.b and t.a = r.a group by t.a, t.v having sum(t.v) > 2)",
    "exists_or": f"select a, v from {R} r where v > 2 or exists (select 1 from {S} s "
    "where s.a = r.a and s.b = r.b) or not (v = 1 and exists "
    f"(select 1 from {T} t where t.b <=> r.b))",
    "in_or": f"select a, v from {R} where v > 2 or a in (select a from {R} where b = 2)",
    "not_in_or": f"select a, v from {R} r where v > 2 or a not in "
    f"(select s.b from {S} s where s.a = r.b) or not (b in (select t.b from {T} t))",
    "in_and_or": f"select a, b from {R} r where v < 3 and (b in (select b from {S} where v < 3) "
    f"or not (a > 1 or b not in (select s.v from {S} s where s.a = r.a)))",
    "schema_names": f"select s.o.a, c.s.o.b from {R} o where c.s.o.v > 1 and exists "
    f"(select 1 from {S} x where x.b = s.o.b)",
    "union_all": f"select a, b from {R} union all select b, v from {S}",
    "named_like_columns": f"select a.v, b.b from {R} as a left join {S} as b on a.v = b.a "
    f"where exists (select 1 from {T} v where v.b = a.b)",
    "quoted_lateral": f"select r.a, `l v`.x from {R} r lateral view "
    "explode(array(r.a, r.b)) `l v` as x where r.v > 1",
    "unused_with": f"with c as (select a from {S}) select a, b from {R}",
    "imports": f"with r as (select * from {R}), s as (select * from {S}), j as (select r.a, r.b, "
    "s.v from r join s on r.a = s.a) select a, v from j where b > 0",
    "imports_of_one_name": f"with r as (select * from {R}) select a from (select * from r) r "
    f"where exists (select 1 from (select * from {S}) r where r.a > 1 and r.b = 2)",
    "imports_correlated": f"with r as (select * from {R}), s as (select * from {S}) select r.a "
    "from r where exists (select 1 from s where s.b = r.b and s.v = r.v)",
    "imports_left": f"with r as (select *, a + b as c from {R}), s as (select * from {S} "
    "where v > 1) select r.c, s.b from r left join s on r.a = s.a",
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
    "sets": "select a, b, grouping_id(b, a) i, grouping(a) g, count(distinct v) n, "
    f"coalesce(a, -1) k from {R} group by grouping sets ((b, a), (a), (b), (a)) "
    "having count(a) > 0",
    "sets_below": "select n, i, count(*) c from (select count(*) n, grouping_id() i "
    f"from {R} group by b, rollup (a, v)) d group by n, i",
    "distinct_sets": f"select distinct b, count(*) n from {R} group by a, cube (b)",
    "windows_over_sets": "select a, b, rank() over (partition by grouping(b) order by sum(v), a, b)"
    f" k from {R} group by a, rollup (b)",
    "distinct": f"select distinct a, b from {R}",
    "distinct_explode": f"select distinct explode(array(a, b)) x from {R}",
    "distinct_join": f"select distinct r.a, s.v from {R} r join {S} s on r.b = s.b",
    "distinct_groups": f"select distinct n from (select a, count(*) n from {R} group by a) d",
    "distinct_over_groups": f"select distinct count(*) n, max(b) m from {R} group by a",
    "group": f"select a, count(*) n, sum(v) s, min(b) m from {R} group by a",
    "having": f"select a + b as k, count(distinct v) n from {R} group by a + b having count(*) > 1",
    "group_left_join": f"select r.a, s.b, sum(r.v) x from {R} r left join {S} s on r.a = s.a "
    "group by r.a, s.b",
    "filtered_distinct": f"select a, count(distinct v) filter (where b > 1) n from {R} group by a",
    "filtered_window": f"select a, v, sum(v) filter (where b > 1) over (partition by a) s, "
    f"bool_or(v > 1) over (partition by a) o from {R}",
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
    "window_over_groups": "select a, b, sum(v) s, sum(sum(v)) over (partition by a) t, "
    f"rank() over (partition by a order by count(*) desc, b) k from {R} group by a, b",
    "window_over_expressions": "select distinct a + 1 as k, count(*) over (partition by a + 1) n, "
    f"max(count(b)) over w m from {R} where v > 1 group by a + 1, b having count(*) > 1 "
    "window w as (partition by a + 1, max(v))",
    "first_of_groups": f"select a, b, n from (select a, b, count(*) n, rank() over "
    f"(partition by a order by count(*), b) k from {R} group by a, b) d where k = 1",
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
    "groups_and_values": "select a, count(*) n, sum(v) - (select sum(v) from "
    f"{S}) x from {R} group by a having max(v) >= (select avg(v) from {R})",
    "windows_and_values": f"select a, rank() over (partition by a order by v, b) k, "
    f"max((select min(v) from {S})) over (partition by a) x from {R}",
    "grouped_by_values": f"select v > (select avg(v) from {R}) k, count(distinct b) n from {R} "
    f"group by v > (select avg(v) from {R})",
    "self_join_of_groups": f"select x.a, y.n from {R} x join "
    f"(select a, count(*) n from {R} group by a) y on x.a = y.a "
    f"where y.n > 1 and x.v in (select v from {S})",
}
AT_THE_TOP = {
    "last_of_each": "select a, b, k + 1 as l from (select a, b, v, row_number() over "
    f"(partition by a order by v desc, b) k from {R}) d where k = 1 and v > 1",
}
# Without ties, so that there is one answer.
FIRST = {
    "first": f"select a, b, v from {R} order by v desc, a, b limit 3",
    "first_named": f"select v + 1 as a, a as v, b x from {R} where v > 1 "
    "order by 3 nulls last, a desc nulls first, v limit 2",
    "first_of_join": f"select r.a, s.b, t.v from {R} r join {S} s on r.a = s.a "
    f"left join {T} t on s.b = t.b order by abs(r.a), s.b desc, t.v limit 4",
    "first_of_groups": f"select a, count(*) n, max(v) m from {R} group by a "
    "order by count(*) desc, a, m limit 2",
    "first_of_union": f"select a, b from {R} union all select b, v from {S} order by 2, 1 limit 5",
    "first_of_distinct": f"select distinct a, b from {R} order by a, b limit 1",
}
NOT_FAST = {
    f"select * from (select a, b from {R}) pivot (count(*) for b in (1, 2))": "PIVOT",
    f"select a from {R} limit 3": "LIMIT",
    f"select a from {R} order by b limit 3": "LIMIT",
    f"select a from {R} group by a order by sum(v) limit 3": "LIMIT",
    f"select a from {R} order by a limit 3 offset 1": "LIMIT",
    f"select a from (select a, b from {R} order by a, b limit 3) d": "LIMIT",
    f"select a, try_sum(v) n from {R} group by a limit all": "LIMIT",
    f"select count(distinct v) n from {R}": "NOT_ADDITIVE",
    f"select try_sum(v) n from {R} where a in (select a from {S})": "NOT_ADDITIVE",
    f"select count(distinct v) filter (where b > 1) n from {R}": "NOT_ADDITIVE",
    f"select std(v) n from {R}": "NOT_ADDITIVE",
    f"select rank() over (order by v) k from {R}": "WINDOW",
    f"select a, count(distinct v) n from {R} group by rollup (a)": "GROUPING_SETS",
    f"select a, count(distinct v) n from {R} group by cube (a) having count(*) > 1": (
        "GROUPING_SETS"
    ),
    f"select n, count(*) c from (select count(*) n from {R} group by cube (a)) d group by n": (
        "GROUPING_SETS"
    ),
    f"select a, 1 as one, count(*) n from {R} group by all": "GROUPING_SETS",
    f"select (select max(v) from {S}) m": "ONE_GROUP",
    f"select x + 1 y from (select count(distinct v) x from {S}) d": "ONE_GROUP",
    f"select x.n, y.n m from (select count(distinct v) n from {R}) x cross join "
    f"(select count(*) n from {S}) y": "ONE_GROUP",
    f"select a from {R} union all select count(*) from {S}": "ONE_GROUP",
    f"select sum(v) / (select sum(v) from {S}) x from {R}": "ONE_GROUP",
    f"select a from {R} where v > (select v from {S} where a = 1)": "SCALAR_SUBQUERY",
    f"select a from {R} where v > (select max(v) from {S} having count(*) > 1)": "SCALAR_SUBQUERY",
    f"select a from {R} where v > (select max(v) from {S} group by a)": "SCALAR_SUBQUERY",
    f"select a from {R} where v = any (select v from {S})": "SUBQUERY",
    f"select a in (select a from {S}) x from {R}": "SUBQUERY",
    f"select a from {R} where (b in (select b from {S})) is null": "SUBQUERY",
    f"select a from {R} where (a, b) in (select a, b from {S}) or v = 1": "SUBQUERY",
    f"select r.a from {R} r left join {S} s on r.a = (select max(v) from {T})": "SCALAR_SUBQUERY",
    f"select (select max(s.v) from {S} s where s.a < r.a) x from {R} r": "CORRELATED",
    f"select (select max(s.v + r.v) from {S} s where s.a = r.a) x from {R} r": "CORRELATED",
    f"select (select max(s.v) from {S} s where s.a = r.a group by s.b) x from {R} r": "CORRELATED",
    f"select (select approx_count_distinct(v) from {S} s where s.a = r.a) x from {R} r": (
        "CORRELATED"
    ),
    f"select a, exists (select 1 from {S} s where s.a > r.a) x from {R} r": "CORRELATED",
    f"select a, (select max(v) from {S} s where s.a = r.a) x from {R} r group by a": "CORRELATED",
    f"select a from {R} tablesample (10 percent)": "SAMPLE",
    f"select a, rank() over (order by count(*)) k from {R} group by a": "WINDOW",
    f"with recursive c as (select a from {R} union all select a + 1 from c where a < 3) "
    "select a from c": "RECURSIVE",
    f"select a, sum(hash(*)) h from {R} group by a": "STAR",
    f"select a from (select a, hash(r.*) h from {R} r) d where h > 1": "STAR",
    f"select a, count(r.*) n from {R} r group by a": "STAR",
    f"select a from {R} r where exists (select array(*) from {S} s where s.a = r.a)": "STAR",
    "select x from nowhere": "COLUMN_GONE",
    f"select a, sum(gone) as gone from {R} group by a": "COLUMN_GONE",
    f"select r.gone as gone, count(*) as n from {R} as r group by 1": "COLUMN_GONE",
    f"select sum(gone) as s from (select b as lost from {R}) as d": "COLUMN_GONE",
    f"select posexplode(array(a, b)) as (n, x) from {R}": "NOT_PARSED",
    f"select d.a, s.b from (select a, first(v) x from {R} group by a) d "
    f"join {S} s on s.v = d.x": "ORDER_DEPENDENT",
    f"select r.a, t.b from {R} r left semi join {S} s on r.a = s.a "
    f"full join {T} t on r.a = t.a": "SEMI_JOIN",
    f"select r.a, l.x from {R} r, lateral (select explode(array(r.a, r.b)) as x) l": "CORRELATED",
    f"select r.a, l.v from {R} r left join lateral (select max(s.v) v from {S} s "
    "where s.a = r.a) l on l.v > 1": "CORRELATED",
    f"select r.a, l.v from {R} r, lateral (select s.v from {S} s where s.a = r.a) l "
    f"full join {T} t on t.a = l.v": "CORRELATED",
    f"select a from {R} qualify rank() over (partition by a order by v) = 1": "WINDOW",
}
