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
_NOT_PARSED = (SqlglotError, RecursionError, ValueError, LookupError, TypeError, AttributeError)
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


def qualifiers(sql: str) -> list[Reference]:
    """Names of relations of more than one part by which columns of a statement are called."""
    tree = parse(sql)
    found: list[Reference] = []
    for column in tree.find_all(exp.Column) if tree is not None else ():
        identifiers = [part for part in column.parts[:-1] if isinstance(part, exp.Identifier)]
        if len(identifiers) < 2:
            continue
        start, end = identifiers[0].meta.get("start"), identifiers[-1].meta.get("end")
        if start is not None and end is not None:
            parts = tuple(part.name for part in identifiers)
            found.append(Reference(parts, start, end + 1, False, False))
    return found


def before_columns(sql: str, most: int = 9) -> set[str]:
    """The names that stand before columns of a statement, in lower case, of those that have at most
    so many: names of relations, and of columns before their fields."""
    tree = parse(sql)
    columns = tree.find_all(exp.Column) if tree is not None else ()
    names = (column.parts[:-1] for column in columns)
    return {part.name.lower() for parts in names if len(parts) <= most for part in parts}


def aliases_in(sql: str) -> list[str]:
    """The names that a statement gives to relations, in lower case."""
    tree = parse(sql)
    found = tree.find_all(exp.TableAlias) if tree is not None else ()
    return [alias.name.lower() for alias in found]


def is_path(reference: Reference) -> bool:
    """Whether the reference reads files by path, as in parquet.`/data/x`."""
    return (
        len(reference.parts) == 2
        and reference.parts[0].lower() in _PATH_FORMATS
        and ("/" in reference.parts[1] or ":" in reference.parts[1])
    )
