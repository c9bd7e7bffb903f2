"""Ranges of days and moments on keys that are years, and months: random pairs, and mutants."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt.adapters.spark_mv.rewrite import derive
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from tests.sampling import WHOLE
from tests.unit.rewrite.harness import about, run
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.year_pairs import year_pair

PAIRS = 4_000 if WHOLE else 300
Patch = pytest.MonkeyPatch


def test_same_rows(lake: Lake) -> None:
    report = run(range(PAIRS), lake, make=year_pair)
    assert report.wrong == []
    assert report.matched > report.pairs * 0.1
    assert report.met >= {("groups", "groups"), ("one", "groups")}


def _all_bounds_are_starts(patch: Patch) -> None:
    """A year may begin on any day."""
    patch.setattr(derive, "starts_unit", lambda *_: True)


def _all_ranges_are_half_open(patch: Patch) -> None:
    """The first day of a year may be left out of it."""
    patch.setattr(Range, "is_half_open", True)


def _units_tell_shorter_ones(patch: Patch) -> None:
    """A year tells no quarter."""
    patch.setattr(derive, "tells", lambda *_: True)


# With the first seed of which each is wrong.
MUTANTS: dict[str, tuple[Callable[[Patch], None], int]] = {
    "all bounds are starts": (_all_bounds_are_starts, 5),
    "all ranges are half-open": (_all_ranges_are_half_open, 34),
    "units tell shorter ones": (_units_tell_shorter_ones, 48),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_wrong(name: str, lake: Lake, monkeypatch: Patch) -> None:
    change, first = MUTANTS[name]
    change(monkeypatch)
    assert run(about(first), lake, most_wrong=1, make=year_pair).wrong
