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
    "b": "boolean",
}
KNOWN = Tables({"corners": KINDS})
BACK_OVER_MIDNIGHT = ("America/St_Johns", "2010-11-07")
# Its clocks went back by a day.
SOLD = ("America/Anchorage", "1867-10-18")
DAYS = [("UTC", "2024-02-28"), BACK_OVER_MIDNIGHT, SOLD, *ZONES.items()]
# Of moments and days; {next} is the day after {day}, {year} its year.
OF_TIME = (
    "{t} >= '{day}'",
    "{t} > '{day}'",
    "{t} < '{next}'",
    "{t} <= '{day} 00:00:00'",
    "{t} >= '{day}' and {t} < '{next}'",
    "{t} >= '{year}-01-01'",
    "{t} < '{year}-01-01'",
    "to_date({t}) = '{day}'",
    "cast({t} as date) <> '{day}'",
    "cast({t} as date) >= date'{day}'",
    "date'{day}' < to_date({t})",
    "to_date({t}) <= '{day}'",
    "to_date({t}) in ('{day}')",
    "to_date({t}) in ('{day}', '{next}')",
    "to_date({t}) not in ('{day}', '{next}')",
    "year({t}) = {year}",
    "year({t}) <> {year}",
    "year({t}) >= {year}",
    "year({t}) < {year}",
    "{year} <= year({t})",
    "year({t}) in ({year}, {year} - 1)",
    "year({t}) in ({year}, 2000)",
    "year(to_date({t})) = {year}",
    "month({t}) = 11",
    "month({t}) > 10",
)
CONDITIONS: dict[str, tuple[str, ...]] = {
    "s": (
        "s = 'paid'",
        "s = 'Void'",
        "s <> 'void'",
        "lower(s) = 'paid'",
        "lower(s) <> 'void'",
        "lower(s) in ('paid', 'open')",
        "lower(s) not in ('void', 'open')",
        "upper(s) >= 'P'",
        "substring(s, 1, 2) = 'pa'",
        "length(s) > 3",
        "length(s) >= 4",
        "length(s) <> 0",
        "s like 'pa%'",
        "s like 'paid%'",
        "s like 'paid_%'",
        "s like 'pa_d'",
        "s like 'pa\\\\%%'",
        "s like 'pa$%'",
        "s like 'p}%'",
        "s like '%id'",
        "s not like 'pa%'",
        "startswith(s, 'paid')",
        "startswith(s, '')",
        "s >= 'pa'",
        "cast(s as int) > 1",
        "cast(s as int) > 0",
        "cast(s as date) = '2024-01-01'",
        "cast(s as date) < '2025-01-01'",
    ),
    "x": (
        *("x > 0", "x >= 0", "x < 0", "x <> 0", "x = 0", "x <=> 0", "x in (0, 1)", "x > 10"),
        *("x > 0.1", "x >= 0.1", "x not in (0, 1)", "x not in (0, 1, 2.5)", "x = '0'", "x < 1e3"),
        *("x > 0.10000000000000001", "x >= 0.1000000000000000055", "x in ('0.0', '1')", "x > -5"),
        *("abs(x) > 3", "abs(x) > 1", "cast(x as int) > 0", "cast(x as int) > -1"),
    ),
    "f": (
        *("f > 0", "f >= 0", "f <> 0", "f = 0", "f > 0.1", "f >= 0.1", "f > 16777216"),
        *("f > 16777217", "f >= 16777217", "f < 20000000", "f in (1, 0.1)", "f not in (1, 0.1)"),
    ),
    "m": (
        *("m <> 0", "m not in (0, 1)", "m not in (0, 1, 2)", "m > 1", "m not in (1.5, -1)"),
        *("m not in (-1)", "m in (1.5, 2)", "cast(m as int) > 1", "cast(m as int) > 0"),
    ),
    "i": (
        *("i <> -1", "i not in (-1)", "i not in (-1, -2)", "i < -1", "i > 0", "i in (1, 2)"),
        *("cast(i as string) = '1'", "cast(i as string) <> '2'", "cast(i as string) < '10'"),
        *("cast(i as string) > '2'", "cast(i as bigint) > 1", "cast(i as bigint) > 0"),
        *("cast(i as tinyint) > 0", "cast(i as tinyint) >= 1", "i <> 3.5", "i not in (3.5, 1)"),
    ),
    "b": (
        *("b", "b is true", "b = true", "b is not false", "not b", "b is false", "b = false"),
        *("b is not true", "b <=> true", "b <> false", "b in (true)"),
    ),
}
# Of which the first follows from the second.
FOLLOWING = [
    ("lower(s) <> 'void'", "lower(s) = 'paid'"),
    ("lower(s) not in ('void', 'open')", "lower(s) = 'paid'"),
    ("lower(s) in ('paid', 'open')", "lower(s) = 'paid'"),
    ("length(s) > 3", "length(s) >= 4"),
    ("s like 'pa%'", "s like 'paid_%'"),
    ("s like 'pa%'", "s like 'pa_d'"),
    ("s like 'pa%'", "startswith(s, 'paid')"),
    ("x > 0", "x > 10"),
    ("x <> 0", "x > 0.1"),
    ("x not in (0, 1)", "x > 10"),
    ("f > 0", "f > 0.1"),
    ("m not in (0, 1)", "m not in (0, 1, 2)"),
    ("i not in (-1)", "i not in (-1, -2)"),
    ("b", "b is true"),
    ("not b", "b is false"),
    ("cast(i as bigint) > 0", "cast(i as bigint) > 1"),
]
OF_DAYS = [
    ("{t} >= '{day}'", "to_date({t}) = '{day}'"),
    ("{t} >= '{year}-01-01'", "year({t}) = {year}"),
    ("{t} >= '{year}-01-01'", "year({t}) >= {year}"),
    ("year({t}) = {year}", "{t} >= '{day}' and {t} < '{next}'"),
    ("year({t}) in ({year}, 2000)", "year({t}) = {year}"),
    ("cast({t} as date) >= date'{day}'", "to_date({t}) in ('{day}', '{next}')"),
    ("month({t}) > 10", "month({t}) = 11"),
]
TEXTS = (
    *("paid", "PAID", "pai", "pa", "pa%x", "paid ", "paidx", "void", "Void", "open", "", "p}", "q"),
    *("pb", "pa$", "pa$1", "p~", "-0.0", "2", "1", "01", "2024-01-01", "2024-1-1", "péd"),
    "\U0001f600",
)
NUMBERS = (
    *("0", "-0.0", "nan", "1", "10", "10.5", "0.1", "infinity", "-infinity", "-5", "2.5", "3.7"),
    *("16777216", "16777218", "20000000", "0.10000000149011612", "-0.5", "1000"),
)


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
    return text.format(t=kind, day=day, next=after, year=day[:4])


@pytest.mark.parametrize(("zone", "day"), sample(DAYS[:3], DAYS[3:]))
def test_moments_and_days(corners: Warehouse, zone: str, day: str) -> None:
    """Also where midnights are missing or there twice, and where a day is missing."""
    fill(corners, zone, day)
    for kind in ("ts", "n", "d"):
        texts = [named(text, kind, day) for text in OF_TIME]
        assert wrong_pairs(corners, texts, zone) == []
        pairs = [(named(one, kind, day), named(other, kind, day)) for one, other in OF_DAYS]
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
