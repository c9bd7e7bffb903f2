"""The columns of logical views, which may be others than those that their texts return.

Spark casts what the text of a view returns to the types that the view was declared with, and leaves
further columns out. The two differ where Iceberg lacks a type (SMALLINT, CHAR, collated strings),
and where a table behind the view has been altered or replaced since. Sums and products of the cast
values are others, so a text in place of a view needs the casts, too.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.executor import ColumnType, TableFacts, ViewFacts
from dbt.adapters.spark_mv.sql.literals import type_sql
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, literal, quote
from dbt.adapters.spark_mv.sql.reads import references_of
from dbt.adapters.spark_mv.sql.words import words_of

# Types that each way of asking for a view calls the same.
_PLAIN = re.compile(
    r"boolean|int|bigint|float|double|date|timestamp|timestamp_ntz|string|binary"
    r"|decimal\(\d+,\d+\)"
)
_COLUMN = "mv_column_"
_INTEGERS = ("tinyint", "smallint", "int")
_TIMES = ("date", "timestamp", "timestamp_ntz")
# What Spark casts to a type when it reads a view; texts are made of everything but structures.
_WIDENED = {
    "int": _INTEGERS,
    "bigint": (*_INTEGERS, "bigint", "timestamp"),
    "float": (*_INTEGERS, "bigint", "float"),
    "double": (*_INTEGERS, "bigint", "float", "double"),
    "timestamp": (*_TIMES, "bigint"),
    "timestamp_ntz": _TIMES,
}
_REFUSAL = "{}: columns of its tables have other types now. Refresh the views over it."
_CHAR = frozenset({"CHAR", "CHARACTER", "VARCHAR"})
_KNOWN_TEXTS = 1024
Columns = Sequence[ColumnType]


@dataclass(frozen=True)
class Taken:
    """A column of a view: its place in what the view's text returns, and the type that it is cast
    to, if it is; `sources` are the types that it may be cast from later, none for any type."""

    place: int
    kind: str | None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """The columns of a view, of the `width` that the view's text returns; `refusal` is the text of
    the error for columns that come to have other types than they may be cast from."""

    taken: Sequence[Taken]
    width: int
    refusal: str = ""


@dataclass(frozen=True)
class Typed:
    """A text with the columns of a view's, which Spark can plan now; all that their types depend
    on, if that is known, beside the settings of the session: those of a definition, or the user's.
    """

    text: str
    by: Hashable
    settings: Mapping[str, str] | None


def declared_types(facts: ViewFacts) -> str:
    """The types that a view was declared with, as far as its facts alone say them."""
    return ", ".join(kind if is_plain(kind) else "?" for kind in facts.types)


def behind(facts: ViewFacts, resolver: Resolver) -> Hashable:
    """All that the columns of a view's text depend on; None if that is not known, or is not cheaper
    to find out than the columns are."""
    names = _names_read(facts, resolver) if resolver.has_client else None
    if names is None:
        return None
    found: list[tuple[Hashable, ...]] = []
    for name in names:
        relation = resolver.lookup(name)
        if relation is None:
            return None
        if isinstance(relation, ViewFacts):
            inner = behind(relation, resolver)
            if inner is None:
                return None
            found.append((name, relation.text, relation.columns, relation.types, inner))
        else:
            found.append((name, *resolver.columns(name, whole=True)))
    return tuple(found)


def in_place(facts: ViewFacts, body: str, columns: Shown | None) -> str:
    """A query that returns what a view returns whose text, with relations replaced, is `body`, by
    its columns as `shown` says them."""
    if columns is None:
        return f"SELECT * FROM (\n{body}\n) AS inlined_view({', '.join(map(quote, facts.columns))})"
    listed = ", ".join(
        f"{_converted(taken, columns.refusal)} AS {quote(column)}"
        for taken, column in zip(columns.taken, facts.columns, strict=True)
    )
    names = ", ".join(f"{_COLUMN}{place}" for place in range(columns.width))
    return f"SELECT {listed} FROM (\n{body}\n) AS inlined_view({names})"


def shown(
    name: TableName,
    facts: ViewFacts,
    typed: Typed,
    resolver: Resolver,
    for_later: bool = False,
) -> Shown | None:
    """The columns of a view; None if the view returns what its text does. With `for_later` also
    columns are cast that need it only if types of tables change.

    What a view was declared with does not depend on what the columns of its text depend on, as it
    may be made again. Raises `StatementFailed` if Spark cannot plan the text, or not the view.
    """
    if not facts.types:
        return None
    found = resolver.returned(typed.text, typed.by, typed.settings)
    places, types = _places(facts, found), facts.types
    if places is not None and not all(map(is_plain, types)):
        types = tuple(kind for _, kind in resolver.returned(f"SELECT * FROM {name.sql}"))
    is_same = places == [*range(len(found))] and types == tuple(kind for _, kind in found)
    is_padded = "string" in facts.types and _may_be_padded(facts, resolver)
    if is_same and not is_padded and not for_later:
        return None
    if not is_same:
        # Spark says so if what the text returns is no longer what the view needs.
        resolver.returned(f"SELECT * FROM {name.sql}")
    taken = []
    for place, kind, declared in zip(places or (), types, facts.types, strict=True):
        now = found[place][1]
        if for_later and is_plain(declared):
            taken.append(taken_later(place, declared, now))
            continue
        is_cast = is_padded and declared == "string"
        taken.append(Taken(place, kind if is_cast or now != kind else None))
    return Shown(taken, len(found), _REFUSAL.format(name))


def is_plain(kind: str) -> bool:
    """Whether each way of asking for a view calls a type the same."""
    return _PLAIN.fullmatch(kind) is not None


def taken_later(place: int, declared: str, now: str) -> Taken:
    """A column of a plain type, cast from what Spark converts to that by itself, and from what the
    text returns `now`: Spark has just planned that."""
    return Taken(place, declared, (*_WIDENED.get(declared, (declared,)), now))


def _converted(taken: Taken, refusal: str) -> str:
    """A column of what a text returns as the view has it."""
    column = f"{_COLUMN}{taken.place}"
    if taken.kind is None:
        return column
    if taken.sources:
        listed = ", ".join(map(literal, dict.fromkeys(taken.sources)))
        fits = f"typeof({column}) IN ({listed})"
        if taken.kind == "string":
            fits = f"typeof({column}) NOT LIKE '%<%'"
        column = f"IF({fits}, {column}, raise_error({literal(refusal)}))"
    return f"CAST({column} AS {type_sql(taken.kind)})"


def _may_be_padded(facts: ViewFacts, resolver: Resolver) -> bool:
    """Whether texts that the text of a view returns may be of CHAR, which Spark does not tell from
    STRING in a plan, and pads what it compares them with."""
    names = None if _names_char(facts.text) else _names_read(facts, resolver)
    if names is None:
        return True
    for name in names:
        if not resolver.was_iceberg(name):
            found = resolver.lookup(name)
            if isinstance(found, TableFacts) and found.provider != "iceberg":
                return True
    return False


def _names_read(facts: ViewFacts, resolver: Resolver) -> list[TableName] | None:
    """The relations that the text of a view names, each once; None if only Spark can read it."""
    reads, home = references_of(facts.text), Namespace(facts.catalog, facts.namespace)
    if reads is None:
        return None
    parts = dict.fromkeys(reference.parts for reference in reads.references)
    return [resolver.resolve(name, home) for name in parts]


@lru_cache(_KNOWN_TEXTS)
def _names_char(text: str) -> bool:
    return any(word.upper in _CHAR for word in words_of(text))


def _places(facts: ViewFacts, found: Columns) -> list[int] | None:
    """Where in what its text returns the columns of a view are; None if some are not there."""
    if not facts.returned:
        return [*range(len(facts.columns))] if len(facts.columns) <= len(found) else None
    left = [name.lower() for name, _ in found]
    places = []
    for name in map(str.lower, facts.returned):
        if name not in left:
            return None
        places.append(left.index(name))
        left[places[-1]] = ""
    return places
