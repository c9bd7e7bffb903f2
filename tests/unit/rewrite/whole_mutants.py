"""The rules of what is compared as a whole, and of outer joins, each broken in one way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite import derived, match, outer, returned, rows, stored, terms
from dbt.adapters.spark_mv.rewrite.block import Block, LeftJoin
from dbt.adapters.spark_mv.rewrite.conditions import consequences, facts
from dbt.adapters.spark_mv.rewrite.reading import blocks, subqueries, wholes
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term

Patch = pytest.MonkeyPatch
_KEYS_OF, _SET_OF, _UNION_OF = blocks.keys_of, derived.set_of, derived.union_of
_MISSING = match.Missing
_ROWS_OF = derived.rows_of
_OF_ALL_KEYS = stored._of_all_keys


def _all_conditions_are_outside(patch: Patch) -> None:
    patch.setattr(derived, "_of_partitions", lambda block: block.conditions)


def _any_column_is_of_a_partition(patch: Patch) -> None:
    patch.setattr(derived, "_partitioned_by", lambda window: window.columns)


def _having_is_outside(patch: Patch) -> None:
    def rows(block: Block, limits: bool = True) -> derived.DerivedRows:
        return _ROWS_OF(replace(block, having=()), limits)

    patch.setattr(wholes, "rows_of", rows)
    patch.setattr(blocks, "rows_of", rows)


def _sets_are_keys(patch: Patch) -> None:
    patch.setattr(blocks, "keys_of", lambda *args: (_KEYS_OF(*args)[0], ()))


def _all_groups_are_of_all_keys(patch: Patch) -> None:
    patch.setattr(stored, "_of_all_keys", stored._kept)


def _groups_of_all_keys_are_there_once(patch: Patch) -> None:
    sets = stored.sets_of_keys

    def once(parts: Any) -> list[frozenset[str]]:
        found = sets(parts)
        return [frozenset(key for one in found for key in one)]

    patch.setattr(stored, "sets_of_keys", once)


def _some_keys_tell_all(patch: Patch) -> None:
    def some(view: stored.StoredView) -> stored.StoredView | None:
        keys = view.block.keys or ()
        block = replace(view.block, keys=keys[:1])
        found = _OF_ALL_KEYS(replace(view, block=block))
        return None if found is None else replace(found, block=replace(found.block, keys=keys))

    patch.setattr(stored, "_of_all_keys", some)


def _equal_keys_are_one(patch: Patch) -> None:
    patch.setattr(returned, "_are_written_alike", lambda query, deriver: False)


def _any_rows_of_a_subquery(patch: Patch) -> None:
    def rows(block: Block, limits: bool = True) -> derived.DerivedRows:
        return _ROWS_OF(replace(block, conditions=()), limits)

    patch.setattr(subqueries, "rows_of", rows)


def _subqueries_are_called_alike(patch: Patch) -> None:
    tree = subqueries._tree
    patch.setattr(subqueries, "_tree", lambda block, digest: tree(block, "inner"))


def _null_is_in_no_query(patch: Patch) -> None:
    def rejected(term: Term) -> set[ColumnOf]:
        return consequences.rejected_nulls(term.args[0] if term.args else term)

    patch.setattr(facts, "rejected_nulls", rejected)


def _no_arguments(patch: Patch) -> None:
    key = terms._key

    def without(node: Any, args: Any, slots: Any, *more: Any) -> str:
        kept = [pair for pair in zip(args, slots, strict=True) if pair[1][0] != terms.OUTER]
        return key(node, [arg for arg, _ in kept], [slot for _, slot in kept], *more)

    patch.setattr(terms, "_key", without)


def _any_operation(patch: Patch) -> None:
    patch.setattr(wholes, "set_of", lambda kind, branches: _SET_OF("ANY", branches))


def _duplicates_are_kept(patch: Patch) -> None:
    patch.setattr(wholes, "set_of", lambda kind, branches: _UNION_OF(branches))


def _order_of_branches(patch: Patch) -> None:
    patch.setattr(
        wholes,
        "set_of",
        lambda kind, branches: _SET_OF(kind, sorted(branches, key=lambda one: one.source.key)),
    )


def _outer_is_inner(patch: Patch) -> None:
    def missing(occurrence: int, table: Any, on: Any) -> Any:
        return _MISSING(occurrence, table, None)

    patch.setattr(match, "Missing", missing)


def _not_in_is_a_test(patch: Patch) -> None:
    """NULL is in no list, and has no partner."""
    as_test = rows.as_test

    def test(term: Term) -> Term:
        if type(term.node) is exp.Not and as_test(term.args[0]) is not term.args[0]:
            return terms.negated(as_test(term.args[0]))
        return as_test(term)

    patch.setattr(rows, "as_test", test)


def _having_is_no_matter(patch: Patch) -> None:
    """IN is EXISTS, whatever the groups are."""
    as_test = subqueries._as_test
    patch.setattr(
        subqueries, "_as_test", lambda block, args: as_test(replace(block, having=()), args)
    )


def _any_marker(patch: Patch) -> None:
    def never_null(join: LeftJoin, zone: str) -> list[ColumnOf]:
        columns = {column for term in join.conditions for column in term.columns}
        return sorted(columns)

    patch.setattr(outer, "_never_null", never_null)


# With the first seed of which each is wrong.
WHOLE_MUTANTS: dict[str, tuple[Callable[[Patch], None], int]] = {
    "all conditions are outside of windows": (_all_conditions_are_outside, 71),
    "any column is one of a partition": (_any_column_is_of_a_partition, 1827),
    "windows of groups that HAVING leaves out": (_having_is_outside, 21),
    "sets of keys are keys": (_sets_are_keys, 31),
    "all groups are those of all keys": (_all_groups_are_of_all_keys, 2),
    "groups of all keys are there once": (_groups_of_all_keys_are_there_once, 548),
    "some keys tell all": (_some_keys_tell_all, 28),
    "equal keys of sets are one": (_equal_keys_are_one, 1211),
    "a subquery has any rows": (_any_rows_of_a_subquery, 640),
    "subqueries are called alike": (_subqueries_are_called_alike, 42),
    "NULL is in no query": (_null_is_in_no_query, 3162),
    "subqueries without arguments": (_no_arguments, 3071),
    "NOT IN is a test for rows": (_not_in_is_a_test, 2278),
    "IN is a test for any rows": (_having_is_no_matter, 47869),
    "any set operation is any other": (_any_operation, 281),
    "a union keeps duplicates": (_duplicates_are_kept, 117),
    "branches of EXCEPT in any order": (_order_of_branches, 166),
    "an outer join of a missing table is inner": (_outer_is_inner, 32),
    "any column marks a partner": (_any_marker, 309),
}
