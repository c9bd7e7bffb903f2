"""Fills the marked regions of docs/performance.md and README.md from docs/bench.jsonl.

A region begins with `<!-- bench:NAME -->` and ends with `<!-- /bench -->`, each on a line of its
own. Figures of measurements stand nowhere else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench import page_tables as tables
from tests.bench.cell import COMMANDS, PROJECT, READS, REFRESHES, REWRITING
from tests.bench.page_tables import Measured
from tests.bench.record import COMMITTED, ROOT, Run, read
from tests.bench.tiers import TIERS

PAGE, README = ROOT / "docs" / "performance.md", ROOT / "README.md"
REGION = re.compile(r"(<!-- bench:(\w+) -->\n)(.*?)(<!-- /bench -->)", re.S)
# The tiers whose figures say something; smoke only stands in while there is nothing else.
_TIERS = ("standard", "large")
_NOTHING = "Nothing was measured yet.\n"
_CELLS = "[all cells](docs/performance.md), also those that miss their goal"

_REGIONS: dict[str, Callable[[Measured], str]] = {
    "run": tables.conditions,
    "commands": lambda measured: tables.of_group(measured, COMMANDS),
    "project": lambda measured: tables.of_group(measured, PROJECT),
    "fast": tables.fast_by_complete,
    "auto": lambda measured: f"{tables.of_all(measured)}\n{tables.auto_by_better(measured)}",
    "hand": tables.by_hand,
    "refreshes": lambda measured: tables.of_group(measured, REFRESHES),
    "reads": lambda measured: tables.of_group(measured, READS),
    "rewriting": lambda measured: tables.of_group(measured, REWRITING),
    "missed": tables.missed,
}


def filled(text: str, runs: Sequence[Run]) -> str:
    """A page with the text of each region made anew."""
    measured = shown_tiers(runs)
    return REGION.sub(lambda found: f"{found[1]}{_region(found[2], measured)}{found[4]}", text)


def shown_tiers(runs: Sequence[Run]) -> list[Measured]:
    """The runs by tier; those of smoke only if there are no others."""
    tiers = [Measured(tier, tuple(run for run in runs if run.tier == tier)) for tier in TIERS]
    found = [measured for measured in tiers if measured.runs]
    return [measured for measured in found if measured.tier in _TIERS] or found


def _region(name: str, measured: Sequence[Measured]) -> str:
    if name == "headline":
        return _headline(measured)
    if name == "lacking":
        return _lacking(measured)
    parts = [
        (f"Tier {of_tier.tier}:\n\n" if len(measured) > 1 and name != "run" else "")
        + _REGIONS[name](of_tier)
        for of_tier in measured
    ]
    return "\n".join(parts) or _NOTHING


def _headline(measured: Sequence[Measured]) -> str:
    said = [tables.headline(of_tier) for of_tier in measured if of_tier.tier == "standard"]
    sentences = [sentence for sentence in said if sentence]
    if sentences:
        return f"{' '.join(sentences)} Here are {_CELLS}.\n"
    return f"What refreshes cost: {_CELLS}; not measured yet at the standard tier.\n"


def _lacking(measured: Sequence[Measured]) -> str:
    found = {of_tier.tier: of_tier for of_tier in measured}
    lines = []
    for tier in dict.fromkeys([*found, *_TIERS]):
        names = found[tier].lacking() if tier in found else None
        if names is None:
            lines.append(f"- tier {tier}: no cell was measured")
        elif names:
            lines.append(f"- tier {tier}: {'; '.join(names)}")
    return "\n".join(lines or ["None."]) + "\n"


def main(paths: Sequence[Path] = (PAGE, README)) -> int:
    """Write the pages."""
    runs = read(COMMITTED)
    for path in paths:
        path.write_text(filled(path.read_text(), runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
