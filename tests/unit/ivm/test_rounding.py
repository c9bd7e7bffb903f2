"""Aggregates whose last digits depend on the order of rows."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.analysis import analyse
from dbt.adapters.spark_mv.ivm.tree import NotFast
from tests.unit.ivm.formulas import COLUMNS, TABLES


@pytest.mark.parametrize(
    ("call", "type_name", "refused"),
    [
        ("sum(v)", "double", True),
        ("avg(distinct v)", "float", True),
        ("sum(v) filter (where b > 1)", "float", True),
        ("max(v)", "double", False),
        ("sum(v)", "bigint", False),
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
        return [type_name] * len(query.expressions)

    analyse(at_the_top, columns, {"a": "int", "x": "double"}, types_of)
    if refused:
        with pytest.raises(NotFast, match="last digits"):
            analyse(below, columns, {"m": "double"}, types_of)
    else:
        analyse(below, columns, {"m": "double"}, types_of)
