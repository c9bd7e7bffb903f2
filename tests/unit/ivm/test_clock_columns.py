"""Conditions on the clock as columns: a generated class of conditions, joins and places, compared
with the query as it was written. Times are whole numbers here."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast
from dbt.adapters.spark_mv.ivm.rewrite import clock_columns
from dbt.adapters.spark_mv.ivm.rewrite.clock_columns import compared_values, with_clock_columns

COLUMNS = {"mv_table_0": ["id", "k", "ts", "low"], "mv_table_1": ["k", "ts", "low"]}
NOW = "mv_clock_now()"
TIMES = (0, 2, 3)
# Of one relation, `x`: strict ones and others, with values that may be NULL on either side.
CONDITIONS = (
    "x.ts > {now}",
    "x.ts <= {now} - 1",
    "{now} > x.ts",
    "x.ts = {now}",
    "x.ts <> {now}",
    "NOT x.ts > {now}",
    "x.ts BETWEEN {now} AND {now} + 2",
    "x.ts BETWEEN x.low AND {now}",
    "{now} BETWEEN x.low AND x.ts",
    "{now} BETWEEN x.ts AND 1",
    "NOT {now} BETWEEN x.low AND 1",
    "2 BETWEEN x.low AND {now}",
    "x.ts IN ({now}, 3)",
    "x.ts IS NULL OR x.ts > {now}",
    "COALESCE(x.ts > {now}, TRUE)",
    "COALESCE(x.ts, 4) > {now}",
    "x.ts > {now} AND x.low < {now}",
    "NOT (x.ts > {now} OR x.low IS NULL)",
    "CASE WHEN x.ts > {now} THEN 1 ELSE 0 END = 0",
    "x.ts > NULLIF({now}, 2)",
    "NOT x.ts < NULLIF({now}, 0)",
    "x.ts IS DISTINCT FROM {now}",
    "x.ts - {now} < 2",
)
JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
_FROM = "mv_table_0 AS a {join} mv_table_1 AS b ON b.k = a.k"
PLACES = (
    f"SELECT a.id, b.k, {{condition}} AS f FROM {_FROM}",
    f"SELECT a.id, b.k FROM {_FROM} WHERE {{condition}}",
    f"SELECT a.id, b.k FROM {_FROM} AND {{condition}}",
    f"SELECT a.id, b.k FROM {_FROM} LEFT JOIN mv_table_1 AS c ON c.k = a.k AND {{condition}}",
    f"SELECT a.k, COUNT(*) AS n, SUM(CASE WHEN {{condition}} THEN 1 END) AS m FROM {_FROM} "
    "GROUP BY a.k",
    f"SELECT {{condition}} AS f, COUNT(*) AS n FROM {_FROM} GROUP BY {{condition}}",
    "SELECT d.id, d.f FROM (SELECT a.id, a.ts, a.low, b.ts AS bts, b.low AS blow, "
    f"{{condition}} AS f FROM {_FROM}) AS d WHERE d.bts > {{now}}",
)
CASES = [*itertools.product(JOINS, "ab", range(len(PLACES)))]


@pytest.fixture(scope="module")
def rows() -> Iterator[Any]:
    connection = duckdb.connect(config={"threads": 1})
    values = (None, 0, 1, 2, 3)
    first = [(n, n % 4 or None, ts, low) for n, (ts, low) in enumerate(pairs(values))]
    second = [(n % 5 or None, ts, low) for n, (ts, low) in enumerate(pairs(values))]
    connection.execute("create table mv_table_0 (id int, k int, ts int, low int)")
    connection.execute("create table mv_table_1 (k int, ts int, low int)")
    connection.executemany("insert into mv_table_0 values (?, ?, ?, ?)", first)
    connection.executemany("insert into mv_table_1 values (?, ?, ?)", second[:9])
    yield connection
    connection.close()


def pairs(values: tuple[int | None, ...]) -> list[tuple[int | None, int | None]]:
    return list(itertools.product(values, values))


def queries(join: str, alias: str, place: int) -> Iterator[str]:
    for condition in CONDITIONS:
        text = condition.replace("x.", f"{alias}.")
        yield PLACES[place].format(join=join, condition=text.format(now=NOW), now=NOW)


@cache
def in_duckdb(query: str) -> str:
    (text,) = sqlglot.transpile(query, read="spark", write="duckdb")
    return text


def found(rows: Any, query: str, now: int) -> Counter[Any]:
    text = re.sub(r"mv_clock_now(?:\(\))?", str(now), in_duckdb(query), flags=re.IGNORECASE)
    return Counter(rows.execute(text).fetchall())


def as_columns(query: str) -> str | None:
    """The query over tables that have the columns; None if it has no such form."""
    try:
        text, columns = with_clock_columns(query, COLUMNS)
    except NotFast:
        return None
    tree = sqlglot.parse_one(text, read="spark")
    for table in [t for t in tree.find_all(exp.Table) if t.name in columns]:
        items = ", ".join(f"{sql} AS {name}" for name, sql in columns[table.name].items())
        rows = sqlglot.parse_one(f"SELECT *, {items} FROM {table.name}", read="spark")
        table.replace(rows.subquery(table.alias_or_name))
    return tree.sql("spark")


def differing(rows: Any, join: str, alias: str, place: int) -> tuple[list[str], int]:
    """The queries that return other rows than they did, and how many have such a form."""
    wrong, taken = [], 0
    for query in queries(join, alias, place):
        other = as_columns(query)
        if other is None:
            continue
        taken += 1
        wrong += [
            f"{query} at {now}"
            for now in TIMES
            if found(rows, other, now) != found(rows, query, now)
        ]
    return wrong, taken


@pytest.mark.parametrize(("join", "alias", "place"), CASES)
def test_same_rows(rows: Any, join: str, alias: str, place: int) -> None:
    """At each time, with NULLs in every column, and rows that outer joins fill."""
    wrong, taken = differing(rows, join, alias, place)
    assert wrong == []
    # Most conditions are strict, or of a side that no join fills.
    assert taken >= len(CONDITIONS) // 2


def test_strictness_is_needed(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: what is true of rows that a join has filled is taken for a column of theirs."""
    monkeypatch.setattr(clock_columns, "_is_strict", lambda predicate: True)
    assert differing(rows, "LEFT JOIN", "b", 0)[0]


def crossed_outside(rows: Any) -> list[str]:
    """Conditions of which a row has another result at another time, and a value that is not
    between what the clock said."""
    wrong = []
    for condition in CONDITIONS:
        text = condition.replace("x.", "").format(now="mv_clock_now")
        compared = compared_values(text)
        for one, two in itertools.combinations(TIMES, 2) if compared else ():
            before, after = (text.replace("mv_clock_now", str(now)) for now in (one, two))
            ranges = " OR ".join(
                f"{value} BETWEEN least({', '.join(ends)}) AND greatest({', '.join(ends)})"
                for value, said in compared or ()
                for ends in [[said.replace("mv_clock_now", str(now)) for now in (one, two)]]
            )
            query = (
                f"SELECT count(*) FROM mv_table_0 WHERE ({before}) IS DISTINCT FROM ({after}) "
                f"AND NOT coalesce({ranges}, FALSE)"
            )
            if rows.execute(query.replace("`", '"')).fetchone() != (0,):
                wrong.append(f"{text}: {one}, {two}")
    return wrong


def test_rows_that_cross_are_between(rows: Any) -> None:
    """So files without such values need not be read; for most conditions such ranges are known."""
    assert crossed_outside(rows) == []
    bare = [c.replace("x.", "").format(now="mv_clock_now") for c in CONDITIONS]
    assert sum(compared_values(text) is not None for text in bare) >= len(CONDITIONS) // 3


def test_functions_are_not_between(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: NULLIF is taken for something that moves with the clock."""
    monkeypatch.setattr(clock_columns, "_OF_TIME", (*clock_columns._OF_TIME, exp.Nullif))
    assert crossed_outside(rows)
