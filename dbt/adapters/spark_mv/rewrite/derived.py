"""Queries as tables: what a query in FROM returns, where it cannot be made part of the block.

Such a query is known by a digest of all that decides which rows it has, and its columns by digests
of their terms. So two queries may read the same rows of one, and everything that is known of blocks
holds for what stands around it, whatever is in it: windows, sets of keys, unions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import (
    Block,
    Derived,
    Output,
    Source,
    base_tables,
    sets_of_keys,
)
from dbt.adapters.spark_mv.rewrite.conditions.constants import family_of
from dbt.adapters.spark_mv.rewrite.terms import (
    ColumnOf,
    Term,
    column_term,
    digest,
    mapped,
    replaced,
)
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.names import TableName

# No range or class is made of values of this type, and equal ones may not be the same.
UNKNOWN = "unknown"
_OF_SETS = (exp.Grouping, exp.GroupingId)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)


@dataclass(frozen=True)
class DerivedRows:
    """A query in FROM: its rows, its columns by the names that it gives them, and conditions on
    these that leave a part of the rows. All columns are those of occurrence 0."""

    source: Derived
    names: tuple[str, ...]
    columns: tuple[ColumnOf, ...]
    conditions: tuple[Term, ...] = ()

    def at(self, occurrence: int) -> DerivedRows:
        """The same as another occurrence."""

        def moved(column: ColumnOf) -> ColumnOf:
            return replace(column, occurrence=occurrence)

        conditions = (
            mapped(term, lambda column: column_term(moved(column))) for term in self.conditions
        )
        return replace(self, columns=tuple(map(moved, self.columns)), conditions=tuple(conditions))


def rows_of(block: Block, limits: bool = True) -> DerivedRows:
    """The rows of a block that has no LIMIT. If there may be `limits` beside, these are conditions
    on groups, of which windows would see the fewer, and those on what all windows are partitioned
    by, which leave whole partitions. They do not decide the rows."""
    order = _in_order(block.tables)
    block = block.renumbered(order)
    tables = sorted(range(len(order)), key=lambda number: order[number])
    outer = _of_partitions(block) if limits else ()
    of_groups = block.having if limits and not block.has_windows else ()
    joins = sorted((j.occurrence, _keys(j.conditions)) for j in block.left_joins)
    parts = (
        [_name(block.tables[number]) for number in tables],
        _keys(term for term in block.conditions if term not in outer),
        joins,
        None if block.keys is None else _keys(block.keys),
        _keys(term for term in block.having if term not in of_groups),
        _sets(block.sets),
    )
    columns = tuple(_column(output) for output in block.outputs)
    conditions = [mapped(term, lambda column: _as_column(column_term(column))) for term in outer]
    keys = {term.key for term in block.keys or ()}
    conditions += [replaced(term, lambda found: _of_groups(found, keys)) for term in of_groups]
    source = Derived(digest(parts), frozenset(base_tables(block.tables)))
    return DerivedRows(
        source, tuple(one.outer_name for one in block.outputs), columns, tuple(conditions)
    )


def union_of(branches: Sequence[DerivedRows]) -> DerivedRows:
    """All rows of several queries, whatever their order: of two, or of the same types."""
    ordered = sorted(branches, key=lambda one: one.source.key)
    names = _names(branches)
    columns = []
    for number, name in enumerate(names):
        parts = [one.columns[number] for one in ordered]
        columns.append(_common(parts, [part.name for part in parts], name))
    key = digest(("UNION ALL", [one.source.key for one in ordered]))
    return DerivedRows(Derived(key, _tables(branches)), names, tuple(columns))


def set_of(kind: str, branches: Sequence[DerivedRows]) -> DerivedRows:
    """What UNION, EXCEPT or INTERSECT returns: rows that depend on each column. Where equal values
    are the same, the order of branches is none of it but in EXCEPT."""
    names = _names(branches)
    shown = [(one.source.key, [column.name for column in one.columns]) for one in branches]
    if not kind.startswith("EXCEPT") and have_same_types(branches):
        shown.sort()
    columns = tuple(
        _common([one.columns[number] for one in branches], number, name)
        for number, name in enumerate(names)
    )
    return DerivedRows(Derived(digest((kind, shown)), _tables(branches)), names, columns)


def have_known_types(branches: Sequence[DerivedRows]) -> bool:
    """Whether the columns of all are known to be of the same types."""
    types = [[column.type for column in one.columns] for one in branches]
    return all(one == types[0] for one in types) and UNKNOWN not in types[0]


def have_same_types(branches: Sequence[DerivedRows]) -> bool:
    """Whether they are, and equal values of these are the same."""
    types = (column.type for column in branches[0].columns)
    return have_known_types(branches) and all(map(family_of, types))


def full_join(left: DerivedRows, right: DerivedRows, on: Sequence[Term]) -> DerivedRows:
    """What FULL JOIN returns, the columns of both one after the other; `on` are conditions on them
    as occurrences 0 and 1."""
    turns = left.source.key > right.source.key

    def place(side: int) -> int:
        return 1 - side if turns else side

    def placed(column: ColumnOf) -> Term:
        return column_term(replace(column, occurrence=place(column.occurrence)))

    pair = (left, right)
    keys = sorted(one.source.key for one in pair)
    source = Derived(
        digest(("FULL JOIN", keys, _keys(mapped(term, placed) for term in on))), _tables(pair)
    )
    columns = tuple(
        replace(column, name=digest((place(side), column.name)))
        for side, one in enumerate(pair)
        for column in one.columns
    )
    return DerivedRows(source, (*left.names, *right.names), columns)


def _of_partitions(block: Block) -> tuple[Term, ...]:
    """Conditions that have one value in each window."""
    windows = [
        term
        for out in block.outputs
        for term in out.term.walk()
        if isinstance(term.node, exp.Window)
    ]
    if not windows or block.keys is not None:
        return ()
    kept = set.intersection(*map(_partitioned_by, windows))
    return tuple(term for term in block.conditions if term.columns and term.columns <= kept)


def _partitioned_by(window: Term) -> set[ColumnOf]:
    """The columns of PARTITION BY, of types whose equal values are the same."""
    pairs = zip(window.args, window.slots, strict=True)
    columns = (arg.column for arg, (name, _) in pairs if name == "partition_by")
    return {column for column in columns if column is not None and family_of(column.type)}


def _in_order(sources: Sequence[Source]) -> dict[int, int]:
    """New numbers of occurrences, the same however FROM is written if no table is read twice."""
    ranked = sorted(range(len(sources)), key=lambda number: (_name(sources[number]), number))
    return {old: new for new, old in enumerate(ranked)}


def _column(output: Output) -> ColumnOf:
    return ColumnOf(0, digest(output.term.key), _type_of(output.term), output.name or "a column")


def _as_column(term: Term) -> Term:
    return column_term(_column(Output(term.column.name if term.column else str(term), term)))


def _of_groups(term: Term, keys: set[str]) -> Term | None:
    """A key of groups or what is called on them, as a column."""
    is_whole = term.key in keys or term.call or isinstance(term.node, _OF_SETS)
    return _as_column(term) if is_whole else None


def _names(branches: Sequence[DerivedRows]) -> tuple[str, ...]:
    names = branches[0].names
    if any(len(one.columns) != len(names) for one in branches):
        raise Unmatched(QUERY, "the branches of a union have other numbers of columns")
    return names


def _tables(branches: Sequence[DerivedRows]) -> frozenset[TableName]:
    return frozenset(table for one in branches for table in one.source.tables)


def _common(parts: Sequence[ColumnOf], key: object, name: str) -> ColumnOf:
    types = {part.type for part in parts}
    if any(part.is_padded for part in parts):
        raise Unmatched(QUERY, "a union has strings of a length", name)
    return ColumnOf(0, digest(key), types.pop() if len(types) == 1 else UNKNOWN, name)


def _type_of(term: Term) -> str:
    """The type of a term, if that needs nobody's rules."""
    if term.column is not None:
        return term.column.type
    inner = term.args[0].node if isinstance(term.node, exp.Window) else term.node
    if isinstance(inner, exp.Count):
        return "bigint"
    return "int" if isinstance(inner, _RANKS) else UNKNOWN


def _sets(parts: Sequence[Term]) -> object:
    """The sets of keys of a GROUP BY, however it is written if there are not too many."""
    return sorted(map(sorted, sets_of_keys(parts))) or [term.key for term in parts]


def _keys(terms: Iterable[Term]) -> list[str]:
    return sorted({term.key for term in terms})


def _name(source: Source) -> str:
    return source.key if isinstance(source, Derived) else source.sql
