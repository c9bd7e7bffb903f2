"""Views whose queries read the clock: computed at one instant, and stale when rows would change."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

import pytest

from dbt.adapters.spark_mv.core.clock import OFFSET
from dbt.adapters.spark_mv.core.errors import InvalidOption
from tests.functional.materialized_view.clocks import (
    BOOKABLE,
    NOON,
    Shift,
    create,
    epoch,
    expires_at,
    ids,
    read,
)
from tests.functional.materialized_view.warehouse import Warehouse


@pytest.mark.behaviour("E10", "E11", "E12", "X26")
def test_rows_that_come_and_go(cinema: Warehouse, clock: Shift) -> None:
    """The first build says when it expires; from then on a read computes the rows again."""
    clock(NOON)
    create(cinema, "bookable", f"select id from @.showtimes where {BOOKABLE}")
    assert ids(cinema, "bookable") == [2, 3]
    assert expires_at(cinema, "bookable") == epoch("2026-03-01 12:30:00")
    clock("2026-03-01 12:20:00")
    assert ids(cinema, "bookable") == [2, 3]
    assert cinema.freshness("bookable") == "FRESH"
    assert cinema.builds("bookable") == 1
    clock("2026-03-01 12:30:01")
    assert cinema.freshness("bookable") == "STALE"
    assert ids(cinema, "bookable") == [3]
    assert cinema.builds("bookable") == 2
    # Exactly a week ahead it is not bookable yet, a microsecond later it is.
    assert expires_at(cinema, "bookable") == epoch("2026-03-01 13:00:00") + 1e-6
    clock("2026-03-01 13:00:01")
    assert ids(cinema, "bookable") == [3, 4]
    assert cinema.operation("verify", view="bookable").rows[0][1:4] == ("OK", 0, 0)
    reasons = [row[0] for row in cinema.history("bookable", "reason")]
    assert [reason.partition(" by ")[0] for reason in reasons[1:]] == [
        "EXPIRED: since 2026-03-01 12:30:00 UTC",
        "EXPIRED: since 2026-03-01 13:00:00 UTC",
    ]


@pytest.mark.behaviour("E10")
def test_rows_that_never_change_again(cinema: Warehouse, clock: Shift) -> None:
    """When no row is ahead of the clock, nothing expires."""
    clock("2027-01-01 00:00:00")
    create(cinema, "over", "select id from @.showtimes where start_time < now()")
    assert ids(cinema, "over") == [1, 2, 3, 4, 5]
    assert expires_at(cinema, "over") is None
    clock("2037-01-01 00:00:00")
    assert cinema.freshness("over") == "FRESH"


def test_a_real_clock(cinema: Warehouse) -> None:
    """Without any offset, with real waiting."""
    soon = datetime.fromtimestamp(time.time() + 15, timezone.utc)
    cinema.spark("create or replace table @.soon (id bigint, at timestamp) using iceberg")
    cinema.spark(f"insert into @.soon values (1, timestamp'{soon.isoformat()}')")
    create(cinema, "due", "select id from @.soon where at <= now()")
    found = ids(cinema, "due")
    # A machine may be so busy that it is due by now.
    assert found == [] or time.time() > soon.timestamp()
    time.sleep(max(0.0, soon.timestamp() - time.time()))
    assert ids(cinema, "due") == [1]
    assert cinema.freshness("due") == "FRESH"


@pytest.mark.behaviour("E10", "E11", "E12")
def test_rows_say_when_they_expire(cinema: Warehouse, clock: Shift) -> None:
    """By an expression of the author's, also where the query does not read the clock."""
    clock(NOON)
    options = "expires_at_expr = 'case when id < 5 then start_time - interval 7 days end'"
    create(cinema, "said", "select id, start_time from @.showtimes", options)
    # The only one in the future is that of the fourth.
    assert expires_at(cinema, "said") == epoch("2026-03-01 13:00:00")
    assert cinema.freshness("said") == "FRESH"
    clock("2026-03-01 13:00:01")
    assert cinema.freshness("said") == "STALE"
    assert len(read(cinema, "said")) == 5
    assert (cinema.builds("said"), expires_at(cinema, "said")) == (2, None)
    ((_, history),) = [row for row in cinema.history("said", "trigger, reason") if row[0] == "READ"]
    assert history.startswith("EXPIRED: since 2026-03-01 13:00:00 UTC by expires_at_expr")


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("max(start_time)", "is not one expression"),
        ("start_time, id", "is not one expression"),
        ("(select max(start_time) from t)", "is not one expression"),
        ("now() + interval 1 day", "has another value each time"),
        ("nowhere", "makes no time"),
        ("array(id)", "makes no time"),
    ],
)
def test_wrong_expressions(cinema: Warehouse, expression: str, problem: str) -> None:
    """They are refused when the view is created; nothing is made."""
    with pytest.raises(Exception, match=problem):
        create(
            cinema,
            "wrong",
            "select id, start_time from @.showtimes",
            f'expires_at_expr = "{expression}"',
        )
    assert not [row for row in cinema.relations() if row[1].startswith("wrong")]


@pytest.mark.behaviour("X13", "A17")
def test_stamps(cinema: Warehouse, clock: Shift) -> None:
    """A time that is only shown is that of the refresh; it does not make rows stale."""
    clock(NOON)
    create(
        cinema,
        "stamped",
        "select s.*, 'x' as note from (select id, now() as loaded_at from @.showtimes) s",
    )
    first = read(cinema, "stamped")
    assert len({row[1] for row in first}) == 1
    clock("2026-05-01 12:00:00")
    assert read(cinema, "stamped") == first
    assert expires_at(cinema, "stamped") is None
    assert cinema.operation("verify", view="stamped").rows[0][1] == "OK"
    cinema.operation("refresh", view="stamped")
    assert read(cinema, "stamped")[0][1] > first[0][1]


def test_max_age(cinema: Warehouse, clock: Shift) -> None:
    """A cap on the age of rows, whatever the query says."""
    clock(NOON)
    create(cinema, "aged", "select id from @.showtimes", "max_age = 'INTERVAL 10 MINUTE'")
    clock("2026-03-01 12:05:00")
    assert cinema.freshness("aged") == "FRESH"
    clock("2026-03-01 12:11:00")
    assert cinema.freshness("aged") == "STALE"
    read(cinema, "aged")
    assert cinema.history("aged", "reason")[-1][0] == (
        "MAX_AGE: its rows were computed more than 600 seconds ago"
    )


def test_max_age_in_the_metadata(cinema: Warehouse, clock: Shift) -> None:
    """Other programs see it, and `expired` finds it, also with an option that was set since and
    with an end of the query's own, of which the first counts."""
    clock(NOON)
    create(cinema, "capped", "select id from @.showtimes")
    create(cinema, "both_ends", f"select id from @.showtimes where {BOOKABLE}")
    own_end = expires_at(cinema, "both_ends")
    for view in ("capped", "both_ends"):
        cinema.sql(f"alter materialized view @.{view} set options (max_age = 'INTERVAL 10 MINUTE')")
        assert expires_at(cinema, view) == pytest.approx(epoch("2026-03-01 12:10:00"), abs=60)
    cinema.sql("alter materialized view @.both_ends set options (max_age = 'INTERVAL 10 DAY')")
    assert expires_at(cinema, "both_ends") == own_end
    clock("2026-03-01 12:11:00")
    names = [row[0] for row in cinema.operation("refresh", expired=True).rows]
    assert "clock.capped" in names and "clock.both_ends" not in names
    assert expires_at(cinema, "capped") == pytest.approx(epoch("2026-03-01 12:21:00"), abs=60)


def test_expired_views_below(cinema: Warehouse, clock: Shift) -> None:
    """What is computed of rows that expire expires with them, for other programs, too, and is
    refreshed with them."""
    clock(NOON)
    create(cinema, "begins", f"select id from @.showtimes where {BOOKABLE}")
    create(cinema, "counted", "select count(*) as n from @.begins")
    create(cinema, "twice", "select n * 2 as m from @.counted")
    ends = {expires_at(cinema, view) for view in ("begins", "counted", "twice")}
    assert ends == {epoch("2026-03-01 12:30:00")}
    clock("2026-03-01 12:30:01")
    names = [row[0] for row in cinema.operation("refresh", expired=True).rows]
    assert {"clock.begins", "clock.counted", "clock.twice"} <= set(names)
    assert cinema.spark("select m from @.twice") == [(2,)]
    assert expires_at(cinema, "twice") == expires_at(cinema, "begins")


def test_expiry_never(cinema: Warehouse, clock: Shift) -> None:
    """Rows change at refreshes only; an explicit one computes them again."""
    clock(NOON)
    create(cinema, "still", f"select id from @.showtimes where {BOOKABLE}", "expiry = 'never'")
    clock("2026-03-01 13:00:01")
    assert ids(cinema, "still") == [2, 3]
    cinema.operation("refresh", view="still")
    assert ids(cinema, "still") == [3, 4]


@pytest.mark.behaviour("E37")
def test_one_evaluation_serves_both(cinema: Warehouse, clock: Shift) -> None:
    """The statement that finds the expiry reads a column of the base table, not the view again;
    a fresh read sends no statement of ours."""
    clock(NOON)
    create(cinema, "once", f"select id from @.showtimes where {BOOKABLE}")
    explained = cinema.operation("explain", view="once")
    assert any(
        "2026-03-01 12:30:00 UTC by start_time > current_timestamp()" in line
        for line in explained.lines()
    )
    assert cinema.builds("once") == 1


def test_a_view_below(cinema: Warehouse, clock: Shift) -> None:
    """The clock of a logical view, and that of a materialized one."""
    clock(NOON)
    bookable = f"select id from @.showtimes where {BOOKABLE}"
    cinema.sql(f"create or replace view @.plain_bookable as {bookable}")
    create(cinema, "over_plain", "select count(*) as id from @.plain_bookable")
    create(cinema, "lower", f"select id from @.showtimes where {BOOKABLE}")
    create(cinema, "upper", "select count(*) as id from @.lower")
    assert (ids(cinema, "over_plain"), ids(cinema, "upper")) == ([2], [2])
    clock("2026-03-01 12:30:01")
    assert (ids(cinema, "over_plain"), ids(cinema, "upper")) == ([1], [1])
    assert expires_at(cinema, "upper") == expires_at(cinema, "lower")


def test_inline(cinema: Warehouse, clock: Shift) -> None:
    """A stale view whose query runs in its place has the rows of the same clock."""
    clock(NOON)
    query = f"select id from @.showtimes where {BOOKABLE}"
    create(cinema, "inlined", query, "when_stale = 'inline'")
    clock("2026-03-01 12:30:01")
    assert ids(cinema, "inlined") == [3]
    assert cinema.builds("inlined") == 1


def test_two_readers(cinema: Warehouse, clock: Shift) -> None:
    """Of an expired view, one refreshes it for both."""
    clock(NOON)
    create(cinema, "shared", f"select id from @.showtimes where {BOOKABLE}")
    clock("2026-03-01 12:30:01")
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: ids(cinema, "shared"), range(2)))
    assert both == [[3], [3]]
    assert cinema.builds("shared") == 2


def test_a_clock_that_is_behind(cinema: Warehouse, clock: Shift) -> None:
    """Rows of a later instant than the reader's own are right for it, and time never goes back."""
    clock("2026-03-01 12:30:01")
    create(cinema, "ahead", f"select id from @.showtimes where {BOOKABLE}")
    clock(NOON)
    assert cinema.freshness("ahead") == "FRESH"
    cinema.spark("insert into @.showtimes values (6, timestamp'2026-03-01 12:10:00Z')")
    assert ids(cinema, "ahead") == [3]
    cinema.spark("delete from @.showtimes where id = 6")


def test_a_wrong_offset(cinema: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OFFSET, "tomorrow")
    with pytest.raises(InvalidOption, match="Expected a number of seconds"):
        _ = cinema.command().core


def test_a_text_that_spark_casts(cinema: Warehouse, clock: Shift) -> None:
    """Only Spark knows that it is no text, so rows are never taken for right; nothing is lost."""
    query = "select id from @.showtimes where cast(start_time as date) <= 'today'"
    create(cinema, "hidden", query)
    assert cinema.freshness("hidden") == "STALE"
    assert ids(cinema, "hidden") == [1, 2, 3, 4, 5]
    create(cinema, "plain", "select id from @.showtimes where cast(id as string) <> 'today'")
    assert cinema.freshness("plain") == "FRESH"
    assert expires_at(cinema, "plain") is None
    cinema.spark(
        "create or replace view @.texts as select id, concat('today', id) as day from @.showtimes"
    )
    create(cinema, "over_texts", "select id, day from @.texts")
    assert cinema.freshness("over_texts") == "FRESH"


@pytest.mark.parametrize("table", ["@.`Säle 1-x`", "spark_catalog.elsewhere.halls"])
@pytest.mark.parametrize("has_column", [False, True])
def test_the_day_without_parentheses(
    cinema: Warehouse, clock: Shift, table: str, has_column: bool
) -> None:
    """It is the clock's unless a table of any name, in any catalog, has a column so called."""
    clock(NOON)
    cinema.spark("create schema if not exists spark_catalog.elsewhere")
    name = "current_date" if has_column else "opens"
    provider = "iceberg" if "@" in table else "parquet"
    cinema.spark(f"create table {table} (id int, {name} date) using {provider}")
    cinema.spark(f"insert into {table} values (1, date'2026-03-01'), (2, date'2026-03-02')")
    shown = "current_date" if has_column else "opens, current_date"
    create(cinema, "days", f"select id, {shown} from {table} where {name} > date'2026-02-28'")
    assert cinema.freshness("days") == ("STALE" if has_column else "FRESH")
    clock("2026-03-02 12:00:00")
    assert [day for *_, day in sorted(read(cinema, "days"))] == (
        [datetime(2026, 3, 1).date(), datetime(2026, 3, 2).date()]
        if has_column
        else [datetime(2026, 3, 2).date()] * 2
    )
    cinema.sql("drop materialized view @.days")
    cinema.spark(f"drop table {table}")
