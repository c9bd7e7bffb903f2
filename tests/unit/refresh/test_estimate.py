"""What a refresh is held to cost: only the order of the ways matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.spark_mv.refresh.estimate import Estimate, Written, is_better_in_part

LARGE = Estimate(20_000_000, 1_000, 0, 5_000_000, Written.ALL)


@pytest.mark.parametrize(
    ("stored", "taken_away", "changed", "in_part"),
    [
        (10_000_000, 0, 1_000, True),
        (10_000_000, 900_000, 1_000, True),
        # Readers leave out what was taken away; writing the whole table ends that.
        (10_000_000, 1_100_000, 1_000, False),
        (10_000_000, 0, 2_000_000, False),
        (10_000, 0, 1, False),
        (0, 0, 0, False),
    ],
)
def test_in_part(stored: int, taken_away: int, changed: int, in_part: bool) -> None:
    """Large tables of which little changes, as long as most rows of their files are still read."""
    assert is_better_in_part(stored, taken_away, changed) == in_part


def test_order() -> None:
    """Of a large table it is best to add rows, then to write those that differ, then all."""
    adds, in_part = replace(LARGE, written=Written.NONE), replace(LARGE, written=Written.REPLACED)
    assert adds.fast < in_part.fast < LARGE.fast
    assert in_part.is_worth_it
    assert "5,000,000 searched" in str(in_part)


def test_complete_writes_too() -> None:
    """A complete refresh writes all rows: of two over the same tables the larger costs more."""
    assert replace(LARGE, stored_rows=10).complete < LARGE.complete
