"""Expiry over a class: forms of comparisons, zones, and instants around changes of their clocks.

Spark says which rows a comparison has at each instant, with the clock as a column. Between two
instants that the adapter says have the same rows, they have to be the same at every one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest

from dbt.adapters.spark_mv.sql.names import Namespace
from dbt.adapters.spark_mv.views import clock
from dbt.adapters.spark_mv.views.definition import Definition
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample

SECOND, HOUR = 1_000_000, 3_600_000_000
DAY = 24 * HOUR
ZONES = {
    "America/New_York": ("2026-03-08 07:00", "2026-11-01 06:00", "2026-03-31 04:00"),
    "Asia/Beirut": ("2026-03-28 22:00", "2026-10-24 21:00"),
    "America/Sao_Paulo": ("2018-11-04 03:00", "2018-02-18 02:00"),
    "Pacific/Apia": ("2011-12-30 10:00",),
    "Asia/Kolkata": ("2024-02-28 18:30",),
    # Clocks go back to midnight, or over it.
    "America/Havana": ("2026-11-01 05:00", "2026-03-08 05:00"),
    "Atlantic/Azores": ("2026-10-25 01:00", "2026-03-29 01:00"),
    "Africa/Cairo": ("2026-10-29 21:00", "2026-04-23 22:00"),
    "Pacific/Chatham": ("2026-04-04 14:00",),
    "UTC": ("2024-02-29 00:00", "2026-03-01 00:00"),
}
FORMS = {
    "a week of days": "ts > now() - interval 7 days",
    "a week of hours": "ts > now() - interval 168 hours",
    "until now": "ts <= now()",
    "two hours ahead": "ts < now() + interval 2 hours",
    "an added number": "ts >= timestampadd(HOUR, -36, now())",
    "the row is moved": "ts + interval 7 days > now()",
    "a month": "ts > now() - interval 1 month",
    "a year": "ts > now() - interval 1 year",
    "a day and hours": "ts > now() - interval 1 day 25 hours",
    "the start of the month": "date_trunc('month', now()) <= ts",
    "the start of the week": "ts >= date_trunc('week', now())",
    "the start of the day": "ts >= date_trunc('day', now())",
    "the same day": "date_trunc('DD', ts) = date_trunc('DD', now())",
    "hours from the start of the day": "ts < date_trunc('day', now()) + interval 2 hours",
    "a week of dates": "d >= current_date - 7",
    "today": "d = current_date",
    "not today": "d <> current_date",
    "a month of dates": "d > add_months(current_date, -1)",
    "a month and its start": "d >= trunc(current_date, 'MM') - interval 1 month",
    "a date against a time": "d >= now() - interval 7 days",
    "a time without a zone": "tn > now() - interval 1 day",
    "the wall": "tn > localtimestamp() - interval 1 day",
    "a difference": "ts - now() < interval 7 days",
    "a difference to the past": "now() - ts >= interval 36 hours",
    "days between": "datediff(current_date, d) <= 7",
    "seconds": "unix_timestamp() - unix_timestamp(ts) < 3600",
    "the same year and month": "date_format(ts, 'yyyyMM') = date_format(now(), 'yyyyMM')",
    "this hour": "ts >= date_trunc('hour', now())",
    "between": "now() between ts and ts + interval 36 hours",
    "days in a list": "d in (current_date, date_add(current_date, 1))",
    "null-safe": "ts <=> now()",
    "a text": "d < date'tomorrow'",
}
_QUICK = ["America/New_York", "America/Sao_Paulo", "America/Havana"]
QUICK = sample(_QUICK, [zone for zone in ZONES if zone not in _QUICK])
# `=` may end sooner: a time that jumps over a value and back is taken for passing it. What is known
# for hours or days only ends with them.
MAY_END_SOONER = (
    "null-safe",
    "days in a list",
    "this hour",
    "the start of the day",
    "the same day",
    "hours from the start of the day",
    "days between",
    "the same year and month",
)


def us(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()) * SECOND


def instants(zone: str) -> list[int]:
    """Around each change: some days before and after it, and hours and moments beside it."""
    steps = [days * DAY for days in range(-8, 9)]
    steps += [quarters * HOUR // 4 for quarters in range(-10, 11)]
    steps += [week * 7 * DAY + half * HOUR // 2 for week in (-1, 1) for half in range(-4, 5)]
    steps += [step + off for step in (0, DAY, -HOUR) for off in (-1, 1)]
    return sorted({us(change) + step for change in ZONES[zone] for step in steps})


def rows(zone: str) -> list[int]:
    """Values at which the forms change near the instants."""
    beside = [days * DAY for days in (0, 7, -7, 30, -31, -365)]
    beside += [hours * HOUR for hours in (36, -36, -2)]
    found = {us(change) + step for change in ZONES[zone] for step in beside}
    near = (-HOUR, -1, 0, 1, HOUR // 2, 2 * HOUR)
    return sorted({value + off for value in found for off in near})


@pytest.fixture(scope="module", params=QUICK)
def zone(request: pytest.FixtureRequest, lake: Warehouse) -> Iterator[str]:
    """A zone, with the rows of the table `times`."""
    lake.spark(f"set time zone '{request.param}'")
    values = ", ".join(f"({number}, {value}L)" for number, value in enumerate(rows(request.param)))
    lake.spark(
        "create or replace table @.times using iceberg as select id, ts, cast(ts as timestamp_ntz) "
        "as tn, cast(ts as date) as d from (select id, timestamp_micros(us) as ts "
        f"from values {values} as v(id, us))"
    )
    yield request.param


def rows_at(lake: Warehouse, form: str, moments: list[int]) -> dict[int, Any]:
    """The ids of the rows of a comparison at each instant, by Spark alone."""
    columns = {
        clock.NOW: "timestamp_micros(us)",
        clock.TODAY: "cast(timestamp_micros(us) as date)",
        clock.LOCAL: "cast(timestamp_micros(us) as timestamp_ntz)",
        clock.UNIX: "unix_timestamp(timestamp_micros(us))",
    }
    listed = ", ".join(f"{text} as {name}" for name, text in columns.items())
    values = ", ".join(f"({moment}L)" for moment in moments)
    condition = clock.placed(clock.canonical(form), str)
    found = lake.spark(
        f"select us, array_sort(collect_list(id) filter (where {condition})) from @.times "
        f"cross join (select us, {listed} from values {values} as v(us)) as clocks group by us"
    )
    return {int(moment): tuple(ids) for moment, ids in found}


def ends_of(lake: Warehouse, zone: str, form: str) -> tuple[dict[int, int], list[int]]:
    """By instants at which rows are computed, when they expire; and instants at which rows are
    others although they have not."""
    moments = instants(zone)
    seen = rows_at(lake, FORMS[form], moments)
    services = lake.command().core.services
    query = lake.text(f"select id from local.@.times where {FORMS[form]}")
    home = Namespace("local", (lake.schema,))
    definition = Definition(query, home, (), (), settings={"spark.sql.session.timeZone": zone})
    ends: dict[int, int] = {}
    wrong: list[int] = []
    for start in moments[:: max(1, len(moments) // 12)]:
        expiry = services.expiries.expiry(definition, query, start)
        assert expiry is not None
        assert expiry.why == "EXPIRED", expiry
        end = ends[start] = expiry.at if expiry.at is not None else max(moments) + 1
        wrong += [t for t in moments if start <= t < end and seen[t] != seen[start]]
    return ends, wrong


@pytest.mark.behaviour("E10", "X26")
@pytest.mark.parametrize("form", FORMS)
def test_no_row_changes_before(lake: Warehouse, zone: str, form: str) -> None:
    ends, wrong = ends_of(lake, zone, form)
    assert wrong == []
    if form in MAY_END_SOONER:
        return
    asked = [end for end in ends.values() if end <= max(instants(zone))]
    exact = rows_at(lake, FORMS[form], sorted({t for end in asked for t in (end - 1, end)} | {0}))
    assert [end for end in asked if exact[end - 1] == exact[end]] == []
