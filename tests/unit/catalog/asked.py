"""An executor of tests: it answers, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dbt.adapters.spark_mv.core.errors import StatementFailed

Rows = Sequence[Sequence[Any]]
StatementResult = Callable[[str], Rows]


class Asked:
    """Has no client of the catalog, unless it is given one."""

    def __init__(self, answer: StatementResult) -> None:
        self.catalog: Any = None
        self.statements: list[str] = []
        self._answer = answer

    def query(self, sql: str) -> list[Sequence[Any]]:
        self.statements.append(sql)
        return list(self._answer(sql))


def asked(answer: StatementResult = lambda sql: []) -> Any:
    return Asked(answer)


def failing(sql: str) -> Rows:
    raise StatementFailed(sql)
