"""Aggregates whose last digits depend on the order of rows."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast
from dbt.adapters.spark_mv.ivm.analysis import analyse
from dbt.adapters.spark_mv.ivm.program import rows_after
from tests.unit.ivm.formulas import COLUMNS, TABLES


@pytest.mark.parametrize(
    ("call", "type_name", "refused"),
    [
        ("sum(v)", "double", True),
        ("avg(distinct v)", "float", True),
        ("sum(v) filter (where b > 1)", "float", True),
        ("max(v)", "double", False),
        ("sum(v)", "bigint", False),
        ("avg(v)", "bigint", False),
        ("max(avg(v)) over (partition by a)", "bigint", False),
        ("avg(max(v)) over (partition by a)", "bigint", False),
        ("stddev(v)", "bigint", True),
        ("regr_slope(v, b)", "int", True),
    ],
)
def test_last_digits(call: str, type_name: str, refused: bool) -> None:
    """What is computed twice and may differ is not taken away, nor compared, below others."""
    columns = dict.fromkeys(TABLES, COLUMNS)
    below = f"select max(x) m from (select a, {call} x from {TABLES[0]} group by a) d"
    at_the_top = f"select a, {call} x from {TABLES[0]} group by a"

    def types_of(query: exp.Query) -> list[str]:
        return [type_name] * len(query.named_selects)

    analyse(at_the_top, columns, {"a": "int", "x": "double"}, types_of)
    if refused:
        with pytest.raises(NotFast, match="last digits"):
            analyse(below, columns, {"m": "double"}, types_of)
    else:
        analyse(below, columns, {"m": "double"}, types_of)


@pytest.mark.parametrize(
    ("argument", "type_name", "summed"),
    [
        ("v", "bigint", "SUM(ABS(CAST(`mv_table_0`.`v` AS DECIMAL(20, 0))))"),
        ("distinct v + b", "int", "SUM(ABS(CAST(`mv_table_0`.`v` + `mv_table_0`.`b` AS BIGINT)))"),
        ("v", "smallint", None),
        ("v", "decimal(10,2)", None),
    ],
)
def test_averages_of_whole_numbers(argument: str, type_name: str, summed: str | None) -> None:
    """Below others, a group whose average may be rounded ends the statement; both as it was and as
    it is."""
    query = f"select max(x) m from (select a, avg({argument}) x from {TABLES[0]} group by a) d"
    columns = dict.fromkeys(TABLES, COLUMNS)
    program = analyse(
        query, columns, {"m": "double"}, lambda asked: [type_name] * len(asked.expressions)
    )
    after = rows_after(program, frozenset(TABLES[:1]), False, ["double"])
    text = " ".join(named.sql("spark") for named in after.named.values())
    guard = f"CASE WHEN {summed} > 9007199254740992 THEN RAISE_ERROR("
    assert text.count(guard) == (2 if summed else 0)


def test_averages_of_windows() -> None:
    """The sum that tells is over the same window."""
    windows = f"select a, avg(v) over (partition by a) x from {TABLES[0]}"
    program = analyse(
        f"select max(x) m from ({windows}) d",
        dict.fromkeys(TABLES, COLUMNS),
        {"m": "double"},
        lambda asked: ["int"] * len(asked.expressions),
    )
    after = rows_after(program, frozenset(TABLES[:1]), False, ["double"])
    text = " ".join(named.sql("spark") for named in after.named.values())
    over = "OVER (PARTITION BY `mv_table_0`.`a`)"
    sums = f"SUM(ABS(CAST(`mv_table_0`.`v` AS BIGINT))) {over}"
    assert text.count(f"CASE WHEN {sums} > 9007199254740992 THEN RAISE_ERROR(") == 2
    assert text.count(f"ELSE AVG(`mv_table_0`.`v`) {over} END") == 2
