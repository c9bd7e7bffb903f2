"""The operation that says how a query would be rewritten."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.spark_mv.core.errors import InvalidArgument
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.statements.pipeline import StatementPipeline
from dbt.adapters.spark_mv.statements.rewriting.explain import COLUMNS, attempt_rows


class Rewrites:
    """What one command asks of rewriting; `context` is that of the calling thread."""

    def __init__(
        self, pipeline: StatementPipeline, context: Callable[[], StatementContext]
    ) -> None:
        self._pipeline = pipeline
        self._context = context

    def explain_rewrite(self, sql: str = "") -> Report:
        """The text that would run, and what became of each view; nothing is refreshed or run."""
        if not sql.strip():
            raise InvalidArgument(
                "explain_rewrite: there is no query.",
                "Give it one: --args '{sql: \"select ..\"}', or --args '{model: name}'.",
            )
        made = self._pipeline.explain_rewrite(sql, self._context())
        note = [made.note] if made.is_changed else ["runs as it is written"]
        rows = attempt_rows(made)
        return Report(COLUMNS, rows, notes=(*([""] if rows else []), *note, *made.sql.splitlines()))
