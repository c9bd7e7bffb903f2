"""Operators that stand beside each other without parentheses: whatever is read, means what Spark
takes it to mean."""

from __future__ import annotations

from itertools import product

import pytest
from pyspark.errors import AnalysisException, ParseException
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.reading import operators
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.functional.materialized_view.test_rewriting_functions import printed_by
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

TYPES = {"a": "boolean", "b": "boolean", "c": "boolean", "s": "string", "i": "int", "j": "int"}
OPERANDS = {"boolean": ("a", "b", "c", "true"), "number": ("i", "j", "3", "i"), "text": ("s",) * 4}
# What stands behind an operand; {} is the next one, and what ends an expression has none.
OPERATORS = (
    *("= {}", "<> {}", "!= {}", "== {}", "< {}", "<= {}", "> {}", ">= {}", "<=> {}"),
    *("and {}", "or {}", "is distinct from {}", "is not distinct from {}", "like {}"),
    *("not like {}", "rlike {}", "ilike {}", "|| {}", "+ {}", "- {}", "* {}", "div {}", "% {}"),
    *("between {} and true", "not between false and {}", "between {} and b", "in (true, b)"),
    *("not in (false)", "in (i)", "is null", "is not null", "is true", "is not false"),
    *("between 1 and {}", "not in (1, 2)", "like '%a%'", "not like 't%'", "not rlike 'e'"),
)
BEFORE = ("", "not ", "! ", "- ")


def expressions_of(kind: str) -> list[str]:
    """All with two operators."""
    first, second, third, last = OPERANDS[kind]
    found = []
    for before, one, two in product(BEFORE, OPERATORS, OPERATORS):
        text, operands = f"{before}{first}", [second, third, last]
        for operator in (one, two):
            text += " " + operator.format(operands.pop(0))
        found.append(text)
    return found


def values(lake: Warehouse, texts: list[str]) -> dict[str, str]:
    """The values of those expressions that Spark reads, in text."""
    read = [text for text in texts if is_read(lake, text)]
    rows = lake.spark(f"select {', '.join(read)} from @.operands")
    return {text: repr([row[number] for row in rows]) for number, text in enumerate(read)}


def is_read(lake: Warehouse, text: str) -> bool:
    """Whether Spark reads an expression."""
    try:
        lake.spark(f"describe query select {text} from @.operands")
    except (AnalysisException, ParseException):
        return False
    return True


def wrong_of(lake: Warehouse, texts: list[str]) -> tuple[list[tuple[str, str]], int]:
    """Expressions that are printed as others, and how many were read."""
    read = {}
    for text in texts:
        try:
            read[text] = printed_by(text, TYPES)
        except (Unmatched, AssertionError):
            continue
    expected = values(lake, list(read))
    found = values(lake, sorted({read[text] for text in expected}))
    wrong = [(text, read[text]) for text in expected if found.get(read[text]) != expected[text]]
    return wrong, len(expected)


@pytest.fixture(scope="module", autouse=True)
def operand_rows(lake: Warehouse) -> None:
    """Each combination of truth values, with NULL."""
    lake.spark("set spark.sql.ansi.enabled = false")
    truth = "(values (true), (false), (cast(null as boolean)))"
    lake.spark(
        f"create view @.operands as select a, b, c, element_at(array('true', 'a', null, 'false'), "
        "cast(n % 4 + 1 as int)) as s, cast(n % 3 as int) as i, cast(n % 5 as int) as j from "
        "(select a, b, c, row_number() over (order by a, b, c) as n from "
        f"{truth} as x(a), {truth} as y(b), {truth} as z(c)) as numbered"
    )


@pytest.mark.parametrize("kind", OPERANDS)
def test_two_operators(lake: Warehouse, kind: str) -> None:
    texts = expressions_of(kind)
    wrong, read = wrong_of(lake, texts if WHOLE else texts[:: 11 if kind == "boolean" else 31])
    assert wrong == [] and read > 10


def test_parentheses_of_sqlglot_matter(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: whatever is in parentheses was written so."""
    monkeypatch.setattr(operators, "_bare", lambda node, is_wrapped: node)
    assert len(wrong_of(lake, [f"a <=> b {one.format('c')}" for one in OPERATORS])[0]) > 3


def test_predicates_matter(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: whatever is compared is grouped as sqlglot does."""
    monkeypatch.setattr(operators, "_LOOSE", frozenset({exp.DPipe}))
    assert len(wrong_of(lake, expressions_of("boolean")[::17])[0]) > 5
