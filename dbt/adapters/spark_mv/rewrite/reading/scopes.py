"""What names in a query stand for: relations, their columns, other queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import UNKNOWN_NAME
from dbt.adapters.spark_mv.rewrite.reading.fields import field_of
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, column_term
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.names import Namespace, TableName

# A column by its name, as it is written.
Named = tuple[str, Term]
_READ = frozenset(
    # A hint says how to run a query, not what it returns.
    "with_ expressions from_ joins where group having distinct order limit offset hint "
    "windows".split()
)


@dataclass(frozen=True)
class Table:
    """A table with the names and types of its columns."""

    name: TableName
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Query:
    """A logical view: its tree, where its names are looked up, and the names of its columns."""

    tree: exp.Expr
    home: Namespace
    columns: tuple[str, ...]


Find = Callable[[tuple[str, ...], Namespace], Table | Query | None]


class Relations(Protocol):
    """Finds what names stand for."""

    def find(self, parts: tuple[str, ...], home: Namespace) -> Table | Query | None:
        """The relation of a written name; None if it can stand in no block."""
        ...


@dataclass(frozen=True)
class Scope:
    """Where a query stands: names without a schema, and queries that WITH has named."""

    home: Namespace
    named: Mapping[str, tuple[exp.Expr, Scope, tuple[str, ...]]] = field(default_factory=dict)

    def inside(self, query: exp.Expr) -> Scope:
        """The scope of a query that may have a WITH of its own."""
        clause = query.args.get("with_")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            raise Unmatched(QUERY, "it has a recursive WITH", "WITH RECURSIVE")
        scope = self
        for named in clause.expressions:
            columns = tuple(one.name for one in named.args["alias"].args.get("columns") or ())
            known = {**scope.named, named.alias.lower(): (named.this, scope, columns)}
            scope = Scope(self.home, known)
        return scope


@dataclass(frozen=True)
class Columns:
    """The columns that one relation of FROM gives, by the names that a query may call it by, in
    lower case; `hidden` are those that are found by these names alone, because USING shows them
    before all relations, or for the first `lost` ones a column of another."""

    called: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    terms: tuple[Term, ...]
    hidden: frozenset[str] = frozenset()
    lost: int = 0

    @property
    def pairs(self) -> list[Named]:
        """All columns, with their names."""
        return list(zip(self.names, self.terms, strict=True))

    @property
    def shown(self) -> list[Named]:
        """The columns that are found without a name of the relation."""
        return [pair for pair in self.pairs if pair[0].lower() not in self.hidden]

    def find(self, qualifier: tuple[str, ...], name: str) -> list[Term]:
        """The terms that a column of this name may stand for, in lower case."""
        if qualifier and qualifier not in self.called:
            return []
        pairs = self.pairs if qualifier else self.shown
        return [term for shown, term in pairs if shown.lower() == name]


def sorting(query: exp.Query, count: int) -> list[exp.Ordered]:
    """The items of ORDER BY; of ORDER BY ALL the numbers of `count` columns.

    >>> import sqlglot
    >>> query = sqlglot.parse_one("SELECT a, b FROM t ORDER BY ALL DESC", "spark")
    >>> [item.sql() for item in sorting(query, 2)]
    ['1 DESC', '2 DESC']
    """
    order = query.args.get("order")
    items: list[exp.Ordered] = order.expressions if order is not None else []
    if count and len(items) == 1 and isinstance(items[0].this, exp.Var):
        numbers = map(exp.Literal.number, range(1, count + 1))
        return [exp.Ordered(**{**items[0].args, "this": number}) for number in numbers]
    return items


def columns_called(
    called: tuple[str, ...], names: tuple[str, ...], terms: tuple[Term, ...]
) -> Columns:
    """The columns of a relation of this name, or of the last parts of it."""
    if len(names) != len(terms):
        raise Unmatched(QUERY, "a relation has another number of columns")
    if any(name.startswith(UNKNOWN_NAME) for name in names):
        raise Unmatched(QUERY, "only Spark knows what a column of a query in FROM is called")
    lowered = tuple(part.lower() for part in called if part)
    return Columns(tuple(lowered[n:] for n in range(len(lowered))), names, terms)


def alias_of(node: exp.Expr) -> tuple[str, tuple[str, ...]]:
    """The name that a query gives to a relation, empty if none, and those of its columns."""
    alias = node.args.get("alias")
    if alias is None:
        return "", ()
    columns = tuple(one.name for one in alias.args.get("columns") or ())
    return alias.name if alias.this is not None else "", columns


def query_of(
    node: exp.Expr, scope: Scope, find: Find
) -> tuple[exp.Expr | None, Scope, tuple[str, ...], tuple[str, ...]]:
    """The query that a relation of FROM stands for, if it is one: its scope, the names of its
    columns, empty if these are its own, and the parts of the name of the relation."""
    called, renamed = alias_of(node)
    nothing = (None, scope, renamed, ())
    if not is_whole(node):
        return nothing
    if isinstance(node, exp.Subquery):
        return node.this, scope, renamed, (called,)
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return nothing
    parts = tuple(part.name for part in node.parts)
    by = (called,) if called else parts
    known = scope.named.get(parts[0].lower()) if len(parts) == 1 else None
    if known is not None:
        return known[0], known[1], renamed or known[2], by
    found = find(parts, scope.home)
    if isinstance(found, Query):
        return found.tree, Scope(found.home), renamed or found.columns, by
    return nothing


def is_whole(node: exp.Expr) -> bool:
    """Whether a relation of FROM has all rows and columns of what it names."""
    return not any(node.args.get(name) for name in ("sample", "pivots", "joins", "version", "when"))


def column_in(relations: Sequence[Columns], node: exp.Column) -> Term | None:
    """The term of a column, or of a field of one; None if no relation has it. Raises `Unmatched`
    if several have.

    As Spark does: a name with dots is that of a column of a relation if it can be, else that of a
    field.
    """
    parts = tuple(part.name.lower() for part in node.parts)
    for count in reversed(range(len(parts))):
        found = [t for one in relations for t in one.find(parts[:count], parts[count])]
        if len(found) > 1:
            raise Unmatched(QUERY, "a column is that of several relations", node.sql("spark"))
        if found:
            return field_of(found[0], parts[count + 1 :])
    return None


def known_column(relations: list[Columns], node: exp.Column) -> Term:
    """The term of a column; raises `Unmatched` if no relation has it."""
    found = column_in(relations, node)
    if found is None:
        raise Unmatched(QUERY, "a column is that of no relation in FROM", node.sql("spark"))
    return found


def with_columns(relations: Sequence[Columns], columns: Sequence[ColumnOf]) -> list[Columns]:
    """The relations with these columns in place of theirs, one after the other."""
    terms = map(column_term, columns)
    return [replace(one, terms=tuple(islice(terms, len(one.terms)))) for one in relations]


def select_of(query: exp.Expr) -> exp.Select:
    """The SELECT that a query is; raises `Unmatched` if it is none, or has an unknown clause."""
    query = unwrapped(query)
    if not isinstance(query, exp.Select):
        raise Unmatched(QUERY, "it is no SELECT", type(query).__name__.upper())
    for name, value in query.args.items():
        if value and name not in _READ:
            clause = name.rstrip("_").replace("_", " ").upper()
            raise Unmatched(QUERY, "it has a clause that no view answers", clause)
    return query


def unwrapped(query: exp.Expr) -> exp.Expr:
    """A query without parentheses."""
    while isinstance(query, exp.Subquery) and not any(
        value for name, value in query.args.items() if name != "this"
    ):
        query = query.this
    return query
