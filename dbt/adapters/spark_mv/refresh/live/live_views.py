"""Makes and renews live views."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.catalog.versions import Versions
from dbt.adapters.spark_mv.core.creation import replacing_beside_others
from dbt.adapters.spark_mv.core.errors import (
    InvalidOption,
    MaterializedViewError,
    RelationExists,
)
from dbt.adapters.spark_mv.core.executor import Executor, ViewFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.metadata.log import PATIENCE, MetadataLog
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.refresh.live.aligned import alignment_of
from dbt.adapters.spark_mv.refresh.live.aligned_text import aligned_text
from dbt.adapters.spark_mv.refresh.live.logs import read_logs
from dbt.adapters.spark_mv.refresh.live.requirements import why_not
from dbt.adapters.spark_mv.refresh.live.sessions import guard, in_ansi_mode
from dbt.adapters.spark_mv.refresh.live.sources import Sources, sources_of
from dbt.adapters.spark_mv.refresh.live.text import (
    Condition,
    live_query,
    live_text,
)
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.sql.plans import comparable_plan
from dbt.adapters.spark_mv.state.observation import Observation, Observer
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import MaterializedView, decode
from dbt.adapters.spark_mv.views.live_sql import (
    LIVE_OF,
    LIVE_SESSIONS,
    LIVE_STATE,
    create_live_view,
    is_live_view,
    live_name,
)
from dbt.adapters.spark_mv.views.registry import find_view, load_view


class LiveViews:
    """The live views of one command."""

    def __init__(
        self,
        executor: Executor,
        resolver: Resolver,
        versions: Versions,
        observer: Observer,
        analyzer: Analyzer,
        log: MetadataLog,
    ) -> None:
        self._executor, self._resolver, self._analyzer = executor, resolver, analyzer
        self._log = log
        self._versions, self._observer = versions, observer

    def check(self, view: MaterializedView) -> None:
        """Raise `InvalidOption` if the view is to have a live view and cannot have a right one,
        `RelationExists` if something else has its name."""
        if not view.options.live:
            return
        facts = self._resolver.lookup(live_name(view.name))
        if facts is not None and not (
            isinstance(facts, ViewFacts) and is_live_view(facts.properties)
        ):
            raise RelationExists(
                f"{live_name(view.name)} exists, and is no live view.",
                "Drop it first, or leave out `live`.",
            )
        why = why_not(self._resolver, view)
        if why is not None:
            raise InvalidOption(f"{view.name} cannot have a live view: {why[0]}.", why[1])

    def renew(self, view: MaterializedView) -> None:
        """Give the view's live view the text that serves what is stored now, or drop it if the view
        is to have none."""
        self._resolver.forget()
        if view.options.live:
            self._create(view)
        else:
            self.drop(view)

    def renew_if_behind(self, observation: Observation) -> None:
        """As `renew`, if what is stored and fresh is not what the live view was made for."""
        if not observation.view.options.live:
            return
        facts = self._resolver.lookup(live_name(observation.view.name))
        properties = facts.properties if isinstance(facts, ViewFacts) else {}
        if properties.get(LIVE_STATE) != _state(observation):
            self.renew(observation.view)

    def renew_if_redefined(self, view: MaterializedView) -> None:
        """As `renew`, if the live view stands for other definitions than there are."""
        facts = self._resolver.lookup(live_name(view.name))
        is_there = isinstance(facts, ViewFacts) and view.options.live
        if not is_there or self._kept(view).get("of") != self._made_of(
            sources_of(self._resolver, view)
        ):
            self.renew(view)

    def run_query(self, view: MaterializedView) -> None:
        """Have the live view run the query of a view, whatever is stored."""
        sources = sources_of(self._resolver, view)
        sessions = self._sessions(view, sources)
        self._replace(view, live_text(self._resolver, view, None, sessions["guard"]), "", sessions)

    def drop(self, view: MaterializedView) -> None:
        """Drop the live view of a view, if there is one."""
        drop_live_view(self._executor, self._resolver, view.name, view.id)

    def _create(self, view: MaterializedView) -> None:
        """Make the text, and again if something behind it has another definition since, or its rows
        were invalidated: of two processes the one that makes it last knows."""
        seen, made = None, view
        while (now := find_view(self._resolver, view.name)) is not None and now.options.live:
            sources = sources_of(self._resolver, now)
            found = (sources.definitions, self._invalidations(sources))
            if found == seen:
                return
            seen, made = found, now
            reached("live.before")
            self._create_once(now, sources)
            self._resolver.forget()
        self.drop(made)

    def _invalidations(self, sources: Sources) -> frozenset[str]:
        """Those that no refresh has answered, of the views behind a view, as all processes know."""
        self._log.flush_unless_routine()
        self._log.reload_if_moved(PATIENCE)
        known = (self._log.state().views.get(view.name) for view in sources.views)
        return frozenset(one for state in known if state is not None for one in state.invalidations)

    def _create_once(self, view: MaterializedView, sources: Sources) -> None:
        # Logs first: if they are the same later, what was found out in between is true of them.
        logs = read_logs(self._executor, [view.storage, *sources.tables])
        observation = self._observer.observe(view)
        until = list(self._ends(observation))
        condition = None
        if None not in until:
            condition = Condition(logs, min((at for at in until if at), default=None))
        sessions = self._sessions(view, sources)
        text = self._text(observation, condition, sessions["guard"], len(sources.views) == 1)
        self._replace(view, text, _state(observation), sessions)

    @replacing_beside_others
    def _replace(
        self, view: MaterializedView, text: str, state: str, sessions: Mapping[str, str]
    ) -> None:
        create = create_live_view(view, text, state, json.dumps(sessions))
        with self._executor.isolated({}) as session:
            session.query(create)

    def _text(
        self, observation: Observation, condition: Condition | None, guard: str, is_alone: bool
    ) -> str:
        view = observation.view
        found = None
        if condition is not None and is_alone:
            found = alignment_of(self._executor, self._analyzer, view, observation.versions)
        if condition is None or found is None:
            return live_text(self._resolver, view, condition, guard)
        # Digests of files are those of the logs only if nothing was committed in between.
        if read_logs(self._executor, [log.table for log in condition.logs]) != condition.logs:
            return live_text(self._resolver, view, None, guard)
        return aligned_text(self._resolver, view, condition, found, guard)

    def _ends(self, observation: Observation) -> Iterator[int | None]:
        """Until when the rows of a view, and of those that it reads, are right: in microseconds,
        0 for ever; None if they are not right now."""
        label, options = observation.label, observation.view.options
        if not observation.verdict.is_fresh or label is None:
            yield None
            return
        if label.expiry is not None:
            yield label.expiry.at or 0
        if options.max_age_seconds is not None:
            yield label.evaluated_us + int(options.max_age_seconds * 1e6)
        for name in observation.expansion.storages:
            yield from self._ends(self._observer.observe(load_view(self._resolver, name)))

    def _sessions(self, view: MaterializedView, sources: Sources) -> dict[str, str]:
        """The guard of a view in the sessions of others, and what it was found out for."""
        of, known = self._made_of(sources), self._kept(view)
        if known.get("of") == of:
            return {"of": of, "guard": known["guard"]}
        settings = view.definition.settings
        plan, ansi_plan = (self._plan(view, s) for s in (settings, in_ansi_mode(settings)))
        columns = [c for table in sources.tables for c in self._resolver.columns(table)]
        return {"of": of, "guard": guard(view, plan, ansi_plan, columns)}

    def _made_of(self, sources: Sources) -> str:
        """A digest of the definitions behind a view, and of the columns of the base tables."""
        versions = self._versions.read(sources.tables)
        schemas = [f"{one.schema_id} {one.digest}" for one in versions.values()]
        return _digest([*sources.definitions, *schemas])

    def _kept(self, view: MaterializedView) -> dict[str, str]:
        """What the live view of a view says of its sessions."""
        facts = self._resolver.lookup(live_name(view.name))
        kept = facts.properties.get(LIVE_SESSIONS) if isinstance(facts, ViewFacts) else None
        return {} if kept is None else dict(json.loads(decode(kept)))

    def _plan(self, view: MaterializedView, settings: Mapping[str, str]) -> str:
        query = live_query(self._resolver, view, "")
        return comparable_plan(self._resolver.explained(query, view.definition.home, settings))


def _state(observation: Observation) -> str:
    """What a text is made for: the snapshot that is stored, and versions with the same rows."""
    head = observation.head.snapshot_id if observation.head is not None else ""
    versions = [f"{name.full}={version}" for name, version in sorted(observation.versions.items())]
    return _digest([head, observation.verdict.freshness.value, *versions])


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]


def drop_live_view(executor: Executor, resolver: Resolver, name: TableName, view_id: str) -> None:
    """Drop the live view of the materialized view that has, or had, a name, if there is one."""
    facts = resolver.lookup(live_name(name))
    if isinstance(facts, ViewFacts) and facts.properties.get(LIVE_OF) == view_id:
        executor.query(storage_sql.drop_view(live_name(name)))


def not_renewed(view: TableName, error: MaterializedViewError) -> str:
    """What is said of a live view that could not be renewed."""
    return (
        f"{live_name(view)} could not be renewed: {error.problem.rstrip('.')}. A text that is "
        "behind is right, and runs the query; the next read or refresh through dbt renews it."
    )
