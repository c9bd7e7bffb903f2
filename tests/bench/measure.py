"""Interleaved timing of contenders, and the equality of what they produced."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Contender = Callable[[], object]


@dataclass
class Cell:
    """One comparison: milliseconds per contender, `ratio` of the first to the second."""

    name: str
    budget: str
    contenders: dict[str, dict[str, float]] = field(default_factory=dict)
    ratio: float | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    name: str,
    budget: str,
    contenders: Mapping[str, Contender],
    runs: int = 5,
    warm_up: int = 2,
    prepare: Contender | None = None,
) -> Cell:
    """Time contenders in turn, in an order shuffled anew for each round, before which `prepare` is
    called."""
    order = list(contenders)
    samples: dict[str, list[float]] = {label: [] for label in order}
    shuffle = random.Random(7)
    for round_number in range(warm_up + runs):
        if prepare is not None:
            prepare()
        shuffle.shuffle(order)
        for label in order:
            started = time.perf_counter()
            contenders[label]()
            elapsed = (time.perf_counter() - started) * 1000
            if round_number >= warm_up:
                samples[label].append(elapsed)
    return cell_of(name, budget, samples)


def cell_of(name: str, budget: str, samples: Mapping[str, Sequence[float]]) -> Cell:
    """A cell from the milliseconds of each contender."""
    cell = Cell(name, budget)
    for label, values in samples.items():
        cell.contenders[label] = {
            "min_ms": round(min(values), 2),
            "median_ms": round(statistics.median(values), 2),
        }
    first, *rest = [numbers["min_ms"] for numbers in cell.contenders.values()]
    cell.ratio = round(first / rest[0], 3) if rest and rest[0] else None
    return cell


def assert_same_rows(session: Any, left: str, right: str) -> None:
    """Raise unless two queries return the same multiset of rows.

    What EXCEPT ALL in both directions says, at the cost of one: each query runs once.
    """
    columns = ", ".join(f"`{column}`" for column in session.sql(left).columns)
    extra = session.sql(
        f"select {columns}, sum(mv_side) as mv_side from ("
        f"select *, 1 as mv_side from ({left}) union all select *, -1 from ({right})) "
        f"group by {columns} having sum(mv_side) <> 0 limit 1"
    ).collect()
    if extra:
        raise AssertionError(f"contents differ: {extra[0]}\n{left}\n{right}")


def table(cells: list[Cell]) -> str:
    """The cells as text."""
    lines = [f"{'cell':<44}{'contender':<26}{'min ms':>10}{'median':>10}{'ratio':>8}  budget"]
    for cell in cells:
        for index, (label, numbers) in enumerate(cell.contenders.items()):
            head = cell.name if index == 0 else ""
            ratio = f"{cell.ratio:.2f}" if index == 0 and cell.ratio is not None else ""
            budget = cell.budget if index == 0 else ""
            lines.append(
                f"{head:<44}{label:<26}{numbers['min_ms']:>10.1f}"
                f"{numbers['median_ms']:>10.1f}{ratio:>8}  {budget}"
            )
        lines += [f"{'':<44}{key}: {value}" for key, value in cell.notes.items()]
    return "\n".join(lines)
