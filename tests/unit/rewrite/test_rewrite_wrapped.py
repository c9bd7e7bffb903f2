"""A sample of random pairs with functions of aggregates, in queries, views and HAVING."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.rewrite.stored import Stored
from tests.sampling import WHOLE
from tests.unit.rewrite.harness import about, run
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.wrapped_pairs import wrapped_pair

PAIRS = 20_000 if WHOLE else 700
# Of coarser groups than those of the view.
WRONG_FROM = 89


def test_same_rows(lake: Lake) -> None:
    report = run(range(PAIRS), lake, make=wrapped_pair)
    assert report.wrong == []
    assert report.matched > report.pairs * 0.3
    assert {("groups", "groups"), ("one", "groups"), ("groups", "rows")} <= report.met


def test_stored_function_is_of_one_group(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stored, "of_coarser_groups", lambda stored: stored)
    assert run(about(WRONG_FROM), lake, most_wrong=1, make=wrapped_pair).wrong
