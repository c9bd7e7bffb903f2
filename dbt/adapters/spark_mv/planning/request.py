"""What was asked for, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView

CREATE, DBT_RUN, READ = "CREATE", "DBT_RUN", "READ"
MANUAL, SCHEDULE, UPSTREAM, WRITE = "MANUAL", "SCHEDULE", "UPSTREAM", "WRITE"
# For a query that does not name the view.
REWRITE = "REWRITE"
SUCCEEDED, SKIPPED, KEPT = "SUCCEEDED", "SKIPPED", "KEPT"
# Fresh, and described in another way.
ALTERED = "ALTERED"
CANCELLED, RUNNING = "CANCELLED", "RUNNING"
# Nobody asked for these, so failures of theirs count towards suspension.
AUTOMATIC = (READ, SCHEDULE, UPSTREAM, WRITE)


@dataclass(frozen=True)
class Request:
    """A wish to refresh: who asks, by which method, waiting for others or not.

    `explicit` requests run also when the view is fresh, and are recorded even if nothing is done.
    `reduced` says that the query is not the whole definition; `avoid_fast` why a fast refresh is
    not to be tried (again). Rows are wanted as of now, or of `as_of`, in epoch seconds.
    """

    trigger: str
    method: str = "auto"
    wait: bool = True
    explicit: bool = False
    reduced: bool = False
    avoid_fast: Reason | None = None
    as_of: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What happened to one view; `rows` is its row count afterwards, if known, `altered` says what
    was changed of a view that was not refreshed."""

    view: TableName
    state: str
    method: str
    reason: str
    seconds: float = 0.0
    rows: int | None = None
    altered: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What was done, in a few words."""
        texts = {
            SKIPPED: "fresh, skipped",
            KEPT: "kept as it is",
            ALTERED: f"altered ({', '.join(self.altered)}), not refreshed",
        }
        return texts.get(self.state, f"{self.method} refresh")

    def __str__(self) -> str:
        if self.state in (SKIPPED, ALTERED, KEPT):
            return f"{self.view}: {self.summary} ({self.reason})"
        noun = "row" if self.rows == 1 else "rows"
        rows = "" if self.rows is None else f", {self.rows:,} {noun}"
        return f"{self.view}: {self.summary}{rows}, {self.seconds:.1f} s ({self.reason})"


def refreshes_by_itself(view: MaterializedView, log: MetadataLog) -> bool:
    """Whether refreshes that nobody asked for by name may touch the view."""
    return view.options.enable_refresh and not view.reduced and not is_suspended(view.name, log)


def is_suspended(name: TableName, log: MetadataLog) -> bool:
    """Whether refreshes of the view are stopped until somebody resumes them."""
    known = log.state().views.get(name)
    return known is not None and known.suspended is not None
