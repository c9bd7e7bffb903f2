"""What the storage table of a view offers: its block, and a column for each output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.facts import Facts, facts_of
from dbt.adapters.spark_mv.rewrite.terms import Term
from dbt.adapters.spark_mv.sql.names import TableName

# What the storage table is called in a rewritten block; other tables go by their occurrence.
STORED = "mv_stored"
_INEXACT = ("float", "double", "collate", "variant", "unknown")


@dataclass(frozen=True)
class StoredColumn:
    """A column of the storage table: its type there, and the type that the query gives it."""

    name: str
    type: str
    query_type: str

    def tree(self) -> exp.Expr:
        """The column with the type that the query gives it: Iceberg has fewer types."""
        column = exp.column(self.name, table=STORED, quoted=True)
        return column if self.type == self.query_type else exp.cast(column, self.query_type)

    @property
    def is_inexact(self) -> bool:
        """Whether values that are equal may not be the same."""
        return is_inexact(self.query_type)


def is_inexact(type_name: str) -> bool:
    """Whether values of a type that are equal may not be the same."""
    return any(word in type_name for word in _INEXACT)


@dataclass(frozen=True)
class StoredView:
    """A view as its storage table has it. `columns` are those of the outputs of `block`, which may
    be more than the view shows; groups that the view does not show have no place in `block.having`
    if they are stored. `zone` is the time zone of its definition. `rows` is the same of a view with
    windows, without these."""

    name: TableName
    storage: TableName
    block: Block
    columns: tuple[StoredColumn, ...]
    zone: str
    rows: StoredView | None = None

    @cached_property
    def facts(self) -> Facts:
        """What the conditions of the view say."""
        return facts_of(self.block.conditions, self.zone)

    def renumbered(self, occurrences: dict[int, int]) -> StoredView:
        """The view with the occurrences of a query in place of its own."""
        if all(mine == other for mine, other in occurrences.items()):
            return self
        return replace(self, block=self.block.renumbered(occurrences))


def stored_view(
    forms: Sequence[Block],
    name: TableName,
    storage: TableName,
    columns: Sequence[StoredColumn],
    zone: str,
) -> StoredView:
    """A view by the normal forms of its query, with a column for each output."""
    rows: StoredView | None = None
    for plain in forms[1:]:
        pairs = zip(plain.outputs, columns, strict=True)
        kept = [(output, column) for output, column in pairs if not output.term.has_windows]
        block = replace(plain, outputs=tuple(output for output, _ in kept), order=())
        rows = StoredView(name, storage, block, tuple(column for _, column in kept), zone)
    block = replace(forms[0], order=())
    return StoredView(name, storage, block, tuple(columns), zone, rows)


@dataclass(frozen=True)
class Stored:
    """The stored terms by their keys, as one set of facts writes them."""

    columns: dict[str, StoredColumn]
    terms: dict[str, Term]

    def find(self, term: Term) -> StoredColumn | None:
        """The column that holds a term."""
        return self.columns.get(term.key)


def stored_terms(view: StoredView, facts: Facts) -> Stored:
    """What the view stores, written as these facts write it."""
    columns: dict[str, StoredColumn] = {}
    terms: dict[str, Term] = {}
    pairs: Sequence[tuple[Term, StoredColumn]] = [
        (facts.normal(output.term), column)
        for output, column in zip(view.block.outputs, view.columns, strict=True)
    ]
    for term, column in pairs:
        # The storage table has strings, which are sorted and grouped in another way.
        if "collate" in column.query_type:
            continue
        columns.setdefault(term.key, column)
        terms.setdefault(term.key, term)
    return Stored(columns, terms)
