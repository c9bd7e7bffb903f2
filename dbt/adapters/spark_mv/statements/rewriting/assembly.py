"""Puts a rewritten statement together: the answered blocks, and every other read of their base
tables at the same versions; then has Spark confirm names, types and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbt.adapters.spark_mv.catalog.resolver import Facts
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.core.executor import ColumnType, ViewFacts
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.planning.pinning import unpinned_tables
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.rewrite.block import are_in_another_order
from dbt.adapters.spark_mv.rewrite.text import Answer, Column, block_text
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.sql.reads import Reference
from dbt.adapters.spark_mv.sql.splice import Edit, edited, edits_of, subquery
from dbt.adapters.spark_mv.statements.rewriting.candidates import Candidate
from dbt.adapters.spark_mv.statements.rewriting.plans import CLEARLY_LESS
from dbt.adapters.spark_mv.statements.rewriting.tables_behind import TablesBehind
from dbt.adapters.spark_mv.statements.rewriting.values import Attempt, Found, Rewriting, Target
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.expansion import views_of_spark
from dbt.adapters.spark_mv.views.recognition import storage_of

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
USED = Reason("USED", "it is read in place of base tables")
_USED_WITH_REST = Reason("USED", "it is read with those rows of base tables that it leaves out")
_USED_MERGED = Reason("USED", "it is read with what has changed since it was refreshed")
Columns = tuple[ColumnType, ...]


class Assembly:
    """Assembles the statements of one command."""

    def __init__(self, services: Services, tables: TablesBehind) -> None:
        self._services = services
        self._tables = tables

    def assemble(self, made: Rewriting, target: Target, found: Sequence[Found]) -> None:
        """Set the text of `made`; raises `Unmatched` if it has to stay as it is."""
        versions = _versions(found)
        pinned = self._pinnable(versions)
        found = [_with_inner(one, pinned) for one in found]
        others = self._others(target, found, frozenset(versions), pinned)
        wanted = target.plans.columns(made.original[target.start :])
        named = [Column(name, "") for name, _ in wanted]
        for one in (one for one in found if one.names_columns):
            _refuse_other_columns(one, [name for name, _ in wanted])
        text = _text(made.original, found, others, pinned, named)
        columns = target.plans.columns(text[target.start :])
        if columns != wanted and len(columns) == len(wanted):
            cast = [
                Column(name, kind if _is_convertible(kind, other) else "")
                for (name, kind), (_, other) in zip(wanted, columns, strict=True)
            ]
            text = _text(made.original, found, others, pinned, cast)
            columns = target.plans.columns(text[target.start :])
        if columns != wanted:
            raise Unmatched(
                "TYPES_DIFFER", f"Spark gives it other columns: {_first(wanted, columns)}"
            )
        made.rows = self._rows(made, target, found, text)
        if made.rows > CLEARLY_LESS * made.original_rows:
            said = f"it would read {made.rows:,} rows instead of {made.original_rows:,}"
            raise Unmatched("COST", said)
        made.sql = text
        read = [each for one in found for each in (one, *one.inner)]
        made.views = tuple(dict.fromkeys(one.candidate.view.name for one in read))
        made.attempts += [
            Attempt(one.number, one.candidate.view.name, _used(one), True, one.candidate.rows)
            for one in read
        ]

    def _pinnable(self, versions: Mapping[TableName, Version]) -> dict[TableName, str]:
        """The base tables of the views that can be read at the versions of their rows."""
        parts = self._services
        unpinned = unpinned_tables(versions, parts.executor, parts.resolver)
        return {
            table: str(version.snapshot_id)
            for table, version in versions.items()
            if table not in unpinned
        }

    def _others(
        self,
        target: Target,
        found: Sequence[Found],
        base: frozenset[TableName],
        pinned: Mapping[TableName, str],
    ) -> list[Edit]:
        """Reads of base tables outside of the blocks, at the versions of the stored rows."""
        edits: list[Edit] = []
        inlined: dict[Reference, str] = {}
        for place, name in target.places.items():
            if any(start <= place.start < end for start, end in (one.span for one in found)):
                continue
            behind = self._tables.of(name)
            if behind is not None and behind.isdisjoint(base):
                continue
            if behind is None or place.fixed or not (behind & base) <= pinned.keys():
                text = f"the statement reads {name} beside the view, and not at its versions"
                raise Unmatched("NOT_PINNABLE", text)
            if name in pinned:
                edits.append(Edit(place.start, place.end, _at(name, pinned)))
            else:
                inlined[place] = subquery(self._inlined(name, pinned), place)
        edits += edits_of(target.sql, target.places, inlined)
        answers = [one.candidate.answer for one in found]
        beside = {table for answer in answers for table in answer.tables}
        for table in (beside & base) | _of_rests(answers):
            if table not in pinned:
                raise Unmatched("NOT_PINNABLE", f"{table.shown} cannot be read at a version")
        return edits

    def _inlined(self, name: TableName, pinned: Mapping[TableName, str]) -> str:
        """The query of a view, with its base tables at the versions of the stored rows."""

        def replacement(table: TableName, facts: Facts, place: Reference) -> str | None:
            if storage_of(table, facts) is not None:
                assert isinstance(facts, ViewFacts)
                home = Namespace(facts.catalog, facts.namespace)
                return subquery(expander.inline(facts.text, home, replacement), place)
            return _at(table, pinned) if table in pinned else None

        expander = Expander(self._services.resolver, str(name))
        facts = self._services.resolver.lookup(name)
        if not isinstance(facts, ViewFacts):
            raise Unmatched("NOT_PINNABLE", f"{name} is read beside the view, and is no view")
        read = expander.expand(f"SELECT * FROM {name.sql}", Namespace(facts.catalog, ()))
        if views_of_spark(read.views):
            text = f"{name} is read beside the view, and has settings of its own"
            raise Unmatched("NOT_PINNABLE", text)
        return expander.inlined_view(name, facts, replacement, as_now=False)

    def _rows(self, made: Rewriting, target: Target, found: Sequence[Found], text: str) -> int:
        """How many rows the new text reads: all that are stored, if nothing else is read and that
        is few enough, as Spark takes a while to say how many are left by conditions."""
        stored = sum(candidate.rows for one in found for candidate in one.candidates)
        is_inside = all(
            any(start <= place.start < end for start, end in (one.span for one in found))
            for place in target.places
        )
        reads_more = any(one.candidate.answer.tables for one in found)
        if is_inside and not reads_more and 0 < stored <= CLEARLY_LESS * made.original_rows:
            return stored
        return target.plans.rows(text[target.start :])


def _refuse_other_columns(found: Found, wanted: Sequence[str]) -> None:
    if found.columns != len(wanted):
        raise Unmatched("TYPES_DIFFER", "Spark gives it another number of columns")
    names = [name for name, _ in found.candidate.answer.outputs]
    if are_in_another_order(names, wanted):
        raise Unmatched("TYPES_DIFFER", "Spark gives it its columns in another order")


def _of_rests(answers: Sequence[Answer]) -> set[TableName]:
    """The tables of rows that views are united with."""
    return {one.table for answer in answers if answer.rest for one in answer.rest.sources}


def _used(found: Found) -> Reason:
    if found.candidate.merged:
        return _USED_MERGED
    return USED if found.candidate.answer.rest is None else _USED_WITH_REST


def _versions(found: Sequence[Found]) -> dict[TableName, Version]:
    """The versions of the base tables of all views; raises `Unmatched` if two views differ."""
    versions: dict[TableName, Version] = {}
    for one in (candidate for block in found for candidate in block.candidates):
        for table, version in one.observation.versions.items():
            if versions.setdefault(table, version) != version:
                raise Unmatched("NOT_PINNABLE", f"two views have rows of other {table.shown}")
    return versions


def _text(
    original: str,
    found: Sequence[Found],
    others: Sequence[Edit],
    pinned: Mapping[TableName, str],
    columns: Sequence[Column],
) -> str:
    edits = [
        Edit(*one.span, _text_of(one.candidate, pinned, columns if one.names_columns else ()))
        for one in found
    ]
    return edited(original, [*others, *edits])


def _text_of(
    candidate: Candidate, pinned: Mapping[TableName, str], columns: Sequence[Column] = ()
) -> str:
    """The text of an answered block, of which the columns may be known."""
    head, storage, merged = candidate.observation.head, candidate.view.storage, candidate.merged
    assert head is not None, "nothing is read of a view without rows"
    stored = f"({merged})" if merged else _at(storage, {storage: head.snapshot_id})

    def relation(name: TableName) -> str:
        return stored if name == storage else _at(name, pinned)

    return block_text(candidate.answer, relation, columns)


def _with_inner(found: Found, pinned: Mapping[TableName, str]) -> Found:
    """A block with the texts of those of its subqueries that are answered."""
    texts: dict[str, str] = {}
    for one in reversed(found.inner):
        texts[one.digest] = _text_of(_with_subqueries(one.candidate, texts), pinned)
    return replace(found, candidate=_with_subqueries(found.candidate, texts))


def _with_subqueries(candidate: Candidate, texts: Mapping[str, str]) -> Candidate:
    return replace(candidate, answer=candidate.answer.with_subqueries(texts))


def _at(name: TableName, versions: Mapping[TableName, str]) -> str:
    version = versions.get(name)
    return name.sql if version is None else f"{name.sql} VERSION AS OF {version}"


def _is_convertible(wanted: str, other: str) -> bool:
    """Whether a value of one type is that of the other, as the query would have it."""
    decimals = wanted.startswith("decimal") and other.startswith("decimal")
    return wanted != other and (decimals or {wanted, other} <= _WHOLE)


def _first(wanted: Columns, columns: Columns) -> str:
    pairs = zip(wanted, columns, strict=False)
    differing = next((pair for pair in pairs if pair[0] != pair[1]), None)
    if differing is None:
        return f"{len(columns)} in place of {len(wanted)}"
    (name, kind), (other, found) = differing
    return f"{other} {found} in place of {name} {kind}"
