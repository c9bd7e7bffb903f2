"""Results of statements that Spark never sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark_mv.planning.request import Outcome


@dataclass(frozen=True)
class StatementResult:
    """The result of a statement that Spark never sees."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    message: str
    outcome: Outcome | None = None
