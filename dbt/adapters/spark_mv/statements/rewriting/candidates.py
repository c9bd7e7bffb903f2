"""The views that may answer a block, and what became of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import UnknownCatalog
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.rewrite.block import Block, Derived, base_tables
from dbt.adapters.spark_mv.rewrite.match import Known, match
from dbt.adapters.spark_mv.rewrite.reading.settings import misread, of_meaning
from dbt.adapters.spark_mv.rewrite.stored import StoredView
from dbt.adapters.spark_mv.rewrite.text import Answer
from dbt.adapters.spark_mv.rewrite.united import can_be_united
from dbt.adapters.spark_mv.rewrite.unmatched import (
    NO_COLUMN,
    NOT_COVERED,
    NOT_DERIVABLE,
    VIEW,
    Unmatched,
)
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.statements.rewriting.merged import merged_rows, not_merged
from dbt.adapters.spark_mv.statements.rewriting.stored_views import StoredViews
from dbt.adapters.spark_mv.statements.rewriting.view_index import (
    MOST_VIEWS,
    ListedView,
    ViewIndex,
)
from dbt.adapters.spark_mv.views import expansion
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.registry import find_view

_ANSI = "spark.sql.ansi.enabled"
# Why a view does not answer that may have what it takes in columns that it does not show, or in
# groups that it hides.
_OF_COLUMNS = (NO_COLUMN, NOT_DERIVABLE, NOT_COVERED)
DISABLED = Reason("REWRITE_DISABLED", "its option use_in_query_rewrite is false")
WRITTEN = Reason("WRITES_BASE_TABLE", "the statement writes to what it reads")
NAMED = Reason("NAMED_IN_STATEMENT", "the statement reads it by its name, and may compare the two")
_CONVERTS = Reason(VIEW, "a view that it reads converts values of a table to other types")
NOT_TRIED = Reason("NOT_TRIED", f"more than {MOST_VIEWS} views read these tables")


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
        self, forms: Sequence[Block], index: ViewIndex, barred: Barred, thorough: bool
    ) -> Iterator[tuple[TableName, Matched | Reason]]:
        """Each view that reads a table of the block, and how it answers one of its forms or why
        not; also those that are not tried, if it has to be `thorough`."""
        block = forms[-1]
        held = self._services.log.state().held
        facts = Known(self._most_rows(block), held)
        columns = {column.name for term in block.terms() for column in term.columns}
        tried, others = index.of(base_tables(block.tables), columns)
        for listed in tried:
            found = self._found(listed, forms, barred, facts)
            if found is not None:
                yield listed.name, found
        if thorough:
            yield from ((listed.name, NOT_TRIED) for listed in others)

    def _found(
        self, listed: ListedView, forms: Sequence[Block], barred: Barred, facts: Known
    ) -> Matched | Reason | None:
        """How a view answers, None if it is gone. One that does not answer is not looked up."""
        last = listed.last_found
        found = self._matched(last, forms, barred, facts) if last is not None else None
        if isinstance(found, Reason):
            return found
        try:
            view = find_view(self._services.resolver, listed.name)
        except UnknownCatalog:  # only other programs can read it
            view = None
        if view is None:
            return None
        listed.last_found = view
        same = found if view == last else None
        return same or self._matched(view, forms, barred, facts)

    def _matched(
        self, view: MaterializedView, forms: Sequence[Block], barred: Barred, facts: Known
    ) -> Matched | Reason:
        known = self._services.log.state().views.get(view.name)
        why = barred.why(view, known.sources if known is not None else ())
        if why is not None:
            return why
        resolver = self._services.resolver
        if not self._stored.knows(view) and resolver.lookup(view.storage) is None:
            return reasons.NEVER_BUILT
        stored = self._stored.shown(view)
        if isinstance(stored, Reason):
            return stored
        stored, found = self._best_match(view, forms, stored, facts)
        is_part = isinstance(found, Reason) and found.code == NOT_COVERED
        if isinstance(found, Reason) and is_part and can_be_united(stored, _may_fail(view)):
            made = _match(view, forms, stored, replace(facts, unites=True))
            return found if isinstance(made, Reason) else replace(made, otherwise=found)
        return found

    def _best_match(
        self, view: MaterializedView, forms: Sequence[Block], shown: StoredView, facts: Known
    ) -> tuple[StoredView, Matched | Reason]:
        """How a view answers by the columns that it shows, or else by all that it stores; and by
        which of both."""
        by_all: Matched | Reason | None = None
        if self._stored.knows_whole(view) and not shown.block.having:
            by_all = _match(view, forms, self._stored.whole(view, shown), facts)
        if isinstance(by_all, Reason):
            # What all of it cannot answer, a part of it cannot either.
            return self._stored.whole(view, shown), by_all
        found = _match(view, forms, shown, facts)
        if not isinstance(found, Reason) or not view.hidden:
            return shown, found
        if not shown.has_sets and found.code not in _OF_COLUMNS:
            return shown, found
        whole = self._stored.whole(view, shown)
        return whole, by_all or _match(view, forms, whole, facts)

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
        if self._converts(observation):
            return _CONVERTS
        return Candidate(matched.view, matched.answer, observation)

    def merged(self, matched: Matched, settings: Mapping[str, str]) -> Candidate | Reason | None:
        """A stale view that answers a block together with what has changed since; why it does not,
        None if it is not stale, or something else has been said of it."""
        if _other_reading(matched.view, settings) is not None:
            return None
        observation = self._services.observer.observe_with_upstream(matched.view)
        if observation.verdict.is_fresh or self._not_held(matched.answer, observation):
            return None
        if _may_fail(matched.view):
            return not_merged(f"with {_ANSI} its query may fail for rows that nobody asks for")
        if self._converts(observation):
            return _CONVERTS
        text = merged_rows(self._services, observation)
        if isinstance(text, Reason):
            return text
        return Candidate(matched.view, matched.answer, observation, merged=text)

    def _converts(self, observation: Observation) -> bool:
        """Whether a view has come to read other values than its query says, through a logical view
        whose tables have other types now."""
        resolver = self._services.resolver
        expander = Expander(resolver, str(observation.view.name))
        for source in observation.expansion.sources:
            facts = resolver.lookup(source.name) if source.kind == expansion.VIEW else None
            if isinstance(facts, ViewFacts) and not expander.is_as_its_text(source.name, facts):
                return True
        return False

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
    mine, settings = of_meaning(view.definition.settings), of_meaning(settings)
    if mine == settings:
        key = misread(settings)
        if key is None:
            return None
        text = f"it is not known how {key} = {settings[key]} changes what texts mean"
        return Reason("SETTINGS_DIFFER", text)
    keys = sorted(key for key in {*mine, *settings} if mine.get(key) != settings.get(key))
    text = ", ".join(f"{key} is {settings.get(key, 'not set')}" for key in keys)
    return Reason("SETTINGS_DIFFER", f"the session has other settings: {text}")
