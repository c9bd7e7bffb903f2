"""Stars over joins with USING: the columns that Spark finds, in its order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope
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
STARS = [
    (joins, star) for joins, found in JOINS.items() for star in ("*", *(f"{t}.*" for t in found))
]


@pytest.fixture(scope="module")
def tables(lake: Warehouse) -> Iterator[Warehouse]:
    for table, names in TABLES.items():
        columns = ", ".join(f"{number} as {name}" for number, name in enumerate(names))
        lake.spark(f"create or replace temporary view {table} as select {columns}")
    yield lake
    for table in TABLES:
        lake.spark(f"drop view {table}")


def test_stars(tables: Warehouse) -> None:
    differ = []
    for joins, star in STARS:
        query = f"select {star} from {joins}"
        tree = parse(query)
        assert tree is not None
        outputs = BlockReader(KNOWN).forms(tree, Scope(HOME))[0].outputs
        expected = [str(row[0]) for row in tables.spark(f"describe query {query}")]
        if [one.name for one in outputs] != expected:
            differ.append((query, [one.name for one in outputs], expected))
    assert len(STARS) > 100 and differ == []
