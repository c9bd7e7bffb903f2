"""Keys as YAML has them in `--args`: times without an offset, bytes, numbers that are not finite.
The rows that they name are computed again, and no others."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml

from tests.functional.materialized_view.test_invalidate import falsify
from tests.functional.materialized_view.warehouse import Warehouse

# By the type of the key: what is written in YAML, the value that it names, another value.
KEYS = {
    "timestamp_ntz": [
        (
            "2026-03-29 02:30:00",
            "timestamp_ntz'2026-03-29 02:30:00'",
            "timestamp_ntz'2026-03-29 03:30:00'",
        ),
        ("2026-10-25", "timestamp_ntz'2026-10-25 00:00:00'", "timestamp_ntz'2026-10-24 22:00:00'"),
    ],
    "timestamp": [
        ("2026-03-29 01:30:00", "timestamp'2026-03-29 01:30:00'", "timestamp'2026-03-29 03:30:00'"),
        (
            "2026-10-25T02:30:00+01:00",
            "timestamp'2026-10-25 02:30:00+01:00'",
            "timestamp'2026-10-25 02:30:00+02:00'",
        ),
    ],
    "date": [("2026-03-29", "date'2026-03-29'", "date'2026-03-28'")],
    "binary": [("!!binary YQ==", "X'61'", "X'62'"), ("a", "X'61'", "X'6227'")],
    "double": [(".nan", "double('NaN')", "1.5D"), ("-.inf", "double('-Infinity')", "-1.5D")],
    "decimal(10, 2)": [("1.50", "1.50BD", "1.51BD")],
    "string": [("'2026-03-29 02:30:00'", "'2026-03-29 02:30:00'", "'2026-03-29 03:30:00'")],
}
CASES = [(kind, *case) for kind, cases in KEYS.items() for case in cases]


@pytest.fixture(scope="module")
def berlin(lake: Warehouse) -> Iterator[Warehouse]:
    for run in (lake.sql, lake.spark):
        run("set time zone 'Europe/Berlin'")
    yield lake
    for run in (lake.sql, lake.spark):
        run("set time zone 'UTC'")


def _falsified(lake: Warehouse, kind: str, named: str, other: str) -> None:
    lake.spark(f"create or replace table @.t (k {kind}, v int) using iceberg")
    lake.spark(f"insert into @.t values ({named}, 1), ({other}, 2)")
    lake.sql(
        "create or replace materialized view @.v options (unique_key = 'k') as "
        "select k, sum(v) as amount from @.t group by k"
    )
    falsify(lake, "v")


def _amounts(lake: Warehouse) -> list[int]:
    """That of the key that was named, and that of the other one."""
    return [row[0] for row in lake.spark("select amount from @.v order by amount % 100")]


@pytest.mark.parametrize(("kind", "text", "named", "other"), CASES)
def test_the_named_row(berlin: Warehouse, kind: str, text: str, named: str, other: str) -> None:
    _falsified(berlin, kind, named, other)
    given = yaml.safe_load(f"{{view: {berlin.schema}.v, keys: [{text}]}}")
    assert not berlin.operation("refresh", **given).failures
    assert _amounts(berlin) == [1, 102]
    falsify(berlin, "v")
    assert not berlin.operation("invalidate", **given).failures
    berlin.restart()
    berlin.sql("select * from @.v")
    assert _amounts(berlin)[0] == 1 and berlin.freshness("v") == "FRESH"
    payloads = berlin.spark("select payload from @meta.mv_events where kind = 'INVALIDATED'")
    assert payloads
    for (payload,) in payloads:
        json.loads(payload, parse_constant=pytest.fail)


@pytest.mark.parametrize("operation", ["refresh", "invalidate"])
def test_bytes_that_are_no_text(berlin: Warehouse, operation: str) -> None:
    _falsified(berlin, "binary", "X'FF'", "X'62'")
    state = berlin.state()
    given = yaml.safe_load(f"{{view: {berlin.schema}.v, keys: [!!binary /w==]}}")
    with pytest.raises(Exception, match="is no value of unique_key"):
        raise AssertionError(berlin.operation(operation, **given).failures[0])
    assert berlin.state() == state and _amounts(berlin) == [101, 102]
