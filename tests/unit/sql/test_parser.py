"""Texts that sqlglot by itself cannot read, or reads as something else."""

import pytest

from dbt.adapters.spark_mv.sql.parser import statements


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT window.start, COUNT(*) FROM t GROUP BY WINDOW(at, '1 hour')",
        "SELECT window, a FROM t GROUP BY WINDOW(at, '1 hour', '5 minutes'), a",
        "SELECT SUM(a) OVER window FROM t WINDOW window AS (PARTITION BY b)",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a DESC) FROM t",
        "SELECT PERCENTILE_DISC(ARRAY(0.5)) WITHIN GROUP (ORDER BY a) FILTER(WHERE b) FROM t",
    ],
)
def test_printed_as_written(sql: str) -> None:
    (tree,) = statements(sql)
    assert tree is not None and tree.sql("spark") == sql


@pytest.mark.parametrize(
    ("sql", "printed"),
    [
        ("SELECT LAST_VALUE(a, false) OVER (ORDER BY b) FROM t", "LAST_VALUE(a) OVER"),
        ("SELECT FIRST_VALUE(a, true) OVER (ORDER BY b) FROM t", "FIRST_VALUE(a) IGNORE NULLS"),
        ("SELECT v:part[0].name::int FROM t", "'$.part[0].name'"),
    ],
)
def test_understood(sql: str, printed: str) -> None:
    (tree,) = statements(sql)
    assert tree is not None and printed in tree.sql("spark")
