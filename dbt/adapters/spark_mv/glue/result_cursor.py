"""A cursor over the result of a statement that Spark never saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse

from dbt.adapters.spark_mv.statements.results import StatementResult


@dataclass
class MaterializedViewResponse(AdapterResponse):
    """dbt's response to a statement, with what the refresh did."""

    method: str | None = None
    reason: str | None = None
    rows: int | None = None
    seconds: float | None = None


class ResultCursor:
    """What dbt needs of a cursor."""

    def __init__(self, result: StatementResult) -> None:
        self.result = result
        self._left = list(result.rows)

    @property
    def description(self) -> list[tuple[Any, ...]]:
        """Name of each column, in DB-API's shape."""
        return [(name, "string", None, None, None, None, True) for name in self.result.columns]

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        rows, self._left = self._left, []
        return rows

    def fetchmany(self, size: int = 1) -> list[Any]:
        """The next rows."""
        rows, self._left = self._left[:size], self._left[size:]
        return rows

    def fetchone(self) -> Any:
        """The next row or None."""
        return self._left.pop(0) if self._left else None

    def response(self) -> MaterializedViewResponse:
        """The result as dbt's response."""
        outcome = self.result.outcome
        if outcome is None:
            return MaterializedViewResponse(_message=self.result.message)
        return MaterializedViewResponse(
            _message=self.result.message,
            code=outcome.state,
            rows_affected=outcome.rows,
            method=outcome.method,
            reason=outcome.reason,
            rows=outcome.rows,
            seconds=round(outcome.seconds, 3),
        )
