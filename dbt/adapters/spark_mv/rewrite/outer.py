"""Inner joins as outer joins, for views that keep rows without a partner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from dbt.adapters.spark_mv.rewrite.block import Block, LeftJoin
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts, facts_of
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, column_term, is_not_null


def as_outer(query: Block, joins: Sequence[LeftJoin], zone: str) -> Iterator[Block]:
    """The block with these joins as LEFT JOIN where it has inner ones on the same conditions.

    Of the rows of a left join, those with a partner are those where a column of the partner is not
    NULL that no partner has as NULL; or those that meet its conditions.
    """
    lacking = [join for join in joins if join not in query.left_joins]
    asked = {term.key for term in query.conditions}
    conditions = {term.key for join in lacking for term in join.conditions}
    if not lacking or not conditions <= asked:
        return
    outer = replace(query, left_joins=(*query.left_joins, *lacking))
    others = tuple(term for term in query.conditions if term.key not in conditions)
    known = facts_of(others, zone)
    for markers in product(*(_markers(join, known, zone) for join in lacking)):
        tests = (is_not_null(column_term(marker)) for marker in markers if marker is not None)
        yield replace(outer, conditions=(*others, *tests))
    yield outer


def with_partners(block: Block) -> Block:
    """The block with those left joins as inner ones of which its conditions leave only rows with a
    partner, the last one first: an earlier one may then be such, too."""
    for join in reversed(block.left_joins):
        facts = block.facts("UTC")
        needed = {c for term in block.conditions for c in term.columns}
        if any(c.occurrence == join.occurrence and facts.rejects_null(c) for c in needed):
            others = tuple(one for one in block.left_joins if one is not join)
            found = (*block.conditions, *sorted(join.conditions, key=lambda term: term.key))
            block = replace(block, conditions=found, left_joins=others)
    return block


def _markers(join: LeftJoin, known: Facts, zone: str) -> Sequence[ColumnOf | None]:
    """Columns of which NULL tells that there is no partner; None if no such row is left."""
    columns = known.not_null | known.implied_not_null | {*known.ranges, *known.classes}
    if any(column.occurrence == join.occurrence for column in columns):
        return [None]
    return _never_null(join, zone)


def _never_null(join: LeftJoin, zone: str) -> list[ColumnOf]:
    """Columns of the partner that its conditions keep from being NULL."""
    facts = facts_of(join.conditions, zone)
    columns = {column for term in join.conditions for column in term.columns}
    return sorted(
        column
        for column in columns
        if column.occurrence == join.occurrence and facts.rejects_null(column)
    )
