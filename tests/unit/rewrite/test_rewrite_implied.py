"""Conditions of views that follow from those of queries: random pairs, and mutants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from dbt.adapters.spark_mv.rewrite import match, rows
from dbt.adapters.spark_mv.rewrite.conditions import consequences, facts
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from dbt.adapters.spark_mv.rewrite.terms import counted_rows
from tests.sampling import WHOLE
from tests.unit.rewrite.harness import about, run
from tests.unit.rewrite.implied_pairs import KEPT, implied_pair
from tests.unit.rewrite.lake import Lake

PAIRS = 4_000 if WHOLE else 250
Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("kept", KEPT)
def test_same_rows(lake: Lake, kept: str) -> None:
    report = run(range(PAIRS), lake, make=partial(implied_pair, kept=kept))
    assert report.wrong == []
    assert report.matched > report.pairs * 0.05
    forms = {("rows", "rows"), ("groups", "rows"), ("groups", "groups")}
    assert report.met >= ({("groups", "groups")} if kept == "groups" else forms)


def _any_range_is_apart(patch: Patch) -> None:
    """What a column is compared with is as good as what it is not."""
    patch.setattr(Facts, "is_apart", lambda self, column, _: self.rejects_null(column))


def _null_is_apart(patch: Patch) -> None:
    """A column without a range has no value of it."""
    apart = Facts.is_apart

    def is_apart(self: Facts, column: Any, other: Range) -> bool:
        return self.range_of(column) is None or apart(self, column, other)

    patch.setattr(Facts, "is_apart", is_apart)


def _one_branch(patch: Patch) -> None:
    """One branch of a disjunction of the query is enough."""
    patch.setattr(rows, "all", any, raising=False)


def _first_of_branch(patch: Patch) -> None:
    """Of a branch of the view one conjunct is enough."""
    conjuncts = rows.conjuncts
    patch.setattr(rows, "conjuncts", lambda term: conjuncts(term)[:1])


def _nothing_is_empty(patch: Patch) -> None:
    """A branch that no row meets leaves nothing out."""
    implies = rows.implies

    def found(query: Facts, conditions: Any) -> bool:
        wanted = facts.facts_of(conditions, query.zone)
        return wanted.is_empty or implies(query, conditions)

    patch.setattr(rows, "implies", found)


def _longer_beginning(patch: Patch) -> None:
    """Texts that begin with the next letter have the beginning, too."""
    range_in_words = consequences.range_in_words

    def found(term: Any) -> Any:
        one = range_in_words(term)
        if one is None or not isinstance(one[1].low, str):
            return one
        return one[0], Range(low=one[1].low)

    patch.setattr(rows, "range_in_words", found)
    patch.setattr(facts, "range_in_words", found)


def _any_call(patch: Patch) -> None:
    """What is asked of one aggregate is asked of all."""
    of_call = match.column_of_call
    patch.setattr(match, "column_of_call", lambda call, kind: of_call(counted_rows(), kind))


# Each with a kind of conditions, and the first seed by which it is caught.
MUTANTS: dict[str, tuple[Callable[[Patch], None], str, int]] = {
    "any range is apart": (_any_range_is_apart, "not equal", 4),
    "NULL is apart": (_null_is_apart, "none of a list", 20),
    "one branch": (_one_branch, "one of two", 45),
    "first of a branch": (_first_of_branch, "one of two", 97),
    "nothing is empty": (_nothing_is_empty, "one of two", 14),
    "any call": (_any_call, "groups", 3140),
    "a longer beginning": (_longer_beginning, "a beginning", 626),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_wrong(name: str, lake: Lake, monkeypatch: Patch) -> None:
    change, kept, first = MUTANTS[name]
    change(monkeypatch)
    make = partial(implied_pair, kept=kept)
    assert run(about(first), lake, most_wrong=1, make=make).wrong
