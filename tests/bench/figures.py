"""Figures with their spread, and how many of their digits mean anything."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# However alike the rounds of one run are, another run of the same machine differs by more.
_MOST_DIGITS = 3
# Of so many samples one is an outlier, which says nothing of the median.
_MANY = 20


@dataclass(frozen=True)
class Spread:
    """The median of some samples, between what they lie, and how many there are.

    `low` and `high` are the least and the largest, of many samples the quartiles.
    """

    value: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """Of samples of one kind, at least one."""
        low, high = min(samples), max(samples)
        if len(samples) >= _MANY:
            low, _, high = statistics.quantiles(samples, n=4)
        return cls(statistics.median(samples), low, high, len(samples))

    def times(self, factor: float) -> Spread:
        """The same in another unit."""
        return Spread(self.value * factor, self.low * factor, self.high * factor, self.count)


def ratios(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """The ratio of two contenders in each round; empty unless each has a sample of each.

    What slows a machine down for a while slows both contenders of a round.
    """
    if len(first) != len(second):
        return []
    return [one / other for one, other in zip(first, second, strict=True)]


def ratio(first: Sequence[float], second: Sequence[float]) -> Spread | None:
    """The same as median and spread; None if there is none."""
    found = ratios(first, second)
    return Spread.of(found) if found else None


def mean_of_ratios(cells: Sequence[Sequence[float]]) -> Spread | None:
    """The geometric mean over cells, of each round, as median and spread; None without cells.

    How cells differ from each other is no spread of their mean.
    """
    rounds = list(zip(*(found for found in cells if found), strict=False))
    return Spread.of([statistics.geometric_mean(found) for found in rounds]) if rounds else None


def decimals(spread: Spread) -> int:
    """How many decimals of the median mean something; negative: tens, hundreds.

    The last digit is that of the first digit of half the spread. At least one digit of the value
    is kept, at most three; one if there is a single sample, whose spread nobody knows.
    """
    first = _magnitude(spread.value)
    if spread.count < 2:
        return -first
    half = (spread.high - spread.low) / 2
    allowed = -_magnitude(half) if half else math.inf
    return int(max(-first, min(allowed, _MOST_DIGITS - 1 - first)))


def _magnitude(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def shown(spread: Spread) -> str:
    """The median with no more digits than its spread allows; `~` before that of a single sample."""
    return f"{'~' if spread.count < 2 else ''}{_number(spread.value, decimals(spread))}"


def shown_with_range(spread: Spread) -> str:
    """The same with what the samples lie between in brackets."""
    if spread.count < 2:
        return shown(spread)
    digits = decimals(spread)
    low, high = _number(spread.low, digits), _number(spread.high, digits)
    return f"{shown(spread)} ({low} to {high})"


def shown_time(milliseconds: Spread) -> str:
    """A time with its range, in milliseconds below one second."""
    if milliseconds.value < 1000:
        return f"{shown_with_range(milliseconds)} ms"
    return f"{shown_with_range(milliseconds.times(0.001))} s"


def _number(value: float, digits: int) -> str:
    return f"{round(value, digits):.{max(digits, 0)}f}"
