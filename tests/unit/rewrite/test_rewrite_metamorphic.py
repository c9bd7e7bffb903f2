"""Laws of answers: one more condition, a whole and its parts, what is answered twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from tests.sampling import WHOLE
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.metamorphic import (
    Match,
    Outcome,
    again,
    around,
    matches,
    one_more,
    split,
)
from tests.unit.rewrite.mutants import MUTANTS
from tests.unit.rewrite.whole_mutants import WHOLE_MUTANTS

Law = Callable[[Iterable[Match], Lake], Outcome]
# Others than those of other tests.
FIRST = 200_000
PAIRS = 10_000 if WHOLE else 600
# The law that each mutant breaks, and the first seed of which it does.
BROKEN: dict[tuple[Law, str], int] = {
    (one_more, "residual of the view"): 144,
    (one_more, "equality of the view"): 41,
    (one_more, "NOT NULL not added"): 121,
    (one_more, "groups of fewer keys"): 2,
    (one_more, "COUNT of no rows"): 4,
    (split, "residual not added"): 1,
    (split, "NOT NULL not added"): 82,
    (split, "conditions by classes of the query"): 6,
    (split, "COUNT(x) is COUNT(*)"): 56,
    (split, "lost parentheses"): 59,
}


@pytest.fixture(scope="module")
def found() -> list[Match]:
    return list(matches(range(FIRST, FIRST + PAIRS)))


def test_one_more_condition(found: list[Match], lake: Lake) -> None:
    """On a stored column of rows, or a key of groups: it is answered whenever the query was."""
    outcome = one_more(found, lake)
    assert outcome.wrong == []
    assert outcome.refused == {}
    assert outcome.tried.total() > PAIRS * 0.35


def test_parts_are_the_whole(found: list[Match], lake: Lake) -> None:
    """Where a condition is TRUE, FALSE and NULL; only for want of a column is a part refused."""
    outcome = split(found, lake)
    assert outcome.wrong == []
    assert set(outcome.refused) <= {"COLUMN_NOT_COVERED", "ROWS_NOT_COVERED"}
    assert outcome.tried.total() > PAIRS * 0.35
    assert {asked for asked, _ in outcome.tried} == {"rows", "distinct", "groups", "one"}
    assert outcome.refused.total() < outcome.tried.total()


def test_what_is_answered_twice(found: list[Match], lake: Lake) -> None:
    outcome = again(found, lake)
    assert outcome.wrong == []
    assert outcome.tried.total() > PAIRS * 0.35


@pytest.mark.parametrize(("law", "name"), BROKEN)
def test_mutant_breaks_a_law(
    law: Law, name: str, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[name](monkeypatch)
    first = FIRST + BROKEN[law, name]
    assert law(matches(range(first - 1, first + 1)), lake).wrong


@pytest.mark.parametrize("name", ["residual not added", "range not added", "equality not added"])
def test_second_answer_without_a_rule(
    name: str, found: list[Match], lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text whose conditions are lost when it is answered again is told by its rows."""
    MUTANTS[name](monkeypatch)
    assert again(found[:100], lake).wrong


def test_parts_of_windows_and_unions(lake: Lake) -> None:
    """A query around windows, sets of keys, set operations or outer joins divides their rows."""
    outcome = around(range(FIRST, FIRST + PAIRS // 2), lake)
    assert outcome.wrong == []
    met = {asked for asked, _ in outcome.tried}
    assert met >= {"windows", "sets", "operations", "outer", "parts"}


def test_conditions_moved_out_of_windows(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    change, _ = WHOLE_MUTANTS["all conditions are outside of windows"]
    change(monkeypatch)
    assert around(range(FIRST, FIRST + 60), lake).wrong
