"""The views that may answer a block, and what became of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.metadata.projection import State
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.rewrite.block import Block, Derived, base_tables
from dbt.adapters.spark_mv.rewrite.match import Known, match
from dbt.adapters.spark_mv.rewrite.stored import StoredView
from dbt.adapters.spark_mv.rewrite.text import Answer
from dbt.adapters.spark_mv.rewrite.united import can_be_united
from dbt.adapters.spark_mv.rewrite.unmatched import (
    NO_COLUMN,
    NOT_COVERED,
    NOT_DERIVABLE,
    Unmatched,
)
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, TableName
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.statements.rewriting.merged import merged_rows
from dbt.adapters.spark_mv.statements.rewriting.stored_views import StoredViews
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import find_view

_MOST_VIEWS = 64
_ANSI = "spark.sql.ansi.enabled"
# Settings with which Spark reads a text in another way than it is read here.
_MISREAD = {
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.ansi.relationPrecedence": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "true",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "true",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.groupByAliases": "false",
    "spark.sql.orderByOrdinal": "false",
}
_WORD = re.compile(r"\w+")
# Why a view does not answer that may have what it takes in columns that it does not show, or in
# groups that it hides.
_OF_COLUMNS = (NO_COLUMN, NOT_DERIVABLE, NOT_COVERED)
DISABLED = Reason("REWRITE_DISABLED", "its option use_in_query_rewrite is false")
WRITTEN = Reason("WRITES_BASE_TABLE", "the statement writes to what it reads")
NAMED = Reason("NAMED_IN_STATEMENT", "the statement reads it by its name, and may compare the two")
NOT_TRIED = Reason("NOT_TRIED", f"more than {_MOST_VIEWS} views read these tables")


@dataclass(frozen=True)
class Matched:
    """A view that answers a block, if its rows are those of its query now; why it does not without
    rows of base tables, if it is united with some."""

    view: MaterializedView
    answer: Answer
    otherwise: Reason | None = None


@dataclass(frozen=True)
class Candidate:
    """A view that answers a block, and how it was found to be: fresh. It may be united with rows of
    base tables, for which `rest_rows` are read; or stale, with `merged` as the query of its rows
    and of what has changed since, for which they are."""

    view: MaterializedView
    answer: Answer
    observation: Observation
    rest_rows: int = 0
    merged: str = ""

    @property
    def rows(self) -> int:
        """How many rows are read."""
        head = self.observation.head
        stored = (head and iceberg.live_rows(head.summary)) or 0
        return self.rest_rows + (0 if self.merged else stored)


class ViewIndex:
    """The registered views by what they read."""

    def __init__(self, state: State) -> None:
        self._state, self._registrations = state, state.registrations
        self._views = state.views
        self._by_source: dict[TableName, list[TableName]] = {}
        self._words: dict[TableName, frozenset[str]] = {}
        for view in list(state.views.values()):
            for source in view.sources:
                self._by_source.setdefault(source, []).append(view.name)
        # The names of all that views read, without their schemas, in lower case.
        self.names = {source.name.lower() for source in self._by_source}

    def is_of(self, state: State) -> bool:
        """Whether it has the views that are registered now."""
        return self._state is state and self._registrations == state.registrations

    def of(self, tables: Collection[TableName], columns: Collection[str]) -> list[TableName]:
        """The views that read one of these tables, a storage table counting as its view; those
        first in whose texts all of these columns stand, and that have few rows."""
        found: dict[TableName, None] = {}
        for table in tables:
            stored = STORAGE_NAME.match(table.name)
            names = [table, table.sibling(stored["view"])] if stored else [table]
            for name in names:
                found.update(dict.fromkeys(self._by_source.get(name, ())))
        if len(found) <= _MOST_VIEWS:
            return list(found)
        wanted = {column.lower() for column in columns}
        return sorted(found, key=lambda name: (*self._promise(name, wanted), name))

    def _promise(self, name: TableName, columns: set[str]) -> tuple[int, int]:
        """How little a view promises: the columns that its text lacks, and its rows."""
        view = self._views[name]
        words = self._words.get(name)
        if words is None:
            text = str(view.payload.get("definition", ""))
            words = self._words[name] = frozenset(_WORD.findall(text.lower()))
        build = view.last_build.payload if view.last_build is not None else {}
        rows = build.get("rows")
        return len(columns - words), rows if isinstance(rows, int) else 0


@dataclass(frozen=True)
class Barred:
    """Views that a statement must not be answered by: those that read what it writes, and those
    that it names."""

    written: frozenset[TableName]
    named: frozenset[TableName]

    def why(self, view: MaterializedView, sources: Collection[TableName]) -> Reason | None:
        """Why a view is barred."""
        if view.options.use_in_query_rewrite is False:
            return DISABLED
        if view.name in self.named:
            return NAMED
        if not self.written.isdisjoint([*sources, view.name, view.storage]):
            return WRITTEN
        return None


class Candidates:
    """Finds the views that answer blocks."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._stored = StoredViews(services)

    def of(
        self, forms: Sequence[Block], index: ViewIndex, barred: Barred
    ) -> Iterator[tuple[TableName, Matched | Reason]]:
        """Each view that reads a table of the block, and how it answers one of its forms or why
        not."""
        block = forms[-1]
        held = self._services.log.state().held
        facts = Known(self._most_rows(block), held)
        columns = {column.name for term in block.terms() for column in term.columns}
        for number, name in enumerate(index.of(base_tables(block.tables), columns)):
            if number >= _MOST_VIEWS:
                yield name, NOT_TRIED
                continue
            found = self._matched(name, forms, barred, facts)
            if found is not None:
                yield name, found

    def _matched(
        self, name: TableName, forms: Sequence[Block], barred: Barred, facts: Known
    ) -> Matched | Reason | None:
        view = find_view(self._services.resolver, name)
        if view is None:
            return None
        known = self._services.log.state().views.get(name)
        why = barred.why(view, known.sources if known is not None else ())
        if why is not None:
            return why
        resolver = self._services.resolver
        if not self._stored.knows(view) and resolver.lookup(view.storage) is None:
            return reasons.NEVER_BUILT
        stored = self._stored.shown(view)
        if isinstance(stored, Reason):
            return stored
        found = _match(view, forms, stored, facts)
        if not isinstance(found, Reason):
            return found
        if view.hidden and (stored.has_sets or found.code in _OF_COLUMNS):
            stored = self._stored.whole(view, stored)
            found = _match(view, forms, stored, facts)
        is_part = isinstance(found, Reason) and found.code == NOT_COVERED
        if isinstance(found, Reason) and is_part and can_be_united(stored, _may_fail(view)):
            made = _match(view, forms, stored, replace(facts, unites=True))
            return found if isinstance(made, Reason) else replace(made, otherwise=found)
        return found

    def _most_rows(self, block: Block) -> int | None:
        """How many rows the one table of a block has, if that matters."""
        averages = any(found.call == "AVG" for term in block.terms() for found in term.walk())
        table = block.tables[0]
        if len(block.tables) != 1 or not averages or isinstance(table, Derived):
            return None
        chain = iceberg.main_chain(self._services.executor, table, 1)
        return iceberg.live_rows(chain[0].summary) if chain else None

    def observed(self, matched: Matched, settings: Mapping[str, str]) -> Candidate | Reason:
        """A view that answers a block as it is now; why its rows may not be read."""
        why = _other_reading(matched.view, settings)
        if why is not None:
            return why
        observation = self._services.observer.observe_with_upstream(matched.view)
        if not observation.verdict.is_fresh or observation.head is None:
            return Reason("VIEW_NOT_FRESH", observation.verdict.reason.text)
        other = self._not_held(matched.answer, observation)
        if other is not None:
            return Reason(NOT_COVERED, f"that {other} was tested at other versions of the tables")
        return Candidate(matched.view, matched.answer, observation)

    def merged(self, matched: Matched, settings: Mapping[str, str]) -> Candidate | None:
        """A stale view that answers a block together with what has changed since."""
        if _other_reading(matched.view, settings) is not None or _may_fail(matched.view):
            return None
        observation = self._services.observer.observe_with_upstream(matched.view)
        if observation.verdict.is_fresh or self._not_held(matched.answer, observation):
            return None
        text = merged_rows(self._services, observation)
        return Candidate(matched.view, matched.answer, observation, merged=text) if text else None

    def _not_held(self, answer: Answer, observation: Observation) -> Constraint | None:
        """What an answer assumes and is not known to hold for the tables of the stored rows."""
        held = self._services.log.state().held
        for constraint in sorted(answer.assumed, key=str):
            now = [observation.versions.get(table) for table in constraint.tables]
            if held.get(constraint) != [one.to_json() for one in now if one is not None]:
                return constraint
        return None


def _match(
    view: MaterializedView, forms: Sequence[Block], stored: StoredView, facts: Known
) -> Matched | Reason:
    try:
        return Matched(view, match(forms, stored, facts))
    except Unmatched as error:
        return error.reason


def _may_fail(view: MaterializedView) -> bool:
    """Whether its query may fail for rows that a statement does not ask for."""
    return view.definition.settings.get(_ANSI) == "true"


def _other_reading(view: MaterializedView, settings: Mapping[str, str]) -> Reason | None:
    """Why a text of a session with these settings may mean something else than in a view."""
    mine = view.definition.settings
    if dict(mine) == dict(settings):
        misread = sorted(key for key, value in _MISREAD.items() if settings.get(key, "") == value)
        said = f"texts are read in another way by {misread[0]}" if misread else ""
        return Reason("SETTINGS_DIFFER", said) if said else None
    keys = sorted(key for key in {*mine, *settings} if mine.get(key) != settings.get(key))
    text = ", ".join(f"{key} is {settings.get(key, 'not set')}" for key in keys)
    return Reason("SETTINGS_DIFFER", f"the session has other settings: {text}")
