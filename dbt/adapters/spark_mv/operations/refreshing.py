"""Operations that refresh views, compare their rows with their queries, align, register or drop
them; each returns a `Report`."""

from __future__ import annotations

from typing import Any

from dbt.adapters.spark_mv.config.option_types import text_of_time
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.errors import (
    InvalidArgument,
    MaterializedViewError,
    UnknownMaterializedView,
    ViewDropped,
)
from dbt.adapters.spark_mv.metadata.expiries import expires_us
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.operations import status
from dbt.adapters.spark_mv.operations.choice import (
    REFRESH_COLUMNS,
    Choice,
    each,
    refreshed,
    side_by_side,
)
from dbt.adapters.spark_mv.operations.questions import explained
from dbt.adapters.spark_mv.operations.rebuild import rebuild_metadata
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.operations.verify import Differences, count_differences
from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.ddl import MaterializedViewStatements

# Of a view that nobody named, and that somebody drops meanwhile.
_GONE = ("DROPPED", "none", None, 0.0, "somebody else has dropped it")


class Refreshing:
    """Operations of one command, on the views of one project."""

    def __init__(self, services: Services, ddl: MaterializedViewStatements, choice: Choice) -> None:
        self._services = services
        self._ddl = ddl
        self._choice = choice

    def refresh(
        self,
        view: Any = None,
        method: str = "auto",
        wait: bool = False,
        dry_run: bool = False,
        all: bool = False,  # noqa: A002 - the user-visible name
        keys: Any = None,
        expired: bool = False,
        as_of: Any = None,
    ) -> Report:
        """Refresh views, upstream first; without `view` those of the project that are not fresh.

        With `expired` only views that the clock has made stale, as the metadata say, so that no
        version is read of the others. With `keys` the rows of these keys of one view are computed
        again, at the versions of those beside them. With `as_of` rows are those of an earlier time.
        """
        if keys is not None:
            if dry_run or all or expired:
                raise InvalidArgument(
                    "refresh: keys cannot be combined with dry_run, all or expired.",
                    "Nothing was done; a refresh of keys is one of one view.",
                )
            return self._refresh_keys(view, method, keys, as_of)
        moment = text_of_time(as_of)
        chosen = self._choice.views(view, all)
        if view is None and expired:
            chosen = [state for state in chosen if _has_expired(state, clock.now_us())]
        if view is None:
            chosen = [state for state in chosen if self._needs_refresh(state)]
        request = Request(MANUAL, method.lower(), wait, explicit=True)
        if dry_run:
            return explained(self._services, chosen, request, moment)

        def act(state: ViewState) -> list[tuple[Any, ...]]:
            return [self._refreshed(state.name, request, moment, is_named=view is not None)]

        return each(chosen, act, REFRESH_COLUMNS, side_by_side(self._services))

    def _refreshed(
        self, name: TableName, request: Request, as_of: str | None, is_named: bool
    ) -> tuple[Any, ...]:
        try:
            return refreshed(self._ddl.refresh(name, request, as_of))
        except (UnknownMaterializedView, ViewDropped):
            if is_named or self._services.resolver.lookup(name) is not None:
                raise
            return _GONE

    def _refresh_keys(self, view: Any, method: str, keys: Any, as_of: Any) -> Report:
        if not isinstance(view, str):
            raise InvalidArgument(
                "refresh: keys are those of one view.", "Name it: --args '{view: name, keys: [1]}'."
            )
        chosen = self._choice.selection().one(view)
        if method.lower() != "auto":
            raise InvalidArgument(
                f"refresh: keys and method {method!r} cannot be combined.",
                "A refresh of keys replaces their rows; leave out one of the two.",
            )
        if as_of is not None:
            raise InvalidArgument(
                "refresh: keys and as_of cannot be combined.",
                "Rows of keys are computed at the versions of the rows beside them.",
            )
        listed = keys if isinstance(keys, (list, tuple)) else [keys]
        request = Request(MANUAL, explicit=True)

        def act(state: ViewState) -> list[tuple[Any, ...]]:
            return [refreshed(self._ddl.refresh_keys(state.name, listed, request))]

        return each([chosen], act, REFRESH_COLUMNS)

    def _needs_refresh(self, state: ViewState) -> bool:
        if state.suspended is not None or not state.option("enable_refresh", True):
            return False
        try:
            observation = status.observe_by_name(
                self._services.resolver, self._services.observer, state
            )
        except MaterializedViewError:
            return True  # its refresh will say so, and that of others goes on
        return observation is None or not observation.verdict.is_fresh

    def verify(self, view: Any = None, repair: bool = False, all: bool = False) -> Report:  # noqa: A002
        """Compare stored rows with the query at the pinned versions; `repair` refreshes after."""
        found: list[str] = []

        def check(state: ViewState) -> list[tuple[Any, ...]]:
            counts = count_differences(self._services, state.name)
            verdict = "OK"
            if counts.any:
                verdict = "REPAIRED" if repair else "DIFFERENT"
                if repair:
                    self._ddl.refresh(state.name, Request(MANUAL, "complete", explicit=True))
                else:
                    found.append(_difference(state.name, counts))
            return [(verdict, counts.missing, counts.unexpected, counts.differing)]

        report = each(
            self._choice.views(view, all), check, ("result", "missing", "unexpected", "differing")
        )
        return Report(report.columns, report.rows, (*report.failures, *found), report.notes)

    def align(self, group: str | None = None) -> Report:
        """Bring the views of a consistency group to one state of their base tables."""
        if group is None:
            raise InvalidArgument(
                "align: no consistency group is named.", "Name it: --args '{group: name}'."
            )
        members = self._ddl.align(group)
        if not members:
            raise InvalidArgument(
                f"align: no view is of the consistency group {group!r}.",
                "`consistency_group` in the config of a view says which group it is of.",
            )
        return Report(("view", "state"), tuple((str(name), "ALIGNED") for name in members))

    def drop(self, view: Any, if_exists: bool = False) -> Report:
        """Drop one materialized view."""
        try:
            name = self._choice.selection().one(view)
        except UnknownMaterializedView:
            if if_exists:
                return Report(("view", "state"), ((view, "does not exist"),))
            raise
        self._ddl.drop(name.name, if_exists)
        return Report(("view", "state"), ((str(name.name), "DROPPED"),))

    def rebuild_metadata(self, catalog: str) -> Report:
        """Register every materialized view that the catalog holds."""
        done = rebuild_metadata(self._services, catalog)
        rows = tuple((str(name), what) for name, what in done)
        return Report(("view", "result"), rows, notes=() if rows else ("no materialized views",))


def _has_expired(state: ViewState, now_us: int) -> bool:
    """Whether the rows of the last build are others by now, in epoch microseconds, or too old."""
    end = expires_us(state)
    return end is not None and end <= now_us


def _difference(name: TableName, counts: Differences) -> str:
    return (
        f"{name} differs from its query: {counts.missing} rows missing, {counts.unexpected} "
        f"unexpected, {counts.differing} differing.\n"
        "Repair it with `dbt run-operation verify --args '{view: .., repair: true}'`."
    )
