"""Reading by policy: makes a view fresh before a statement reads it, upstream views first."""

from __future__ import annotations

import time
from enum import Enum

from dbt.adapters.spark_mv.core.errors import MaterializedViewError, RefreshFailed, StaleRead
from dbt.adapters.spark_mv.planning.request import READ, UPSTREAM, Outcome, Request
from dbt.adapters.spark_mv.refresh.refresher import Refresher
from dbt.adapters.spark_mv.refresh.registration import ensure_registered
from dbt.adapters.spark_mv.refresh.services import Engine
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.observation import Group, Look
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import load_view


class Serving(Enum):
    """How a read of a view is answered."""

    STORED = "stored rows"
    INLINE = "its query instead"

    @property
    def is_inline(self) -> bool:
        """Whether the view's query runs in place of a read of its rows."""
        return self is Serving.INLINE


class Reader:
    """Applies when_stale, max_staleness, enable_refresh and on_refresh_error to reads."""

    def __init__(self, engine: Engine, refresher: Refresher) -> None:
        self._engine = engine
        self._refresher = refresher

    def prepare(
        self, name: TableName, group: Group, may_inline: bool = True, trigger: str = READ
    ) -> Serving:
        """Make `name` readable by its policy; everything that it reads first.

        Without `may_inline` a stale view whose policy is inline is refreshed: a view that reads
        it is built from stored rows.
        Raises `StaleRead` or `RefreshFailed` if its policy is to fail.
        """
        view = load_view(self._engine.relations, name)
        ensure_registered(self._engine, view)
        look = self._engine.observer.look(view, group)
        for upstream in look.expansion.storages:
            self.prepare(upstream, group, may_inline=False, trigger=UPSTREAM)
        if look.expansion.storages:
            # Whatever was seen of them before, others may have refreshed them since.
            self._forget_storages(look, group)
            look = self._engine.observer.look(view, group)
        if look.verdict.is_fresh:
            self._clear_flag(look)
            return Serving.STORED
        return self._serve_stale(look, group, may_inline, trigger)

    def upstream_first(self, name: TableName, request: Request, group: Group) -> Outcome:
        """An explicit refresh: upstream views by `auto`, then `name` as asked."""
        view = load_view(self._engine.relations, name)
        ensure_registered(self._engine, view)
        look = self._engine.observer.look(view, group)
        for upstream in look.expansion.storages:
            above = load_view(self._engine.relations, upstream)
            if self.refreshes_by_itself(above):
                self.upstream_first(upstream, Request(UPSTREAM, wait=request.wait), group)
        self._forget_storages(look, group)
        return self._refresher.refresh(name, request, group)

    def refreshes_by_itself(self, view: MaterializedView) -> bool:
        """Whether refreshes that nobody asked for by name may touch the view."""
        return (
            view.options.enable_refresh and not view.reduced and not self._is_suspended(view.name)
        )

    def _forget_storages(self, look: Look, group: Group) -> None:
        for storage in look.expansion.storages.values():
            group.pins.pop(storage, None)

    def _clear_flag(self, look: Look) -> None:
        known = self._engine.memory.state().views.get(look.view.name)
        if known is not None and known.is_stale:
            self._refresher.refresh(look.view.name, Request(READ))

    def _serve_stale(self, look: Look, group: Group, may_inline: bool, trigger: str) -> Serving:
        view, options = look.view, look.view.options
        reason = look.verdict.reason.text
        if look.verdict.missing or view.reduced or self._owner_refuses(look):
            if options.when_stale == "fail":
                raise _stale_read(look)
            self._engine.warn(f"{view.name} is served as stored: {reason}{self._note(look)}.")
            return Serving.STORED
        if self._is_young_enough(look):
            return Serving.STORED
        if options.when_stale == "fail":
            raise _stale_read(look)
        if options.when_stale == "serve":
            self._engine.warn(f"{view.name} is served stale: {reason}.")
            return Serving.STORED
        if options.when_stale == "inline" and may_inline:
            return Serving.INLINE
        return self._refresh(look, group, trigger)

    def _refresh(self, look: Look, group: Group, trigger: str) -> Serving:
        name = look.view.name
        try:
            outcome = self._refresher.refresh(name, Request(trigger), group)
        except RefreshFailed as error:
            if look.view.options.on_refresh_error != "serve":
                raise
            self._engine.warn(f"{error.problem} Its old rows are served.")
            return Serving.STORED
        group.pins.pop(look.view.storage, None)
        self._engine.info(str(outcome))
        return Serving.STORED

    def _owner_refuses(self, look: Look) -> bool:
        return not look.view.options.enable_refresh or self._is_suspended(look.view.name)

    def _is_suspended(self, name: TableName) -> bool:
        known = self._engine.memory.state().views.get(name)
        return known is not None and known.suspended is not None

    def _note(self, look: Look) -> str:
        if self._is_suspended(look.view.name):
            return " (it is SUSPENDED, see `dbt run-operation status` and `resume`)"
        return "" if look.view.options.enable_refresh else " (enable_refresh is false)"

    def _is_young_enough(self, look: Look) -> bool:
        limit = look.view.options.max_staleness_seconds
        if limit is None or look.label is None or look.label.reduced:
            return False
        if look.label.definition_hash != look.current.hash:
            return False
        return time.time() - look.label.evaluated_at <= limit


def _stale_read(look: Look) -> MaterializedViewError:
    return StaleRead(
        f"{look.view.name} is {look.verdict.freshness.value}: {look.verdict.reason.text}.",
        "Refresh it (`dbt run-operation refresh`), or set when_stale to another value than 'fail'.",
    )
