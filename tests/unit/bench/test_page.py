"""Figures in README.md and docs/performance.md are those of docs/bench.jsonl."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bench import page
from tests.bench.page import PAGE, README, REGION, filled
from tests.bench.record import COMMITTED, read
from tests.unit.bench.made_up import refreshed, run

# Decimals, and numbers of what is measured.
_FIGURE = re.compile(
    r"\d+\.\d+|\b\d+(?:,\d+)*\s*(?:ms|s|seconds?|minutes?|%|times|x|GB|GiB|MB)(?![\w])|\b\d+x\b"
)
_ALL = "".join(f"<!-- bench:{name} -->\n<!-- /bench -->\n" for name in (*page._REGIONS, "lacking"))
GUIDES = sorted((PAGE.parent / "guides").glob("*.md"))
QUICK = {"fast": [1, 1.1, 1], "complete": [5, 5.2, 5], "auto": [1, 1, 1.1], "CTAS": [4, 4, 4]}
SLOW = {**QUICK, "fast": [3, 3.3, 3]}


@pytest.mark.parametrize("path", [PAGE, README], ids=lambda path: path.name)
def test_regions_are_what_the_file_says(path: Path) -> None:
    text = path.read_text()
    assert text == filled(text, read(COMMITTED)), "run make docs"


def test_pages_have_all_regions() -> None:
    assert {found[1] for found in REGION.findall(PAGE.read_text())} == {*page._REGIONS, "lacking"}
    assert [found[1] for found in REGION.findall(README.read_text())] == ["headline"]


def test_no_figures_outside_of_regions() -> None:
    assert _FIGURE.findall(REGION.sub("", PAGE.read_text())) == []


@pytest.mark.parametrize("path", [README, *GUIDES], ids=lambda path: path.name)
def test_no_ratios_in_prose(path: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", REGION.sub("", path.read_text()), flags=re.M | re.S)
    assert re.findall(r"\b0\.\d+|\d+ times", prose) == []


@pytest.mark.parametrize("text", ["took 0.35", "in 3 s", "by 12 %", "3.5 times", "a 10x gain"])
def test_figures_are_found(text: str) -> None:
    assert _FIGURE.search(text)


def test_filling_twice_changes_nothing() -> None:
    once = filled(_ALL, [run("standard", refreshed(**QUICK))])
    assert filled(once, [run("standard", refreshed(**QUICK))]) == once


def test_missed_goal_is_bold_and_listed() -> None:
    text = filled(_ALL, [run("standard", refreshed(**SLOW))])
    assert "| q1 | not measured | **0.60** (0.60 to 0.63); 0.60 |" in text
    assert "- fast / complete, goal <= 0.1: q1, insert 1%: 0.60 (0.60 to 0.63)\n" in text


def test_cells_that_lack_are_named() -> None:
    text = filled(_ALL, [run("standard", refreshed(**QUICK))])
    lacking = text.split("<!-- bench:lacking -->")[1]
    assert "dbt run-operation status; " in lacking and "q1, insert 1%;" not in lacking
    assert "- tier large: no cell was measured" in lacking


def test_without_a_file_nothing_is_claimed() -> None:
    text = filled(_ALL, [])
    assert not _FIGURE.search(re.sub(r"<!-- .* -->", "", text))
    assert "- tier standard: no cell was measured" in text


def test_smoke_says_so() -> None:
    text = filled(_ALL, [run("smoke", refreshed(**QUICK))])
    assert "**These figures are of the smoke tier" in text


def test_smoke_is_not_shown_beside_others() -> None:
    text = filled(_ALL, [run("smoke", refreshed(**SLOW)), run("standard", refreshed(**QUICK))])
    assert "smoke" not in text and "0.60" not in text


def test_last_run_of_a_cell_counts() -> None:
    runs = [run("standard", refreshed(**SLOW)), run("standard", refreshed(**QUICK))]
    assert "0.20" in filled(_ALL, runs) and "0.60" not in filled(_ALL, runs)


HEADLINE = "<!-- bench:headline -->\n<!-- /bench -->\n"


def test_headline_counts_views() -> None:
    cells = [refreshed(**QUICK), refreshed("day_mode", **SLOW)]
    cells.append(refreshed("customer", **{**QUICK, "fast": [7, 7, 8]}))
    text = filled(HEADLINE, [run("standard", *cells)])
    assert (
        "Fast refreshes took 0.200 to 0.60 of the time of complete ones for 2 of 3 views." in text
    )


def test_headline_claims_nothing_of_smoke() -> None:
    text = filled(HEADLINE, [run("smoke", refreshed(**QUICK))])
    assert "not measured yet at the standard tier" in text
