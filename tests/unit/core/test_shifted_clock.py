"""The clock of a process, which tests and demonstrations shift."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.core import clock


def test_a_shifted_clock_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are those of another time, which nobody may overlook."""
    warnings: list[str] = []
    monkeypatch.setenv(clock.OFFSET, "-7200")
    clock.announce(warnings.append)
    assert warnings == [f"The clock is shifted by -7,200 seconds, because {clock.OFFSET} is set."]
    monkeypatch.delenv(clock.OFFSET)
    clock.announce(warnings.append)
    assert len(warnings) == 1
