"""Failpoints do nothing outside tests, and say so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.core import failpoints
from dbt.adapters.spark_mv.core.errors import StatementFailed

PACKAGE = Path(failpoints.__file__).parents[1]


@pytest.fixture(autouse=True)
def disarmed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(failpoints.TESTING, raising=False)
    monkeypatch.delenv(failpoints.FAILPOINTS, raising=False)
    yield
    monkeypatch.undo()
    failpoints.arm(lambda text: None)


def armed(monkeypatch: pytest.MonkeyPatch, what: str, testing: str | None) -> list[str]:
    warnings: list[str] = []
    monkeypatch.setenv(failpoints.FAILPOINTS, what)
    if testing is not None:
        monkeypatch.setenv(failpoints.TESTING, testing)
    failpoints.arm(warnings.append)
    return warnings


@pytest.mark.parametrize("testing", [None, "0", "true"])
def test_refused_outside_tests(monkeypatch: pytest.MonkeyPatch, testing: str | None) -> None:
    (warning,) = armed(monkeypatch, "write.before=raise", testing)
    assert "ignored" in warning
    failpoints.reached("write.before")


def test_shouted_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    (warning,) = armed(monkeypatch, "write.before=raise", "1")
    assert "IN FORCE" in warning
    with pytest.raises(StatementFailed):
        failpoints.reached("write.before")
    failpoints.reached("write.after")


def test_silent_without() -> None:
    warnings: list[str] = []
    failpoints.arm(warnings.append)
    assert warnings == []


@pytest.mark.parametrize("what", ["nowhere=kill", "write.before", "write.before="])
def test_unknown_points(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    with pytest.raises(ValueError, match="names no failpoint"):
        armed(monkeypatch, what, "1")


def test_every_point_is_reached_somewhere() -> None:
    text = "".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    assert set(re.findall(r'reached\("([\w.]+)"\)', text)) == set(failpoints.POINTS)
