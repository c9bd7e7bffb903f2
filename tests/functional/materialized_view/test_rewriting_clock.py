"""Days that are computed of constants, and bounds of what the clock shows, against Spark's own."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from itertools import product

import pytest

from dbt.adapters.spark_mv.rewrite.conditions import days
from dbt.adapters.spark_mv.rewrite.conditions.days import (
    day_text,
    first_day,
    first_year,
    midnight_text,
)
from dbt.adapters.spark_mv.rewrite.conditions.facts import facts_of
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope
from dbt.adapters.spark_mv.rewrite.rows import implies
from dbt.adapters.spark_mv.rewrite.terms import Term
from dbt.adapters.spark_mv.sql.reads import parse
from tests.functional.materialized_view.test_rewriting_conditions import KNOWN, condition
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample
from tests.unit.rewrite.harness import HOME

ZONES = ("UTC", "Pacific/Kiritimati", "Etc/GMT+12", "America/New_York", "Pacific/Apia")
EPOCH = date(1970, 1, 1)
TEXTS = ("2024-01-31", "2023-02-28", "2024-02-29", "2020-12-31", "0001-01-01", "9999-12-31")
# Of a day.
MOVES = (
    *("date_add({0}, 1)", "date_sub({0}, 45)", "date_add({0}, -3)", "dateadd({0}, 400)"),
    *("add_months({0}, 1)", "add_months({0}, -13)", "add_months({0}, 0)", "last_day({0})"),
)
STARTS = ("trunc({0}, 'MM')", "trunc({0}, 'quarter')", "trunc({0}, 'YEAR')", "trunc({0}, 'WEEK')")
MADE = ("make_date(2024, 2, 29)", "make_date(1, 1, 1)", "make_date(2023, 12, 31)")
# Of what is no text.
SUMS = (
    *("{0} + 3", "{0} - 366", "{0} - (-2)", "{0} + interval 1 month", "{0} - interval '2' weeks"),
    *("{0} + interval '-1' year", "{0} - interval 10 days"),
)
# Of days and moments of the clock.
CLOCKS = ("current_date()", "current_date", "current_timestamp()", "now()")
OF_CLOCK = (
    *("{0}", "cast({0} as date)", "to_date({0})", "cast({0} as timestamp)", "last_day({0})"),
    *("date_trunc('MONTH', {0})", "date_trunc('week', {0})", "date_trunc('year', {0})"),
    *("date_trunc('quarter', {0})", "date_trunc('HOUR', {0})", "date_trunc('DAY', {0})"),
    *("trunc({0}, 'MM')", "trunc({0}, 'YEAR')", "trunc({0}, 'WEEK')", "trunc({0}, 'quarter')"),
    *("{0} - interval 36 hours", "{0} - interval 1 hour", "{0} + interval 90 minutes"),
    *("{0} - interval 7 days", "{0} - interval '3' months", "{0} - interval 1 year"),
    *("{0} + interval 2 weeks", "{0} - interval 99000 minutes"),
    *MOVES,
)
YEARS = ("year({0})", "year({0}) - 1", "year({0}) + 2", "year(add_months({0}, -6)) - 0")


def term(text: str) -> Term:
    tree = parse(f"select {text} as x from corners")
    assert tree is not None
    return BlockReader(KNOWN).forms(tree, Scope(HOME))[0].outputs[0].term


def constants() -> list[str]:
    typed = [f"date '{text}'" for text in TEXTS]
    moved = [one.format(day) for one in MOVES for day in (*typed, *(f"'{t}'" for t in TEXTS))]
    summed = [one.format(day) for one in SUMS for day in typed]
    twice = [one.format(day) for one in MOVES for day in (*moved, *summed) if day != one]
    starts = [one.format(day) for one in STARTS for day in (*typed, *moved, *MADE)]
    last = [one.format(day) for one in (*SUMS, *MOVES) for day in (*moved, *starts, *MADE)]
    return [*typed, *moved, *summed, *twice, *starts, *MADE, *last]


def of_clock() -> list[str]:
    once = [one.format(clock) for one, clock in product(OF_CLOCK, CLOCKS)]
    twice = [one.format(first) for one in OF_CLOCK for first in once[::3]]
    return [*once, *twice, "current_date() - 30", "to_date(now()) + 5", "last_day(now()) - 1"]


def test_days_of_constants(lake: Warehouse) -> None:
    """Each is the day that Spark makes of it, also at the ends of months and of all days."""
    lake.spark("set spark.sql.ansi.enabled = false")
    known = {text: day for text in constants() if (day := day_text(term(text))) is not None}
    assert len(known) > 500
    texts = list(known)
    for some in (texts[n : n + 200] for n in range(0, len(texts), 200)):
        shown = ", ".join(f"struct(cast({text} as string), typeof({text}))" for text in some)
        ((*values,),) = lake.spark(f"select {shown}")
        found = {text: tuple(value) for text, value in zip(some, values, strict=True)}
        assert found == {text: (known[text], "date") for text in some}


@pytest.mark.parametrize("zone", sample(ZONES[:2], ZONES[2:]))
def test_midnights_of_constants(lake: Warehouse, zone: str) -> None:
    """Each is the moment at which the day begins that it is said to be of."""
    lake.spark(f"set time zone '{zone}'")
    units = ("DAY", "WEEK", "MONTH", "mon", "QUARTER", "YEAR", "yyyy")
    days_of = (
        "date '2024-02-29'",
        "'2024-12-31'",
        "last_day('2011-12-15')",
        "make_date(1999, 5, 5)",
    )
    texts = [f"date_trunc('{unit}', {day})" for unit in units for day in days_of]
    texts += ["timestamp '2024-02-01'", "timestamp '2024-02-01 00:00:00'"]
    known = {text: midnight_text(term(text)) for text in texts}
    assert None not in known.values()
    shown = ", ".join(f"{text} = timestamp '{day}'" for text, day in known.items())
    assert set(*lake.spark(f"select {shown}")) == {True}
    for text in (
        "timestamp '2024-02-01 10:00:00'",
        "date_trunc('HOUR', date '2024-02-01')",
        "now()",
    ):
        assert midnight_text(term(text)) is None


@pytest.mark.parametrize(
    "text", ["'2024-01-31'", "'2024-01-31' + 1", "current_date()", "d", "5 - 3"]
)
def test_no_days(text: str) -> None:
    assert day_text(term(text)) is None


def too_late(lake: Warehouse) -> list[str]:
    """Terms of which Spark returns an earlier day, or year, than it is said to return at least."""
    texts, years = of_clock(), [one.format(clock) for one in YEARS for clock in CLOCKS]
    shown = ", ".join(
        [f"datediff({text}, date'1970-01-01')" for text in texts] + [f"int({one})" for one in years]
    )
    ((*values,),) = lake.spark(f"select {shown}")
    bounds = [first_day(term(text)) for text in texts] + [first_year(term(one)) for one in years]
    assert None not in bounds
    return [
        text
        for text, value, bound in zip([*texts, *years], values, bounds, strict=True)
        if bound is not None and value < bound
    ]


@pytest.mark.parametrize("zone", sample(ZONES[:2], ZONES[2:]))
def test_bounds_of_the_clock(lake: Warehouse, zone: str) -> None:
    lake.spark(f"set time zone '{zone}'")
    assert too_late(lake) == []


def at_least(column: str, bound: date) -> Sequence[Term]:
    return condition(f"{column} >= '{bound}'")


@pytest.mark.parametrize("zone", sample(ZONES[:2], ZONES[2:]))
def test_what_follows_from_the_clock(lake: Warehouse, zone: str) -> None:
    """Of all days and moments around a bound, each that meets a condition of the clock is in the
    range that is said to follow."""
    lake.spark(f"set time zone '{zone}'")
    lake.spark("set spark.sql.ansi.enabled = false")
    today = date.today()
    first, last = today - timedelta(days=800), today + timedelta(days=40)
    lake.spark(
        "create or replace temporary view around as select t as ts, cast(t as date) as d, "
        f"cast(t as timestamp_ntz) as n from (select explode(sequence(timestamp'{first}', "
        f"timestamp'{last}', interval 12 hours)) as t)"
    )
    comparisons = [f"{{0}} {sign} {{1}}" for sign in (">=", ">", "=")] + ["{1} <= {0}"]
    asked = [
        form.format(column, clock)
        for form, column, clock in product(
            comparisons,
            ("d", "ts", "n", "to_date(ts)", "date_trunc('MONTH', ts)", "date_trunc('WEEK', d)"),
            ("current_date() - 30", "date_trunc('month', now())", "now() - interval 20 hours"),
        )
    ]
    asked += ["year(d) = year(now())", "year(ts) > year(current_date()) - 2"]
    followed, bounds = 0, [first + timedelta(days=n) for n in range(840)]
    for text in asked:
        facts = facts_of(condition(text), zone)
        for column in ("ts", "d", "n"):
            # Each bound follows from the next one, so the last one says all.
            kept = bisect(
                bounds, False, key=lambda bound: not implies(facts, at_least(column, bound))
            )
            followed += bool(kept)
            if kept:
                query = (
                    f"select count(*) from around where {text} and {column} < '{bounds[kept - 1]}'"
                )
                assert lake.spark(query) == [(0,)], (text, column, bounds[kept - 1])
    # Of moments nothing follows in zones that lack a day.
    assert followed > len(asked) / 3


def _month_goes_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(days, "start_of", lambda day, unit: day)


def _ahead(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(days, "_BEHIND", -2)


def _nothing_is_moved(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(days, "moved", lambda text, count, unit: text)


def _hours_are_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(days, "_IN_A_DAY", dict.fromkeys(days._IN_A_DAY, 10**9))


@pytest.mark.parametrize("change", [_month_goes_on, _ahead, _nothing_is_moved, _hours_are_nothing])
def test_mutant_is_too_late(
    lake: Warehouse, monkeypatch: pytest.MonkeyPatch, change: Callable[[pytest.MonkeyPatch], None]
) -> None:
    lake.spark("set time zone 'UTC'")
    change(monkeypatch)
    assert too_late(lake)
