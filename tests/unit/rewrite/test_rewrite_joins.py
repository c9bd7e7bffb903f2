"""RIGHT, FULL, SEMI and ANTI JOIN: random pairs, and mutants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from dbt.adapters.spark_mv.rewrite import derived
from dbt.adapters.spark_mv.rewrite.reading import sources
from dbt.adapters.spark_mv.rewrite.reading.sources import Sources
from tests.sampling import WHOLE
from tests.unit.rewrite.harness import about, run
from tests.unit.rewrite.join_pairs import KINDS, join_pair, using_pair
from tests.unit.rewrite.lake import Lake

PAIRS = 5_000 if WHOLE else 300
Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("kind", KINDS)
def test_same_rows(lake: Lake, kind: str) -> None:
    report = run(range(PAIRS), lake, make=partial(join_pair, kind=kind))
    assert report.wrong == []
    assert report.matched > report.pairs * 0.15
    assert report.met >= {
        ("rows", "rows"),
        ("groups", "rows"),
        ("groups", "groups"),
        ("one", "groups"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_same_rows_by_names(lake: Lake, kind: str) -> None:
    report = run(range(PAIRS), lake, make=partial(using_pair, kind=kind))
    assert report.wrong == []
    assert report.matched > report.pairs * 0.12
    pairs = [using_pair(seed, kind) for seed in range(PAIRS)]
    assert any("USING" in pair.query and "USING" in pair.view for pair in pairs)


def _joined(method: str, is_outer: bool) -> Callable[[Patch], None]:
    """A mutant that joins as by LEFT JOIN or JOIN."""

    def joined(self: Any, join: Any, found: Any, scope: Any, begun: Any) -> None:
        self._join_rows(join, found, scope, is_outer)

    return lambda patch: patch.setattr(Sources, method, joined)


def _first_tables_are_not_one(patch: Patch) -> None:
    patch.setattr(Sources, "_is_one", lambda self, begun, terms: True)


def _any_partners(patch: Patch) -> None:
    patch.setattr(sources, "full_join", lambda left, right, on: derived.full_join(left, right, ()))


def _columns_of_no_side(patch: Patch) -> None:
    """Columns of both sides by their names alone, which are those of their terms."""
    full_join = derived.full_join

    def joined(left: Any, right: Any, on: Any) -> Any:
        rows = full_join(left, right, on)
        return derived.DerivedRows(rows.source, rows.names, (*left.columns, *right.columns))

    patch.setattr(sources, "full_join", joined)


def _anti_is_semi(patch: Patch) -> None:
    patch.setattr(sources, "negated", lambda term: term)


# Each with a kind of join, and the first seed by which it is caught.
MUTANTS: dict[str, tuple[Callable[[Patch], None], str, int]] = {
    "RIGHT as LEFT": (_joined("_join_right", True), "RIGHT", 43),
    "RIGHT as INNER": (_joined("_join_right", False), "RIGHT", 43),
    "two tables before RIGHT": (_first_tables_are_not_one, "RIGHT of two", 1),
    "FULL as LEFT": (_joined("_join_full", True), "FULL", 16),
    "FULL on anything": (_any_partners, "FULL", 314),
    "columns of either side": (_columns_of_no_side, "FULL", 23),
    "ANTI as SEMI": (_anti_is_semi, "ANTI", 121),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_wrong(name: str, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    change, kind, first = MUTANTS[name]
    change(monkeypatch)
    assert run(about(first), lake, most_wrong=1, make=partial(join_pair, kind=kind)).wrong
