"""Views that join more tables than a query reads: the same rows if what is said of keys holds, and
other rows if it does not, or is not asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import pytest

from dbt.adapters.spark_mv.catalog.constraints import NOT_NULL, REFERENCES, UNIQUE, Constraint
from dbt.adapters.spark_mv.rewrite import extra, match
from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from dbt.adapters.spark_mv.sql.names import TableName
from tests.sampling import WHOLE
from tests.unit.rewrite.extra_pairs import HELD, extra_pair
from tests.unit.rewrite.harness import Tables, answered, run, stored_view, text_of
from tests.unit.rewrite.lake import Lake

PAIRS = 20_000 if WHOLE else 1_500
Patch = pytest.MonkeyPatch
R, WHOLE_DIM, PART_DIM, MANY_DIM = (
    TableName("c", ("s",), name) for name in ("r", "whole_dim", "part_dim", "many_dim")
)


def test_same_rows(lake: Lake) -> None:
    report = run(range(PAIRS), lake, make=extra_pair, held=HELD)
    assert report.wrong == []
    assert report.matched > report.pairs * 0.25


def test_nothing_is_assumed(lake: Lake) -> None:
    """Where nothing is known of keys, only views of the query's own tables answer."""
    report = run(range(PAIRS // 5), lake, make=extra_pair)
    assert report.wrong == []
    assert report.refused["DIFFERENT_TABLES"] > report.pairs * 0.8


@pytest.mark.parametrize(
    "wrong",
    [
        Constraint(UNIQUE, (MANY_DIM, "k")),
        Constraint(REFERENCES, (R, "a"), (PART_DIM, "k")),
        Constraint(NOT_NULL, (R, "a")),
    ],
    ids=str,
)
def test_what_does_not_hold_makes_wrong_rows(lake: Lake, wrong: Constraint) -> None:
    held = HELD | {wrong, Constraint(REFERENCES, (R, "a"), (MANY_DIM, "k"))}
    assert run(range(2_000), lake, most_wrong=1, make=extra_pair, held=held).wrong


def _nulls_have_partners(patch: Patch) -> None:
    patch.setattr(match, "without_nulls", lambda *_: frozenset())


def _conditions_do_not_count(patch: Patch) -> None:
    left_out = extra._left_out

    def less(block: Block, occurrence: int, tie: extra._Tie) -> Block | None:
        def is_other(term: extra.Term) -> bool:
            of = {column.occurrence for column in term.columns}
            return occurrence not in of or extra._is_tie(term, tie)

        kept = tuple(filter(is_other, block.conditions))
        return left_out(replace(block, conditions=kept), occurrence, tie)

    patch.setattr(extra, "_left_out", less)


def _keys_of_others_do_not_count(patch: Patch) -> None:
    """A view that is grouped by a column of a table that was left out has no finer groups."""
    left_out = extra._left_out

    def less(block: Block, occurrence: int, tie: extra._Tie) -> Block | None:
        found = left_out(block, occurrence, tie)
        if found is None or found.keys is None:
            return found
        own = (k for k in found.keys if occurrence not in {c.occurrence for c in k.columns})
        return replace(found, keys=tuple(own))

    patch.setattr(extra, "_left_out", less)


@pytest.mark.parametrize(
    "mutant", [_nulls_have_partners, _conditions_do_not_count, _keys_of_others_do_not_count]
)
def test_mutant_is_wrong(lake: Lake, mutant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    assert run(range(3_000), lake, most_wrong=1, make=extra_pair, held=HELD).wrong


def _found(query: str, view: str, types: str, held: Collection[Constraint]) -> str:
    tables = Tables()
    made = stored_view(view, types.split(), tables)
    try:
        return text_of(answered(query, made, tables, held)).replace("\n", " ")
    except Unmatched as error:
        return error.reason.code


JOINED = "select r.a, d.w, d.k, count(*) as n from r join whole_dim d on d.k = r.a group by 1, 2, 3"
OUTER = "select r.id, r.b, d.w from r left join part_dim d on d.k = r.b and d.q > 1"
TYPES = "int string int bigint"
NEEDED = {
    Constraint(UNIQUE, (WHOLE_DIM, "k")),
    Constraint(REFERENCES, (R, "a"), (WHOLE_DIM, "k")),
}
NEVER_NULL = Constraint(NOT_NULL, (R, "a"))


def test_cases_of_the_paper() -> None:
    """36 to 38: by what is said, by a condition that rejects NULL, and neither with a filter."""
    plain = "select a, count(*) as n from r group by a"
    asked = "select a, count(*) as n from r where a > 1 group by a"
    assert "SUM(" in _found(plain, JOINED, TYPES, {*NEEDED, NEVER_NULL})
    assert _found(plain, JOINED, TYPES, NEEDED) == "ROWS_NOT_COVERED"
    assert "`a` >= 2" in _found(asked, JOINED, TYPES, NEEDED)
    filtered = JOINED.replace(" group by", " where d.w = 'x' group by")
    assert _found(plain, filtered, TYPES, {*NEEDED, NEVER_NULL}) == "DIFFERENT_TABLES"
    for one in NEEDED:
        less = {*NEEDED, NEVER_NULL} - {one}
        assert _found(plain, JOINED, TYPES, less) == "DIFFERENT_TABLES"


def test_a_left_join_needs_a_unique_key_alone() -> None:
    query = "select id from r where b = 1"
    unique = Constraint(UNIQUE, (PART_DIM, "k"))
    assert "mv_rows" in _found(query, OUTER, "int int string", {unique})
    assert _found(query, OUTER, "int int string", {Constraint(UNIQUE, (PART_DIM, "q"))}) == (
        "DIFFERENT_TABLES"
    )


def test_what_is_assumed_is_said() -> None:
    """For whoever has to find out whether it holds at the versions of the stored rows."""
    tables = Tables()
    held = {*NEEDED, NEVER_NULL, Constraint(UNIQUE, (PART_DIM, "k"))}
    view = stored_view(JOINED, TYPES.split(), tables)
    found = answered("select a, count(*) as n from r group by a", view, tables, held)
    assert found.assumed == {*NEEDED, NEVER_NULL}
    found = answered("select a, count(*) as n from r where a > 1 group by a", view, tables, held)
    assert found.assumed == NEEDED
