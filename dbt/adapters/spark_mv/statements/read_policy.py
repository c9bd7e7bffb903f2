"""Reading by policy: makes a view fresh before a statement reads it, upstream views first."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial

from dbt.adapters.spark_mv.config.option_types import FAIL, INLINE, LIVE, SERVE
from dbt.adapters.spark_mv.core import clock, reasons
from dbt.adapters.spark_mv.core.errors import (
    GroupMoves,
    MaterializedViewError,
    RefreshFailed,
    StaleRead,
)
from dbt.adapters.spark_mv.planning.request import (
    READ,
    UPSTREAM,
    Outcome,
    Request,
    is_suspended,
    refreshes_by_itself,
)
from dbt.adapters.spark_mv.refresh.live.live_views import not_renewed
from dbt.adapters.spark_mv.refresh.refresher import Refresher
from dbt.adapters.spark_mv.refresh.registration import ensure_registered
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Freshness, Verdict
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.state.pinned_versions import PinnedVersions
from dbt.adapters.spark_mv.statements.consistency import ConsistencyGroups
from dbt.adapters.spark_mv.statements.serving import Readable, Serving, Session, may_inline
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import load_view, view_of

# So often the members of a group are brought to one state before a read of them fails.
_ROUNDS = 3


class Reader:
    """Applies when_stale, max_staleness, enable_refresh and on_refresh_error to reads."""

    def __init__(self, services: Services, refresher: Refresher) -> None:
        self._services = services
        self._refresher = refresher
        self.groups = ConsistencyGroups(services)

    def prepare(
        self,
        names: Collection[TableName],
        pinned: PinnedVersions,
        session: Session | None = None,
        trigger: str = READ,
        exact: Collection[TableName] = (),
    ) -> Readable:
        """Make views readable, each by its policy, everything that it reads first; those that have
        to be refreshed side by side. Several of one consistency group have rows of one state.

        A stale view whose policy is inline is refreshed if its query cannot stand in the statement:
        without the `session` in which that is to run, or with other settings there than those of
        the view. `exact` ones are refreshed if they are stale, whatever age their policy allows.
        Raises `StaleRead` or `RefreshFailed` if the policy of one is to fail, `GroupMoves`.
        """
        groups = self.groups.of(names)
        if not groups:
            return self._prepare(names, pinned, session, trigger, exact)
        wanted = set(exact)
        for _ in range(_ROUNDS):
            self._prepare(names, pinned, None, trigger, wanted)
            rows = {group: self.groups.rows(members) for group, members in groups.items()}
            apart = {group: found.why_apart for group, found in rows.items()}
            if not any(apart.values()):
                snapshots = {v: s for found in rows.values() for v, s in found.snapshots.items()}
                return Readable(frozenset(), snapshots)
            asked = {m for group, why in apart.items() if why for m in groups[group]}
            if asked <= wanted:
                self._refuse_fixed(asked, next(filter(None, apart.values())))
            wanted |= asked
            pinned.forget(list(pinned.versions))
        group, why = next((group, why) for group, why in apart.items() if why)
        raise GroupMoves(
            f"{' and '.join(map(str, groups[group]))} cannot be read together: {why}, {_ROUNDS} "
            "times in a row.",
            f"Try again, or see `dbt run-operation align --args '{{group: {group}}}'`.",
        )

    def _refuse_fixed(self, members: Collection[TableName], why: str) -> None:
        """Raise `GroupMoves` if one of these views, whose rows are of several states although all
        were to be refreshed, is none that a read refreshes."""
        for name in sorted(members):
            view = load_view(self._services.resolver, name)
            if self.refreshes_by_itself(view):
                continue
            how = "resume" if is_suspended(name, self._services.log) else "refresh"
            raise GroupMoves(
                f"{' and '.join(map(str, sorted(members)))} cannot be read together: {why}, and "
                f"{name} is not refreshed by reads.",
                f"Bring it along by `dbt run-operation {how} --args '{{view: {name}}}'`.",
            )

    def _prepare(
        self,
        names: Collection[TableName],
        pinned: PinnedVersions,
        session: Session | None,
        trigger: str,
        exact: Collection[TableName],
    ) -> Readable:
        served = {
            name: self._serve(name, pinned, session, trigger, name in exact)
            for name in dict.fromkeys(names)
        }
        refreshes = {name: how for name, how in served.items() if not isinstance(how, Serving)}
        done = dict(zip(refreshes, self._services.workers.run(refreshes), strict=True))
        inline = (
            name
            for name, how in served.items()
            if (how if isinstance(how, Serving) else done[name]).is_inline
        )
        return Readable(frozenset(inline))

    def _serve(
        self,
        name: TableName,
        pinned: PinnedVersions,
        session: Session | None,
        trigger: str,
        exact: bool,
    ) -> Serving | Callable[[], Serving]:
        """How a read is answered, or the refresh that it takes to answer it by stored rows."""
        seen = pinned.take_view(name)
        view = view_of(name, seen) or load_view(self._services.resolver, name)
        ensure_registered(self._services, view)
        observation = self._services.observer.observe_pinned(view, pinned)
        upstream = observation.expansion.storages
        if upstream and not exact and self._keeps_rows(observation):
            observation = self._as_it_stands(observation, pinned)
        elif upstream:
            below = upstream if exact else ()
            self.prepare(upstream, pinned, trigger=UPSTREAM, exact=below)
            if pinned.has_left(observation.versions, upstream.values()):
                pinned.forget(upstream.values())
                observation = self._services.observer.observe(view, pinned)
        if observation.verdict.is_fresh:
            self._clear_flag(observation, pinned)
            self._renew_live(observation)
            return Serving.STORED
        if exact and self.refreshes_by_itself(view) and not observation.verdict.missing:
            return partial(self._refresh, observation, pinned, trigger)
        return self._serve_stale(observation, pinned, session, trigger)

    def _keeps_rows(self, observation: Observation) -> bool:
        """Whether a read has the stored rows, or fails, whatever views below them are like."""
        return (
            bool(observation.verdict.missing)
            or not self.refreshes_by_itself(observation.view)
            or observation.view.options.when_stale in (SERVE, FAIL)
            or self._is_young_enough(observation)
        )

    def _as_it_stands(self, observation: Observation, pinned: PinnedVersions) -> Observation:
        """What was seen of a view, stale if one below it is that a read of it would refresh; those
        that a read would serve stale are served."""
        for name in observation.expansion.storages:
            below = self._services.observer.observe(
                load_view(self._services.resolver, name), pinned
            )
            is_served = self._keeps_rows(below) and below.view.options.when_stale != FAIL
            below = self._as_it_stands(below, pinned)
            if below.verdict.is_fresh:
                continue
            if is_served:
                self._serve_stale(below, pinned, None, trigger=UPSTREAM)
            elif observation.verdict.is_fresh:
                reason = reasons.upstream_not_fresh(str(name), below.verdict.freshness.value)
                observation = replace(observation, verdict=Verdict(Freshness.STALE, reason))
        return observation

    def upstream_first(self, name: TableName, request: Request, pinned: PinnedVersions) -> Outcome:
        """An explicit refresh: upstream views by `auto`, then `name` as asked."""
        view = load_view(self._services.resolver, name)
        ensure_registered(self._services, view)
        observation = self._services.observer.observe(view, pinned)
        self.refresh_all(observation.expansion.storages, pinned, request.wait)
        pinned.forget(observation.expansion.storages.values())
        return self._refresher.refresh(name, request, pinned)

    def refresh_all(
        self, upstream: Collection[TableName], pinned: PinnedVersions, wait: bool = True
    ) -> None:
        """Refresh those upstream views that may be, each with what it reads itself; of others that
        are stale a warning says so."""
        request = Request(UPSTREAM, wait=wait, as_of=pinned.as_of)
        tasks: dict[TableName, Callable[[], Outcome]] = {}
        for name in upstream:
            view = load_view(self._services.resolver, name)
            if self.refreshes_by_itself(view):
                tasks[name] = partial(self.upstream_first, name, request, pinned)
                continue
            observation = self._services.observer.observe(view, pinned)
            if not observation.verdict.is_fresh:
                self._warn_stored(observation)
        self._services.workers.run(tasks)

    def refreshes_by_itself(self, view: MaterializedView) -> bool:
        """Whether refreshes that nobody asked for by name may touch the view."""
        return refreshes_by_itself(view, self._services.log)

    def _clear_flag(self, observation: Observation, pinned: PinnedVersions) -> None:
        view = observation.view
        known = self._services.log.state().views.get(view.name)
        if known is None or not known.is_stale:
            return
        if not self.refreshes_by_itself(view):
            self._services.history.skipped(view, Request(READ), observation.verdict.reason)
            return
        pinned.forget([view.storage])
        with suppress(RefreshFailed):  # the rows were fresh when they were observed
            self._refresher.refresh(view.name, Request(READ))

    def _renew_live(self, observation: Observation) -> None:
        try:
            self._services.live.renew_if_behind(observation)
        except MaterializedViewError as error:
            self._services.warn(not_renewed(observation.view.name, error))

    def _serve_stale(
        self,
        observation: Observation,
        pinned: PinnedVersions,
        session: Session | None,
        trigger: str,
    ) -> Serving | Callable[[], Serving]:
        view, options = observation.view, observation.view.options
        reason = observation.verdict.reason.text
        if observation.verdict.missing or not self.refreshes_by_itself(view):
            if options.when_stale == FAIL:
                raise _stale_read(observation)
            self._warn_stored(observation)
            return Serving.STORED
        if self._is_young_enough(observation):
            return Serving.STORED
        if options.when_stale == FAIL:
            raise _stale_read(observation)
        if options.when_stale == SERVE:
            self._services.warn(f"{view.name} is served stale: {reason}.")
            return Serving.STORED
        if options.when_stale in (INLINE, LIVE) and may_inline(observation, session):
            return Serving.INLINE
        return partial(self._refresh, observation, pinned, trigger)

    def _refresh(self, observation: Observation, pinned: PinnedVersions, trigger: str) -> Serving:
        name = observation.view.name
        pinned.forget([observation.view.storage])
        try:
            outcome = self._refresher.refresh(name, Request(trigger), pinned)
        except RefreshFailed as error:
            if observation.view.options.on_refresh_error != SERVE:
                raise
            self._services.warn(f"{error.problem} Its old rows are served.")
            return Serving.STORED
        self._services.info(str(outcome))
        return Serving.STORED

    def _warn_stored(self, observation: Observation) -> None:
        reason = f"{observation.verdict.reason.text}{self._note(observation)}"
        self._services.warn(f"{observation.view.name} is served as stored: {reason}.")

    def _note(self, observation: Observation) -> str:
        if is_suspended(observation.view.name, self._services.log):
            return " (it is SUSPENDED, see `dbt run-operation status` and `resume`)"
        return "" if observation.view.options.enable_refresh else " (enable_refresh is false)"

    def _is_young_enough(self, observation: Observation) -> bool:
        limit = observation.view.options.max_staleness_seconds
        if limit is None or observation.label is None or observation.label.reduced:
            return False
        if observation.label.definition_hash != observation.current.hash:
            return False
        return clock.now() - observation.label.evaluated_at <= limit


def _stale_read(observation: Observation) -> MaterializedViewError:
    verdict = observation.verdict
    return StaleRead(
        f"{observation.view.name} is {verdict.freshness.value}: {verdict.reason.text}.",
        "Refresh it (`dbt run-operation refresh`), or set when_stale to another value than 'fail'.",
    )
