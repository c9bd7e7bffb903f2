"""Logical views made under other settings than materialized views over them: which types a text
returns, and what Spark has to convert, depends on the settings that it runs with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from pyspark.errors import AnalysisException

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse

_ANSI = "spark.sql.ansi.enabled"
# Settings, their values for the logical view and for the materialized one, and a column whose type
# differs between the two.
_TEXT = "coalesce(i, case when k > 1 then s end)"
_LOSS = "spark.sql.decimalOperations.allowPrecisionLoss"
_KINDS, _ZONE = "spark.sql.timestampType", "spark.sql.session.timeZone"
_ZONES = {_ZONE: ("America/New_York", "Europe/Berlin")}
_IN_A_GAP = "to_timestamp(concat('2024-03-31 02:', i, ':00'))"
CASES = {
    "text or number": ({_ANSI: ("false", "true")}, _TEXT),
    "day or text": ({_ANSI: ("false", "true")}, "coalesce(d, case when k > 9 then s end)"),
    "zone": ({_KINDS: ("TIMESTAMP_LTZ", "TIMESTAMP_NTZ"), **_ZONES}, _IN_A_GAP),
    "no zone": ({_KINDS: ("TIMESTAMP_NTZ", "TIMESTAMP_LTZ"), **_ZONES}, _IN_A_GAP),
    "bytes": ({"spark.sql.function.concatBinaryAsString": ("true", "false")}, "concat(b, b)"),
}
# What the text returns does not fit in what the view was declared with: Spark refuses to read it.
REFUSED = {
    "number or text": ({_ANSI: ("true", "false")}, _TEXT),
    "scale": ({_ANSI: ("false", "false"), _LOSS: ("true", "false")}, "w * w"),
    "no scale": ({_ANSI: ("false", "false"), _LOSS: ("false", "true")}, "w * w"),
}
TABLE = "(k bigint, i int, s string, d date, w decimal(38, 10), b binary)"
FIRST = (
    "(1, 9, 'x', date'2024-01-09', 10000000.0000001, X'41'), "
    "(1, 10, 'y', date'2024-01-10', 3.3333333333, X'42'), "
    "(2, null, '3', null, 0.0000000007, null)"
)
LATER = (
    "(1, 8, 'z', date'2024-01-11', 9.9999999999, X'43'), "
    "(3, 9, '0', null, 10000000000000000, X''), (3, 10, '0', null, 0.5, X'7a')"
)
QUERY = (
    "select k, max(cast(v as string)) as v, count(*) as n, count(v) as m, max(v) as h "
    "from @.l group by k"
)


@pytest.fixture
def told(lake: Warehouse, road: str) -> Warehouse:
    lake.sql("drop materialized view if exists @.m")
    lake.spark("drop view if exists @.l")
    lake.spark(f"create or replace table @.t {TABLE} using iceberg")
    lake.spark(f"insert into @.t values {FIRST}")
    return lake


Settings = dict[str, tuple[str, str]]


@contextmanager
def _settings_of(lake: Warehouse, settings: Settings) -> Iterator[Callable[[int], None]]:
    """Sets them for the logical view (0) or the materialized view (1), in each session."""
    runs = (lake.spark, lake.sql)

    def use(number: int) -> None:
        for run in runs:
            for key, values in settings.items():
                run(f"set {key} = {values[number]}")

    try:
        yield use
    finally:
        for run in runs:
            for key in settings:
                run(f"reset {key}")


def _rows(rows: list[tuple[object, ...]]) -> Counter[str]:
    return Counter(map(str, rows))


@pytest.mark.parametrize("method", ["complete", "fast", "partition"])
@pytest.mark.parametrize("case", CASES)
def test_refreshes(told: Warehouse, case: str, method: str) -> None:
    """The types of a text are those that it has with the settings of the materialized view, and not
    with those of the session that refreshes it, which here are those of the logical view."""
    lake, (settings, column) = told, CASES[case]
    with _settings_of(lake, settings) as use:
        use(0)
        lake.spark(f"create view @.l as select k, {column} as v from @.t")
        use(1)
        lake.sql(f"create materialized view @.m partitioned by (k) as {QUERY}")
        assert _rows(lake.sql("select * from @.m")) == _rows(lake.spark(QUERY))
        lake.spark(f"insert into @.t values {LATER}")
        wanted = _rows(lake.spark(QUERY))
        use(0)
        lake.restart()
        report = lake.operation("refresh", view=f"{lake.schema}.m", method=method)
        assert not report.failures
        assert _rows(lake.sql("select * from @.m")) == wanted


@pytest.mark.parametrize("case", REFUSED)
def test_refused(told: Warehouse, case: str) -> None:
    lake, (settings, column) = told, REFUSED[case]
    with _settings_of(lake, settings) as use:
        use(0)
        lake.spark(f"create view @.l as select k, {column} as v from @.t")
        use(1)
        with pytest.raises(AnalysisException, match="CANNOT_UP_CAST_DATATYPE"):
            lake.spark(QUERY)
        with pytest.raises(MaterializedViewFailure, match="CANNOT_UP_CAST_DATATYPE"):
            lake.sql(f"create materialized view @.m as {QUERY}")
        assert not lake.spark(f"show views in {lake.schema} like 'm'")


def test_values_of_the_text(told: Warehouse) -> None:
    """The example by hand: numbers are compared as texts, as the logical view returns texts."""
    lake, (settings, column) = told, CASES["text or number"]
    query = "select k, max(v) as v, count(*) as n from @.l group by k"
    with _settings_of(lake, settings) as use:
        use(0)
        lake.spark(f"create view @.l as select k, {column} as v from @.t")
        use(1)
        lake.sql(f"create materialized view @.m as {query}")
        assert _rows(lake.sql("select * from @.m")) == Counter(["(1, '9', 2)", "(2, '3', 1)"])
