"""Conditions of views that follow from those of queries: random pairs, and mutants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite import match, rows
from dbt.adapters.spark_mv.rewrite.conditions import (
    consequences,
    day_ranges,
    defaults,
    facts,
    parts_of_days,
    stand_ins,
)
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from dbt.adapters.spark_mv.rewrite.terms import binary, counted_rows, made
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
    beginning = consequences._beginning

    def found(term: Any, begun: str) -> Any:
        one = beginning(term, begun)
        return None if one is None else (one[0], Range(low=one[1].low))

    patch.setattr(consequences, "_beginning", found)


def _any_call(patch: Patch) -> None:
    """What is asked of one aggregate is asked of all."""
    stand_in = match.stand_in
    patch.setattr(match, "stand_in", lambda call, kind: stand_in(counted_rows(), kind))


def _two_rows(patch: Patch) -> None:
    """Each group has two rows."""
    two = binary(exp.LTE, made(exp.Literal.number(2)), counted_rows())
    patch.setattr(match, "_HAS_ROWS", two)


def _any_function(patch: Patch) -> None:
    """All functions of a type are one."""
    stand_in = stand_ins.stand_in
    patch.setattr(stand_ins, "stand_in", lambda term, kind: stand_in(counted_rows(), kind))


def _one_day(patch: Patch) -> None:
    """A year ends on its first day."""
    year = day_ranges._year

    def first_day(constant: Any) -> Any:
        found = year(constant)
        return None if found is None else (found[0], found[0] + 1)

    patch.setattr(day_ranges, "_year", first_day)


def _lower_bounds(patch: Patch) -> None:
    """Of two ranges the lower bounds are enough."""
    patch.setattr(Range, "is_within", lambda self, other: self.low == other.low)


def _no_default(patch: Patch) -> None:
    """No default meets a comparison."""
    patch.setattr(defaults, "_holds", lambda *_: False)


def _looser(patch: Patch) -> None:
    """What is not another value is not less, either."""
    patch.setitem(rows._STRICTER, exp.LTE, (exp.LT, exp.EQ, exp.NEQ))


def _may_be_null(patch: Patch) -> None:
    """NULL equals NULL."""
    patch.setattr(Facts, "rejects_null", lambda self, column: True)


def _whole_numbers(patch: Patch) -> None:
    """There are no numbers between 1 and 2."""
    number_type = stand_ins.number_type
    patch.setattr(stand_ins, "number_type", lambda term: number_type(term) and "bigint")


def _one_day_of_unit(patch: Patch) -> None:
    """A month ends on its first day."""
    patch.setattr(day_ranges, "next_start", lambda day, unit: day + 1)


def _all_are_starts(patch: Patch) -> None:
    """A month may begin on any day."""
    patch.setattr(day_ranges, "start_of", lambda day, unit: day)


def _any_day_is_enough(patch: Patch) -> None:
    """One day of a range is as good as all."""
    patch.setattr(parts_of_days, "all", any, raising=False)


def _one_day_of_month(patch: Patch) -> None:
    """A month of a year ends on its first day."""
    patch.setattr(parts_of_days, "next_start", lambda day, unit: day + 1)


# Each with a kind of conditions, and the first seed by which it is caught.
MUTANTS: dict[str, tuple[Callable[[Patch], None], str, int]] = {
    "any range is apart": (_any_range_is_apart, "not equal", 21),
    "NULL is apart": (_null_is_apart, "none of a list", 45),
    "one branch": (_one_branch, "one of two", 88),
    "first of a branch": (_first_of_branch, "one of two", 18),
    "nothing is empty": (_nothing_is_empty, "one of two", 18),
    "any call": (_any_call, "groups", 3),
    "a longer beginning": (_longer_beginning, "a beginning", 116),
    "two rows": (_two_rows, "groups", 245),
    "any function": (_any_function, "functions", 94),
    "one day": (_one_day, "functions", 4110),
    "lower bounds only": (_lower_bounds, "functions", 89),
    "no default": (_no_default, "defaults", 278),
    "looser": (_looser, "two columns", 754),
    "may be NULL": (_may_be_null, "two columns", 39),
    "whole numbers": (_whole_numbers, "computed", 2324),
    "one day of a unit": (_one_day_of_unit, "units", 971),
    "any day is enough": (_any_day_is_enough, "a calendar", 15),
    "one day of a month": (_one_day_of_month, "a calendar", 1921),
    "all days are starts": (_all_are_starts, "units", 971),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_wrong(name: str, lake: Lake, monkeypatch: Patch) -> None:
    change, kept, first = MUTANTS[name]
    change(monkeypatch)
    make = partial(implied_pair, kept=kept)
    assert run(about(first), lake, most_wrong=1, make=make).wrong
