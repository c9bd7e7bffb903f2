"""The columns of logical views, whose types may not be those of their texts.

Iceberg has no type for SMALLINT, TINYINT, CHAR or collated strings. A view over such values
declares INT and STRING, and Spark casts what its text returns to that: sums and products of the
cast values are others. So a text in place of a view needs these casts, too.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.executor import TableFacts, ViewFacts
from dbt.adapters.spark_mv.sql.names import Namespace, quote
from dbt.adapters.spark_mv.sql.reads import references_of
from dbt.adapters.spark_mv.sql.words import words_of

_NARROW = frozenset(
    "TINYINT SMALLINT BYTE SHORT CHAR CHARACTER VARCHAR COLLATE COLLATION GETBIT".split()
)
_SUFFIXED = re.compile(r"\d[sy]\b", re.IGNORECASE)
# What Iceberg makes of the types that it lacks.
_DECLARED = ("int", "string")
_KNOWN_TEXTS = 1024


def may_convert(facts: ViewFacts, resolver: Resolver) -> bool:
    """Whether Spark may convert what the text of a view returns: its text has such types, or it
    reads tables of other formats, which may have them."""
    if not any(kind in _DECLARED for kind in facts.types):
        return False
    return _names_narrow_types(facts.text) or _reads_other_formats(facts, resolver)


def text_of_view(facts: ViewFacts, body: str, resolver: Resolver) -> str:
    """A query that returns what a view returns whose text, with relations replaced, is `body`."""
    names = ", ".join(map(quote, facts.columns))
    shown = "*"
    if may_convert(facts, resolver):
        pairs = zip(facts.columns, facts.types, strict=True)
        shown = ", ".join(
            f"CAST({quote(name)} AS {kind.upper()}) AS {quote(name)}"
            if kind in _DECLARED
            else quote(name)
            for name, kind in pairs
        )
    return f"SELECT {shown} FROM (\n{body}\n) AS inlined_view({names})"


@lru_cache(_KNOWN_TEXTS)
def _names_narrow_types(text: str) -> bool:
    if _SUFFIXED.search(text):
        return True
    return any(word.upper in _NARROW for word in words_of(text))


def _reads_other_formats(facts: ViewFacts, resolver: Resolver) -> bool:
    reads = references_of(facts.text)
    if reads is None:
        return True
    home = Namespace(facts.catalog, facts.namespace)
    for reference in reads.references:
        name = resolver.resolve(reference.parts, home)
        if resolver.was_iceberg(name):
            continue
        found = resolver.lookup(name)
        if isinstance(found, TableFacts) and found.provider != "iceberg":
            return True
    return False
