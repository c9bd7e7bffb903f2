"""Statements that run the query of a stale view in place of reading its rows, or read the rows of
one snapshot."""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.spark_mv.config.option_types import LIVE
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.planning.pinning import evaluated
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.sql.reads import Reference, references_of
from dbt.adapters.spark_mv.sql.splice import edited, edits_of, subquery
from dbt.adapters.spark_mv.sql.words import Word, depths, words_of
from dbt.adapters.spark_mv.statements.serving import Readable
from dbt.adapters.spark_mv.statements.statement_reads import StatementViews
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.live_sql import live_name
from dbt.adapters.spark_mv.views.recognition import storage_of
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.storage_sql import stored_rows


def inlined(
    services: Services, sql: str, found: StatementViews, home: Namespace, read: Readable
) -> str:
    """The statement with queries in place of the names of views: their own, or of the rows of one
    snapshot."""
    replaced = {*read.inline, *read.snapshots}
    places = [place for place, behind in found.places if not replaced.isdisjoint(behind)]
    words, ends = words_of(sql), dict[int, int]()
    texts: dict[Reference, str] = {}
    for place in places:
        ends[place.end] = end = _end_of_sample(words, place.end)
        query = _query(services, place, home, read)
        texts[place] = subquery(query, place, sql[place.end : end])
    reads = references_of(sql)
    named = reads.references if reads is not None else places
    edits = edits_of(sql, named, texts)
    return edited(sql, [replace(edit, end=ends.get(edit.end, edit.end)) for edit in edits])


def _end_of_sample(words: tuple[Word, ...], start: int) -> int:
    """Where TABLESAMPLE (..) [REPEATABLE (..)] ends that follows a relation, which in a query that
    has a name comes before that; `start` if there is none."""
    ahead = [word for word in words if word.start >= start]
    if not ahead or ahead[0].upper != "TABLESAMPLE":
        return start
    end = start
    for index, (word, depth) in enumerate(zip(ahead, depths(ahead), strict=True)):
        if depth == 0 and word.upper == ")":
            end = word.end
            following = ahead[index + 1].upper if index + 1 < len(ahead) else ""
            if following != "REPEATABLE":
                return end
    return end


def _query(services: Services, place: Reference, home: Namespace, read: Readable) -> str:
    """The query for which the relation in this place stands."""
    resolver, expiries = services.resolver, services.expiries
    name = resolver.resolve(place.parts, home)
    expander = Expander(resolver, str(name), tolerate_missing=True)

    def of_view(view_name: TableName) -> str:
        view = load_view(resolver, view_name)
        if view_name in read.snapshots:
            return stored_rows(view, snapshot=read.snapshots[view_name])
        if view.options.when_stale == LIVE:
            live = resolver.lookup(live_name(view_name))
            if isinstance(live, ViewFacts):
                return now(live.text, view)
        query = expander.inline(view.definition.query, view.definition.home, replacement)
        return now(query, view)

    def now(query: str, view: MaterializedView) -> str:
        # Spark's own clock cannot be shifted.
        moment = expiries.moment(view.definition, clock.now_us()) if clock.offset() else None
        return query if moment is None else evaluated(query, moment, view.definition)

    def replacement(inner: TableName, facts: object, found: Reference) -> str | None:
        is_replaced = inner in read.inline or inner in read.snapshots
        return subquery(of_view(inner), found) if is_replaced else None

    facts = resolver.lookup(name)
    if facts is not None and storage_of(name, facts) is not None:
        return of_view(name)
    assert isinstance(facts, ViewFacts)
    return expander.inlined_view(name, facts, replacement)
