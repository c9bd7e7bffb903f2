"""Replaces relations inside a query's text and leaves every other character as it was.

Rewriting the text by offsets instead of printing a tree keeps the user's query exactly as it was
written, so nothing depends on how a tree is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.sql.reads import Reference


def splice(
    sql: str,
    references: Iterable[Reference],
    replacement: Callable[[Reference], str | None],
) -> str:
    """`sql` with each reference replaced by the text that `replacement` gives, or kept on None."""
    pieces: list[str] = []
    position = 0
    for reference in sorted(references, key=lambda found: found.start):
        text = replacement(reference)
        if text is None:
            continue
        pieces.extend((sql[position : reference.start], text))
        position = reference.end
    pieces.append(sql[position:])
    return "".join(pieces)


def subquery(query: str, reference: Reference) -> str:
    """`query` in the place of a relation, under the name by which columns refer to it."""
    body = f"(\n{query}\n)"
    return body if reference.aliased else f"{body} AS {quote(reference.parts[-1])}"
