"""Statements of refreshes run once more where Spark failed inside of itself, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.sessions import in_session

PRUNING = "spark.sql.optimizer.dynamicPartitionPruning.enabled"


class Sessions:
    """An executor whose first session fails with an error."""

    def __init__(self, error: str) -> None:
        self._error = error
        self.opened: list[Mapping[str, str]] = []

    @contextmanager
    def isolated(self, settings: Mapping[str, str]) -> Iterator[Sessions]:
        self.opened.append(settings)
        yield self

    def query(self, _: str) -> list[Any]:
        if len(self.opened) == 1:
            raise StatementFailed(self._error)
        return [(1,)]


@pytest.mark.parametrize(
    "error",
    [
        "[INTERNAL_ERROR] The Spark SQL phase planning failed with an internal error.",
        "[STAGE_MATERIALIZATION_MULTIPLE_FAILURES] Multiple failures (3) in stage materialization: "
        "1. NullPointerException: Invalid object: null",
    ],
)
def test_once_more(error: str) -> None:
    """The second session leaves out no partitions at run time, and keeps the other settings."""
    sessions: Any = Sessions(error)
    assert in_session(sessions, {"a": "b"}, lambda session: session.query("q")) == [(1,)]
    assert sessions.opened == [{"a": "b"}, {"a": "b", PRUNING: "false"}]


def test_other_errors() -> None:
    sessions: Any = Sessions("[CAST_INVALID_INPUT] The value 'x' cannot be cast")
    with pytest.raises(StatementFailed, match="CAST_INVALID_INPUT"):
        in_session(sessions, {}, lambda session: session.query("q"))
    assert len(sessions.opened) == 1
