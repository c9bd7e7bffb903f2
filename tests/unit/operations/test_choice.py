"""Acting on views one after the other, of which some fail."""

from __future__ import annotations

from typing import Any

from dbt.adapters.spark_mv.core.errors import RefreshFailed, StatementFailed
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.operations.choice import each
from tests.unit.operations.test_selection import state

ERRORS = {
    "db.refused": StatementFailed("[TABLE_OR_VIEW_NOT_FOUND] The table `t` cannot be found."),
    "db.failed": RefreshFailed("db.failed could not be refreshed: why.", "Refresh it again."),
}


def test_failures_name_the_view_and_a_way_out() -> None:
    views = list(state({**dict.fromkeys(ERRORS, []), "db.good": []}, {}).views.values())

    def act(view: ViewState) -> list[tuple[Any, ...]]:
        error = ERRORS.get(f"db.{view.name.name}")
        if error is not None:
            raise error
        return [("DONE", "text")]

    report = each(views, act, ("state", "reason"))
    assert [row[1] for row in report.rows] == ["FAILED", "FAILED", "DONE"]
    refused, failed = report.failures
    assert refused.splitlines() == [
        f"{views[0].name}: [TABLE_OR_VIEW_NOT_FOUND] The table `t` cannot be found.",
        "Remove the cause, or try again if tables were changed meanwhile.",
    ]
    assert failed == str(ERRORS["db.failed"])
