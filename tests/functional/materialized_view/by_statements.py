"""Commands that reach Spark by statements alone, as over Connect and Thrift."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.core.executor import Row
from dbt.adapters.spark_mv.glue import container
from dbt.adapters.spark_mv.spark.clients import SessionExecutor, Told, sessions_beside


class Listed(SessionExecutor):
    """Has no client of the catalog; adds each statement to a list."""

    def __init__(self, session: Any, asked: list[str], told: Told) -> None:
        super().__init__(session, None, sessions_beside(session), told)
        self._asked = asked

    def query(self, sql: str) -> list[Row]:
        self._asked.append(sql)
        return super().query(sql)


def reach_by_statements(patch: pytest.MonkeyPatch, asked: list[str] | None = None) -> None:
    """Let commands that begin from now on have no client of the catalog; what they ask is added to
    a list."""
    listed = [] if asked is None else asked
    patch.setattr(
        container,
        "session_executor",
        lambda session, _, told: Listed(session.newSession(), listed, told),
    )
