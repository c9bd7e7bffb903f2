"""Says how a statement is rewritten, and why not."""

from __future__ import annotations

from typing import Any

from dbt.adapters.spark_mv.core.errors import NotRewritten
from dbt.adapters.spark_mv.sql.beginning import behind
from dbt.adapters.spark_mv.statements.results import StatementResult
from dbt.adapters.spark_mv.statements.rewriting.values import Rewriting

COLUMNS = ("block", "view", "chosen", "reason", "detail", "rows")
_MOST_REASONS = 5


def explained_query(sql: str) -> str:
    """The statement that EXPLAIN REWRITE is about; empty if it is another statement."""
    return behind(sql, "EXPLAIN", "REWRITE")


def attempt_rows(made: Rewriting) -> tuple[tuple[Any, ...], ...]:
    """A row for each block and view; a block that no view can answer has one without a view."""
    attempts = sorted(made.attempts, key=lambda one: (one.block, not one.chosen))
    return tuple(
        (
            one.block + 1,
            None if one.view is None else str(one.view),
            one.chosen,
            one.reason.code,
            one.reason.text + (f": {one.reason.clause}" if one.reason.clause else ""),
            one.rows,
        )
        for one in attempts
    )


def rewriting_rows(made: Rewriting) -> StatementResult:
    """The result of EXPLAIN REWRITE: the text that would run, then the attempts."""
    text = (None, None, made.is_changed, "TEXT", made.sql, made.rows)
    return StatementResult(COLUMNS, (text, *attempt_rows(made)), "OK")


def not_rewritten(reader: str, made: Rewriting) -> NotRewritten:
    """The error for a model that must be answered by a view, and is not."""
    found = [
        f"{row[1] or 'any view'}: {row[3]}, {row[4]}" for row in attempt_rows(made)[:_MOST_REASONS]
    ]
    return NotRewritten(
        f"{reader}no materialized view answers it, and its config says query_rewrite: required. "
        + ("; ".join(found) or "No view reads what it reads")
        + ".",
        "See `dbt run-operation explain_rewrite`, or set query_rewrite to true.",
    )
