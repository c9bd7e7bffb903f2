"""A few random queries in every run; `python -m tests.unit.ivm.random_rounds` has more."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.unit.ivm.random_rounds import Draw, World

SEEDS = range(30)


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.mark.parametrize("seed", SEEDS)
def test_rounds(world: World, seed: int) -> None:
    """Stored rows are brought to what the query returns, with the state that is not shown."""
    assert Draw(world, seed, Counter()).wrong() is None
