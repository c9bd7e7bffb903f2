"""A sample of random pairs of a query and a view; `make equivalence ARGS='--rewrite 60000'` runs
many."""

from __future__ import annotations

import pytest

from tests.sampling import WHOLE
from tests.unit.rewrite.fixture_files import every_case
from tests.unit.rewrite.harness import FORMS, about, run
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.mutants import BY_FIXTURES, BY_PAIRS
from tests.unit.rewrite.rules import RULES
from tests.unit.rewrite.whole_mutants import WHOLE_MUTANTS
from tests.unit.rewrite.whole_pairs import whole_pair

PAIRS = 20_000 if WHOLE else 1_400


def test_same_rows(lake: Lake) -> None:
    """And each form of a query and of a view, with and without joins, and each rule, is met."""
    report = run(range(PAIRS), lake)
    assert report.wrong == []
    assert report.matched > report.pairs * 0.35
    forms = {
        (asked, stored, min(tables, 2), min(own, 2)) for asked, stored, tables, own in report.forms
    }
    assert forms >= FORMS
    assert [rule for rule in RULES if not report.rules[rule]] == []


def test_same_rows_of_wholes(lake: Lake) -> None:
    """Windows, sets of keys, set operations, outer joins: each is met."""
    report = run(range(PAIRS), lake, make=whole_pair)
    assert report.wrong == []
    assert report.matched > report.pairs * 0.5
    met = {asked for asked, *_ in report.forms}
    assert met == {"windows", "sets", "operations", "outer", "parts", "subqueries"}


@pytest.mark.parametrize("name", WHOLE_MUTANTS)
def test_mutant_is_wrong_of_a_whole(name: str, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    change, first = WHOLE_MUTANTS[name]
    change(monkeypatch)
    assert run(about(first), lake, most_wrong=1, make=whole_pair).wrong


@pytest.mark.parametrize("name", BY_PAIRS)
def test_mutant_is_wrong_of_a_pair(name: str, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    change, first = BY_PAIRS[name]
    change(monkeypatch)
    assert run(about(first), lake, most_wrong=1).wrong


@pytest.mark.parametrize("name", BY_FIXTURES)
def test_mutant_is_wrong_of_a_fixture(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance hardly meets these."""
    BY_FIXTURES[name](monkeypatch)
    assert any(case.found != case.expected for case in every_case())
