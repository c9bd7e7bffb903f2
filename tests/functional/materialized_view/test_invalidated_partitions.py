"""Rows of invalidated partitions are computed again alone, if nothing else is to be done."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.test_invalidate import falsify, invalidate, status
from tests.functional.materialized_view.warehouse import Warehouse

# Of each type two values as SQL says them, the first and NULL as arguments do.
TYPES: dict[str, tuple[str, str, list[Any]]] = {
    "date": ("date'2026-01-01'", "date'2026-01-02'", ["2026-01-01", date(2026, 1, 1)]),
    "string": ("'it''s a \\\\ /b=1'", "'A'", ["it's a \\ /b=1"]),
    "int": ("1", "10", [1, "1"]),
    "bigint": ("-9223372036854775808", "0", [-(2**63)]),
    "decimal(9, 3)": ("1.500", "15", ["1.5", 1.5]),
    "boolean": ("true", "false", [True, "true"]),
    "timestamp": (
        "timestamp'2026-03-29 02:30:00'",
        "timestamp'2026-10-25 02:30:00'",
        ["2026-03-29 02:30:00", datetime(2026, 3, 29, 2, 30)],
    ),
    "double": ("double('nan')", "-0.0d", ["NaN"]),
    "varchar(3)": ("'a '", "'a'", ["a "]),
}
CASES = [(kind, given) for kind, (*_, all_given) in TYPES.items() for given in (*all_given, None)]


def make(lake: Warehouse, kind: str, layout: str = "part") -> None:
    """A view of three partitions, one of NULL, of which all rows are wrong."""
    first, second, _ = TYPES[kind]
    rows = ", ".join(f"({value}, 'x', {n})" for n, value in enumerate((first, second, "null"), 1))
    lake.spark("drop table if exists @.facts")
    lake.spark(f"create table @.facts (part {kind}, other string, amount bigint) using iceberg")
    lake.spark(f"insert into @.facts values {rows}")
    lake.sql(
        f"create or replace materialized view @.sums partitioned by ({layout}) as "
        "select part, other, sum(amount) as amount from @.facts group by part, other"
    )
    falsify(lake, "sums")


def amounts(lake: Warehouse) -> list[int]:
    lake.restart()
    return sorted(row[0] for row in lake.sql("select amount from @.sums"))


def last(lake: Warehouse) -> Any:
    return lake.history("sums", "method, state")[-1]


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize(("kind", "given"), CASES)
@pytest.mark.parametrize("layout", ["part", "other, `PART`"])
def test_alone(lake: Warehouse, kind: str, given: Any, layout: str) -> None:
    """Those of other partitions stay as they are, and are trusted, until they are named, too."""
    make(lake, kind, layout)
    if len(layout) > len("part"):
        partitions: list[Any] = [["x", given]]
    else:
        partitions = [{"Part": given}]
    right = 3 if given is None else 1
    assert invalidate(lake, view="sums", partitions=partitions) == [("1 partition",)]
    assert amounts(lake) == sorted([right, *(100 + n for n in (1, 2, 3) if n != right)])
    assert last(lake) == ("partition", "SUCCEEDED")
    assert lake.freshness("sums") == "FRESH" and not lake.flag("sums")


@pytest.mark.behaviour("E8")
def test_one_after_the_other(lake: Warehouse) -> None:
    """They add up; one that the view does not have is no error, and neither is one of no rows."""
    make(lake, "int")
    for value in (1, 7, None):
        invalidate(lake, view="sums", partitions=[value])
    assert status(lake, "sums")[1].startswith("1 partition invalidated by ")
    assert amounts(lake) == [1, 3, 102]
    assert last(lake) == ("partition", "SUCCEEDED")


@pytest.mark.behaviour("E8")
def test_rows_that_a_partition_lacks(lake: Warehouse) -> None:
    """What is missing in it comes back, what does not belong there goes."""
    make(lake, "int")
    falsify(
        lake,
        "sums",
        "delete from {storage} where part = 1",
        "insert into {storage} select 10, 'y', {amount}, mv_rows_0, mv_count_2 from {storage}",
    )
    invalidate(lake, view="sums", partitions=[1, 10])
    assert amounts(lake) == [1, 2, 103]
    assert last(lake) == ("partition", "SUCCEEDED")


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize("more", ["all rows", "keys", "a base table", "another layout"])
def test_with_more(lake: Warehouse, more: str) -> None:
    """If anything else may be wrong, all rows are computed."""
    make(lake, "int")
    lake.sql('alter materialized view @.sums set options (unique_key = \'["part", "other"]\')')
    invalidate(lake, view="sums", partitions=[1])
    if more == "all rows":
        invalidate(lake, view="sums")
    elif more == "keys":
        invalidate(lake, view="sums", keys=[[10, "x"]])
    elif more == "a base table":
        lake.spark("insert into @.facts values (4, 'x', 4)")
    else:
        lake.sql(
            "create or replace materialized view @.sums partitioned by (other) as "
            "select part, other, sum(amount) as amount from @.facts group by part, other"
        )
    assert amounts(lake) == [1, 2, 3, *([4] if more == "a base table" else [])]
    assert last(lake) == ("complete", "SUCCEEDED")


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize("layout", ["bucket(4, part)", "other, truncate(2, part)"])
def test_partitions_that_are_no_columns(lake: Warehouse, layout: str) -> None:
    """Of these a value does not say which rows they have."""
    make(lake, "int", layout)
    given: Any = ["x", 0] if layout.startswith("other") else [0]
    invalidate(lake, view="sums", partitions=[given])
    assert amounts(lake) == [1, 2, 3]
    assert last(lake) == ("complete", "SUCCEEDED")


@pytest.mark.behaviour("E8")
def test_strict_methods(lake: Warehouse) -> None:
    make(lake, "int")
    invalidate(lake, view="sums", partitions=[1])
    (failure,) = lake.operation("refresh", view="sums", method="fast").failures
    assert "INVALIDATED: 1 partition invalidated by " in failure
    lake.operation("refresh", view="sums", method="partition")
    assert amounts(lake) == [1, 102, 103]


@pytest.mark.behaviour("E8")
@pytest.mark.parametrize("point", ["lock.before", "started.after", "write.after"])
def test_meanwhile(lake: Warehouse, point: str) -> None:
    """A refresh answers what it was planned by, and nothing that came later."""
    make(lake, "int")
    invalidate(lake, view="sums", partitions=[1])
    refresh = Paused(lake, point, "select * from @.sums")
    with refresh:
        invalidate(lake, view="sums", partitions=[10])
    assert refresh.error is None
    assert status(lake, "sums")[0] == "STALE"
    assert amounts(lake) == [1, 2, 103]
