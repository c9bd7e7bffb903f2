"""Inner joins as outer joins, for views that keep rows without a partner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from dbt.adapters.spark_mv.rewrite.block import Block, LeftJoin
from dbt.adapters.spark_mv.rewrite.facts import facts_of
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
    for markers in product(*(_never_null(join, zone) for join in lacking)):
        tests = (is_not_null(column_term(marker)) for marker in markers)
        yield replace(outer, conditions=(*others, *tests))
    yield outer


def _never_null(join: LeftJoin, zone: str) -> list[ColumnOf]:
    """Columns of the partner that its conditions keep from being NULL."""
    facts = facts_of(join.conditions, zone)
    columns = {column for term in join.conditions for column in term.columns}
    return sorted(
        column
        for column in columns
        if column.occurrence == join.occurrence and facts.rejects_null(column)
    )
