"""A view together with the rows that its one range leaves out, which are computed of base tables.

A query that wants more values of a column than the view has is answered by the stored rows and, by
UNION ALL, what the query of the view would have stored of the others. After section 3.3 of J.
Goldstein and P.-A. Larson (SIGMOD 2001).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, Derived
from dbt.adapters.spark_mv.rewrite.conditions.comparisons import range_in
from dbt.adapters.spark_mv.rewrite.conditions.consequences import simple_conjunct
from dbt.adapters.spark_mv.rewrite.conditions.constants import constant
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts, facts_of
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from dbt.adapters.spark_mv.rewrite.conditions.time_units import of_unit
from dbt.adapters.spark_mv.rewrite.derive import Deriver
from dbt.adapters.spark_mv.rewrite.stored import LeftOut, StoredView, as_stored
from dbt.adapters.spark_mv.rewrite.terms import (
    ColumnOf,
    Term,
    binary,
    column_term,
    connected,
    is_null,
    made,
    mapped,
)
from dbt.adapters.spark_mv.rewrite.text import Missing, Rest
from dbt.adapters.spark_mv.rewrite.unmatched import NOT_COVERED, QUERY, Unmatched


def can_be_united(view: StoredView, may_fail: bool = False) -> bool:
    """Whether a view has a range, and its query can be written over base tables. `may_fail` says
    that Spark fails for values that an expression has no result for: then the keys of the view, for
    which the query may not ask, have to be columns or units of time."""
    block = view.block
    # A table that was left out is such a one, too.
    is_whole = any(isinstance(table, Derived) for table in block.tables)
    hides = block.having or block.limit or view.only or view.has_sets or view.rows is not None
    is_safe = not may_fail or all(term.column or of_unit(term) for term in block.keys or ())
    return bool(view.facts.ranges) and not is_whole and not hides and is_safe


def united(view: StoredView, query: Block, facts: Facts, taken: Collection[int]) -> StoredView:
    """The view, whose occurrences are the `taken` ones of the query, with the rows that its one
    range leaves out; raises `Unmatched` if it has none of the values that are wanted, or lacks
    others.

    `facts` are those of the conditions of the query. The result has these rows for certain only
    within the range of the query.
    """
    if not can_be_united(view):
        raise Unmatched(NOT_COVERED, "the view leaves out tables")
    column = _left_out(view, facts)
    kept, wanted = view.facts.ranges[column], facts.range_of(column)
    if wanted is not None and kept.meet(wanted).is_empty:
        raise Unmatched(NOT_COVERED, f"the view has none of these values of {column.shown}")
    others = tuple(term for term in view.block.conditions if not _limits(term, column, view))
    asked = tuple(_asked(query, facts, column, view.zone))
    has_all_kept = wanted is not None and kept.is_within(wanted)
    outside = _outside(column, kept, may_be_null=not facts.rejects_null(column))
    rest = replace(view.block, tables=query.tables, conditions=(*others, *asked, outside))
    # Stored rows outside of what is asked have to be left out by a condition on the column.
    block = replace(view.block, conditions=(*others, *(asked if has_all_kept else ())))
    # The facts of the view are those of its conditions: without a range of this column.
    made_of = replace(view, block=block, rest=LeftOut(rest, tuple(sorted(taken))))
    keys = {one.key for one in map(made_of.facts.normal, block.keys or ())}
    is_key = made_of.facts.normal(column_term(column)).key in keys
    return replace(made_of, is_split=block.keys is not None and not is_key)


def _left_out(view: StoredView, facts: Facts) -> ColumnOf:
    """The one column of which the query wants other values than the view has."""
    ranges = view.facts.ranges
    found = [column for column, kept in ranges.items() if not facts.is_within(column, kept)]
    if len(found) != 1 or facts.is_empty:
        raise Unmatched(NOT_COVERED, "the view has parts of the values of several columns")
    return found[0]


def _limits(term: Term, column: ColumnOf, view: StoredView) -> bool:
    """Whether a condition of the view is its range of a column."""
    found = range_in(simple_conjunct(term), view.zone)
    return found is not None and view.facts.least(found[0]) == column


def _asked(query: Block, facts: Facts, column: ColumnOf, zone: str) -> Iterator[Term]:
    """The conditions by which the query limits a column, or one that equals it."""
    for term in query.conditions:
        found = range_in(simple_conjunct(term), zone)
        if found is not None and facts.least(found[0]) == facts.least(column):
            yield mapped(term, lambda one: column_term(column))


def _outside(column: ColumnOf, kept: Range, may_be_null: bool) -> Term:
    """That a column has a value which is not in a range, or perhaps NULL."""
    term, parts = column_term(column), []
    if kept.among is not None:
        others = [binary(exp.NEQ, term, _value(one, column)) for one in sorted(kept.among)]
        parts.append(connected(exp.And, others))
    if kept.low is not None:
        kind = exp.LTE if kept.low_open else exp.LT
        parts.append(binary(kind, term, _value(kept.low, column)))
    if kept.high is not None:
        kind = exp.LTE if kept.high_open else exp.LT
        parts.append(binary(kind, _value(kept.high, column), term))
    if may_be_null:
        parts.append(is_null(term))
    return connected(exp.Or, parts)


def _value(value: object, column: ColumnOf) -> Term:
    tree = constant(value, column.type)
    if not isinstance(tree, exp.Cast):
        return made(tree)
    return made(exp.Cast(to=tree.args["to"]), (made(tree.this),), (("this", False),))


def rest_of(view: StoredView) -> Rest | None:
    """What the view lacks, as its storage table would have it; raises `Unmatched`."""
    if view.rest is None:
        return None
    block, every = view.rest.block, view.rest.occurrences
    deriver = Deriver(replace(view, columns=(), block=replace(block, outputs=())), _NO_FACTS, every)
    joins = {join.occurrence: join for join in block.left_joins}
    tables = []
    # A left join may need the one before it, as the view has them.
    for number in (*(one for one in every if one not in joins), *joins):
        table, join = block.tables[number], joins.get(number)
        assert not isinstance(table, Derived), "a view of such a table is not united"
        on = sorted(join.conditions, key=lambda term: term.key) if join is not None else ()
        trees = tuple(map(deriver.tree, on))
        tables.append(Missing(number, table, trees if join is not None else None))
    keys = tuple(map(deriver.tree, block.keys or ()))
    if any(tree.find(exp.Column) is None for tree in keys) or block.keys == ():
        raise Unmatched(QUERY, "a key of the view is a constant")
    columns: dict[str, exp.Expr] = {}
    for output, column in zip(block.outputs, view.columns, strict=True):
        tree = deriver.tree(output.term, lambda call: None)
        columns.setdefault(column.name, as_stored(tree, column.type))
    conditions = tuple(map(deriver.tree, block.conditions))
    return Rest(tuple(columns.items()), tuple(tables), conditions, keys)


_NO_FACTS = facts_of((), "UTC")
