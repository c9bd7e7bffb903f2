"""The same asked in other words: random pairs, and mutants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.aggregates import calls
from dbt.adapters.spark_mv.rewrite.aggregates.calls import StoredCalls
from dbt.adapters.spark_mv.rewrite.aggregates.sums import Multiple, multiple_of
from dbt.adapters.spark_mv.rewrite.conditions import conjuncts
from dbt.adapters.spark_mv.rewrite.reading import expressions
from dbt.adapters.spark_mv.rewrite.terms import Term
from tests.sampling import WHOLE
from tests.unit.rewrite.harness import about, run
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.worded_pairs import WORDINGS, worded_pair

PAIRS = 3_000 if WHOLE else 200
Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("wording", WORDINGS)
def test_same_rows(lake: Lake, wording: str) -> None:
    report = run(range(PAIRS), lake, make=partial(worded_pair, wording=wording))
    assert report.wrong == []
    assert report.matched > report.pairs * 0.05
    assert report.met >= {("groups", "rows"), ("groups", "groups")}


def _none_stays(patch: Patch) -> None:
    patch.setattr(StoredCalls, "_none_is_zero", lambda self, tree, *_: tree)


def _never_without_rows(patch: Patch) -> None:
    """A sum of no ones is NULL, and a count of no rows is 0."""
    none_as_zero: Any = StoredCalls._none_as_zero

    def found(self: StoredCalls, call: Term) -> Any:
        return none_as_zero(replace(self, all_rows=False), call)

    patch.setattr(StoredCalls, "_none_as_zero", found)


def _none_is_a_zero(patch: Patch) -> None:
    """Where all chosen values are NULL, their sum is 0."""
    choice: Any = StoredCalls._choice

    def found(self: StoredCalls, call: Term, value: Term) -> Any:
        is_null = isinstance(value.node, exp.Null)
        return (exp.Literal.number(0), "") if is_null else choice(self, call, value)

    patch.setattr(StoredCalls, "_choice", found)


def _other_value(patch: Patch) -> None:
    """The first value where no condition is met, and the last one by the first."""
    chosen: Any = StoredCalls._chosen

    def found(self: StoredCalls, call: Term) -> Any:
        condition, first, *others, last = call.args[0].args
        case = replace(call.args[0], args=(condition, last, *others, first))
        return chosen(self, replace(call, args=(case,)))

    patch.setattr(StoredCalls, "_chosen", found)


def _first_of_list(patch: Patch) -> None:
    without_list: Callable[[Term], tuple[Term, ...]] = conjuncts._without_list
    patch.setattr(conjuncts, "_without_list", lambda term: without_list(term)[:1])


def _without_factor(patch: Patch) -> None:
    def found(argument: Term) -> Multiple | None:
        known = multiple_of(argument)
        return None if known is None else replace(known, factor=exp.Literal.number(1))

    patch.setattr(calls, "multiple_of", found)


def _each_key_once(patch: Patch) -> None:
    """As if each stored group were of one row."""
    rows: Any = StoredCalls._rows

    def found(self: StoredCalls) -> Any:
        return None if rows(self) is None else (exp.Literal.number(1), "bigint")

    patch.setattr(StoredCalls, "_rows", found)


def _first_of_several(patch: Patch) -> None:
    of_keys: Any = StoredCalls._of_keys

    def found(self: StoredCalls, call: Term) -> Any:
        return of_keys(self, replace(call, args=call.args[:1]))

    patch.setattr(StoredCalls, "_of_keys", found)


def _first_of_rows(patch: Patch) -> None:
    """The first column of a list of rows."""
    in_list: Any = expressions._in

    def found(node: exp.Expr, columns: Any) -> Term:
        if isinstance(node.this, exp.Tuple):
            values = [value.expressions[0].copy() for value in node.expressions]
            node = exp.In(this=node.this.expressions[0].copy(), expressions=values)
        return cast(Term, in_list(node, columns))

    patch.setitem(expressions._READERS, exp.In, found)


def _all_are_null(patch: Patch) -> None:
    """As many rows have NULL as there are."""
    of_nulls: Any = StoredCalls._of_nulls

    def found(self: StoredCalls, call: Term) -> Any:
        known = of_nulls(self, call)
        return known.this if isinstance(known, exp.Sub) else known

    patch.setattr(StoredCalls, "_of_nulls", found)


def _without_zeros(patch: Patch) -> None:
    """NULL is no zero in an average."""

    def found(self: StoredCalls, argument: Term) -> Any:
        value = argument.args[0] if type(argument.node) is exp.Coalesce else argument
        return self._averaged(value, value, None)

    patch.setattr(StoredCalls, "_averaged_with_zeros", found)


def _largest_bits(patch: Patch) -> None:
    patch.setitem(calls._EXTREMES, "BITWISEORAGG", exp.Max)


# Each with words, and the first seed by which it is caught.
MUTANTS: dict[str, tuple[Callable[[Patch], None], str, int]] = {
    "none stays NULL": (_none_stays, "none as zero", 25),
    "never without rows": (_never_without_rows, "a sum of ones", 127),
    "none is a zero": (_none_is_a_zero, "one of several", 9),
    "another value": (_other_value, "one of several", 9),
    "first of a list": (_first_of_list, "one more of a list", 30),
    "without factor": (_without_factor, "a multiple", 19),
    "without sign": (_without_factor, "a negative", 10),
    "one of a constant": (_without_factor, "a sum of twos", 28),
    "each key once": (_each_key_once, "a sum of a key", 159),
    "an average of each key once": (_each_key_once, "an average of a key", 1331),
    "first of several": (_first_of_several, "two at once", 16),
    "first of rows": (_first_of_rows, "two in a list", 21),
    "all are NULL": (_all_are_null, "how many are NULL", 6),
    "without zeros": (_without_zeros, "an average with zeros", 32),
    "without signs": (_without_factor, "with signs", 127),
    "once or once": (_without_factor, "times two or one", 66),
    "another extreme": (_other_value, "an extreme or else", 61),
    "all constants are one": (_without_factor, "constants by a key", 373),
    "each decimal once": (_each_key_once, "a sum of a decimal key", 54),
    "largest bits": (_largest_bits, "bits", 3080),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_wrong(name: str, lake: Lake, monkeypatch: Patch) -> None:
    change, wording, first = MUTANTS[name]
    change(monkeypatch)
    make = partial(worded_pair, wording=wording)
    assert run(about(first), lake, most_wrong=1, make=make).wrong
