"""Which relations a query reads: references with their place in the text, CTE names left out."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.spark_mv.sql.parser import statements

logging.getLogger("sqlglot").setLevel(logging.ERROR)

_KNOWN_QUERIES = 2048
# What sqlglot raises for texts that nobody thought of, such as `map(1)`.
_NOT_PARSED = (
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    SqlglotError,
    TypeError,
    ValueError,
)
_PATH_FORMATS = frozenset(
    {"parquet", "orc", "csv", "json", "text", "avro", "delta", "iceberg", "binaryfile", "xml"}
)


@dataclass(frozen=True)
class Reference:
    """A relation that a query names.

    `start` and `end` (exclusive) are offsets in the text; `alias` says if the query renames
    it; `fixed` if it is read at a fixed version (`VERSION AS OF` and the like).
    """

    parts: tuple[str, ...]
    start: int
    end: int
    aliased: bool
    fixed: bool


@dataclass(frozen=True)
class Reads:
    """What a statement reads: `references`, and `unresolved` texts that only Spark can read."""

    references: tuple[Reference, ...]
    unresolved: tuple[str, ...] = ()


def parse(sql: str) -> exp.Expression | None:
    """The tree of one statement, or None if it cannot be parsed."""
    try:
        trees = statements(sql)
    except _NOT_PARSED:
        return None
    found = [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(found) != 1 or isinstance(found[0], exp.Command):
        return None
    # `TABLE t` is read as a column called TABLE that is renamed.
    if any(_is_keyword(column.this) for column in found[0].find_all(exp.Column)):
        return None
    return cast(exp.Expression, found[0])


def _is_keyword(name: object) -> bool:
    return isinstance(name, exp.Identifier) and not name.quoted and name.name.lower() == "table"


def reads_of(tree: exp.Expression) -> Reads:
    """References of a tree in the order of its text, duplicates kept, targets included.

    >>> [r.parts for r in reads_of(parse("with c as (select * from t) select * from c")).references]
    [('t',)]
    """
    references: list[Reference] = []
    unresolved: list[str] = []
    _walk(tree, references, unresolved)
    ordered = sorted(references, key=lambda reference: reference.start)
    return Reads(tuple(ordered), tuple(unresolved))


@lru_cache(_KNOWN_QUERIES)
def references_of(sql: str) -> Reads | None:
    """What one statement reads, None if it cannot be parsed."""
    tree = parse(sql)
    return None if tree is None else reads_of(tree)


def _walk(tree: exp.Expression, references: list[Reference], unresolved: list[str]) -> None:
    """Visit a tree without recursion: a sum of a thousand terms is a thousand levels deep."""
    ahead: list[tuple[exp.Expression, frozenset[str]]] = [(tree, frozenset())]
    while ahead:
        node, bound = ahead.pop()
        clause = node.args.get("with_")
        if clause is not None:
            for cte in clause.expressions:
                name = cte.alias.lower()
                inner = bound | {name} if clause.args.get("recursive") else bound
                ahead.append((cte.this, inner))
                bound = bound | {name}
        if isinstance(node, exp.Table):
            _add_table(node, bound, references, unresolved)
        for key, value in node.args.items():
            # A hint names relations of the query, and reads nothing.
            if key in ("with_", "hint"):
                continue
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, exp.Expression):
                    ahead.append((child, bound))


def _add_table(
    table: exp.Table,
    bound: frozenset[str],
    references: list[Reference],
    unresolved: list[str],
) -> None:
    if not isinstance(table.this, (exp.Identifier, exp.Dot)):
        if isinstance(table.this, exp.Anonymous) and table.this.name.lower() == "identifier":
            unresolved.append(table.sql(dialect="spark"))
        return
    identifiers = [part for part in table.parts if isinstance(part, exp.Identifier)]
    parts = tuple(part.name for part in identifiers)
    if len(parts) == 1 and parts[0].lower() in bound:
        return
    start, end = identifiers[0].meta.get("start"), identifiers[-1].meta.get("end")
    if start is None or end is None:
        unresolved.append(table.sql(dialect="spark"))
        return
    fixed = bool(table.args.get("version") or table.args.get("when"))
    references.append(Reference(parts, start, end + 1, bool(table.alias), fixed))


@dataclass(frozen=True)
class Qualifier:
    """What is written before a column, of several parts, at `start` to `end` (exclusive); `beside`
    has the starts of the relations in FROM of the SELECT in which it stands."""

    parts: tuple[str, ...]
    start: int
    end: int
    beside: frozenset[int]


@dataclass(frozen=True)
class Names:
    """How a statement names relations: `aliases` are the names that it gives to them, and
    `before_columns` what stands before its columns, names of relations and of columns before their
    fields, both in lower case; `qualifiers` are those of several parts, in their places."""

    aliases: tuple[str, ...] = ()
    before_columns: frozenset[tuple[str, ...]] = frozenset()
    qualifiers: tuple[Qualifier, ...] = ()


@lru_cache(_KNOWN_QUERIES)
def names_of(sql: str) -> Names:
    """The names in a statement; none if it cannot be parsed."""
    tree = parse(sql)
    if tree is None:
        return Names()
    written = [column for column in tree.find_all(exp.Column) if len(column.parts) > 1]
    return Names(
        tuple(alias.name.lower() for alias in tree.find_all(exp.TableAlias)),
        frozenset(tuple(part.name.lower() for part in one.parts[:-1]) for one in written),
        tuple(found for one in written if (found := _qualifier(one)) is not None),
    )


def _qualifier(column: exp.Column) -> Qualifier | None:
    identifiers = [part for part in column.parts[:-1] if isinstance(part, exp.Identifier)]
    if len(identifiers) < 2:
        return None
    start, end = identifiers[0].meta.get("start"), identifiers[-1].meta.get("end")
    if start is None or end is None:
        return None
    select = column.find_ancestor(exp.Select)
    tables = (one for one in (relations_of(select) if select else ()) if isinstance(one, exp.Table))
    beside = frozenset(table.parts[0].meta.get("start", -1) for table in tables)
    return Qualifier(tuple(part.name for part in identifiers), start, end + 1, beside)


def relations_of(query: exp.Select) -> list[exp.Expr]:
    """The relations of FROM and of joins."""
    start = query.args.get("from_")
    if start is None:
        return []
    return [start.this, *(join.this for join in query.args.get("joins") or [])]


def is_path(reference: Reference) -> bool:
    """Whether the reference reads files by path, as in parquet.`/data/x`."""
    return (
        len(reference.parts) == 2
        and reference.parts[0].lower() in _PATH_FORMATS
        and ("/" in reference.parts[1] or ":" in reference.parts[1])
    )
