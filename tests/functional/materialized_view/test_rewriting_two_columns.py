"""Which comparisons of two columns follow from which: Spark says it of each pair of values."""

from __future__ import annotations

from itertools import product

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite import rows
from dbt.adapters.spark_mv.rewrite.conditions.facts import facts_of
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope
from dbt.adapters.spark_mv.rewrite.rows import implies
from dbt.adapters.spark_mv.rewrite.terms import Term
from dbt.adapters.spark_mv.sql.reads import parse
from tests.functional.materialized_view.warehouse import Warehouse
from tests.unit.rewrite.harness import HOME, Tables

# Types of two columns, with values of both.
TYPES = {
    ("int", "int"): ("1", "2", "-2147483648"),
    ("int", "bigint"): ("1", "2", "-7"),
    ("int", "decimal(10,2)"): ("1", "2", "-7"),
    ("double", "double"): ("nan", "0.0", "-0.0", "1", "infinity"),
    ("float", "double"): ("nan", "0.5", "-0.0", "0"),
    ("string", "string"): ("a", "A", ""),
    ("date", "date"): ("2024-02-29", "0001-01-01"),
    ("date", "timestamp"): ("2024-02-29", "2024-03-01"),
    ("boolean", "boolean"): ("true", "false"),
}
FORMS = (
    *("p < q", "p <= q", "p > q", "p >= q", "p = q", "p <> q", "p <=> q", "not p <=> q"),
    *("not p < q", "not p = q", "p is distinct from q", "q = p", "p <= q and p = q", "p >= p"),
    *("p = q or p < q", "p < q or p > q", "coalesce(p, q) > q", "coalesce(p, q) = p", "p = p"),
    *("p is null", "p is not null and q is not null", "coalesce(p, q) is not null", "q <=> q"),
)


def wrong_pairs(lake: Warehouse, types: tuple[str, str]) -> set[tuple[str, str]]:
    """Pairs of which the first is said to follow from the second, and does not in some row."""
    values = [*(f"'{value}'" for value in TYPES[types]), "null"]
    columns = dict(zip("pq", types, strict=True))
    shown = ", ".join(f"({one}, {other})" for one, other in product(values, values))
    cast = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in columns.items())
    tests = ", ".join(f"coalesce({text}, false)" for text in FORMS)
    found = lake.spark(f"select {tests} from (select {cast} from values {shown} as v(p, q))")
    vectors = dict(zip(FORMS, zip(*found, strict=True), strict=True))
    tables = Tables({"both": columns})
    read: dict[str, tuple[Term, ...]] = {}
    for text in FORMS:
        tree = parse(f"select 1 as one from both where {text}")
        assert tree is not None
        read[text] = BlockReader(tables).forms(tree, Scope(HOME))[0].conditions
    said = [
        (kept, asked)
        for kept, asked in product(FORMS, FORMS)
        if implies(facts_of(read[asked], "UTC"), read[kept])
    ]
    assert len(said) > 2 * len(FORMS)
    return {
        (kept, asked)
        for kept, asked in said
        if any(a and not k for a, k in zip(vectors[asked], vectors[kept], strict=True))
    }


@pytest.mark.parametrize("types", TYPES)
def test_what_follows(lake: Warehouse, types: tuple[str, str]) -> None:
    assert wrong_pairs(lake, types) == set()


def test_mutant_is_wrong(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rows._STRICTER, exp.LTE, (exp.LT, exp.EQ, exp.NEQ))
    assert ("p <= q", "p <> q") in wrong_pairs(lake, ("int", "int"))
