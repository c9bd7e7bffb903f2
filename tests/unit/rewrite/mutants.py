"""The rules of the matching, each broken in one way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite import derive, returned, terms
from dbt.adapters.spark_mv.rewrite.aggregates.calls import StoredCalls
from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.conditions import (
    comparisons,
    day_ranges,
    facts,
    ranges,
    time_units,
)
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from dbt.adapters.spark_mv.rewrite.derive import Deriver
from dbt.adapters.spark_mv.rewrite.match import _Attempt
from dbt.adapters.spark_mv.rewrite.reading import blocks, sources, using
from dbt.adapters.spark_mv.rewrite.rows import RowsTest

Patch = pytest.MonkeyPatch
_CHECK, _MEET, _STORED, _OF_KEYS = (
    RowsTest.check,
    Range.meet,
    StoredCalls._stored,
    StoredCalls._of_keys,
)


def _blind(name: str, value: Any) -> Callable[[Patch], None]:
    """What the view leaves out is not looked at."""

    def check(self: RowsTest) -> None:
        kept = self._view
        self._view = replace(kept, **{name: value})
        try:
            _CHECK(self)
        finally:
            self._view = kept

    return lambda patch: patch.setattr(RowsTest, "check", check)


def _one_of_a_class(patch: Patch) -> None:
    def check(self: RowsTest) -> None:
        kept, least = self._view, self._query.least
        own = {column: found for column, found in kept.ranges.items() if least(column) == column}
        self._view = replace(kept, ranges=own)
        try:
            _CHECK(self)
        finally:
            self._view = kept

    patch.setattr(RowsTest, "check", check)


def _nothing(owner: Any, name: str) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, lambda *args: ())


def _fewer_keys(patch: Patch) -> None:
    def equal(self: _Attempt) -> bool:
        query, view = self._query.keys or (), self._view.block.keys or ()
        return not self._missing and self._reduced(query) <= self._reduced(view)

    patch.setattr(_Attempt, "_has_equal_groups", equal)


def _last_key(patch: Patch) -> None:
    def equal(self: _Attempt) -> bool:
        query, view = self._query.keys or (), self._view.block.keys or ()
        return not self._missing and self._reduced(query) == self._reduced(view)

    patch.setattr(_Attempt, "_has_equal_groups", equal)


def _average_of_averages(patch: Patch) -> None:
    def stored(self: StoredCalls, call: Any) -> exp.Expr | None:
        found = self.deriver.stored(call)
        if call.call == "AVG" and self.again and found is not None:
            return exp.Avg(this=found[0])
        return _STORED(self, call)

    patch.setattr(StoredCalls, "_stored", stored)


def _forgotten(patch: Patch) -> None:
    def meet(self: Range, other: Range) -> Range:
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        return _MEET(self, other)

    patch.setattr(Range, "meet", meet)


def _open_is_closed(patch: Patch) -> None:
    def upper(one: tuple[Any, bool], two: tuple[Any, bool], sign: int) -> tuple[Any, bool]:
        if one[0] is None or two[0] is None or one[0] != two[0]:
            return _UPPER(one, two, sign)
        return one

    patch.setattr(ranges, "_upper_of", upper)


_UPPER = ranges._upper_of


def _null_of_a_list(patch: Patch) -> None:
    def any_of(found: list[Any]) -> Any:
        return _ANY_OF([one for one in found if one is not None])

    patch.setattr(comparisons, "_any_of", any_of)


_ANY_OF = comparisons._any_of


def _of_missing(patch: Patch) -> None:
    def stored_calls(self: _Attempt, again: bool) -> Any:
        return StoredCalls(
            self._by_query, self._facts, again, not self._query.keys, self._most_rows
        ).write

    patch.setattr(_Attempt, "_stored_calls", stored_calls)


def _keys_of_no_rows(patch: Patch) -> None:
    patch.setattr(
        StoredCalls, "_of_keys", lambda self, call: _OF_KEYS(replace(self, all_rows=False), call)
    )


def _zeros_of_no_rows(patch: Patch) -> None:
    patch.setattr(
        StoredCalls,
        "_choice",
        lambda self, *parts: _CHOICE(replace(self, all_rows=False), *parts),
    )


_CHOICE = StoredCalls._choice


def _by_classes_of_the_query(patch: Patch) -> None:
    compensation = RowsTest.compensation
    patch.setattr(
        RowsTest, "compensation", lambda self, view, query: compensation(self, query, query)
    )


def _filtered_group(patch: Patch) -> None:
    equal = _Attempt._of_equal_groups

    def of_equal_groups(self: _Attempt, conditions: list[Any]) -> Any:
        return replace(equal(self, []), conditions=tuple(conditions))

    patch.setattr(_Attempt, "_of_equal_groups", of_equal_groups)


def _set(owner: Any, name: str, value: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, value)


def _without_parentheses(patch: Patch) -> None:
    patch.setattr(terms, "bracketed", lambda node: node)
    patch.setattr(exp, "and_", lambda *found, copy: _chained(exp.And, found))
    patch.setattr(exp, "or_", lambda *found, copy: _chained(exp.Or, found))


def _chained(kind: type[exp.Expr], found: tuple[exp.Expr, ...]) -> exp.Expr:
    tree = found[0]
    for other in found[1:]:
        tree = kind(this=tree, expression=other)
    return tree


def _later_years(patch: Patch) -> None:
    first = time_units.first_of_year
    patch.setattr(day_ranges, "first_of_year", lambda year: first(year + 1))


def _inner_joins(patch: Patch) -> None:
    def inner(block: Block) -> Block:
        found = [term for join in block.left_joins for term in join.conditions]
        return replace(block, left_joins=(), conditions=(*block.conditions, *found))

    patch.setattr(blocks, "with_partners", inner)


# The first seed of which each is wrong.
_SEEDS = {
    "residual of the view": 157,
    "range of the view": 7,
    "NOT NULL of the view": 146,
    "equality of the view": 138,
    "residual not added": 10,
    "range not added": 4,
    "equality not added": 4,
    "NOT NULL not added": 234,
    "conditions by classes of the query": 4,
    "NULL in a list": 439,
    "rows out of groups": 662,
    "groups of fewer keys": 8,
    "one group, filtered": 260,
    "HAVING of the view": 40,
    "outer joins": 238,
    "any unit from any": 552,
    "range cuts a unit": 592,
    "COUNT of no rows": 55,
    "average of averages": 201,
    "COUNT(x) is COUNT(*)": 493,
    "lost parentheses": 544,
    "range of one column of a class": 1838,
}
MUTANTS: dict[str, Callable[[Patch], None]] = {
    "residual of the view": _blind("residuals", ()),
    "range of the view": _blind("ranges", {}),
    "NOT NULL of the view": _blind("not_null", frozenset()),
    "equality of the view": _blind("classes", {}),
    "range of one column of a class": _one_of_a_class,
    "residual not added": _nothing(RowsTest, "_residuals"),
    "range not added": _nothing(RowsTest, "_limited"),
    "equality not added": _nothing(RowsTest, "_equalities"),
    "NOT NULL not added": _nothing(RowsTest, "_not_null"),
    "conditions by classes of the query": _by_classes_of_the_query,
    "contradiction forgotten": _forgotten,
    "open bound is closed": _open_is_closed,
    "NULL in a list": _null_of_a_list,
    "rows out of groups": _nothing(_Attempt, "_check_groups"),
    "groups of fewer keys": _fewer_keys,
    "last key of one value": _last_key,
    "one group, filtered": _filtered_group,
    "HAVING of the view": _nothing(_Attempt, "_refuse_view_having"),
    "outer joins": _nothing(_Attempt, "_check_joins"),
    "any unit from any": _set(derive, "tells", lambda stored, wanted, zone: True),
    "range cuts a unit": _set(derive, "starts_unit", lambda *args: True),
    "values that are equal": _nothing(Deriver, "_refuse_inexact"),
    "values that are equal, returned": _set(returned, "is_inexact", lambda type_name: False),
    "COUNT of no rows": _set(StoredCalls, "_none_is_zero", lambda self, tree, may: tree),
    "call of keys of no rows": _keys_of_no_rows,
    "zeros of no rows": _zeros_of_no_rows,
    "USING of RIGHT JOIN": lambda patch: patch.setattr(sources, "of_right", using.of_left),
    "USING of FULL JOIN": lambda patch: patch.setattr(sources, "of_any", using.of_left),
    "average of averages": _average_of_averages,
    "COUNT(x) is COUNT(*)": _set(StoredCalls, "_is_never_null", lambda self, term: True),
    "COUNT of a joined table": _of_missing,
    "lost parentheses": _without_parentheses,
    "any condition rejects NULL": _set(facts, "rejected_nulls", lambda term: term.columns),
    "years a year later": _later_years,
    "columns that IN names in any order": _set(terms, "is_list", lambda n: type(n) is exp.In),
    "every left join is inner": _inner_joins,
}
BY_PAIRS = {name: (MUTANTS[name], seed) for name, seed in _SEEDS.items()}
BY_FIXTURES = MUTANTS
