"""Which conditions follow from which: whatever the rewriting says, Spark says of each corner."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt.adapters.spark_mv.rewrite.conditions import stand_ins
from dbt.adapters.spark_mv.rewrite.conditions.facts import facts_of
from dbt.adapters.spark_mv.rewrite.conditions.time_units import Oddities
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope
from dbt.adapters.spark_mv.rewrite.rows import implies
from dbt.adapters.spark_mv.rewrite.terms import Term
from dbt.adapters.spark_mv.sql.reads import parse
from tests.functional.materialized_view.condition_texts import (
    CONDITIONS,
    FOLLOWING,
    NUMBERS,
    OF_DAYS,
    OF_TIME,
    OF_UNITS,
    TEXTS,
)
from tests.functional.materialized_view.test_rewriting_types import ZONES
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample
from tests.unit.rewrite.harness import HOME, Tables

KINDS = {
    "ts": "timestamp",
    "n": "timestamp_ntz",
    "d": "date",
    "s": "string",
    "x": "double",
    "f": "float",
    "m": "decimal(10,2)",
    "i": "int",
    "w": "decimal(38,30)",
    "b": "boolean",
}
KNOWN = Tables({"corners": KINDS})
BACK_OVER_MIDNIGHT = ("America/St_Johns", "2010-11-07")
# Its clocks went back by a day.
SOLD = ("America/Anchorage", "1867-10-18")
DAYS = [("UTC", "2024-02-28"), BACK_OVER_MIDNIGHT, SOLD, *ZONES.items()]


def condition(text: str) -> Sequence[Term]:
    tree = parse(f"select 1 as one from corners where {text}")
    assert tree is not None
    return BlockReader(KNOWN).forms(tree, Scope(HOME))[0].conditions


def wrong_pairs(lake: Warehouse, texts: Sequence[str], zone: str) -> list[tuple[str, str]]:
    """Pairs of which the first is said to follow from the second, and does not in some row."""
    tests = ", ".join(f"coalesce({text}, false)" for text in texts)
    vectors = list(zip(*lake.spark(f"select {tests} from corners"), strict=True))
    read = [condition(text) for text in texts]
    return [
        (texts[kept], texts[asked])
        for asked, conditions in enumerate(read)
        for facts in [facts_of(conditions, zone)]
        for kept, wanted in enumerate(read)
        if implies(facts, wanted)
        and any(a and not k for a, k in zip(vectors[asked], vectors[kept], strict=True))
    ]


def follows(pair: tuple[str, str], zone: str) -> bool:
    kept, asked = map(condition, pair)
    return implies(facts_of(asked, zone), kept)


@pytest.fixture(scope="module")
def corners(lake: Warehouse) -> Warehouse:
    """A warehouse for the table of that name."""
    lake.spark("set spark.sql.ansi.enabled = false")
    return lake


def fill(lake: Warehouse, zone: str, day: str) -> None:
    """Make rows of which each has one value that is not NULL: half hours around a day and the
    beginnings of years, and all corners of the other types."""
    lake.spark(f"set time zone '{zone}'")
    moments = " union all ".join(
        f"select explode(sequence(timestamp'{first} 12:00:00' - interval {days} day, "
        f"timestamp'{first} 12:00:00' + interval {days} day, interval 30 minute)) as t"
        for first, days in ((day, 3), (f"{day[:4]}-01-01", 1), (f"{int(day[:4]) + 1}-01-01", 1))
    )
    lake.spark(f"create or replace temporary view moments as {moments}")
    values = {
        "s": TEXTS,
        "x": NUMBERS,
        "f": NUMBERS,
        "m": ("0", "1", "-1", "1.5", "2", "2.01", "0.99"),
        "w": ("0", "1", "-1", "1e-30", "-1e-30", "0.5", "12345678.9"),
        "i": ("-2", "-1", "0", "1", "2", "3", "4", "10", "128", "257"),
        "b": ("true", "false"),
    }
    parts = [f"select {column(t='t', kind=kind)} from moments" for kind in ("ts", "n", "d")]
    for kind, texts in values.items():
        shown = ", ".join("('" + text.replace("'", "''") + "')" for text in texts)
        parts.append(f"select {column('v', kind)} from values {shown} as c(v)")
    parts.append(f"select {column('null', 's')}")
    lake.keep("corners", " union all ".join(parts), list(KINDS))


def column(t: str, kind: str) -> str:
    """All columns, of which one has a value."""
    return ", ".join(
        f"cast({t if name == kind else 'null'} as {type_name})" for name, type_name in KINDS.items()
    )


def named(text: str, kind: str, day: str) -> str:
    after = f"{day[:-2]}{int(day[-2:]) + 1:02}"
    return text.format(t=kind, day=day, next=after, year=day[:4], month=f"{day[:-2]}01")


@pytest.mark.parametrize(("zone", "day"), sample(DAYS[:3], DAYS[3:]))
def test_moments_and_days(corners: Warehouse, zone: str, day: str) -> None:
    """Also where midnights are missing or there twice, and where a day is missing."""
    fill(corners, zone, day)
    for kind in ("ts", "n", "d"):
        texts = [named(text, kind, day) for text in OF_TIME]
        assert wrong_pairs(corners, texts, zone) == []
        known = OF_DAYS if kind == "n" else [*OF_DAYS, *OF_UNITS]
        pairs = [(named(one, kind, day), named(other, kind, day)) for one, other in known]
        assert zone != "UTC" or [pair for pair in pairs if not follows(pair, zone)] == []


@pytest.mark.parametrize("name", CONDITIONS)
def test_other_types(corners: Warehouse, name: str) -> None:
    fill(corners, "UTC", "2024-02-28")
    assert wrong_pairs(corners, CONDITIONS[name], "UTC") == []


def test_what_follows() -> None:
    assert [pair for pair in FOLLOWING if not follows(pair, "UTC")] == []


def test_zones_matter(corners: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day goes on after the next one has begun, which Spark forgets where it compares days."""
    monkeypatch.setattr(stand_ins, "oddities", lambda zone: Oddities(False, False))
    zone, day = BACK_OVER_MIDNIGHT
    fill(corners, zone, day)
    texts = [named(text, "ts", day) for text in OF_TIME]
    assert wrong_pairs(corners, texts, zone)
