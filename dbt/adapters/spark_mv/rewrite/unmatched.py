"""Why a block is not answered by a view."""

from __future__ import annotations

from dbt.adapters.spark_mv.core.reasons import Reason

NOT_COVERED, NO_COLUMN = "ROWS_NOT_COVERED", "COLUMN_NOT_COVERED"
NOT_DERIVABLE, OTHER_TABLES = "AGGREGATE_NOT_DERIVABLE", "DIFFERENT_TABLES"
QUERY, VIEW = "QUERY_NOT_SUPPORTED", "VIEW_NOT_SUPPORTED"
NOT_OF_ROWS = "NOT_A_FUNCTION_OF_ROWS"
_LONGEST = 200


class Unmatched(Exception):
    """Ends an attempt; `reason` says why."""

    def __init__(self, code: str, text: str, clause: str = "") -> None:
        shown = clause if len(clause) <= _LONGEST else clause[: _LONGEST - 3] + "..."
        self.reason = Reason(code, text, shown)
        super().__init__(str(self.reason))
