"""Names in HAVING: those of keys, of outputs, of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.reading import blocks
from dbt.adapters.spark_mv.rewrite.reading.scopes import Columns, column_in
from dbt.adapters.spark_mv.rewrite.terms import Term
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE
from tests.unit.rewrite.harness import Tables, answered, stored_view, text_of

ITEMS = (
    *("i as j", "j as i", "sum(m) as m", "sum(m) as i", "max(j) as j", "i", "j", "-i as i"),
    *("count(*) as m", "min(m) as j", "i + j as i", "i as m"),
)
HAVING = (
    *("i > 1", "j > 1", "m > 3", "sum(m) > 3 and i < 2", "i + j > 2", "abs(i) > 1", "t.i > 1"),
    *("max(j) > m", "i in (1, 3)", "not (m > 3)"),
)
GROUPS = ("group by i, j", "group by i", "group by i, j, i + j", "group by 1", "")
NAMED = [
    f"select {one}, {two} from t {group} having {having}"
    for one, two, group, having in product(ITEMS, ITEMS, GROUPS, HAVING)
    if one != two
]
KNOWN = Tables({"t": {"i": "int", "j": "int", "m": "bigint"}})


def wrong_having(lake: Warehouse, queries: Sequence[str]) -> tuple[list[str], int]:
    """Queries that have other rows when they are answered, and how many are answered."""
    lake.spark("create or replace temporary view t as select cast(id % 4 as int) as i, "
               "cast(id % 3 as int) as j, id % 7 as m from range(60)")  # fmt: skip
    view = "select i, j, sum(m) as s, count(*) as n, min(m) as low from t group by i, j"
    stored = stored_view(view, ["int", "int", "bigint", "bigint", "bigint"], KNOWN)
    lake.keep("mv_rows", view, [column.name for column in stored.columns])
    wrong, matches = [], 0
    for query in queries:
        try:
            text = text_of(answered(query, stored, KNOWN))
            expected = Counter(lake.spark(query))
        except (Unmatched, AnalysisException):
            continue
        matches += 1
        wrong += [query] if Counter(lake.spark(text)) != expected else []
    return wrong, matches


def test_names_in_having(lake: Warehouse) -> None:
    wrong, matches = wrong_having(lake, NAMED if WHOLE else NAMED[::37])
    assert wrong == [] and matches > 40


@pytest.mark.parametrize("first", ["columns", "outputs"])
def test_names_in_having_matter(
    lake: Warehouse, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Mutants: a name is always that of a column, or of an output."""

    def named(node: exp.Column, select: Any, made: Block, relations: list[Columns]) -> Term:
        column = column_in(relations, node)
        shown = [one.term for one in made.outputs if one.name.lower() == node.name.lower()]
        found = [column, *shown] if first == "columns" else [*shown, column]
        return next(term for term in found if term is not None)

    monkeypatch.setattr(blocks, "_of_having", named)
    assert len(wrong_having(lake, NAMED[::37])[0]) >= 2
