"""Figures have no more digits than their spread allows."""

from __future__ import annotations

import pytest

from tests.bench.figures import Spread, mean_of_ratios, ratio, shown, shown_time, shown_with_range


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.1134, 0.101, 0.132, "0.11"),
        (0.1134, 0.1129, 0.1141, "0.113"),
        (0.1134, 0.06, 0.31, "0.1"),
        (0.0134, 0.01, 0.9, "0.01"),
        (1.234, 1.1, 1.9, "1.2"),
        (12.7, 5, 40, "10"),
        (4.2, 1, 40, "4"),
        (1234.0, 1233.9, 1234.1, "1230"),
        (0.5, 0.5, 0.5, "0.500"),
        (0, 0, 0, "0.00"),
        (0.996, 0.93, 1.05, "1.00"),
    ],
)
def test_digits_of_the_median(value: float, low: float, high: float, text: str) -> None:
    assert shown(Spread(value, low, high, 5)) == text


@pytest.mark.parametrize(("value", "text"), [(0.1134, "~0.1"), (16.2, "~20"), (3.5, "~4")])
def test_one_sample_has_an_unknown_spread(value: float, text: str) -> None:
    assert shown(Spread.of([value])) == text
    assert shown_with_range(Spread.of([value])) == text


def test_range_has_the_digits_of_the_median() -> None:
    assert shown_with_range(Spread.of([0.1134, 0.1011, 0.1322])) == "0.11 (0.10 to 0.13)"


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        ([3.21, 3.4, 3.11], "3.2 (3.1 to 3.4) ms"),
        ([12_100, 11_800, 13_300], "12.1 (11.8 to 13.3) s"),
        ([812.0, 905.0, 790.0], "810 (790 to 900) ms"),
    ],
)
def test_times(samples: list[float], text: str) -> None:
    assert shown_time(Spread.of(samples)) == text


def test_many_samples_lie_between_their_quartiles() -> None:
    assert shown_time(Spread.of([*(7.9, 8.1, 8.3) * 13, 423])) == "8.1 (7.9 to 8.3) ms"


def test_ratio_is_taken_within_rounds() -> None:
    """A machine that slows down by the round leaves the ratio as it is."""
    assert ratio([1, 2, 4], [10, 20, 40]) == Spread(0.1, 0.1, 0.1, 3)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], []), ([1, 2], [1])])
def test_ratio_needs_both_in_each_round(first: list[float], second: list[float]) -> None:
    assert ratio(first, second) is None


def test_mean_of_cells_has_the_spread_of_rounds() -> None:
    """Not that of cells, which are far apart here."""
    found = mean_of_ratios([[0.1, 0.1], [10, 10.5], []])
    assert found is not None
    assert found.low == pytest.approx(1) and found.high == pytest.approx(1.05**0.5)
    assert mean_of_ratios([[]]) is None
