"""Reads at moments between which rows change, for each place in which a query reads the clock."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.clocks import Shift, create
from tests.functional.materialized_view.warehouse import Warehouse

FORMS = {
    "a_case": ("select id, case when start_time < now() then 1 else 0 end as x from @.showtimes"),
    "a_group": ("select count(*) filter (where start_time > now()) as id, 1 as x from @.showtimes"),
    "a_having": (
        "select id, max(start_time) as x from @.showtimes group by id "
        "having max(start_time) > now()"
    ),
    "an_alias": (
        "select id, start_time as x from @.showtimes group by id, start_time having x > now()"
    ),
    "a_join": (
        "select a.id, count(b.id) as x from @.showtimes a left join @.showtimes b "
        "on b.id > a.id and b.start_time <= now() group by a.id"
    ),
    "a_subquery": (
        "select id, 1 as x from @.showtimes s where exists (select 1 from @.showtimes o "
        "where o.id = s.id and o.start_time < current_timestamp)"
    ),
    "a_named_query": (
        "with due as (select id, start_time from @.showtimes where start_time < now()) "
        "select count(*) as id, max(start_time) as x from due"
    ),
    "a_window": ("select id, lag(start_time) over (order by id) > now() as x from @.showtimes"),
    "a_union": (
        "select id, 1 as x from @.showtimes where start_time > now() union all "
        "select id, 2 from @.showtimes where start_time <= now()"
    ),
    "a_key": (
        "select start_time > now() as id, count(*) as x from @.showtimes "
        "group by start_time > now()"
    ),
    "a_semi_join": (
        "select a.id, 1 as x from @.showtimes a left semi join @.showtimes b "
        "on a.id = b.id and b.start_time > now()"
    ),
    "seconds": (
        "select id, 1 as x from @.showtimes "
        "where unix_timestamp() - unix_timestamp(start_time) > 900"
    ),
    "a_wall": (
        "select id, 1 as x from @.showtimes "
        "where cast(start_time as timestamp_ntz) > localtimestamp() - interval 1 day"
    ),
    "a_range": (
        "select id, 1 as x from @.showtimes "
        "where now() between start_time and start_time + interval 2 hours"
    ),
    "a_list": (
        "select id, 1 as x from @.showtimes "
        "where cast(start_time as date) in (current_date, date_add(current_date, 1))"
    ),
    "a_day": "select id, datediff(current_date(), cast(start_time as date)) as x from @.showtimes",
    "an_hour": "select id, 1 as x from @.showtimes where start_time >= date_trunc('hour', now())",
    "a_month": (
        "select id, 1 as x from @.showtimes where "
        "date_format(start_time, 'yyyyMM') = date_format(current_timestamp(), 'yyyyMM')"
    ),
    "a_typed_text": "select id, 1 as x from @.showtimes where start_time < timestamp'tomorrow'",
    "an_age": "select id, now() - start_time > interval 3 hours and id > 0 as x from @.showtimes",
    "no_order": "select id, start_time - now() < interval 1 day as x from @.showtimes",
    "arithmetic": (
        "select id, timestampdiff(minute, start_time, now()) > 30 as x from @.showtimes"
    ),
}
# It is not known when their rows change.
NEVER_FRESH = ("arithmetic",)
WALK = [
    "2026-03-01 10:59:59",
    "2026-03-01 11:00:05",
    "2026-03-01 12:30:05",
    "2026-03-01 13:00:05",
    "2026-03-02 00:00:05",
    "2026-03-02 20:00:15",
    "2026-03-08 12:59:00",
    "2026-03-08 13:30:00",
    "2026-04-01 00:00:00",
    "2026-05-02 00:00:00",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_walk_through_time(cinema: Warehouse, clock: Shift, form: str) -> None:
    """At each step a read has the rows of the query at that moment, wherever it reads the clock."""
    view, query = f"walk_{form}", FORMS[form]
    clock("2026-03-01 10:00:00")
    create(cinema, view, query)
    for moment in WALK:
        clock(moment)
        expected = cinema.spark(f"with q as ({_at(query, moment)}) select * from q")
        found = cinema.apart(f"select * from @.{view}")
        assert sorted(map(str, found)) == sorted(map(str, expected)), moment
        assert cinema.freshness(view) == ("STALE" if form in NEVER_FRESH else "FRESH"), moment


def _at(query: str, moment: str) -> str:
    """The query with literals of a moment, by other means than the adapter's: the session of these
    tests is in UTC."""
    now = f"timestamp'{moment}'"
    for call, text in (
        ("unix_timestamp()", f"unix_timestamp({now})"),
        ("localtimestamp()", f"timestamp_ntz'{moment}'"),
        ("current_timestamp()", now),
        ("current_timestamp", now),
        ("now()", now),
        ("timestamp'tomorrow'", f"cast(date'{moment[:10]}' + interval 1 day as timestamp)"),
        ("current_date()", f"date'{moment[:10]}'"),
        ("current_date", f"date'{moment[:10]}'"),
    ):
        query = query.replace(call, text)
    return query
