"""Operations that keep views in order: schedules, thresholds, cancelling, cleaning up."""

from __future__ import annotations

from typing import Any

from dbt.adapters.spark_mv.core.errors import RefreshFailed, RefreshRunning
from dbt.adapters.spark_mv.metadata.invalidations import NamedRows
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.operations import cancellation, scheduling, status
from dbt.adapters.spark_mv.operations.arguments import (
    listed,
    partitions_of,
    refuse_contradiction,
)
from dbt.adapters.spark_mv.operations.choice import (
    REFRESH_COLUMNS,
    Choice,
    each,
    refreshed,
    side_by_side,
)
from dbt.adapters.spark_mv.operations.compaction import (
    maintain_metadata,
    maintain_view,
    oldest_versions,
)
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.operations.sweep import sweep
from dbt.adapters.spark_mv.planning.request import RUNNING, SCHEDULE, Request
from dbt.adapters.spark_mv.refresh.key_refresh import KeyRefresher
from dbt.adapters.spark_mv.refresh.live.dependents import renew_distrusted
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import in_schema
from dbt.adapters.spark_mv.statements.ddl import MaterializedViewStatements
from dbt.adapters.spark_mv.views.registry import find_view, load_view


class Upkeep:
    """Operations of one command; each returns a `Report`."""

    def __init__(self, services: Services, ddl: MaterializedViewStatements, choice: Choice) -> None:
        self._services = services
        self._ddl = ddl
        self._choice = choice

    def cancel(self, view: Any, wait: bool = True) -> Report:
        """Ask the running refresh of each view to end."""
        chosen = self._choice.named(view)
        return each(
            chosen,
            lambda s: [(cancellation.cancel(self._services.log, self._services.history, s, wait),)],
            ("state",),
        )

    def suspend(self, view: Any) -> Report:
        """No read and no schedule refreshes the views from now on."""
        chosen = self._choice.named(view)
        return each(
            chosen, lambda s: [(cancellation.suspend(self._services.history, s),)], ("state",)
        )

    def resume(self, view: Any) -> Report:
        """Reads and schedules refresh the views again."""
        chosen = self._choice.named(view)
        return each(
            chosen, lambda s: [(cancellation.resume(self._services.history, s),)], ("state",)
        )

    def invalidate(
        self,
        view: Any = None,
        keys: Any = None,
        partitions: Any = None,
        all: bool = False,  # noqa: A002 - the user-visible name
    ) -> Report:
        """Say that stored rows may be wrong: of the views, or of keys or partitions of one. The
        next refresh computes all rows again, or these if nothing else is to be done."""
        refuse_contradiction(view, keys, partitions, all)
        rows = NamedRows("all rows")
        if keys is None and partitions is None:
            chosen = self._choice.views(None, True) if all else self._choice.named(view)
        else:
            chosen = [self._choice.selection().one(view)]
            rows = self._named_rows(chosen[0], keys, partitions)

        def act(state: ViewState) -> list[tuple[Any, ...]]:
            # A damaged row of the metadata is named instead.
            self._services.log.view(state.name)
            by = cancellation.requester()
            self._services.history.invalidated(state.id, state.name, by, rows)
            renew_distrusted(self._services, state.name)
            return [(rows.what,)]

        return each(chosen, act, ("invalidated",))

    def _named_rows(self, state: ViewState, keys: Any, partitions: Any) -> NamedRows:
        view = load_view(self._services.resolver, state.name)
        refresher = KeyRefresher(self._services)
        if keys is not None:
            found = refresher.checked(view, listed(keys))
            what = f"{len(found):,} {'key' if len(found) == 1 else 'keys'}"
            return NamedRows(what, {"keys": found}, view.options.unique_key, found)
        given, columns = partitions_of(view, listed(partitions)), view.layout.columns
        values = [list(one.values()) for one in given]
        if columns:
            refresher.refuse_wrong_types(view, "partition_by", columns, values)
        what = f"{len(given):,} {'partition' if len(given) == 1 else 'partitions'}"
        return NamedRows(what, {"partitions": given}, columns, values)

    def refresh_due(self, view: Any = None, all: bool = False) -> Report:  # noqa: A002
        """Refresh what is due by its schedule, and move its due time."""
        chosen = self._choice.views(view, all)
        due = [state for state in chosen if scheduling.is_due(state)]
        run = side_by_side(self._services)
        report = each(due, self._refresh_due, REFRESH_COLUMNS, run)
        waiting = [state for state in chosen if state.next_due is not None and state not in due]
        first = min(waiting, key=lambda state: state.next_due or 0, default=None)
        notes = [] if due else ["nothing is due"]
        if first is not None:
            notes.append(f"next: {first.name} at {status.moment(first.next_due)}")
        return Report(report.columns, report.rows, report.failures, tuple(notes))

    def _refresh_due(self, state: ViewState) -> list[tuple[Any, ...]]:
        """Another scheduler may have been faster: then there is nothing to do, and no failure."""
        self._services.log.reload_if_moved()
        known = self._services.log.state().views.get(state.name)
        if known is None or not scheduling.is_due(known):
            return [("SKIPPED", "none", None, 0.0, "refreshed by another scheduler")]
        request = Request(SCHEDULE, wait=False, explicit=True)
        try:
            return [refreshed(self._ddl.refresh(known.name, request))]
        except RefreshRunning as error:
            return [(RUNNING, "none", None, 0.0, error.problem)]
        except RefreshFailed as error:
            self._move_due(known, request, error)
            raise

    def _move_due(self, state: ViewState, request: Request, error: RefreshFailed) -> None:
        """If an upstream view has failed, this one has no event of its own that moves it."""
        known = self._services.log.state().views.get(state.name)
        view = find_view(self._services.resolver, state.name)
        if view is not None and known is not None and scheduling.is_due(known):
            self._services.history.failed(view, request, error.problem)

    def sweep(self, view: Any = None, all: bool = False) -> Report:  # noqa: A002
        """Remove what crashes left behind."""
        chosen = self._choice.views(view, all)
        resolver = self._services.resolver
        home = resolver.current_namespace()
        names = [] if view else [in_schema(s, "x") for s in self._choice.all_schemas()]
        rows = tuple(sweep(self._services, chosen, [resolver.resolve(n, home) for n in names]))
        return Report(("object", "result"), rows, notes=() if rows else ("nothing to clean up",))

    def maintain(
        self,
        view: Any = None,
        all: bool = False,  # noqa: A002 - the user-visible name
        keep_hours: float = 24,
        keep_history_days: float = 365,
        dry_run: bool = False,
    ) -> Report:
        """Compact and expire storage tables and metadata; say which base versions are needed.

        `dry_run` does the last only, before snapshots of base tables are expired.
        """
        keep = float(keep_hours) * 3600
        chosen = self._choice.views(view, all)
        if dry_run:
            needed = oldest_versions(self._services, chosen)
            return Report((), (), notes=tuple(needed or ["no version of a base table is needed"]))
        columns = ("result", "files_compacted", "snapshots_expired", "orphans_removed")
        report = each(
            chosen, lambda state: [maintain_view(self._services, state, keep)[1:]], columns
        )
        metadata = maintain_metadata(
            self._services.executor, self._services.log, keep, float(keep_history_days) * 86400
        )
        notes = oldest_versions(self._services, chosen)
        if metadata is None:
            return Report(report.columns, report.rows, report.failures, tuple(notes))
        row, forgotten = metadata
        if forgotten:
            notes.append(f"forgotten: {forgotten} events older than {keep_history_days} days")
        return Report(report.columns, (*report.rows, row), report.failures, tuple(notes))
