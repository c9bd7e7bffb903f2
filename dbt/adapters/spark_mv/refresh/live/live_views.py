"""Makes and renews live views; says which views cannot have one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.catalog.versions import Versions
from dbt.adapters.spark_mv.config.option_types import NEVER
from dbt.adapters.spark_mv.core.errors import (
    InvalidOption,
    MaterializedViewError,
    RelationExists,
)
from dbt.adapters.spark_mv.core.executor import Executor, ViewFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.expiry.next_change import reads_clock, shows_instant
from dbt.adapters.spark_mv.metadata.log import PATIENCE, MetadataLog
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.planning.pinning import is_readable
from dbt.adapters.spark_mv.refresh.live.aligned import alignment_of
from dbt.adapters.spark_mv.refresh.live.aligned_text import aligned_text
from dbt.adapters.spark_mv.refresh.live.logs import read_logs
from dbt.adapters.spark_mv.refresh.live.sessions import guard, in_ansi_mode, other_settings
from dbt.adapters.spark_mv.refresh.live.text import (
    Condition,
    live_query,
    live_text,
)
from dbt.adapters.spark_mv.sql.literals import VARIABLE
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.sql.plans import comparable_plan
from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.state.observation import Observation, Observer
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import MaterializedView, decode
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.live_sql import (
    LIVE_OF,
    LIVE_SESSIONS,
    LIVE_STATE,
    create_live_view,
    is_live_view,
    live_name,
)
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.volatile import storage_columns, volatile_functions

_MOST_TABLES = 8


@dataclass(frozen=True)
class _Sources:
    """Everything behind a view: the views whose queries it stands for, itself first, and the base
    tables below all of them."""

    views: tuple[MaterializedView, ...]
    tables: tuple[TableName, ...]


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
        why = self._why_not(view)
        if why is not None:
            raise InvalidOption(f"{view.name} cannot have a live view: {why[0]}.", why[1])

    def _why_not(self, view: MaterializedView) -> tuple[str, str] | None:
        """What stands against a live view, and the way out."""
        without = "Leave out `live`; reads through dbt are right without it."
        sources = self._sources(view)
        if not all(is_readable(found.definition) for found in sources.views):
            return "only Spark can read its query", without
        texts = [text for found in sources.views for text in found.definition.texts]
        volatile = [call for text in texts for call in volatile_functions(text)]
        if volatile:
            return f"its query calls {volatile[0]}, which has another value at each read", without
        if any(word.upper == "TABLESAMPLE" for text in texts for word in words_of(text)):
            return "it reads a sample", without
        if any(VARIABLE in text for text in texts):
            return "its query has '${', in whose place Spark would put the value of a variable", (
                without
            )
        if any("collate" in column.type.lower() for column in view.definition.columns):
            return "its query returns texts with a collation, which stored ones lack", without
        if any(storage_columns(text) for text in texts):
            return "its query asks where rows are stored", without
        if any(v.options.expiry == NEVER and reads_clock(v.definition) for v in sources.views):
            return "expiry 'never' says that its rows do not follow the clock", without
        if shows_instant(live_query(self._resolver, view, "")):
            return "its query shows when its rows were computed", without
        if settings := other_settings(sources.views):
            return f"its rows depend on the setting {settings[0]} of a session", without
        if len(sources.tables) > _MOST_TABLES:
            return f"it reads {len(sources.tables)} tables, and each read would ask each of them", (
                f"Read at most {_MOST_TABLES}, or leave out `live`."
            )
        return self._without_log(sources, without)

    def _without_log(self, sources: _Sources, without: str) -> tuple[str, str] | None:
        for table in sources.tables:
            facts = self._resolver.lookup(table)
            if getattr(facts, "provider", "") != iceberg.FORMAT:
                return f"the base table {table} has no versions that a view could ask for", without
        return None

    def _sources(self, view: MaterializedView) -> _Sources:
        views, tables = [view], dict[TableName, None]()
        for found in views:
            owner, definition = str(found.name), found.definition
            expander = Expander(
                self._resolver, owner, tolerate_missing=True, settings=definition.settings
            )
            expansion = expander.expand(definition.query, definition.home)
            storages = set(expansion.storages.values())
            tables.update(dict.fromkeys(t for t in expansion.tables if t not in storages))
            known = {each.name for each in views}
            views += [load_view(self._resolver, n) for n in expansion.storages if n not in known]
        return _Sources(tuple(views), tuple(tables))

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

    def run_query(self, view: MaterializedView) -> None:
        """Have the live view run the query of a view, whatever is stored."""
        sources = self._sources(view)
        sessions = self._sessions(view, sources)
        self._replace(view, live_text(self._resolver, view, None, sessions["guard"]), "", sessions)

    def drop(self, view: MaterializedView) -> None:
        """Drop the live view of a view, if there is one."""
        drop_live_view(self._executor, self._resolver, view.name, view.id)

    def _create(self, view: MaterializedView) -> None:
        """Make the text, and again if rows behind it were invalidated meanwhile: of two processes
        the one that makes it last knows."""
        sources, seen = self._sources(view), None
        while (found := self._invalidations(sources)) != seen:
            seen = found
            reached("live.before")
            self._create_once(view, sources)

    def _invalidations(self, sources: _Sources) -> frozenset[str]:
        """Those that no refresh has answered, of the views behind a view, as all processes know."""
        self._log.flush_unless_routine()
        self._log.reload_if_moved(PATIENCE)
        known = (self._log.state().views.get(view.name) for view in sources.views)
        return frozenset(one for state in known if state is not None for one in state.invalidations)

    def _create_once(self, view: MaterializedView, sources: _Sources) -> None:
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

    def _sessions(self, view: MaterializedView, sources: _Sources) -> dict[str, str]:
        """The guard of a view in the sessions of others, and what it was found out for."""
        versions = self._versions.read(sources.tables)
        schemas = [f"{one.schema_id} {one.digest}" for one in versions.values()]
        of = _digest([*(found.definition.hash for found in sources.views), *schemas])
        facts = self._resolver.lookup(live_name(view.name))
        kept = facts.properties.get(LIVE_SESSIONS) if isinstance(facts, ViewFacts) else None
        if kept is not None and (known := json.loads(decode(kept)))["of"] == of:
            return {"of": of, "guard": known["guard"]}
        settings = view.definition.settings
        plan, ansi_plan = (self._plan(view, s) for s in (settings, in_ansi_mode(settings)))
        columns = [c for table in sources.tables for c in self._resolver.columns(table)]
        return {"of": of, "guard": guard(view, plan, ansi_plan, columns)}

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
        f"{live_name(view)} could not be renewed: {error.problem} A text that is behind is "
        "right, and runs the query; the next read or refresh through dbt renews it."
    )
