"""Groups of floating point: 0.0 and -0.0 are equal, and a group has forgotten which it had."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite import derive
from dbt.adapters.spark_mv.rewrite.terms import Term
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.functional.materialized_view.test_rewriting_conditions import (
    CONDITIONS,
    KINDS,
    KNOWN,
    fill,
)
from tests.functional.materialized_view.warehouse import Warehouse
from tests.unit.rewrite.harness import answered, stored_view, text_of


@pytest.fixture(scope="module")
def corners(lake: Warehouse) -> Warehouse:
    """A warehouse with the table of corners."""
    lake.spark("set spark.sql.ansi.enabled = false")
    fill(lake, "UTC", "2024-02-28")
    return lake


# What may tell values of floating point from each other that are equal, and what does not.
TELLING = (
    *("{x} in ('-0.0')", "{x} not in ('-0.0', '1')", "{x} in (select s from corners)"),
    *("{x} not in (select s from corners where s is not null)", "cast({x} as string) = '0.0'"),
    *("cast({x} as string) <> '-0.0'", "concat({x}, '') in ('0.0', 'NaN')", "{x} * 1 = 0"),
    "exists (select 1 from corners as t where t.s = cast(corners.{x} as string))",
    "not exists (select 1 from corners as t where t.s = concat(corners.{x}, ''))",
    "1 in (select 1 from corners as t where t.s = cast(corners.{x} as string))",
    "1 not in (select 1 from corners as t where t.s = concat(corners.{x}, ''))",
    "{x} in (select t.x from corners as t where t.x < 2)",
)


def wrong_groups(lake: Warehouse, name: str) -> tuple[list[str], int]:
    """Conditions that leave other groups of equal values than rows, and how many are answered."""
    view = f"select {name}, count(*) as n from corners group by {name}"
    stored = stored_view(view, [KINDS[name], "bigint"], KNOWN)
    lake.keep("mv_rows", view, [column.name for column in stored.columns])
    wrong, matches = [], 0
    for where in (*CONDITIONS[name], *(text.format(x=name) for text in TELLING)):
        query = f"select count(*) as n from corners where {where}"
        try:
            text = text_of(answered(query, stored, KNOWN))
        except Unmatched:
            continue
        matches += 1
        wrong += [where] if lake.spark(query) != lake.spark(text) else []
    return wrong, matches


@pytest.mark.parametrize("name", ["x", "f"])
def test_groups_of_equal_values(corners: Warehouse, name: str) -> None:
    """Both zeros are in one group, which has forgotten which of them it had."""
    wrong, matches = wrong_groups(corners, name)
    assert wrong == [] and matches >= 10


def test_comparisons_matter(corners: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """IN is not always a comparison of values."""
    compares = derive._compares_values

    def with_in(term: Term) -> bool:
        return isinstance(term.node, exp.In) or compares(term)

    monkeypatch.setattr(derive, "_compares_values", with_in)
    assert len(wrong_groups(corners, "x")[0]) >= 3
