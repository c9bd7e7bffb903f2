"""AVG from sums and counts is what Spark's AVG is, to the last digit."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import measures
from tests.functional.materialized_view.warehouse import Warehouse

# Precision and scale: those that Spark averages as doubles, and longer ones.
TYPES = [(5, 2), (10, 2), (11, 0), (11, 11), (12, 2), (15, 2), (15, 15), (16, 4), (18, 2), (18, 18)]
TYPES += [(18, 0), (17, 6)]
# Rows of groups whose quotients often lie between two values of the last place.
SIZES = (1, 2, 3, 7, 160, 320, 640, 1000, 1600, 4096)
SUMS = 150
# A sum and a count between which too many places round twice: 50 of 1,000,001.
NEARLY = ("decimal(18,0)", "50", 1_000_001)


def _quotient(type_name: str) -> str:
    total, count = exp.column("total"), exp.column("n")
    return measures.quotient(total, count, type_name).sql("spark")


def _differing(lake: Warehouse, digits: int, scale: int) -> list[object]:
    """What differs in groups of one value beside zeros, of every size and both signs."""
    type_name = f"decimal({digits},{scale})"
    sizes = ", ".join(map(str, SIZES))
    lake.spark(
        "create or replace temporary view groups as select s, size, "
        f"cast((s * 7919 + size) % 100003 * if(s % 2 = 0, 1, -1) * power(10, {-scale}) "
        f"as {type_name}) as value from range({SUMS}) r(s) "
        f"lateral view explode(array({sizes})) as size"
    )
    rows = (
        f"select s, size, cast(if(n = 1, value, 0) as {type_name}) as x from groups "
        "lateral view explode(sequence(1, size)) as n"
    )
    grouped = (
        "select s, size, avg(x) as mean, sum(x) as total, count(x) as n "
        f"from ({rows}) group by s, size"
    )
    found = lake.spark(f"select mean, {_quotient(type_name)} as q, total, n from ({grouped})")
    assert len(found) == SUMS * len(SIZES)
    return [row for row in found if row[0] != row[1]]


@pytest.mark.parametrize(("digits", "scale"), TYPES)
def test_quotients(lake: Warehouse, digits: int, scale: int) -> None:
    assert _differing(lake, digits, scale) == []


def test_short_decimals_are_doubles(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: they are divided as decimals."""
    monkeypatch.setattr(measures, "_SHORT", 0)
    assert _differing(lake, 10, 2)


def _nearly(lake: Warehouse) -> tuple[object, object]:
    type_name, total, count = NEARLY
    ((found,),) = lake.spark(
        f"select {_quotient(type_name)} from values (cast({total} as decimal(28,0)), {count}L) "
        "as t(total, n)"
    )
    ((right,),) = lake.spark(
        f"select avg(cast(if(id = 0, {total}, 0) as {type_name})) from range({count})"
    )
    return found, right


def test_rounded_once(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its mutant."""
    found, right = _nearly(lake)
    assert found == right
    monkeypatch.setattr(measures, "_ROUNDED_ONCE", 18)
    found, right = _nearly(lake)
    assert found != right


@pytest.mark.parametrize("type_name", ["decimal(10,2)", "decimal(15,2)", "decimal(18,4)", "int"])
def test_added_to_groups(lake: Warehouse, type_name: str) -> None:
    """The first build, what is added, and what is rolled up for a query."""
    query = "select g, k, avg(x) as mean, count(*) as n from @.values_of group by g, k"
    by_group = "select g, avg(x) as mean from @.values_of group by g"
    lake.spark(f"create or replace table @.values_of (g int, k int, x {type_name}) using iceberg")
    fill = "insert into @.values_of select cast(id div 160 as int), cast(id % 2 as int), "
    lake.spark(f"{fill} if(id % 160 = 0, (id div 160) % 37, 0) * 0.01 from range(32000)")
    lake.restart()
    lake.sql(
        f"create or replace materialized view @.means options (refresh_method = 'fast') as {query}"
    )
    for change in (
        f"{fill} if(id % 160 = 0, 7, 0) * 0.01 from range(1600)",
        "delete from @.values_of where g = 3 and k = 1",
    ):
        assert Counter(lake.spark("select * from @.means")) == Counter(lake.spark(query))
        lake.spark(change)
        lake.sql("refresh materialized view @.means")
        assert Counter(lake.sql(by_group)) == Counter(lake.spark(by_group))
    assert Counter(lake.spark("select * from @.means")) == Counter(lake.spark(query))
