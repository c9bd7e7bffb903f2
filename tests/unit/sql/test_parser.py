"""Texts that sqlglot by itself cannot read, or reads as something else."""

import pytest
from sqlglot.errors import ParseError

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
        ("SELECT LAST_VALUE(f(a, b), false) FROM t", "LAST_VALUE(F(a, b)) FROM"),
        ("SELECT ANY_VALUE(f(a, false)) FROM t", "ANY_VALUE(F(a, FALSE)) FROM"),
        ("SELECT trunc(d, 'MON') FROM t", "TRUNC(d, 'MON')"),
        ("SELECT trunc(d, unit) FROM t", "TRUNC(d, unit)"),
        ("SELECT Date_Trunc('WEEK', d) FROM t", "DATE_TRUNC('WEEK', d)"),
        ("SELECT DATE_FORMAT(trunc(d, 'YY'), 'y') /* why */ FROM t", "/* why */"),
        ("SELECT v:part[0].name::int FROM t", "VARIANT_GET(v, '$.part[0].name')"),
        ("SELECT q.v:`a b`['c d'] FROM t q", r"VARIANT_GET(q.v, '$.a b[\'c d\']')"),
        ("SELECT f(v):a + 1, (v):b, w[0]:c FROM t", "VARIANT_GET(F(v), '$.a') + 1"),
        ("SELECT date:a, x[v:b] FROM t", "VARIANT_GET(date, '$.a'), x[VARIANT_GET(v, '$.b')]"),
        ("SELECT f(v:a, x -> x + 1) FROM t", "F(VARIANT_GET(v, '$.a'), x -> x + 1)"),
        ("SELECT CAST(a AS STRUCT<b: MAP<INT, STRUCT<c: INT>>>):d FROM t", "'$.d'"),
        ("SELECT a FROM t WHERE b IN (:one, :two) AND :three", "b IN (:one, :two) AND :three"),
    ],
)
def test_understood(sql: str, printed: str) -> None:
    (tree,) = statements(sql)
    assert tree is not None and printed in tree.sql("spark")


@pytest.mark.parametrize("name", ["trunc", "date_trunc", "date_format", "percentile_cont"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT {0}.a AS {0} FROM {0} WHERE {0}.{0} > 1",
        "WITH {0}(a) AS (SELECT 1) SELECT a FROM {0}",
        "CREATE TABLE {0} (a INT)",
        "INSERT INTO {0} (a) SELECT 1",
    ],
)
def test_as_a_name(sql: str, name: str) -> None:
    """What is the name of a function is that of a table, a column, an alias as well."""
    for tree in statements(sql.format(name)):
        assert tree is not None and "mv_" not in tree.sql("spark") and name in tree.sql("spark")


@pytest.mark.parametrize("call", ["DATE_FORMAT(a)", "DATE_FORMAT()", "SUM(DATE_FORMAT(a))"])
def test_arguments_are_counted(call: str) -> None:
    with pytest.raises(ParseError):
        statements(f"SELECT {call} FROM t")
