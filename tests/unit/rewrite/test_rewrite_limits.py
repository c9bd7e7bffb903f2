"""Blocks that are long, deep, or of one table many times."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.unit.rewrite.harness import Tables, answered, stored_view, text_of

TABLES = Tables()


def test_two_thousand_conditions() -> None:
    some = " AND ".join(f"a + {n} > b" for n in range(2000))
    others = " OR ".join(f"(a = {n} AND b = {n})" for n in range(500))
    view = stored_view(f"SELECT id, a, b FROM r WHERE {some}", ["int"] * 3, TABLES)
    text = text_of(answered(f"SELECT id FROM r WHERE {some} AND ({others})", view, TABLES))
    assert text.count(" OR ") == 499


def test_deep_expressions_are_refused() -> None:
    view = stored_view("SELECT id, a FROM r", ["int", "int"], TABLES)
    deep = " + ".join(["a"] * 3000)
    with pytest.raises(Unmatched, match="too deep"):
        answered(f"SELECT {deep} AS n FROM r", view, TABLES)


def _nested(levels: int) -> str:
    query = "SELECT id, a FROM r"
    for n in range(levels):
        query = f"SELECT id, CASE WHEN a IS NULL THEN {n} ELSE a END AS a FROM ({query})"
    return query


def _listed(levels: int) -> str:
    chain = "".join(f", x{n} + x{n} AS x{n + 1}" for n in range(levels))
    return f"SELECT id, a + a AS x0{chain} FROM r"


def _filtered(levels: int) -> str:
    return f"SELECT id FROM ({_nested(levels)}) WHERE a > 1"


@pytest.mark.parametrize("made", [_nested, _listed, _filtered])
def test_columns_that_are_computed_of_columns(made: Callable[[int], str]) -> None:
    """Each level names the one below it twice: a few are written out, and of many nobody waits for
    the text."""
    view = stored_view("SELECT id, a FROM r", ["int", "int"], TABLES)
    assert text_of(answered(made(6), view, TABLES)).count("`a`") >= 2**6
    with pytest.raises(Unmatched, match="too large"):
        answered(made(60), view, TABLES)


def test_columns_with_many_conditions() -> None:
    """The same of conditions alone, each of which is as large as what is returned may be."""
    some = " AND ".join(f"a <> {n}" for n in range(100))
    view = stored_view("SELECT id, a FROM r", ["int", "int"], TABLES)
    with pytest.raises(Unmatched, match="too large"):
        answered(f"SELECT id FROM ({_nested(10)}) WHERE {some}", view, TABLES)


def test_one_table_twelve_times() -> None:
    names = [f"x{n}" for n in range(12)]
    tables = ", ".join(f"r AS {name}" for name in names)
    equal = " AND ".join(f"{one}.a = {two}.b" for one, two in zip(names, names[1:], strict=False))
    view = stored_view(f"SELECT x0.id FROM {tables} WHERE {equal}", ["int"], TABLES)
    text = text_of(answered(f"SELECT x0.id FROM {tables} WHERE {equal}", view, TABLES))
    assert "WHERE" not in text


def test_tables_that_the_query_lacks_are_seen_at_once() -> None:
    names = [f"r AS x{n}" for n in range(11)]
    view = stored_view(f"SELECT x0.id FROM {', '.join(names)}, s", ["int"], TABLES)
    with pytest.raises(Unmatched, match="tables that the query does not read"):
        answered(f"SELECT x0.id FROM {', '.join(names)}, r AS y", view, TABLES)
