"""Cells and runs that nobody measured, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.bench.cell import REFRESHES, Cell
from tests.bench.record import Run
from tests.bench.refresh_cells import Bout, cell
from tests.bench.streams import INSERT


def header(tier: str, **changes: Any) -> dict[str, Any]:
    return {
        "tier": tier,
        "scale": 1,
        "rounds": 3,
        "groups": [REFRESHES],
        "date": "2026-01-02",
        "machine": {"cores": 2, "memory_gib": 16, "cpu": "a processor", "os": "a system"},
        "versions": {"spark": "4.1.0", "commit": "0123abc"},
        "load_at_start": 0.5,
        "minutes": 12.5,
        **changes,
    }


def run(tier: str, *cells: Cell) -> Run:
    return Run(header(tier), cells)


def bout(view: str = "q1", fraction: float = 0.01, **seconds: Sequence[float]) -> Bout:
    """Times of contenders per round; what `auto` chose in each is fast."""
    samples = {label: [1000 * second for second in found] for label, found in seconds.items()}
    found = Bout(view, INSERT, fraction, samples=samples)
    found.cpu = {label: [float(second) for second in values] for label, values in seconds.items()}
    found.chosen = ["fast"] * len(next(iter(seconds.values())))
    return found


def refreshed(view: str = "q1", fraction: float = 0.01, scale: float = 1, **seconds: Any) -> Cell:
    return cell(scale, bout(view, fraction, **seconds))
