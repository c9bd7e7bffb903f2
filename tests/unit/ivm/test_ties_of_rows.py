"""Rows that windows choose, below others: each has one place only, in whatever order they come."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast
from dbt.adapters.spark_mv.ivm.analysis import analyse
from dbt.adapters.spark_mv.ivm.rewrite import limit_to_window, total_order
from tests.unit.ivm.checks import ROUNDS, holds, is_noticed
from tests.unit.ivm.formulas import (
    COLUMNS,
    TABLES,
    Engine,
    forget,
    program_of,
    refresh_in_another_order_is_right,
    refresh_is_right,
    shown_is_right,
)
from tests.unit.ivm.queries_ordered import ORDERED, REFUSED, TIED


@pytest.mark.parametrize("name", ORDERED)
def test_shown(engine: Engine, name: str) -> None:
    """What is stored is what the query returns, where that is known."""
    assert program_of(ORDERED[name]).has_no_ties
    assert holds(shown_is_right, engine, ORDERED[name], 2 * ROUNDS)


@pytest.mark.parametrize("name", ORDERED)
def test_rows_after(engine: Engine, name: str) -> None:
    """Stored rows are brought up to date, as a whole and in part."""
    assert holds(refresh_is_right, engine, ORDERED[name], 2 * ROUNDS)


@pytest.mark.parametrize("name", TIED)
def test_rows_after_with_ties(engine: Engine, name: str) -> None:
    """The same, if rows are read in another order than when they were stored."""
    assert holds(refresh_in_another_order_is_right, engine, TIED[name], 2 * ROUNDS)


@pytest.mark.parametrize(
    ("module", "name", "wrong", "sql"),
    [
        (total_order, "_terms", lambda select, types_of: [exp.true()], TIED["latest"]),
        (total_order, "_is_of_rank", lambda window: window.args["order"] is not None,
         "select f, count(*) n from (select last_value(v) over (partition by a order by b) f "
         "from mv_table_0) d group by f"),
        (limit_to_window, "_numbers", lambda inner, keys: inner.set("limit", None) or [],
         TIED["lateral_best"]),
    ],
)  # fmt: skip
def test_mutants(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, wrong: Any, sql: str
) -> None:
    """Rules that are wrong on purpose are found."""
    monkeypatch.setattr(module, name, wrong)
    forget()
    checks = (refresh_in_another_order_is_right, shown_is_right)
    noticed = any(is_noticed(check, engine, sql, 4 * ROUNDS) for check in checks)
    forget()
    assert noticed


@pytest.mark.parametrize(("sql", "code"), REFUSED.items())
def test_refused(sql: str, code: str) -> None:
    """Where another order of equal rows may give what the query never returns."""
    with pytest.raises(NotFast) as caught:
        program_of(sql)
    assert caught.value.reason.code == code


@pytest.mark.parametrize("kind", ["map<string,int>", "string collate UTF8_LCASE"])
def test_types_without_order(kind: str) -> None:
    """Rows are equal in what cannot be put in order, or is equal to something else."""

    def types_of(query: exp.Query) -> list[str]:
        return [kind] * len(query.named_selects)

    with pytest.raises(NotFast) as caught:
        analyse(TIED["latest"], dict.fromkeys(TABLES, COLUMNS), {"v": "int", "n": "int"}, types_of)
    assert caught.value.reason.code == "ORDER_DEPENDENT"


def test_generated_rows() -> None:
    """A column that nothing reads may make rows nevertheless."""
    text = program_of(
        "with d as (select a, b, inline(array(struct(1), struct(2))) x from mv_table_0), e as "
        "(select *, row_number() over (partition by a order by b) k from d) select count(*) n "
        "from e where k = 2"
    )
    assert "INLINE" in text.stored_query().sql("spark")


def test_columns_that_nothing_reads() -> None:
    """They are not read for the order of rows."""
    text = (
        program_of(
            "with d as (select *, row_number() over (partition by a order by b) k from mv_table_0) "
            "select count(*) n from d where k = 1"
        )
        .stored_query()
        .sql("spark")
    )
    assert "`v`" not in text
