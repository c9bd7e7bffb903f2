"""Cells of refreshes by several methods, and how well `auto` chose among them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.bench import tiers
from tests.bench.cell import REFRESHES, Cell, Limit, Samples, budget, goal, limits_of
from tests.bench.figures import Spread, mean_of_ratios, ratio, ratios
from tests.bench.streams import INSERT, Stream

# The methods that are asked for by name; each has a view of its own, and so has `auto`.
METHODS = ("fast", "complete")
AUTO, CTAS, BY_HAND = "auto", "CTAS", "by hand"
CHOSE = "auto chose"
# Methods whose times differ by less are as good as each other.
RIGHT = 1.05
# Up to which part of the rows inserted, fast is to take which part of complete.
_GOALS_OF_INSERTS = ((0.01, 0.1), (0.1, 0.2))
_GOALS_OF_Q1_AT_SF10 = ((0.0001, 0.0125), (0.01, 0.025))


@dataclass
class Bout:
    """What was measured of one view under one change: milliseconds, and facts, per contender."""

    view: str
    stream: Stream
    fraction: float
    samples: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    chosen: list[str] = field(default_factory=list)
    estimate: str = ""
    changed: int = 0
    problems: list[str] = field(default_factory=list)


def cell(scale: float, bout: Bout) -> Cell:
    """The cell of a bout."""
    order = (*METHODS, AUTO, CTAS, BY_HAND)
    samples = {label: bout.samples[label] for label in order if label in bout.samples}
    return Cell(
        REFRESHES,
        tiers.refresh(bout.view, bout.stream, bout.fraction),
        f"SF{scale:g}",
        samples,
        {label: bout.cpu[label] for label in samples},
        limits_of(_of_fast(scale, bout, samples), of_auto(samples, METHODS)),
        {
            "rows changed": bout.changed,
            "statements": bout.statements,
            CHOSE: bout.chosen,
            "estimate": bout.estimate,
        },
        tuple(dict.fromkeys(bout.problems)),
    )


def _of_fast(scale: float, bout: Bout, samples: Samples) -> Limit | None:
    goals: tuple[tuple[float, float], ...] = _GOALS_OF_INSERTS
    if bout.view == "q1" and scale == 10:
        goals = (*_GOALS_OF_Q1_AT_SF10, *goals)
    bound = next((bound for most, bound in goals if bout.fraction <= most), None)
    if bound is None or bout.stream != INSERT:
        return None
    measured = ratio(samples.get("fast", ()), samples.get("complete", ()))
    return goal("fast / complete", measured, bound)


def of_auto(samples: Samples, methods: Sequence[str]) -> Limit | None:
    """What `auto` took itself, planning included, is to be what the better of the methods took."""
    return goal(f"{AUTO} / better method", against_better(samples, methods), RIGHT)


def against_better(samples: Samples, methods: Sequence[str]) -> Spread | None:
    """The time of `auto` by that of the method whose median is less; None if one is lacking."""
    found = _ratios_to_better(samples, methods)
    return Spread.of(found) if found else None


def _ratios_to_better(samples: Samples, methods: Sequence[str]) -> list[float]:
    better = better_of(samples, methods)
    return ratios(samples.get(AUTO, ()), samples[better]) if better else []


def better_of(samples: Samples, methods: Sequence[str]) -> str | None:
    """The method whose median is the least; None if there are not two, all measured."""
    if len(methods) < 2 or not all(samples.get(method) for method in methods):
        return None
    return min(methods, key=lambda method: statistics.median(samples[method]))


def chose_well(found: Cell) -> bool | None:
    """Whether every choice of `auto` was of the better method, or as good; None if unknown."""
    named = _named(found)
    better, chosen = better_of(found.samples, named), found.notes.get(CHOSE)
    if better is None or not chosen:
        return None
    most = RIGHT * statistics.median(found.samples[better])
    medians = {label: statistics.median(found.samples[label]) for label in named}
    return all(choice in medians and medians[choice] <= most for choice in chosen)


def overall(cells: Sequence[Cell]) -> tuple[Limit, ...]:
    """Goals of all cells of refreshes together; none of what was not measured."""
    judged = [(found, good) for found in cells if (good := chose_well(found)) is not None]
    times = [_ratios_to_better(found.samples, _named(found)) for found, _ in judged]
    by_ctas = [
        ratios(found.samples.get("complete", ()), found.samples.get(CTAS, ()))
        for found in cells
        if found.group == REFRESHES
    ]
    return limits_of(
        _share([good for _, good in judged]),
        goal(f"{AUTO} / better method, geometric mean of the cells", mean_of_ratios(times), RIGHT),
        goal(f"complete / {CTAS}, geometric mean of the cells", mean_of_ratios(by_ctas), RIGHT),
    )


def wrongly_chosen(cells: Sequence[Cell]) -> list[str]:
    """Names of the cells in which `auto` did not always pick the better method."""
    return [found.name for found in cells if chose_well(found) is False]


def _share(good: Sequence[bool]) -> Limit | None:
    if not good:
        return None
    title = (
        f"{AUTO} picked the better method, or one within {RIGHT} of it, in {sum(good)} of "
        f"{len(good)}; share"
    )
    share = Spread.of([round(sum(good) / len(good), 2)])
    return Limit(title, share, 0.9, is_goal=True, comparison=">=", is_count=True)


def _named(found: Cell) -> list[str]:
    return [label for label in found.samples if label in (*METHODS, "partition")]


def beyond(samples: Samples, first: str, second: str, factor: float) -> Limit | None:
    """Milliseconds of `first` that are more than a factor of `second`, to be at most 400."""
    pairs = zip(samples[first], samples[second], strict=True)
    extra = [one - factor * other for one, other in pairs]
    return budget(f"{first} beyond {factor:g} x {second}", Spread.of(extra), 400, " ms")
