"""What a run prints at its end, and whether it has failed."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.cell import Cell
from tests.bench.figures import Spread, shown_time, shown_with_range
from tests.bench.refresh_cells import CHOSE, RIGHT, choices, complete_against_ctas


def table(cells: Sequence[Cell]) -> str:
    """Each cell with its contenders, limits and notes."""
    lines = []
    for cell in cells:
        lines.append(f"{cell.scale + ' ' if cell.scale else ''}{cell.name}")
        for label, values in cell.samples.items():
            cpu = cell.cpu.get(label)
            of_cpu = f", processor {shown_time(Spread.of(cpu).times(1000))}" if cpu else ""
            lines.append(f"    {label:<24}{shown_time(Spread.of(values))}{of_cpu}")
        lines += [f"    {limit}" for limit in cell.limits]
        lines += [f"    {key}: {value}" for key, value in cell.notes.items() if value]
        lines += [f"    FAILED: {problem}" for problem in cell.problems]
    return "\n".join(lines)


def choices_of_auto(cells: Sequence[Cell]) -> str:
    """How often `auto` picked the better method, and what it took by that; '' if it had none."""
    found, ctas = choices(cells), complete_against_ctas(cells)
    lines = []
    if found is not None:
        wrong = f" (not in: {'; '.join(found.wrong)})" if found.wrong else ""
        lines.append(
            f"auto picked the better method, or one within {RIGHT}, in {found.right} of "
            f"{found.of}{wrong}; it took {found.mean:.2f} times the better method in the geometric "
            f"mean of the medians, {found.worst:.2f} at worst"
        )
    if ctas is not None:
        lines.append(f"complete / CTAS, geometric mean: {shown_with_range(ctas)}")
    return "\n".join(lines)


def verdict(cells: Sequence[Cell]) -> tuple[str, bool]:
    """The cells that failed, missed a budget or a goal, and whether the run is to fail."""
    failed = [cell.name for cell in cells if cell.problems]
    budgets = [f"{cell.name}: {limit}" for cell in cells for limit in cell.missed_budgets]
    goals = [f"{cell.name}: {limit}" for cell in cells for limit in cell.missed_goals]
    parts = (
        ("goals missed", goals),
        ("BUDGETS MISSED", budgets),
        ("FAILED, contents differ or a method was not possible", failed),
    )
    lines = []
    for title, names in parts:
        lines += [f"{title}:", *(f"  {name}" for name in names)] if names else []
    lines.append(
        f"{len(cells)} cells: {len(failed)} failed, {len(budgets)} budgets and {len(goals)} goals "
        "missed"
    )
    return "\n".join(lines), bool(failed or budgets)


def brief(cells: Sequence[Cell]) -> str:
    """One line for each cell of refreshes, while the run goes on."""
    lines = []
    for cell in cells:
        measured = [f"{label} {shown_time(Spread.of(v))}" for label, v in cell.samples.items()]
        chosen = cell.notes.get(CHOSE)
        of_auto = f"; auto chose {', '.join(dict.fromkeys(chosen))}" if chosen else ""
        failed = "  FAILED" if cell.problems else ""
        lines.append(f"          {cell.name}: {', '.join(measured)}{of_auto}{failed}")
    return "\n".join(lines)
