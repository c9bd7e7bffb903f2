"""Queries whose groups are added to, over three tables of numbers and NULLs."""

from __future__ import annotations

from tests.unit.ivm.queries import R, S, T

# DuckDB has a total of no rows, Spark has none.
NEVER_EMPTY = f"(select a, b, v from {R} union all select 1, null, 2) x"

# Spark counts 0 where COUNT_IF of DuckDB is NULL.
ADDED = {
    "all_functions": f"select a, count(*) n, sum(v) s, min(b) m, avg(v) x from {R} group by a",
    "one_group": f"select count(*) n, sum(v) + 1 s, max(b) m, coalesce(avg(v), 0) x from {R}",
    "expressions": f"select a + b k, 2 * sum(v) - count(b) s, max(v) x from {R} group by a + b, v",
    "left_join_groups": "select r.a, s.b, count(*) n, max(r.v) x, min(s.v) y "
    f"from {R} r left join {S} s on r.a = s.a group by r.a, s.b",
    "unused_with_of_groups": f"with c as (select a from {S}) select a + b k, sum(v) s from {R} "
    "group by a + b, b",
    "filtered": f"select a, count(*) filter (where v > 1) n, sum(v) filter (where b = 2) s, "
    f"count(b) filter (where v > 1 or b > 1) c, avg(v) filter (where b < 3) x, "
    f"min(v) filter (where b > 1) m from {R} group by a",
    "conditions": f"select a, coalesce(count_if(v > b), 0) n, bool_and(v > 1) e, bool_or(b > 1) o, "
    f"coalesce(count_if(v > 1) filter (where b > 1), 0) f, every(v = b) s from {R} group by a",
    "one_group_filtered": f"select coalesce(count_if(v > 1), 0) n, every(v > 1) e from {R}",
    "values_in_arguments": f"select a, sum(v - (select min(v) from {S})) s, count(*) n from {R} r "
    f"where b >= (select min(s.b) from {S} s where s.a = r.a) group by a",
    "one_group_semi": f"select sum(v) s from {R} where a in (select a from {S})",
    "rollup": "select a, b, grouping_id() i, grouping(b) g, count(*) n, sum(a) s, max(v) m, "
    f"min(v + b) l from {NEVER_EMPTY} group by rollup (a, b)",
    "cube": f"select b, sum(v) s, min(v) m from {NEVER_EMPTY} group by a + 1, cube (a, b)",
    "several_sets": "select a, b, v, case when grouping(a) = 1 then 9 else a end k, avg(b) n, "
    f"max(a) m from {R} group by grouping sets ((v, b), (a, v), (a))",
    "having_added": f"select a, sum(v) s, max(b) m from {R} group by a "
    "having count(*) > 1 and min(v) < 3",
    "having_guards": f"select a, 12 / (sum(v) - 2) q, avg(b) x from {R} group by a "
    "having sum(v) <> 2 and avg(v) > 1",
    "having_one_group": f"select max(v) m, 1 / count(v) q from {R} having count(v) > 2",
    "having_of_sets": f"select a, b, grouping(b) g, sum(v) s, min(v) m from {NEVER_EMPTY} "
    "group by rollup (a, b) having sum(v) > 3 or grouping(a) = 1",
    "all_keys": f"select a + 1 as k, b, sum(v) s from {R} group by all having sum(v) > 1",
    "selected": f"with g as (select a, b as c, sum(v) s, count(*) n from {R} group by a, b), "
    "f as (select c, a, s * 2 as s, n from g where n > 1) "
    "select a, c, s / n as mean from f where a + 1 > 2 and s < 9 or c is null",
    "selected_by_key": f"select s, a from (select a, b, sum(v) s from {R} group by a, b) d "
    "where (a > 1 or b > 1) and s > 1",
    "selected_one_group": f"select s + 1 as t from (select sum(v) s, count(*) n from {R}) d "
    "where n > 3",
    "selected_sets": f"select coalesce(a, 0) k, s from (select a, b, sum(v) s, grouping_id() i "
    f"from {NEVER_EMPTY} group by cube (a, b)) d where i < 3 and s > 1",
    "distinct_rows": f"select distinct a, b from {R}",
    "distinct_values": f"select distinct r.a > 1 or s.b > 1 as x, 1 as y, r.v is null as z "
    f"from {R} r left join {S} s on s.a = r.b",
    "distinct_selected": f"with d as (select distinct a, b from {R}) select b, a from d "
    "where a > 1 and b is not null",
    "distinct_groups": f"select distinct n, b from (select a, b, count(*) n from {R} "
    "group by a, b) d",
    "union_rows": f"select a, b from {R} union select b, v from {S}",
    "unions": f"(select a, b from {R} union all select b, v from {S}) union "
    f"(select distinct a, a + 1 from {T} union select v, v from {R})",
    "union_selected": f"select x from (select a x, b y from {R} union select a, v from {T}) u "
    "where y > 1",
    "rows_on_both_sides": f"select a, b from {R} intersect select b, v from {S}",
    "rows_on_one_side": f"select distinct a, b from {R} except select b, v from {S}",
    "excepts": f"(select a, b from {R} except select b, v from {S}) except select v, a from {T}",
    "except_selected": f"select y from (select a x, b y from {R} except select a, b from {S}) d "
    "where x > 1",
    "union_below": "select a, sum(v) s, count(v) c, sum(b) t from "
    f"(select a, b, v from {R} union all select b, a, v from {T}) u group by a",
}
