"""Replaces relations inside a query's text and leaves every other character as it was.

Rewriting the text by offsets instead of printing a tree keeps the user's query exactly as it was
written, so nothing depends on how a tree is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.sql.reads import Reference, qualifiers


def splice(
    sql: str,
    references: Iterable[Reference],
    replacement: Callable[[Reference], str | None],
) -> str:
    """`sql` with each reference replaced by the text that `replacement` gives, or kept on None."""
    replaced = ((reference, replacement(reference)) for reference in references)
    return edited(
        sql, [Edit(found.start, found.end, text) for found, text in replaced if text is not None]
    )


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
    return body if reference.aliased else f"{body} AS {quote(reference.parts[-1])}"


def short_qualifiers(sql: str, places: Iterable[Reference]) -> list[Edit]:
    """The edits after which columns of relations in these places are called by the last part of
    their names: a subquery in such a place has that for its own."""
    named = {tuple(part.lower() for part in place.parts) for place in places if not place.aliased}
    return [
        Edit(found.start, found.end, quote(found.parts[-1]))
        for found in qualifiers(sql)
        if any(_ends_with(name, found.parts) for name in named)
    ]


def _ends_with(name: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    lowered = tuple(part.lower() for part in parts)
    return len(lowered) > 1 and (name[-len(lowered) :] == lowered or lowered[1:] == name)
