"""The sample of the matrix that every run takes has all there is, and most pairs of it."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tests.functional.materialized_view.matrix_cases import STEPS, ZONES, layouts
from tests.functional.materialized_view.matrix_sample import (
    Draft,
    Pair,
    cases,
    drafts,
    everything,
    fast_sample,
    partition_sample,
)
from tests.functional.materialized_view.matrix_types import KINDS
from tests.functional.materialized_view.matrix_views import by_delta, by_partition


def _pairs(sample: list[Draft]) -> set[Pair]:
    return {pair for draft in sample for pair in draft.pairs()}


def test_levels() -> None:
    """Every type, form of a table and of a view, zone and change is in the sample."""
    parts, fast = partition_sample(), fast_sample()
    assert {draft.kind for draft in parts} == {draft.kind for draft in fast} == set(KINDS)
    assert {draft.layout.form for draft in parts} == {
        layout.form for kind in KINDS.values() for layout in layouts(kind)
    }
    assert {view.form for draft in parts for view in draft.views} == {
        view.form for kind in KINDS.values() for view in by_partition(kind)
    }
    assert {view.form for draft in fast for view in draft.views} == {v.form for v in by_delta()}
    assert {draft.zone for draft in parts} == set(ZONES)
    assert {step for draft in parts for step in draft.steps} == set(STEPS)


def test_pairs() -> None:
    """Most pairs of tables' and views' forms, zones, changes and methods; of the last two all."""
    possible: set[Pair] = set()
    for name, kind in KINDS.items():
        source = drafts(random.Random(5), name, list(by_partition(kind)), 4)
        possible |= _pairs(list(islice(source, 1000)))
    missing = possible - _pairs(partition_sample())
    assert len(missing) <= 0.4 * len(possible)
    assert not {pair for pair in missing if pair[0][0] == "step"}


@pytest.mark.parametrize("sample", [partition_sample, fast_sample])
def test_same_again(sample: object) -> None:
    """Cases are the same whenever they are made, and print themselves as SQL."""
    assert callable(sample)
    first, second = cases("x", sample()), cases("x", sample())
    assert first == second
    assert all("create table" in str(case) for case in first)


def test_everything() -> None:
    """No two are the same, and all can be drawn."""
    made = everything()
    assert len(set(made)) == len(made) == len(cases("m", made))
