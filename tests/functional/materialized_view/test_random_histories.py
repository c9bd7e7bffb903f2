"""A few random histories in every run; `make equivalence` runs more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.random_histories import Report, run_seed
from tests.sampling import sample

# About a minute each.
SEEDS = sample([3], [7, 11])
VIEWS, STEPS = 8, 4


@pytest.mark.behaviour("E36")
@pytest.mark.parametrize("seed", SEEDS)
def test_history(dbt_profile_target: dict[str, Any], seed: int) -> None:
    """Every view is refreshed fast after every change, and has the rows of its query."""
    report = Report()
    run_seed(dbt_profile_target, seed, report, views=VIEWS, steps=STEPS)
    assert report.wrong == []
    assert report.did["fast"] > VIEWS
