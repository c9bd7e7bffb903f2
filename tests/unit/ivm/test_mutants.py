"""Rules that are wrong on purpose: the rounds of test_delta.py find each of them."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.ivm.algebra import aggregates, stored, terms
from dbt.adapters.spark_mv.ivm.apply import additive, merge, top_n
from dbt.adapters.spark_mv.ivm.delta import grouping, outer_joins, single_row
from dbt.adapters.spark_mv.ivm.rewrite import (
    grouping_sets,
    laterals,
    scalar_subqueries,
    set_operations,
)
from tests.unit.ivm.checks import MANY_ROUNDS, Check, is_noticed
from tests.unit.ivm.formulas import (
    Engine,
    delta_is_right,
    first_rows_are_right,
    forget,
    refresh_is_right,
    rewriting_is_right,
    shown_is_right,
)
from tests.unit.ivm.queries import BY_GROUP, FIRST, ROW_BY_ROW
from tests.unit.ivm.queries_added import ADDED


def _plain_equality(one: Any, two: Any) -> Any:
    return terms.exp.EQ(this=one, expression=two)


def _without_number(additive: Any) -> Any:
    names = [f"mv_key_{number}" for number in range(len(additive.row_keys))]
    pairs = [
        terms.same(terms.column("mv_groups", name), terms.column("mv_rescued", name))
        for name in names
    ]
    return terms.both(pairs)


MUTANTS: dict[str, tuple[list[tuple[Any, str, Any]], Check, str]] = {
    "rows of before read as they are now": (
        [(terms.Context, "old", lambda self, node: node.copy())],
        delta_is_right,
        ROW_BY_ROW["join"],
    ),
    "NULL is not equal to NULL": (
        [(grouping, "same", _plain_equality)],
        refresh_is_right,
        BY_GROUP["having"],
    ),
    "rows with NULL are not replaced": (
        [(stored, "same", _plain_equality)],
        refresh_is_right,
        ROW_BY_ROW["join"],
    ),
    "groups whose key is NULL are not replaced": (
        [(stored, "same", _plain_equality)],
        refresh_is_right,
        ADDED["all_functions"],
    ),
    "NULL is not equal to NULL in added groups": (
        [(merge, "same", _plain_equality)],
        refresh_is_right,
        ADDED["all_functions"],
    ),
    "left rows keep their NULLs": (
        [(outer_joins._Sides, "lonely", lambda self, left, right: [])],
        delta_is_right,
        ROW_BY_ROW["left_join"],
    ),
    "right rows of a full join without a partner are forgotten": (
        [(outer_joins._Sides, "alone", lambda self, left, right: [])],
        delta_is_right,
        ROW_BY_ROW["full_join"],
    ),
    "the least value stays when it goes": (
        [(merge, "_is_lost", lambda additive, part: terms.exp.false())],
        refresh_is_right,
        ADDED["all_functions"],
    ),
    "rows that went are added": (
        [(terms.Context, "only_adds", True)],
        refresh_is_right,
        ADDED["all_functions"],
    ),
    "groups that HAVING leaves out are shown": (
        [(additive, "_left_out", lambda having: terms.exp.false())],
        shown_is_right,
        ADDED["having_added"],
    ),
    "rows on the left are on the right": (
        [
            (
                set_operations,
                "_marked",
                lambda side, n, real=set_operations._marked: real(side, 1 - n),
            )
        ],
        rewriting_is_right,
        ADDED["rows_on_one_side"],
    ),
    "conditions of FILTER are dropped": (
        [(aggregates, "_when", lambda condition, value: value.copy())],
        rewriting_is_right,
        ADDED["filtered"],
    ),
    "a NULL of the data is one that a set of keys lacks": (
        [(merge, "_same_group", _without_number)],
        refresh_is_right,
        ADDED["rollup"],
    ),
    "only groups of all keys get their least value back": (
        [(grouping_sets, "lacks", lambda keys, number, key: terms.exp.Literal.number(0))],
        refresh_is_right,
        ADDED["rollup"],
    ),
    "what LATERAL names is there without a row": (
        [(laterals, "_if_found", lambda alias, value: value)],
        rewriting_is_right,
        ROW_BY_ROW["lateral_left"],
    ),
    "counts of no rows are NULL": (
        [(scalar_subqueries, "_of_none", lambda call, joined: joined)],
        rewriting_is_right,
        ROW_BY_ROW["value_by_key"],
    ),
    "a value of all rows does not change": (
        [(single_row, "delta", lambda query, rule: None)],
        delta_is_right,
        ROW_BY_ROW["constant_value"],
    ),
    "first rows that go are not missed": (
        [(top_n, "_is_short", lambda first: "FALSE")],
        first_rows_are_right,
        FIRST["first"],
    ),
    "what was left out is not before the last stored row": (
        [(top_n, "_IS_UNKNOWN", "FALSE")],
        first_rows_are_right,
        FIRST["first"],
    ),
    "rows of equal place are known": (
        [(top_n, "_FROM_HERE", "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING")],
        first_rows_are_right,
        FIRST["first"],
    ),
    "old groups are not taken away": (
        [(grouping, "weighted", lambda query, weight, real=grouping.weighted: real(query, 1))],
        delta_is_right,
        BY_GROUP["nested"],
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_found(engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each rule is needed: without it the same rounds find a wrong row."""
    changes, check, sql = MUTANTS[name]
    for owner, attribute, wrong in changes:
        monkeypatch.setattr(owner, attribute, wrong)
    forget()
    try:
        assert is_noticed(check, engine, sql, 10 * MANY_ROUNDS)
    finally:
        forget()
