"""Reads at moments between which rows change, for each place in which a query reads the clock."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.clocks import Shift, create
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

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
    "an_anti_join": (
        "select id, 1 as x from @.showtimes a anti join (select id as bid from @.showtimes) b "
        "on a.id = b.bid and start_time > now()"
    ),
    "an_unknown_aggregate": (
        "select id, 1 as x from @.showtimes group by id "
        "having try_sum(unix_timestamp(start_time)) > unix_timestamp()"
    ),
    "a_count": (
        "select 1 as id, count(1) as x from @.showtimes "
        "having count(1) * 1000 > unix_timestamp() - 1772359200"
    ),
    "an_ordinal": (
        "select id, max(start_time) as x from @.showtimes group by 1 having max(start_time) > now()"
    ),
    "texts_as_dates": (
        "select id, s as x from (select id, concat('2026-3-', id) as s from @.showtimes) "
        "where s > current_date()"
    ),
    "a_list_of_clocks": (
        "select id, 1 as x from @.showtimes "
        "where hour(now()) in (id + 30, id + day(current_date()) + 9)"
    ),
    "a_computed_format": (
        "select id, 1 as x from @.showtimes "
        "where date_format(now(), replace('-', '-', 'HH')) > cast(id + 10 as string)"
    ),
    "in_backticks": "select id, start_time > `now`() as x from @.showtimes",
    "an_inner_call": (
        "select id, `now()` > start_time as x from (select id, start_time, now() from @.showtimes)"
    ),
    "arithmetic": (
        "select id, timestampdiff(minute, start_time, now()) > 40 as x from @.showtimes"
    ),
}
# It is not known when their rows change.
NEVER_FRESH = (
    "arithmetic",
    "an_anti_join",
    "texts_as_dates",
    "a_computed_format",
    "an_inner_call",
)
# Only Spark evaluates these, by its own clock.
NOT_WALKED = ("an_inner_call",)
WALK = [
    "2026-03-01 10:58:00",
    "2026-03-01 11:00:05",
    "2026-03-01 12:30:05",
    "2026-03-01 13:00:05",
    "2026-03-02 00:00:05",
    "2026-03-02 20:00:15",
    "2026-03-08 12:50:00",
    "2026-03-08 13:30:00",
    "2026-04-01 00:00:00",
    "2026-05-02 00:00:00",
]


@pytest.mark.parametrize("form", [form for form in FORMS if form not in NOT_WALKED])
def test_a_walk_through_time(cinema: Warehouse, clock: Shift, form: str) -> None:
    """At each step a read has the rows of the query at that moment, wherever it reads the clock."""
    view, query = f"walk_{form}", FORMS[form]
    clock("2026-03-01 10:00:00")
    create(cinema, view, query)
    for moment in WALK if WHOLE else WALK[1::3]:
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
        ("`now`()", now),
        ("now()", now),
        ("timestamp'tomorrow'", f"cast(date'{moment[:10]}' + interval 1 day as timestamp)"),
        ("current_date()", f"date'{moment[:10]}'"),
        ("current_date", f"date'{moment[:10]}'"),
    ):
        query = query.replace(call, text)
    return query


TIMES = "select id, start_time, now() as at from @.showtimes"
# The time looks as if it were only shown.
COMPUTED_WITH = {
    "by its name": "select id, now() as at, start_time > at as x from @.showtimes",
    "in HAVING": "select id, now() as at from @.showtimes group by id having max(start_time) > at",
    "by the name of a union": (
        "select id from (select id, start_time as at from @.showtimes union all "
        "select 99, now() as l) where at > timestamp'2026-03-01 12:00:00'"
    ),
    "in the order of a union": (
        "select id, start_time as at from @.showtimes union all select 99, now() "
        "order by at limit 1"
    ),
    "in a union of different rows": (
        "select minute(now()) as id from @.showtimes union select 30 from @.showtimes"
    ),
    "by a name in other letters": f"with Due as ({TIMES}) select id from due where at > start_time",
    "under other names": f"with c as ({TIMES}) select a from c as d (a, b, e) where e > b",
    "behind a star": (f"select x from (select * from ({TIMES}) a) as b (x, y, z) where z > y"),
    "in a struct of all": (
        "select id, to_json(struct(*)) like '%T11:%' as x "
        "from (select id, now() as at from @.showtimes)"
    ),
    "as a field": (
        "select id from (select id, start_time, named_struct('at', now()) as s from @.showtimes) "
        "where s.at > start_time"
    ),
    "in a call": "select startswith(cast(now() as string), '2026-03-01 10') as x from @.showtimes",
    "as a sign": "select id, sign(unix_timestamp() - 1772368200) as x from @.showtimes",
}
UNCLEAR = {
    "a text with a zone": (
        "select id from @.showtimes where start_time > timestamp'tomorrow America/New_York'"
    ),
    "a column of a list": (
        "with c (id, current_date) as (select id, cast(start_time as date) from @.showtimes) "
        "select id from c where current_date > date'2026-03-01'"
    ),
    "months behind minutes": (
        "select id from @.showtimes "
        "where start_time > now() + interval 7 minutes - interval 1 month"
    ),
    "a time that no calendar has": (
        "select id from @.showtimes where start_time < now() + interval 9000 years"
    ),
}
STAMPS = {
    "beside a table of its name": (
        "with showtimes as (select *, now() as loaded_at from @.showtimes) "
        "select id, loaded_at from showtimes"
    ),
    "through a view": "select * from @.loaded",
    "in branches": f"select id, at from ({TIMES}) union all select 0, now() from @.showtimes",
    "as a text": "select id, date_format(now(), 'HH:mm:ss') as at from @.showtimes",
}


@pytest.mark.parametrize("form", [*COMPUTED_WITH, *UNCLEAR])
def test_never_taken_for_right(cinema: Warehouse, clock: Shift, form: str) -> None:
    """What is computed with the time, or is not clear, is computed again by each read."""
    clock("2026-03-01 10:00:00")
    query = {**COMPUTED_WITH, **UNCLEAR}[form]
    command, warnings = cinema.command(), list[str]()
    command.core.services.warn = warnings.append
    command.sql(f"create or replace materialized view @.unsure as {query}")
    command.flush()
    (warning,) = warnings
    codes = ("CLOCK_MOVES_ALWAYS", "CLOCK_NOT_CLEAR", "EXPIRY_NOT_DERIVED")
    assert any(f"({code}). " in warning for code in codes)
    assert "expiry: never" in warning
    assert cinema.freshness("unsure") == "STALE"


@pytest.mark.parametrize("form", STAMPS)
def test_only_shown(cinema: Warehouse, clock: Shift, form: str) -> None:
    """A time that is only returned makes nothing stale."""
    clock("2026-03-01 10:00:00")
    cinema.spark("create or replace view @.loaded as select id, now() as at from @.showtimes")
    create(cinema, "shown", STAMPS[form])
    clock("2030-01-01 00:00:00")
    assert cinema.freshness("shown") == "FRESH"


def test_rows_at_the_end_of_time(cinema: Warehouse, clock: Shift) -> None:
    """Days that stand for ever are no days to wait for."""
    clock("2026-03-01 10:00:00")
    cinema.spark(
        "create or replace table @.ends using iceberg as select 1 as id, "
        "timestamp'9999-12-31 23:59:59' as t, timestamp_ntz'9999-12-31 23:59:59' as n"
    )
    for number, condition in enumerate(
        ("t > now() - interval 1 month", "n > localtimestamp()", "t > now()", "t > current_date")
    ):
        create(cinema, f"ends_{number}", f"select id from @.ends where {condition}")
        assert cinema.freshness(f"ends_{number}") == "FRESH", condition
