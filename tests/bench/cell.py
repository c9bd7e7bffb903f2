"""A cell: what was measured of some contenders, and the limits it is held to."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tests.bench.figures import Spread, ratio, shown_time, shown_with_range

COMMANDS, PROJECT, REFRESHES, READS = "commands", "project", "refreshes", "reads"
REWRITING = "rewriting"
# In the order in which they matter to whoever uses the adapter.
GROUPS = (COMMANDS, PROJECT, REFRESHES, READS, REWRITING)

_COMPARISONS = {"<=": operator.le, ">=": operator.ge}
Samples = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Limit:
    """A figure that was measured and what it is compared with.

    A budget that is missed fails the run. A goal is what we would like; a missed one is shown.
    """

    figure: str
    measured: Spread
    bound: float
    is_goal: bool = False
    comparison: str = "<="
    unit: str = ""
    is_count: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the median keeps to the bound."""
        return bool(_COMPARISONS[self.comparison](self.measured.value, self.bound))

    @property
    def title(self) -> str:
        """The figure and its bound."""
        kind = "goal" if self.is_goal else "budget"
        return f"{self.figure}, {kind} {self.comparison} {self.bound:g}{self.unit}"

    @property
    def shown(self) -> str:
        """What was measured, with as many digits as mean something."""
        if self.is_count:
            return f"{self.measured.value:g}"
        return shown_time(self.measured) if self.unit else shown_with_range(self.measured)

    def __str__(self) -> str:
        return f"{self.title}: {self.shown}, {'met' if self.is_met else 'missed'}"


@dataclass(frozen=True)
class Cell:
    """One comparison: milliseconds, and seconds of processor time where measured, per contender
    and round; how much of what it is about; limits; what else is to be known; what went wrong."""

    group: str
    name: str
    scale: str
    samples: Samples
    cpu: Samples = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def time(self, label: str) -> Spread | None:
        """Milliseconds of a contender, None if it was not measured."""
        return Spread.of(self.samples[label]) if self.samples.get(label) else None

    def ratio(self, first: str, second: str) -> Spread | None:
        """The ratio of the times of two contenders, None unless both were measured."""
        return ratio(self.samples.get(first, ()), self.samples.get(second, ()))

    def cpu_ratio(self, first: str, second: str) -> Spread | None:
        """The same of processor time."""
        return ratio(self.cpu.get(first, ()), self.cpu.get(second, ()))

    def held_to(self, *limits: Limit | None) -> Cell:
        """The same cell with these limits, without those that could not be measured."""
        return replace(self, limits=limits_of(*limits))

    @property
    def missed_budgets(self) -> list[Limit]:
        """The limits that fail the run."""
        return [limit for limit in self.limits if not limit.is_met and not limit.is_goal]

    @property
    def missed_goals(self) -> list[Limit]:
        """The limits that are shown as missed."""
        return [limit for limit in self.limits if not limit.is_met and limit.is_goal]

    def to_json(self) -> dict[str, Any]:
        """All fields, with median and spread of the samples and whether each limit was met."""
        return {
            "group": self.group,
            "name": self.name,
            "scale": self.scale,
            "contenders": {
                label: _contender(values, self.cpu.get(label, ()))
                for label, values in self.samples.items()
            },
            "limits": [{**asdict(limit), "is_met": limit.is_met} for limit in self.limits],
            "notes": dict(self.notes),
            "problems": list(self.problems),
        }

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Cell:
        """A cell from a line that `to_json` wrote; what can be computed is computed again."""
        found = line["contenders"]
        return cls(
            line["group"],
            line["name"],
            line["scale"],
            {label: numbers["samples_ms"] for label, numbers in found.items()},
            {label: n["samples_cpu_s"] for label, n in found.items() if "samples_cpu_s" in n},
            tuple(_limit(limit) for limit in line["limits"]),
            line["notes"],
            tuple(line["problems"]),
        )


def limits_of(*found: Limit | None) -> tuple[Limit, ...]:
    """Those that could be measured."""
    return tuple(limit for limit in found if limit is not None)


def budget(figure: str, measured: Spread | None, bound: float, unit: str = "") -> Limit | None:
    """A figure that must not be larger than its bound; None if it was not measured."""
    return Limit(figure, measured, bound, unit=unit) if measured else None


def counted(figure: str, count: float, most: float, is_goal: bool = False) -> Limit:
    """A limit of something that is counted, exactly."""
    return Limit(figure, Spread.of([count]), most, is_goal, is_count=True)


def goal(figure: str, measured: Spread | None, bound: float, unit: str = "") -> Limit | None:
    """A figure that we would like to be no larger than its bound."""
    return Limit(figure, measured, bound, is_goal=True, unit=unit) if measured else None


def at_least(figure: str, measured: Spread | None, bound: float) -> Limit | None:
    """A figure that we would like to be no smaller than its bound."""
    return Limit(figure, measured, bound, is_goal=True, comparison=">=") if measured else None


def _contender(milliseconds: Sequence[float], cpu: Sequence[float]) -> dict[str, Any]:
    numbers = {**_summary(milliseconds, "ms")}
    return {**numbers, **(_summary(cpu, "cpu_s") if cpu else {})}


def _summary(samples: Sequence[float], unit: str) -> dict[str, Any]:
    spread = Spread.of(samples)
    return {
        f"samples_{unit}": [round(value, 3) for value in samples],
        f"median_{unit}": round(spread.value, 3),
        f"low_{unit}": round(spread.low, 3),
        f"high_{unit}": round(spread.high, 3),
    }


def _limit(line: Mapping[str, Any]) -> Limit:
    fields = {name: value for name, value in line.items() if name != "is_met"}
    return Limit(**{**fields, "measured": Spread(**line["measured"])})
