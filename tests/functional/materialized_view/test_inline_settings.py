"""Stale views whose query would stand in a statement of a session with other settings than theirs:
the query returns other rows there, so that the view is refreshed."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.statements import read_policy
from tests.functional.materialized_view.rewritten import of_small_tables
from tests.functional.materialized_view.warehouse import Warehouse

ROWS = (
    "select id as k, timestamp'2024-01-01 20:00:00Z' + make_interval(0, 0, 0, 0, id) as t, "
    "if(id % 3 = 0, 'x', cast(id as string)) as s, cast(id as int) as i from range({}, {})"
)
_LOSS = "spark.sql.decimalOperations.allowPrecisionLoss"
# A setting of a view, its value there and in the session that reads, and a query it matters to.
SETTINGS = {
    "zone": ("spark.sql.session.timeZone", "Europe/Berlin", "UTC", "cast(t as date)"),
    "ansi": ("spark.sql.ansi.enabled", "false", "true", "try_cast(s as int) + coalesce(i, '0')"),
    "escapes": ("spark.sql.parser.escapedStringLiterals", "true", "false", r"concat(s, '\n')"),
    "scale": (_LOSS, "true", "false", "cast(i as decimal(38, 10)) * cast(i as decimal(38, 10))"),
    "null": ("spark.sql.legacy.sizeOfNull", "true", "false", "size(if(i > 3, null, array(i)))"),
}


@pytest.fixture
def told(lake: Warehouse, road: str) -> Warehouse:
    made = of_small_tables(lake)
    made.sql("drop materialized view if exists @.m")
    made.spark(f"create or replace table @.t using iceberg as {ROWS.format(0, 6)}")
    return made


def _set(lake: Warehouse, key: str, value: str | None) -> None:
    text = f"reset {key}" if value is None else f"set {key} = {value}"
    for run in (lake.spark, lake.sql):
        run(text)


def _stale_read(lake: Warehouse, case: str, policy: str, change: bool = True) -> bool:
    """Whether a read of a stale view has the rows that the view's query has under its own settings;
    another session reads it, if these are to `change`."""
    key, mine, other, expression = SETTINGS[case]
    query = f"select k, {expression} as v from @.t"
    live = ", live = true" if policy == "live" else ""
    try:
        _set(lake, key, mine)
        lake.sql(f"create materialized view @.m options (when_stale = '{policy}'{live}) as {query}")
        lake.spark(f"insert into @.t {ROWS.format(6, 9)}")
        wanted = Counter(map(str, lake.spark(query)))
        lake.restart()
        _set(lake, key, other if change else mine)
        return Counter(map(str, lake.sql("select * from @.m"))) == wanted
    finally:
        _set(lake, key, None)


def _is_refreshed(lake: Warehouse) -> bool:
    return lake.freshness("m") == "FRESH"


# A live view says which zone and mode it needs; a view that needs more can have none.
CASES = [*((case, "inline") for case in SETTINGS), ("zone", "live"), ("ansi", "live")]


@pytest.mark.parametrize(("case", "policy"), CASES)
def test_other_settings(told: Warehouse, case: str, policy: str) -> None:
    assert _stale_read(told, case, policy)
    assert _is_refreshed(told)


def test_of_a_session(told: Warehouse) -> None:
    """What a query says of its session is that of the session that refreshes the view."""
    lake = told
    lake.sql(
        "create materialized view @.m options (when_stale = 'inline') as "
        "select k, current_schema() as s from @.t"
    )
    ((before,),) = lake.spark("select distinct s from @.m")
    lake.spark(f"insert into @.t {ROWS.format(6, 9)}")
    lake.restart()
    lake.sql(f"use {lake.schema}")
    try:
        assert lake.sql("select s, count(*) from @.m group by s") == [(before, 9)]
    finally:
        lake.sql("use default")
    assert _is_refreshed(lake)


@pytest.mark.parametrize("policy", ["inline", "live"])
def test_settings_of_the_view(told: Warehouse, policy: str) -> None:
    assert _stale_read(told, "zone", policy, change=False)
    assert not _is_refreshed(told)


@pytest.mark.parametrize("case", SETTINGS)
def test_query_under_any_settings(
    told: Warehouse, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """The mutant: the query stands there, whatever the session makes of it."""
    monkeypatch.setattr(read_policy, "may_inline", lambda observation, session: bool(session))
    assert not _stale_read(told, case, "inline")
