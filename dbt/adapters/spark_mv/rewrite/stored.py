"""What the storage table of a view offers: its block, and a column for each output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.rewrite.block import Block, sets_of_keys
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts
from dbt.adapters.spark_mv.rewrite.terms import UNKNOWN, ColumnOf, Term
from dbt.adapters.spark_mv.sql.names import TableName

# What the storage table is called in a rewritten block; other tables go by their occurrence.
STORED = "mv_stored"
# What depends on the other rows, or on the set of keys, of a row.
_OF_PLACE = (exp.Window, exp.Grouping, exp.GroupingId)
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


def as_stored(tree: exp.Expr, type_name: str) -> exp.Expr:
    """A value with the type that it has in a storage table. A type with others in it has no text
    that Spark reads in any case, and is the same in both."""
    return tree if "<" in type_name else exp.Cast(this=tree, to=exp.Var(this=type_name))


def is_inexact(type_name: str) -> bool:
    """Whether values of a type that are equal may not be the same."""
    return any(word in type_name for word in _INEXACT)


@dataclass(frozen=True)
class LeftOut:
    """Rows that a view leaves out: those of a block whose columns and tables are those of a query.
    It reads these `occurrences` of them."""

    block: Block
    occurrences: tuple[int, ...]


@dataclass(frozen=True)
class StoredView:
    """A view as its storage table has it. `columns` are those of the outputs of `block`, which may
    be more than the view shows; groups that the view does not show have no place in `block.having`
    if they are stored. `zone` is the time zone of its definition. `rows` is the same of a view with
    windows, without these, or those groups of a view of sets of keys that are groups of all keys;
    `only` are conditions that leave the stored rows of which this tells. `rest` are the rows
    that it is united with; `is_split` says that rows of one group may be in both. If tables
    were left out of it, that is right if `assumed` holds and no row has NULL in the columns
    `needed`, each with the constraint by which it has none whatever the query says."""

    name: TableName
    storage: TableName
    block: Block
    columns: tuple[StoredColumn, ...]
    zone: str
    rows: StoredView | None = None
    only: tuple[exp.Expr, ...] = ()
    has_sets: bool = False
    rest: LeftOut | None = None
    is_split: bool = False
    assumed: frozenset[Constraint] = frozenset()
    needed: tuple[tuple[ColumnOf, Constraint], ...] = ()

    @property
    def facts(self) -> Facts:
        """What the conditions of the view say."""
        return self.block.facts(self.zone)

    def terms(self, facts: Facts) -> Stored:
        """What the view stores, written as these facts write it."""
        return self._own_terms if facts is self.facts else _stored_terms(self, facts)

    @cached_property
    def _own_terms(self) -> Stored:
        return _stored_terms(self, self.facts)

    def renumbered(self, occurrences: dict[int, int]) -> StoredView:
        """The view with the occurrences of a query in place of its own."""
        if all(mine == other for mine, other in occurrences.items()):
            return self
        needed = tuple(
            (replace(column, occurrence=occurrences[column.occurrence]), never_null)
            for column, never_null in self.needed
        )
        return replace(self, block=self.block.renumbered(occurrences), needed=needed)


def stored_view(
    forms: Sequence[Block],
    name: TableName,
    storage: TableName,
    columns: Sequence[StoredColumn],
    zone: str,
) -> StoredView:
    """A view by the normal forms of its query, with a column for each output."""
    block = replace(forms[0], order=())
    whole = _without_unknown(StoredView(name, storage, block, tuple(columns), zone))
    if len(forms) == 1:
        return whole
    raw = StoredView(name, storage, replace(forms[1], order=()), tuple(columns), zone)
    raw = _without_unknown(raw)
    has_sets = bool(forms[1].sets)
    return replace(whole, rows=_of_all_keys(raw) if has_sets else _kept(raw), has_sets=has_sets)


def _kept(view: StoredView) -> StoredView:
    """The view without the outputs that windows, or the sets of keys, decide."""
    kept = _without(view, lambda term: isinstance(term.node, _OF_PLACE))
    return replace(kept, block=replace(kept.block, sets=()))


def _without_unknown(view: StoredView) -> StoredView:
    """The view without the outputs of which nothing is known."""
    return _without(view, lambda term: term.call == UNKNOWN)


def _without(view: StoredView, is_left_out: Callable[[Term], bool]) -> StoredView:
    """The view without the outputs that have such a term in them."""
    pairs = [
        (output, column)
        for output, column in zip(view.block.outputs, view.columns, strict=True)
        if not any(map(is_left_out, output.term.walk()))
    ]
    block = replace(view.block, outputs=tuple(output for output, _ in pairs))
    return replace(view, block=block, columns=tuple(column for _, column in pairs))


def _of_all_keys(view: StoredView) -> StoredView | None:
    """Of a view of sets of keys the groups of all keys, if they are there once and what is stored
    tells them from the others."""
    keys = frozenset(term.key for term in view.block.keys or ())
    told: dict[str, exp.Expr] = {}
    for output, column in zip(view.block.outputs, view.columns, strict=True):
        if isinstance(output.term.node, (exp.Grouping, exp.GroupingId)):
            is_there = exp.EQ(this=column.tree(), expression=exp.Literal.number(0))
            told |= {term.key: is_there for term in output.term.args}
    is_once = sets_of_keys(view.block.sets).count(keys) == 1
    if view.block.having or not keys or not is_once or told.keys() != keys:
        return None
    only = {tree.sql("spark"): tree for tree in told.values()}
    return replace(_kept(view), only=tuple(only.values()))


@dataclass(frozen=True)
class Stored:
    """The stored terms by their keys, as one set of facts writes them."""

    columns: dict[str, StoredColumn]
    terms: dict[str, Term]

    def find(self, term: Term) -> StoredColumn | None:
        """The column that holds a term."""
        return self.columns.get(term.key)

    def of_coarser_groups(self) -> Stored:
        """Without functions of aggregates: of several groups each has a value of its own."""
        terms = {key: term for key, term in self.terms.items() if term.call or not term.has_calls}
        return Stored({key: self.columns[key] for key in terms}, terms)


def _stored_terms(view: StoredView, facts: Facts) -> Stored:
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
