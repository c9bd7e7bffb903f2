"""Queries over rows that windows choose, over three tables of numbers and NULLs.

The order of `ORDERED` has no ties but rows that can take each other's place, so that what the query
returns is known; that of `TIED` has others.
"""

from __future__ import annotations

from tests.unit.ivm.queries import R, S, T

_LATEST = (
    f"with d as (select *, row_number() over (partition by a order by b desc{{}}) k from {R}), "
    "f as (select * from d where k = 1) "
)
_FIRST = (
    "select r.a, l.v from {r} r, lateral (select s.v from {s} s where s.a = r.a {by} limit 2) l"
)

ORDERED = {
    "latest_groups": _LATEST.format(", v") + "select b, sum(v) s, count(*) n from f group by b",
    "latest_joined": _LATEST.format(", v") + f"select f.v, s.b from f left join {S} s on s.a = f.a",
    "latest_everywhere": _LATEST.format(", v") + "select a, b, v from f where v > 1 "
    f"union all select a, b, v from {S} where b in (select b from f)",
    "latest_counted": _LATEST.format("") + "select count(*) n, count(b) x from f",
    "gaps": "select a, max(l) m from (select a, v - lag(v) over (partition by a order by v) l "
    f"from {R}) d group by a",
    "next_of_join": "select x.n, t.b from (select r.a, lead(s.v) over (partition by r.a "
    f"order by s.v) n from {R} r join {S} s on r.b = s.b) x join {T} t on t.v = x.n",
    "frames": "select x, count(*) n from (select sum(v) over (partition by a order by b, v "
    f"rows between 1 preceding and current row) x from {R}) d group by x",
    "named_window": "select x, y from (select first_value(b) over w x, row_number() over w y "
    f"from {R} window w as (partition by a order by b)) d where y < 3",
    "keys_not_returned": f"select b, row_number() over (partition by a order by b) k from {R}",
    "alike": "select x + y z, count(*) n from (select row_number() over (partition by a "
    f"order by b) x, lag(b) over (partition by a order by b) y from {R}) d group by x + y",
    "parts": f"select b, ntile(2) over (partition by a order by b desc nulls last) k from {R}",
    "over_groups": "select k, count(*) n from (select a, row_number() over (partition by a "
    f"order by sum(v), b) k from {R} group by a, b) d group by k",
    "several": "select r.a, x.k, y.k l from "
    f"(select a, b, row_number() over (partition by a order by b) k from {R}) r "
    "join (select a, b, row_number() over (partition by b order by a) k from "
    f"{S}) x on x.a = r.a join (select v, row_number() over (partition by v order by v) k "
    f"from {T}) y on y.v = x.k",
    "lateral_first": _FIRST.format(r=R, s=S, by="order by s.v desc"),
    "lateral_best": f"select r.b, l.x from {R} r left join lateral (select s.b + s.v x from {S} s "
    "where s.a = r.a and s.v > 1 order by x desc limit 1) l on l.x > r.v",
    "value_first": f"select r.b, (select s.v from {S} s where s.a = r.a order by s.v limit 1) x "
    f"from {R} r where r.v > (select t.v + 1 from {T} t where t.b = r.b order by t.v desc limit 1)",
    "lateral_offset": f"select r.a, sum(l.v) t from {R} r, lateral (select s.v from {S} s "
    "where s.a = r.a and s.b = r.b order by s.v limit 1 offset 1) l group by r.a",
    "lateral_rank": f"select r.b, l.k from {R} r, lateral (select s.b, rank() over (order by s.v) "
    f"* row_number() over (order by s.v, s.b) k from {S} s where s.a = r.a) l where l.b <= r.b",
    "lateral_join": f"select r.a, l.b from {R} r, lateral (select t.b from {S} s join {T} t "
    "on t.v = s.v where s.a = r.a order by t.b limit 2) l",
}
TIED = {
    "latest": _LATEST.format("") + "select v, count(*) n from f group by v",
    "latest_rows": _LATEST.format("") + f"select f.v, s.v x from f join {S} s on s.a = f.b",
    "gaps": "select b, l from (select a, b, v - lag(v) over (partition by a order by b) l "
    f"from {R}) d where l > 0",
    "frames": "select x, count(*) n from (select sum(v) over (partition by a order by b "
    f"rows between 1 preceding and current row) x from {R}) d group by x",
    "first": "select x, count(*) n from (select first_value(v) over (partition by a order by b) x "
    f"from {R}) d group by x",
    "over_groups": "select b, k from (select b, row_number() over (partition by a "
    f"order by count(*)) k from {R} group by a, b) d where k < 3",
    "keys_not_returned": f"select v, row_number() over (partition by a order by b) k from {R}",
    "lateral_any": _FIRST.format(r=R, s=S, by=""),
    "value_any": f"select r.b, (select s.v from {S} s where s.a = r.a order by s.b limit 1) x "
    f"from {R} r",
    "lateral_best": f"select r.b, l.v from {R} r left join lateral (select s.v from {S} s "
    "where s.a = r.a order by s.b limit 1) l on true",
}
# A name that is taken, or rows that another order would put together otherwise.
REFUSED = {
    f"select mv_ordered from (select v mv_ordered, row_number() over (partition by a order by b) k "
    f"from {R}) d": "NOT_PARSED",
    f"select d.v, k from (select v, a, b, collect_list(v) over (partition by a order by b) k "
    f"from {R}) d join {S} s on s.a = d.a": "ORDER_DEPENDENT",
    f"select d.v, k from (select v, a, last_value(v) over (partition by a order by b) k "
    f"from {R}) d join {S} s on s.a = d.a": "ORDER_DEPENDENT",
    f"select d.v from (select first_value(v) ignore nulls over (partition by a order by b) v "
    f"from {R}) d join {S} s on s.a = d.v": "ORDER_DEPENDENT",
    f"select x + y z, count(*) n from (select row_number() over (partition by a order by b) x, "
    f"row_number() over (partition by a order by b desc) y from {R}) d group by x + y": (
        "ORDER_DEPENDENT"
    ),
    f"select r.a, l.v from {R} r, lateral (select s.v from {S} s where s.a > r.a "
    "order by s.v limit 1) l": "CORRELATED",
    f"select r.a, l.v from {R} r, lateral (select s.v from {S} s where s.a = r.a "
    "order by s.v limit 1 + 1) l": "CORRELATED",
    f"select r.a, l.v from {R} r, lateral (select s.v + r.v v from {S} s where s.a = r.a "
    "order by s.v limit 1) l": "CORRELATED",
}
