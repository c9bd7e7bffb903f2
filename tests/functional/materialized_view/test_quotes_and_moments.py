"""Definitions that mean another thing under their own settings than under those of Spark's start:
texts that are cast to moments in ANSI mode, and names in double quotes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.warehouse import Warehouse

ANSI, QUOTES = "spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers"


@pytest.fixture
def quoted(lake: Warehouse, road: str) -> Iterator[Warehouse]:
    lake.sql("drop materialized view if exists @.m")
    lake.spark(
        "create or replace table @.t (k int, ts timestamp, a string, now string, today date, "
        "s string) using iceberg"
    )
    lake.spark(
        "insert into @.t values (1, null, 'x', '2020-02-02 00:00:00', date'1999-09-09', "
        "string(current_date() + 1))"
    )
    runs = (lake.spark, lake.sql)
    for run in runs:
        run(f"set {ANSI} = true")
        run(f"set {QUOTES} = true")
    yield lake
    for run in runs:
        run(f"reset {ANSI}")
        run(f"reset {QUOTES}")


def rows(found: list[tuple[object, ...]]) -> Counter[str]:
    return Counter(map(str, found))


def expiry(lake: Warehouse) -> object:
    """When the stored rows expire, as their label says."""
    snapshots = f"{lake.storage('m')}.snapshots"
    summaries = lake.spark(f"select summary from {snapshots} order by committed_at")
    labels = [json.loads(v) for (one,) in summaries for v in dict(one).values() if '"expiry"' in v]
    return labels[-1]["expiry"]["at"]


NAMES = {
    "cast": 'select k, cast("now" as timestamp) as x from @.t',
    "function": 'select k, date("today") as d from @.t',
    "condition": "select k from @.t where cast(\"now\" as timestamp) > timestamp'2024-01-01'",
    "text beside a name": 'select "k" from @."t" where a <> \'today\'',
    "groups": 'select "a" as "b c", count("k") as n from @."t" group by "a"',
}


@pytest.mark.parametrize("case", NAMES)
def test_names(quoted: Warehouse, case: str) -> None:
    lake, query = quoted, NAMES[case]
    lake.sql(f"create materialized view @.m as {query}")
    assert rows(lake.sql("select * from @.m")) == rows(lake.spark(query))
    lake.spark("insert into @.t select k + 1, ts, 'y', now, today, s from @.t")
    wanted = rows(lake.spark(query))
    for run in (lake.spark, lake.sql):  # another session refreshes it
        run(f"set {QUOTES} = false")
    lake.restart()
    assert not lake.operation("refresh", view=f"{lake.schema}.m").failures
    assert rows(lake.sql("select * from @.m")) == wanted


@pytest.mark.parametrize("text", ["{} = string(current_date())", "{} > string(current_date())"])
def test_expiry(quoted: Warehouse, text: str) -> None:
    """A name has the values of its column, also where the clock is compared with them."""
    lake = quoted
    found = []
    for name in ('"s"', "s"):
        lake.sql("drop materialized view if exists @.m")
        lake.sql(f"create materialized view @.m as select k from @.t where {text.format(name)}")
        found.append(expiry(lake))
    assert found[0] == found[1] is not None


CLOCKS = {
    "condition": "select k from @.t where coalesce(ts, 'now') < timestamp'2300-01-01'",
    "column": "select k, coalesce(ts, 'now') as x from @.t",
    "function": "select k, coalesce(ts, current_timestamp()) as x from @.t",
    "quoted function": 'select k, coalesce(ts, "current_timestamp"()) as x from @.t',
}


@pytest.mark.parametrize("case", CLOCKS)
def test_moments(quoted: Warehouse, case: str) -> None:
    """In ANSI mode Spark casts these texts to moments, and so their rows do not stay what they
    are."""
    quoted.sql(f"create materialized view @.m as {CLOCKS[case]}")
    assert quoted.freshness("m") == "STALE"
