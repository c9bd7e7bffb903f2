"""Replaces relations inside a query's text and leaves every other character as it was.

Rewriting the text by offsets instead of printing a tree keeps the user's query exactly as it was
written, so nothing depends on how a tree is printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.sql.reads import Names, Reference, names_of
from dbt.adapters.spark_mv.sql.words import words_of


def splice(
    sql: str,
    references: Iterable[Reference],
    replacement: Callable[[Reference], str | None],
) -> str:
    """`sql` with each reference replaced by the text that `replacement` gives, or kept on None."""
    places = list(references)
    replaced = {place: text for place in places if (text := replacement(place)) is not None}
    return edited(sql, edits_of(sql, places, replaced))


@dataclass(frozen=True)
class Edit:
    """Another text in place of the characters from `start` to `end`, exclusive."""

    start: int
    end: int
    text: str


def edited(sql: str, edits: Iterable[Edit]) -> str:
    """`sql` after edits that do not overlap."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda found: found.start):
        pieces.extend((sql[position : edit.start], edit.text))
        position = edit.end
    pieces.append(sql[position:])
    return "".join(pieces)


def subquery(query: str, reference: Reference, sample: str = "") -> str:
    """`query` in the place of a relation, under the name by which columns refer to it; `sample` is
    the TABLESAMPLE that followed the relation."""
    body = f"(\n{query}\n){sample}"
    return body if reference.aliased else body + _called(reference.parts[-1])


def edits_of(
    sql: str, places: Iterable[Reference], replaced: Mapping[Reference, str]
) -> list[Edit]:
    """The edits that put these texts in the place of relations; `places` are all that `sql` reads.

    A query in the place of a relation is called by the last part of its name. That is no name for
    columns that are written with more of it, as others may have it; so the query gets all of the
    name for its own, and so do these columns.
    """
    own = {
        place
        for place, text in replaced.items()
        if not place.aliased and text.endswith(_called(place.parts[-1]))
    }
    names = names_of(sql) if own else Names()
    new = _new_names(sql, places, names) if names.qualifiers else {}
    edits: list[Edit] = []
    renamed: dict[tuple[str, ...], str] = {}
    for place, text in replaced.items():
        name = new.get(_lowered(place)) if place in own else None
        if name is not None:
            renamed[_lowered(place)] = quote(name)
            text = text.removesuffix(_called(place.parts[-1])) + _called(name)
        edits.append(Edit(place.start, place.end, text))
    for found in names.qualifiers:
        name = next((to for name, to in renamed.items() if _ends_with(name, found.parts)), None)
        if name is not None:
            edits.append(Edit(found.start, found.end, name))
    return edits


def _new_names(sql: str, places: Iterable[Reference], names: Names) -> dict[tuple[str, ...], str]:
    """What relations are to be called of which columns are written with several parts of the name:
    by all of it, or by the last part if columns are written with that, too, it is no other one's,
    and all of these stand right beside the relation: in a query inside of it a column may have that
    name. Not those for which neither is safe: Spark does not find their columns then."""
    unnamed = {_lowered(place): place for place in places if not place.aliased}
    ends = Counter([*(name[-1] for name in unnamed), *names.aliases])
    found: dict[tuple[str, ...], str] = {}
    for name, place in unnamed.items():
        whole = ".".join(place.parts)
        written = [one for one in names.qualifiers if _ends_with(name, one.parts)]
        if not written:
            continue
        if name[-1:] not in names.before_columns and quote(whole).lower() not in sql.lower():
            found[name] = whole
        elif ends[name[-1]] == 1 and all(place.start in one.beside for one in written):
            found[name] = place.parts[-1]
    return found


def _called(name: str) -> str:
    return f" AS {quote(name)}"


def _lowered(place: Reference) -> tuple[str, ...]:
    return tuple(part.lower() for part in place.parts)


def _ends_with(name: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    lowered = tuple(part.lower() for part in parts)
    return len(lowered) > 1 and (name[-len(lowered) :] == lowered or lowered[1:] == name)


def in_backticks(sql: str) -> str:
    """A text whose words in double quotes are names, with these in backticks.

    >>> in_backticks('select "a b", 1 from "t"')
    'select `a b`, 1 from `t`'
    """
    written = [(word, sql[word.start : word.end]) for word in words_of(sql) if word.string]
    return edited(
        sql,
        [
            Edit(word.start, word.end, quote(text[1:-1].replace('""', '"')))
            for word, text in written
            if text.startswith('"') and text.endswith('"')
        ],
    )
