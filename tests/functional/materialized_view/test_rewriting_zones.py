"""Days and moments in zones that lack a day, have a midnight twice, or one in hours that they lack.

What is rewritten has the rows of the query, and no zone that is odd in Spark's Java is forgotten.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from dbt.adapters.spark_mv.rewrite.conditions import time_units
from dbt.adapters.spark_mv.rewrite.conditions.time_units import LAST_YEAR, oddities
from tests.functional.materialized_view.rewritten import of_small_tables, views_of
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

# A moment of UTC near the odd midnight, and the day that begins with it.
ODD = {
    "America/Toronto": ("1919-03-31 04:30:00", "1919-03-31"),
    "Europe/Amsterdam": ("1916-09-30 23:00:00", "1916-10-01"),
    "Asia/Manila": ("1844-12-30 16:00:00", "1845-01-01"),
    "Pacific/Apia": ("2011-12-30 10:00:00", "2011-12-31"),
    "America/Havana": ("2024-11-03 04:30:00", "2024-11-03"),
    "America/Sao_Paulo": ("2018-11-04 03:00:00", "2018-11-04"),
    "UTC": ("2024-11-03 00:00:00", "2024-11-03"),
}
KEYS = ("to_date({c})", "date_trunc('DAY', {c})", "date_trunc('MONTH', {c})")
LIMITS = ("{c} >= '{day}'", "{c} < '{day}'", "to_date({c}) = '{day}'")
VIEWS = [f"select {key} as k, count(*) as n from @.odd group by {key}" for key in KEYS]
VIEWS += [f"select id, ts, d from @.odd where {limit}" for limit in LIMITS]
LIMITED = (*LIMITS, "date_trunc('DAY', {c}) >= '{day}'", "year({c}) = {year}")
QUERIES = [f"select count(*) as n from @.odd where {limit}" for limit in LIMITED]
QUERIES += [
    f"select {key} as k, count(*) as n from @.odd group by {key}" for key in (*KEYS, "year({c})")
]
COLUMNS = ("ts", "d")
TRANSITION = re.compile(r"\[(Gap|Overlap) at ([-\dT:]+?)(Z|[+-][\d:]+) to (Z|[+-][\d:]+)\]")


@pytest.fixture(scope="module")
def odd(lake: Warehouse) -> Iterator[Warehouse]:
    yield of_small_tables(lake)
    use_zone(lake, "UTC")


def use_zone(lake: Warehouse, zone: str) -> None:
    for run in (lake.sql, lake.spark):
        run(f"set time zone '{zone}'")


def fill(lake: Warehouse, zone: str) -> None:
    """Rows from 25 hours before the odd midnight to as many after it, by the session of UTC."""
    moment, day = ODD[zone]
    use_zone(lake, "UTC")
    lake.spark(
        f"create or replace table @.odd using iceberg as select cast(id as int) as id, "
        f"timestamp'{moment}' + make_dt_interval(0, 0, 10 * cast(id - 150 as int)) as ts, "
        f"date_add(date'{day}', cast(pmod(id, 5) as int) - 3) as d from range(300)"
    )
    use_zone(lake, zone)


def wrong(lake: Warehouse, zone: str) -> Iterator[tuple[str, str]]:
    """Pairs of a view and a query with other rows."""
    fill(lake, zone)
    day = ODD[zone][1]
    for column in COLUMNS:
        queries = [q.format(c=column, day=day, year=day[:4]) for q in QUERIES]
        expected = {query: Counter(map(repr, lake.spark(query))) for query in queries}
        for view in [view.format(c=column, day=day) for view in VIEWS]:
            lake.sql(f"create or replace materialized view @.of_odd as {view}")
            for query in queries:
                if Counter(map(repr, lake.apart(query))) != expected[query]:
                    yield view, query


def test_something_is_rewritten(odd: Warehouse) -> None:
    fill(odd, "America/Toronto")
    odd.sql(f"create or replace materialized view @.of_odd as {VIEWS[0].format(c='ts')}")
    assert views_of(odd, QUERIES[-len(KEYS) - 1].format(c="ts")) == ["of_odd"]


@pytest.mark.parametrize("zone", ODD if WHOLE else list(ODD)[:2])
def test_rows(odd: Warehouse, zone: str) -> None:
    assert list(wrong(odd, zone)) == []


@pytest.mark.parametrize("zone", list(ODD)[:3])
def test_zones_taken_for_even(odd: Warehouse, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: zones of which Python's history knows nothing odd."""
    monkeypatch.setattr(time_units, "_ODD_IN_JAVA", frozenset())
    oddities.cache_clear()
    try:
        assert next(wrong(odd, zone), None)
    finally:
        oddities.cache_clear()


def offset(text: str) -> timedelta:
    hours, minutes, seconds = [*map(int, re.findall(r"\d\d", text)), 0, 0, 0][:3]
    size = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return -size if text.startswith("-") else size


def has_odd_midnight(transitions: str) -> bool:
    """Whether clocks go over a midnight, but for a gap that begins with it."""
    for kind, at, old, new in TRANSITION.findall(transitions):
        before = datetime.fromisoformat(at)
        if before.year >= LAST_YEAR:
            continue
        after = before + offset(new) - offset(old)
        first, last = min(before, after), max(before, after)
        midnight = datetime(first.year, first.month, first.day)
        if kind == "Gap" or midnight < first:
            midnight += timedelta(days=1)
        if midnight < last or last - first >= timedelta(hours=12):
            return True
    return False


def test_zones_of_java(odd: Warehouse) -> None:
    """Each zone that is odd in the rules of Spark's Java is odd to rewriting, too."""
    zones = odd.jvm.java.time.ZoneId
    forgotten, known = [], 0
    for zone in zones.getAvailableZoneIds():
        rules = zones.of(zone).getRules()
        later = [rule.createTransition(2050).toString() for rule in rules.getTransitionRules()]
        if has_odd_midnight(" ".join([rules.getTransitions().toString(), *later])):
            known += 1
            if not oddities(zone).any:
                forgotten.append(zone)
    assert forgotten == []
    assert known > 100


CLOCK = ("HOUR", "MINUTE", "SECOND")
OF_THE_CLOCK = (
    "hour(ts)",
    "minute(ts)",
    "second(ts)",
    "extract(second from ts)",
    "hour(to_date(ts))",
)
OF_THE_CLOCK += (
    "date_format(ts, 'HH:mm')",
    "date_format(ts, 'HH:mm:ss')",
    "hour(d)",
    "to_date(ts)",
)
OF_THE_CLOCK += tuple(f"date_trunc('{unit}', ts)" for unit in (*CLOCK, "DAY", "MILLISECOND"))


@pytest.mark.parametrize(
    ("zone", "moment"),
    [("UTC", "2024-04-06 14:50:00"), ("Australia/Lord_Howe", "2024-04-06 14:50:00")],
)
def test_units_of_the_clock(odd: Warehouse, zone: str, moment: str) -> None:
    """Hours are told by hours and minutes where clocks never change, and nowhere else: those of
    Lord Howe go back by half of one."""
    use_zone(odd, "UTC")
    odd.spark(
        f"create or replace table @.ticks using iceberg as select cast(id as int) as id, "
        f"timestamp'{moment}' + make_dt_interval(0, 0, 0, (id % 175) * 29 + id * 0.001) as ts, "
        "date_add(date'2024-04-06', cast(id % 3 as int)) as d from range(700)"
    )
    use_zone(odd, zone)
    answered = set()
    for unit in CLOCK:
        odd.sql(
            "create or replace materialized view @.of_odd as "
            f"select date_trunc('{unit}', ts) as k, count(*) as n from @.ticks group by 1"
        )
        for key in OF_THE_CLOCK:
            query = f"select {key} as k, count(*) as n from @.ticks group by 1"
            if views_of(odd, query):
                answered.add((unit, key))
            found = Counter(map(repr, odd.apart(query)))
            assert found == Counter(map(repr, odd.spark(query))), (unit, key)
    assert ("HOUR", "to_date(ts)") in answered
    assert (("MINUTE", "hour(ts)") in answered) is (zone == "UTC")
    assert (("SECOND", "date_format(ts, 'HH:mm')") in answered) is (zone == "UTC")
    assert ("MINUTE", "second(ts)") not in answered
