"""The rules of what is compared as a whole, and of outer joins, each broken in one way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.spark_mv.rewrite import derived, match, outer
from dbt.adapters.spark_mv.rewrite.block import Block, LeftJoin
from dbt.adapters.spark_mv.rewrite.reading import blocks, wholes
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf

Patch = pytest.MonkeyPatch
_KEYS_OF, _SET_OF, _UNION_OF = blocks.keys_of, derived.set_of, derived.union_of
_MISSING = match.Missing
_ROWS_OF = derived.rows_of


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


def _any_operation(patch: Patch) -> None:
    patch.setattr(wholes, "set_of", lambda kind, left, right: _SET_OF("ANY", left, right))


def _duplicates_are_kept(patch: Patch) -> None:
    patch.setattr(wholes, "set_of", lambda kind, left, right: _UNION_OF([left, right]))


def _order_of_branches(patch: Patch) -> None:
    patch.setattr(
        wholes,
        "set_of",
        lambda kind, *pair: _SET_OF(kind, *sorted(pair, key=lambda one: one.source.key)),
    )


def _outer_is_inner(patch: Patch) -> None:
    def missing(occurrence: int, table: Any, on: Any) -> Any:
        return _MISSING(occurrence, table, None)

    patch.setattr(match, "Missing", missing)


def _any_marker(patch: Patch) -> None:
    def never_null(join: LeftJoin, zone: str) -> list[ColumnOf]:
        columns = {column for term in join.conditions for column in term.columns}
        return sorted(columns)

    patch.setattr(outer, "_never_null", never_null)


# With the first seed of which each is wrong.
WHOLE_MUTANTS: dict[str, tuple[Callable[[Patch], None], int]] = {
    "all conditions are outside of windows": (_all_conditions_are_outside, 71),
    "any column is one of a partition": (_any_column_is_of_a_partition, 640),
    "windows of groups that HAVING leaves out": (_having_is_outside, 21),
    "sets of keys are keys": (_sets_are_keys, 31),
    "any set operation is any other": (_any_operation, 281),
    "a union keeps duplicates": (_duplicates_are_kept, 117),
    "branches of EXCEPT in any order": (_order_of_branches, 166),
    "an outer join of a missing table is inner": (_outer_is_inner, 32),
    "any column marks a partner": (_any_marker, 309),
}
