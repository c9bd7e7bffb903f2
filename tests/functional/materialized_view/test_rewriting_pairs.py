"""Random pairs of a query and a view on Spark: what the view answers is what the query returns.

The same pairs, and many more, run on DuckDB in tests/unit/rewrite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from py4j.protocol import Py4JJavaError

from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE
from tests.unit.rewrite.atoms import COLUMNS
from tests.unit.rewrite.harness import Tables, answered, stored_view, text_of
from tests.unit.rewrite.implied_pairs import any_implied_pair
from tests.unit.rewrite.join_pairs import any_join_pair
from tests.unit.rewrite.lake import VALUES, plain
from tests.unit.rewrite.packed_pairs import PACKED, packed_pair, packed_rows
from tests.unit.rewrite.pairs import pair
from tests.unit.rewrite.shapes import Pair
from tests.unit.rewrite.whole_pairs import whole_pair
from tests.unit.rewrite.worded_pairs import any_worded_pair
from tests.unit.rewrite.year_pairs import year_pair

MATCHES = 300 if WHOLE else 25
# Others than those of the unit tests.
FIRST = 100_000
_TABLES = ("r", "s")
_ALL = (*_TABLES, "orders", *PACKED)
_KNOWN = Tables(COLUMNS | PACKED)
_DATA = 4


@pytest.fixture(scope="module")
def shelf(lake: Warehouse) -> Warehouse:
    """Small tables as temporary views, several sets of them."""
    lake.spark("set spark.sql.ansi.enabled = false")
    lake.spark("set time zone 'UTC'")
    for number in range(_DATA):
        random = Random(number)
        for table in (*_TABLES, "orders"):
            lake.spark(
                f"create or replace temporary view {table}{number} as {random_rows(random, table)}"
            )
        for table in _TABLES:
            rows = packed_rows(table, f"{table}{number}", "spark")
            lake.spark(f"create or replace temporary view packed_{table}{number} as {rows}")
    return lake


def random_rows(random: Random, table: str) -> str:
    """A query that makes a few rows of a table."""
    kinds = COLUMNS[table]
    chosen = {
        name: [*random.sample(VALUES[kind], 2), None][: random.choice((2, 3))]
        for name, kind in kinds.items()
    }
    rows = [[random.choice(chosen[name]) for name in kinds] for _ in range(random.randint(0, 8))]
    cast = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in kinds.items())
    values = ", ".join(f"({', '.join(map(_literal, row))})" for row in [*rows, [None] * len(kinds)])
    kept = "" if random.random() < 0.8 else " where id is not null"
    return f"select {cast} from values {values} as v({', '.join(kinds)}){kept}"


def _literal(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict):
        fields = ", ".join(f"'{name}', {_literal(field)}" for name, field in value.items())
        return f"named_struct({fields})"
    return f"double('{value}')" if isinstance(value, float) else f"'{value}'"


def rows(shelf: Warehouse, query: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(map(plain, row)) for row in shelf.spark(query))


@pytest.mark.parametrize(
    "make",
    [pair, whole_pair, any_join_pair, packed_pair, any_worded_pair, any_implied_pair, year_pair],
    ids=["blocks", "wholes", "joins", "fields", "words", "implied", "years"],
)
def test_same_rows(shelf: Warehouse, make: Callable[[int], Pair]) -> None:
    wrong, matches, seed = [], 0, FIRST
    while matches < MATCHES:
        seed += 1
        made = make(seed)
        try:
            view = stored_view(made.view, made.stored.types, _KNOWN)
            text = text_of(answered(made.query, view, _KNOWN))
        except Unmatched:
            continue
        number = seed % _DATA
        for table in _ALL:
            shelf.spark(
                f"create or replace temporary view {table} as select * from {table}{number}"
            )
        shelf.keep("mv_rows", made.view, [column.name for column in view.columns])
        try:
            expected = rows(shelf, made.query)
        except Py4JJavaError as error:
            assert "INTERNAL_ERROR" in str(error), made.query
            continue  # Spark has a plan for it that it cannot run
        matches += 1
        found = rows(shelf, text)
        if expected != found:
            wrong.append((seed, made.query, made.view, text, expected, found))
    for table in (*_ALL, "mv_rows"):
        shelf.spark(f"drop view {table}")
    assert wrong == []
