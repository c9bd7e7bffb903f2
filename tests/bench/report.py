"""What a run prints at its end, and whether it has failed."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.cell import Cell
from tests.bench.figures import Spread, shown_time
from tests.bench.refresh_cells import AUTO, CHOSE, overall, wrongly_chosen


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


def of_all(cells: Sequence[Cell]) -> list[str]:
    """What is said of all refreshes together, and where `auto` was wrong."""
    wrong = wrongly_chosen(cells)
    named = [f"{AUTO} was wrong in: {'; '.join(wrong)}"] if wrong else []
    return [*(str(limit) for limit in overall(cells)), *named]


def verdict(cells: Sequence[Cell]) -> tuple[str, bool]:
    """The cells that failed, missed a budget or a goal, and whether the run is to fail."""
    failed = [cell.name for cell in cells if cell.problems]
    budgets = [f"{cell.name}: {limit}" for cell in cells for limit in cell.missed_budgets]
    goals = [f"{cell.name}: {limit}" for cell in cells for limit in cell.missed_goals]
    goals += [str(limit) for limit in overall(cells) if not limit.is_met]
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
