"""Tables and sentences of docs/performance.md and README.md, of the cells of one tier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.bench import report, tiers
from tests.bench.cell import REFRESHES, Cell, Limit
from tests.bench.figures import Spread, shown, shown_time, shown_with_range
from tests.bench.record import Run
from tests.bench.refresh_cells import BY_HAND, CHOSE, METHODS, against_better, overall
from tests.bench.streams import INSERT
from tests.bench.tiers import TIERS

LACKING = "not measured"
_SMOKE = (
    "**These figures are of the smoke tier: little data and few rounds. They show that the bench "
    "works, not what anything costs.**"
)


@dataclass(frozen=True)
class Measured:
    """The cells of one tier by name, of all runs of it in a file, and these runs."""

    tier: str
    runs: tuple[Run, ...]

    @property
    def cells(self) -> Mapping[str, Cell]:
        """A cell that was measured by several runs is that of the last one."""
        return {cell.name: cell for run in self.runs for cell in run.cells}

    def of(self, group: str) -> list[Cell]:
        """The cells of a group in the order of the tier, those that were measured."""
        names = [name for found, name in tiers.expected(TIERS[self.tier]) if found == group]
        return [self.cells[name] for name in names if name in self.cells]

    def lacking(self) -> list[str]:
        """Names of cells that the tier has and no run has measured."""
        return [name for _, name in tiers.expected(TIERS[self.tier]) if name not in self.cells]


def conditions(measured: Measured) -> str:
    """What the figures are of."""
    lines = [_SMOKE] if measured.tier == "smoke" else []
    return "\n\n".join([*lines, *(_conditions(run) for run in measured.runs)]) + "\n"


def _conditions(run: Run) -> str:
    about, machine = run.header, run.header["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    rounds = "1 round" if about["rounds"] == 1 else f"{about['rounds']} rounds"
    return (
        f"Tier {run.tier} ({', '.join(about['groups'])}), {about['date']}: TPC-H SF"
        f"{about['scale']:g}, {rounds}; {machine['cores']} cores ({machine['cpu']}), "
        f"{machine['memory_gib']} GiB, {machine['os']}, load {about['load_at_start']} at the "
        f"start, {about['minutes']:g} minutes; {versions}."
    )


def of_group(measured: Measured, group: str) -> str:
    """One line for each cell that has no place in the tables of TPC-H."""
    cells = [cell for cell in measured.of(group) if not _is_in_matrix(measured, cell)]
    rows = [(_title(cell), _times(cell), _limits(cell)) for cell in cells]
    return _table(("", "Median (range)", "Ratios and limits"), rows)


def fast_by_complete(measured: Measured) -> str:
    """Views by changes: a fast refresh by a complete one."""
    tier = TIERS[measured.tier]

    def entry(cell: Cell) -> str:
        found, cpu = cell.ratio("fast", "complete"), cell.cpu_ratio("fast", "complete")
        if found is None:
            return LACKING
        missed = any(limit.figure == "fast / complete" for limit in cell.missed_goals)
        text = f"**{shown(found)}**" if missed else shown(found)
        return f"{text}{_range(found)}{f'; {shown(cpu)}' if cpu else ''}"

    def goal(change: int) -> str:
        names = [tiers.refresh(view, *tier.changes[change]) for view in tier.views]
        limits = [limit for name in names for limit in _limits_of(measured, name)]
        bounds = {f"{x.bound:g}" for x in limits if x.figure == "fast / complete"}
        return f", goal {' or '.join(sorted(bounds))}" if bounds else ""

    heads = [s.title(f) + goal(number) for number, (s, f) in enumerate(tier.changes)]
    return _matrix(measured, heads, entry)


def auto_by_better(measured: Measured) -> str:
    """Views by changes: what `auto` chose, and its time by that of the better method."""

    def entry(cell: Cell) -> str:
        found = against_better(cell.samples, METHODS)
        if found is None:
            return LACKING
        missed = any(limit.figure.startswith("auto") for limit in cell.missed_goals)
        text = f"**{shown(found)}**" if missed else shown(found)
        return f"{', '.join(dict.fromkeys(cell.notes[CHOSE]))} {text}{_range(found)}"

    heads = [stream.title(fraction) for stream, fraction in TIERS[measured.tier].changes]
    return _matrix(measured, heads, entry)


def by_hand(measured: Measured) -> str:
    """A fast refresh by the statement that somebody would write by hand."""
    rows = [
        (cell.name, shown_with_range(found))
        for cell in measured.of(REFRESHES)
        if "fast" in cell.samples and (found := cell.ratio("fast", BY_HAND))
    ]
    return _table(("", "fast / by hand"), rows)


def of_all(measured: Measured) -> str:
    """What is said of all refreshes together."""
    lines = [f"- {line}\n" for line in report.of_all(measured.of(REFRESHES))]
    return "".join(lines) or f"{LACKING}\n"


def missed(measured: Measured) -> str:
    """Of each limit the cells that missed it, and the cells that failed."""
    found: dict[str, list[str]] = {}
    for cell in measured.cells.values():
        for limit in (*cell.missed_budgets, *cell.missed_goals):
            found.setdefault(limit.title, []).append(f"{cell.name}: {limit.shown}")
    lines = [f"- {title}: {'; '.join(names)}" for title, names in found.items()]
    together = [limit for limit in overall(measured.of(REFRESHES)) if not limit.is_met]
    lines += [f"- {limit.title}: {limit.shown}" for limit in together]
    lines += [f"- FAILED: {cell.name}" for cell in measured.cells.values() if cell.problems]
    return "\n".join(lines or ["None."]) + "\n"


def headline(measured: Measured) -> str:
    """What README.md says, of the cells that were measured."""
    sentences = (_of_command(measured), _of_fast(measured), _of_month(measured))
    return " ".join(sentence for sentence in sentences if sentence)


def _of_command(measured: Measured) -> str:
    view = TIERS[measured.tier].commands[0] if TIERS[measured.tier].commands else ""
    cell = measured.cells.get(tiers.run_stale(view))
    found = cell.ratio("spark_mv", "dbt-spark table") if cell else None
    if cell is None or found is None:
        return ""
    return (
        f"A `dbt run` of one view (TPC-H {cell.scale}, 1 % of the rows new) took {shown(found)} "
        "times what it takes as a table of dbt-spark."
    )


def _of_fast(measured: Measured) -> str:
    names = [tiers.refresh(view, INSERT, 0.01) for view in TIERS[measured.tier].views]
    cells = [measured.cells[name] for name in names if name in measured.cells]
    found = [spread for cell in cells if (spread := cell.ratio("fast", "complete"))]
    less = sorted((spread for spread in found if spread.value < 1), key=lambda s: s.value)
    if not less:
        return ""
    return (
        f"Fast refreshes took {shown(less[0])} to {shown(less[-1])} of the time of complete ones "
        f"for {len(less)} of {len(found)} views."
    )


def _of_month(measured: Measured) -> str:
    cell = measured.cells.get(tiers.ONE_MONTH)
    found = cell.ratio("partition", "complete") if cell else None
    if found is None:
        return ""
    return (
        "After a change within one month of 84, a refresh by partition took "
        f"{shown(found)} of the time of a complete one."
    )


def _is_in_matrix(measured: Measured, cell: Cell) -> bool:
    tier = TIERS[measured.tier]
    return cell.name in {tiers.refresh(v, *change) for v in tier.views for change in tier.changes}


def _matrix(measured: Measured, heads: Sequence[str], entry: Callable[[Cell], str]) -> str:
    tier = TIERS[measured.tier]
    rows = []
    for view in tier.views:
        names = [tiers.refresh(view, *change) for change in tier.changes]
        found = [measured.cells.get(name) for name in names]
        rows.append((view, *(entry(cell) if cell else LACKING for cell in found)))
    return _table(("", *heads), rows)


def _limits_of(measured: Measured, name: str) -> Sequence[Limit]:
    cell = measured.cells.get(name)
    return cell.limits if cell else ()


def _title(cell: Cell) -> str:
    return f"{cell.name} ({cell.scale})" if cell.scale.startswith("SF") else cell.name


def _times(cell: Cell) -> str:
    return "<br>".join(
        f"{label}: {shown_time(Spread.of(values))}{_processor(cell, label)}"
        for label, values in cell.samples.items()
    )


def _processor(cell: Cell, label: str) -> str:
    used = cell.cpu.get(label)
    return f"; processor {shown_time(Spread.of(used).times(1000))}" if used else ""


def _limits(cell: Cell) -> str:
    found = [str(limit) if limit.is_met else f"**{limit}**" for limit in cell.limits]
    return "<br>".join([*found, *(["**FAILED**"] if cell.problems else [])])


def _range(spread: Spread) -> str:
    return shown_with_range(spread).removeprefix(shown(spread))


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    if len(lines) == 2:
        return f"{LACKING}\n"
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
