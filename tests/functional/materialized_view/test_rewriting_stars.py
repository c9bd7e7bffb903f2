"""Stars over joins with USING: the columns that Spark finds, in its order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException

from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from dbt.adapters.spark_mv.sql.reads import parse
from tests.functional.materialized_view.warehouse import Warehouse
from tests.unit.rewrite.harness import HOME, Tables

TABLES = {
    "l": ("x", "K", "y", "j"),
    "r": ("z", "j", "k", "w"),
    "q": ("u", "y", "v"),
    "p": ("J", "n", "y", "k"),
}
KNOWN = Tables({table: dict.fromkeys(names, "int") for table, names in TABLES.items()})
OUTER = ("join", "left join", "right join", "full join")
TESTS = ("left semi join", "anti join")
# Joins, and the relations whose columns are there afterwards.
JOINS = {f"l {kind} r using ({names})": "lr" for kind in OUTER for names in ("k", "k, j", "j, k")}
JOINS |= {f"l {kind} r using ({names})": "l" for kind in TESTS for names in ("k", "j, k")}
JOINS |= {
    f"l {one} r using (k, j) {two} q using (y)": "lr" if two in TESTS else "lrq"
    for one in OUTER
    for two in (*OUTER, *TESTS)
}
JOINS |= {f"l {kind} r on l.k = r.z {test} q using (y)": "lr" for kind in OUTER for test in TESTS}
# One USING after another, of which the second one names columns of the first.
JOINS |= {
    f"l {one} r using ({before}) {two} p using ({after}){more}": "lr" if two in TESTS else "lrp"
    for one in OUTER
    for before in ("k, j", "j, k")
    for two in (*OUTER, *TESTS)
    for after in ("k, j", "j, k", "k", "j")
    for more in ("", " left join q using (y)" if two in TESTS else " join q on q.y = l.y")
}
NATURAL = ("natural join", "natural left join", "natural right join", "natural full join")
JOINS |= {f"l {one} {right}": f"l{right}" for one in NATURAL for right in "rqp"}
JOINS |= {f"l {one} r {two} {right}": f"lr{right}"
          for one in NATURAL for two in NATURAL for right in "qp"}  # fmt: skip
JOINS |= {f"l {one} r using (k, j) {two} {right}": f"lr{right}"
          for one in OUTER for two in NATURAL for right in "qp"}  # fmt: skip
JOINS |= {f"l {one} r {two} p using (k)": "lrp" for one in NATURAL for two in OUTER}
STARS = [
    (joins, star) for joins, found in JOINS.items() for star in ("*", *(f"{t}.*" for t in found))
]
LEFT_OUT = [
    (joins, f"{star} except ({names})")
    for joins in ("l", "l join r using (k, j)", "l join q on l.x = q.u", "l natural full join p")
    for star in ("*", "l.*", "q.*")
    for names in ("x", "`K`", "X, j", "y", "x, x", "nothing", "l.x", "k, j, x, y", "v")
]


@pytest.fixture(scope="module")
def tables(lake: Warehouse) -> Iterator[Warehouse]:
    for table, names in TABLES.items():
        columns = ", ".join(f"{number} as {name}" for number, name in enumerate(names))
        lake.spark(f"create or replace temporary view {table} as select {columns}")
    yield lake
    for table in TABLES:
        lake.spark(f"drop view {table}")


def names_of(tables: Warehouse, query: str) -> list[str]:
    return [str(row[0]) for row in tables.spark(f"describe query {query}")]


def compared(tables: Warehouse, query: str) -> tuple[list[str], list[str]] | None:
    """The names that were found and those that Spark finds; None if either refuses the query."""
    tree = parse(query)
    assert tree is not None
    try:
        outputs = BlockReader(KNOWN).forms(tree, Scope(HOME))[0].outputs
        return [one.name for one in outputs], names_of(tables, query)
    except (Unmatched, AnalysisException):
        return None


def test_stars(tables: Warehouse) -> None:
    """None is refused, but for names that Spark tells apart by their letters alone."""
    queries = [f"select {star} from {joins}" for joins, star in STARS]
    pairs = {query: compared(tables, query) for query in queries}
    assert [pair for pair in pairs.items() if pair[1] and pair[1][0] != pair[1][1]] == []
    refused = [query for query, pair in pairs.items() if pair is None]
    assert all("natural" in query for query in refused)
    assert len(pairs) > 600 and len(refused) < len(pairs) / 5


def test_columns_that_are_left_out(tables: Warehouse) -> None:
    queries = [f"select {star} from {joins}" for joins, star in LEFT_OUT]
    pairs = [(query, compared(tables, query)) for query in queries]
    answered = [pair for pair in pairs if pair[1]]
    assert [pair for pair in answered if pair[1] and pair[1][0] != pair[1][1]] == []
    assert len(answered) > 20
