"""Tables of a view that a query does not read: a view without them has the same rows if each row of
the others meets one row of theirs, and no more.

That is so for an inner join of a column that has no NULL with a unique one that has all its values,
and for a left join with a unique one. What is unique is never concluded, only told. After section
3.2 of J. Goldstein and P.-A. Larson (SIGMOD 2001).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from dbt.adapters.spark_mv.catalog.constraints import NOT_NULL, REFERENCES, UNIQUE, Constraint
from dbt.adapters.spark_mv.rewrite.block import LEFT_OUT, Block, Derived, Source
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts, equal_columns
from dbt.adapters.spark_mv.rewrite.stored import StoredView
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, column_term, mapped
from dbt.adapters.spark_mv.rewrite.unmatched import NOT_COVERED, Unmatched
from dbt.adapters.spark_mv.sql.names import TableName

_MOST = 8


@dataclass(frozen=True)
class _Tie:
    """How an extra table is joined: its column `key` equals `column` of another table, which must
    not be NULL if `is_inner`."""

    key: ColumnOf
    column: ColumnOf
    assumed: frozenset[Constraint]
    is_inner: bool


def without_extra(
    view: StoredView, wanted: Counter[Source], held: Collection[Constraint]
) -> Iterator[StoredView]:
    """The view without those tables that are not wanted, if what is held says that its rows stay
    the same. Columns of a table that was left out are columns of nothing."""
    for count, found in enumerate(_without(view, wanted, held)):
        if count >= _MOST:
            return
        yield found


def _without(
    view: StoredView, wanted: Counter[Source], held: Collection[Constraint]
) -> Iterator[StoredView]:
    extra = Counter(one for one in view.block.tables if one != LEFT_OUT) - wanted
    if not extra:
        yield view
        return
    for occurrence, table in enumerate(view.block.tables):
        if extra[table] > 0 and isinstance(table, TableName):
            for tie in _ties(view.block, occurrence, held):
                block = _left_out(view.block, occurrence, tie)
                if block is None:
                    continue
                needed = view.needed
                if tie.is_inner:
                    never_null = Constraint(NOT_NULL, view.block.place(tie.column))
                    needed = (*needed, (tie.column, never_null))
                assumed = view.assumed | tie.assumed
                less = replace(view, block=block, assumed=assumed, needed=needed, rows=None)
                yield from _without(less, wanted, held)


def _ties(block: Block, occurrence: int, held: Collection[Constraint]) -> Iterator[_Tie]:
    outer = {join.occurrence: join for join in block.left_joins}
    join = outer.get(occurrence)
    for term in join.conditions if join is not None else block.conditions:
        pair = equal_columns(term)
        if pair is None:
            continue
        key, column = pair if pair[0].occurrence == occurrence else pair[::-1]
        if key.occurrence != occurrence or column.occurrence == occurrence:
            continue
        needed = {Constraint(UNIQUE, block.place(key))}
        if join is None:
            if column.occurrence in outer or isinstance(block.tables[column.occurrence], Derived):
                continue
            needed.add(Constraint(REFERENCES, block.place(column), block.place(key)))
        if all(one in held for one in needed):
            yield _Tie(key, column, frozenset(needed), join is None)


def _left_out(block: Block, occurrence: int, tie: _Tie) -> Block | None:
    """The block without a table; None if another condition is about it."""
    tables = tuple(LEFT_OUT if n == occurrence else one for n, one in enumerate(block.tables))
    joins = tuple(one for one in block.left_joins if one.occurrence != occurrence)
    kept = tuple(term for term in block.conditions if not tie.is_inner or not _is_tie(term, tie))
    less = replace(block, tables=tables, conditions=kept, left_joins=joins)
    if tie.is_inner:
        less = less.changed(lambda term: mapped(term, lambda one: _other(one, tie)))
    rows = (*less.conditions, *(term for join in less.left_joins for term in join.conditions))
    about = {column.occurrence for term in (*rows, *less.having) for column in term.columns}
    return None if occurrence in about else less


def _is_tie(term: Term, tie: _Tie) -> bool:
    return equal_columns(term) in ((tie.key, tie.column), (tie.column, tie.key))


def _other(column: ColumnOf, tie: _Tie) -> Term:
    return column_term(tie.column if column == tie.key else column)


def without_nulls(
    view: StoredView, facts: Facts, held: Collection[Constraint]
) -> frozenset[Constraint]:
    """What has to hold so that columns of a query, by which tables were left out of a view, have
    no NULL. Raises `Unmatched` if that is not known of one."""
    found = set()
    for column, needed in view.needed:
        if facts.rejects_null(column):
            continue
        if needed not in held:
            text = "the view leaves out rows without a partner in a table that the query lacks"
            raise Unmatched(NOT_COVERED, text, column.shown)
        found.add(needed)
    return frozenset(found)
