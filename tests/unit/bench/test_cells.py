"""Limits, the choice of `auto`, and the file of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench import record, report, tiers
from tests.bench.cell import READS, Cell, Limit, budget, counted, goal
from tests.bench.figures import Spread
from tests.bench.refresh_cells import chose_well, overall, wrongly_chosen
from tests.unit.bench.made_up import header, refreshed

QUICK = {"fast": [1, 1, 1], "complete": [5, 5, 5], "auto": [1.5, 1.4, 1.6], "CTAS": [4, 4, 4]}


def _read(milliseconds: float, *limits: Limit | None) -> Cell:
    return Cell(READS, "a read", "x1", {"read": [milliseconds]}).held_to(*limits)


def test_missed_budget_fails_the_run() -> None:
    said, fails = report.verdict([_read(12, budget("read", Spread.of([12]), 10, " ms"))])
    assert fails
    assert "BUDGETS MISSED:\n  a read: read, budget <= 10 ms: ~10 ms, missed" in said


def test_missed_goal_is_listed_only() -> None:
    said, fails = report.verdict([_read(12, goal("read", Spread.of([12]), 10, " ms"))])
    assert not fails
    assert "goals missed:\n  a read" in said


def test_met_budget() -> None:
    said, fails = report.verdict([_read(10, budget("read", Spread.of([10]), 10, " ms"))])
    assert not fails
    assert said == "1 cells: 0 failed, 0 budgets and 0 goals missed"


def test_contents_that_differ_fail_the_run() -> None:
    said, fails = report.verdict([replace(_read(1), problems=("contents differ",))])
    assert fails
    assert "FAILED, contents differ or a method was not possible:\n  a read" in said


def test_counts_are_exact() -> None:
    assert str(counted("refreshes", 12, 1)) == "refreshes, budget <= 1: 12, missed"


def test_figures_at_least() -> None:
    limit = Limit("speed", Spread.of([9]), 10, comparison=">=")
    assert not limit.is_met
    assert replace(limit, measured=Spread.of([10])).is_met


def test_what_is_not_measured_has_no_limit() -> None:
    assert budget("read", None, 10) is None
    assert _read(1, None).limits == ()


def test_auto_is_measured_by_its_own_time() -> None:
    """Its planning counts, though the method it picked is the better one."""
    cell = refreshed(**QUICK)
    (limit,) = (limit for limit in cell.limits if limit.figure.startswith("auto"))
    assert limit.measured.value == pytest.approx(1.5)
    assert limit.is_goal and not limit.is_met
    assert chose_well(cell) is True


def test_choice_that_was_wrong_once() -> None:
    cell = refreshed(**QUICK)
    cell = replace(cell, notes={"auto chose": ["fast", "complete", "fast"]})
    assert chose_well(cell) is False
    cells = [cell, refreshed(view="day_mode", **QUICK)]
    assert "in 1 of 2; share, goal >= 0.9: 0.5, missed" in str(overall(cells)[0])
    assert wrongly_chosen(cells) == ["q1, insert 1%"]


def test_choice_of_a_method_as_good() -> None:
    times = {**QUICK, "complete": [1.04, 1.04, 1.04]}
    cell = replace(refreshed(**times), notes={"auto chose": ["complete"] * 3})
    assert chose_well(cell) is True


def test_no_choice_without_both_methods() -> None:
    cell = refreshed(complete=[5], auto=[5], CTAS=[4])
    assert chose_well(cell) is None
    assert cell.limits == ()
    assert [limit.figure.split(",")[0] for limit in overall([cell])] == ["complete / CTAS"]


@pytest.mark.parametrize(
    ("scale", "fraction", "bound"),
    [(1, 0.0001, 0.1), (1, 0.1, 0.2), (1, 0.5, None), (10, 0.0001, 0.0125), (10, 0.01, 0.025)],
)
def test_goals_of_fast(scale: float, fraction: float, bound: float | None) -> None:
    cell = refreshed(fraction=fraction, scale=scale, **QUICK)
    limits = [limit.bound for limit in cell.limits if limit.figure == "fast / complete"]
    assert limits == ([] if bound is None else [bound])


def test_complete_against_ctas_over_cells() -> None:
    cells = [refreshed(**QUICK), refreshed(view="day_mode", **{**QUICK, "CTAS": [5, 5, 5]})]
    (limit,) = (limit for limit in overall(cells) if limit.figure.startswith("complete"))
    assert limit.measured.value == pytest.approx(1.25**0.5)
    assert limit.is_goal and not limit.is_met


def test_file_has_all_that_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "bench.jsonl"
    cells = [refreshed(**QUICK), _read(12, budget("read", Spread.of([12]), 10, " ms"))]
    record.write(path, header("standard"), cells)
    (run,) = record.read(path)
    assert run.header == header("standard")
    assert list(run.cells) == cells
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    fast = lines[1]["cell"]["contenders"]["fast"]
    assert fast["median_ms"] == 1000 and fast["samples_cpu_s"] == [1, 1, 1]
    assert lines[2]["cell"]["limits"][0]["is_met"] is False


def test_runs_may_be_appended(tmp_path: Path) -> None:
    path, more = tmp_path / "bench.jsonl", tmp_path / "more.jsonl"
    record.write(path, header("standard"), [_read(1)])
    record.write(more, header("large"), [_read(2), _read(3)])
    path.write_text(path.read_text() + more.read_text())
    assert [(run.tier, len(run.cells)) for run in record.read(path)] == [
        ("standard", 1),
        ("large", 2),
    ]


def test_header_tells_no_names() -> None:
    about = record.header("smoke", 0.1, 1, ["reads"])
    assert set(about["machine"]) == {"cores", "memory_gib", "cpu", "os"}
    assert set(about["versions"]) == {
        *("python", "java", "spark", "iceberg", "dbt-core", "dbt-spark", "sqlglot"),
        *("dbt-spark-mv", "commit"),
    }


@pytest.mark.parametrize("tier", tiers.TIERS)
def test_names_of_cells_differ(tier: str) -> None:
    names = [name for _, name in tiers.expected(tiers.TIERS[tier])]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("tier", ["standard", "large"])
def test_five_rounds(tier: str) -> None:
    assert tiers.TIERS[tier].rounds == 5
