"""Which statements sqlglot is trusted with; all others are Spark's to explain."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.sql.scan import executed, is_dynamic, names_in
from dbt.adapters.spark_mv.sql.understood import understood
from dbt.adapters.spark_mv.sql.words import words_of


@pytest.mark.parametrize(
    "sql",
    [
        "select * from a.t",
        "with c(x) as (select 1) select sum(x) from c",
        "insert into a.t (x, y) select 1, 2 from b.u",
        "create table a.t (x decimal(10, 2)) using iceberg partitioned by (bucket(4, x))",
        "create table a.t using iceberg tblproperties ('a' = 'b') as select * from b.u",
        "select t.x from a.t lateral view explode(array(1)) e as v",
        "select * from (select 1) as q(a) join range(5) on true",
        "insert overwrite table a.t partition (d = 1) select * from b.u",
    ],
)
def test_understood(sql: str) -> None:
    assert understood(sql) is not None


@pytest.mark.parametrize(
    ("sql", "is_parsed"),
    [
        ("table a.t", False),
        ("select 1 union all table a.t", False),
        ("select * from identifier('a.t')", True),
        ("select * from a.t |> where x > 1", False),
        ("select * from stream a.t", None),
        ("select mine(x) from a.t", True),
        ("select * from mine()", True),
        ("select a.mine(x) from a.t", True),
        ("select * from f(table(a.t))", None),
        ("select x >>> 1 from a.t", False),
    ],
)
def test_left_to_spark(sql: str, is_parsed: bool | None) -> None:
    """Whether sqlglot parses a form changes with its versions; each way it is left to Spark."""
    assert understood(sql) is None
    assert is_parsed is None or (parse(sql) is not None) is is_parsed


def test_names() -> None:
    found = names_in(words_of("begin set x = 'select * from a.t'; select `b c`.d, e from f.g; end"))
    assert {("a", "t"), ("b c", "d"), ("f", "g"), ("e",)} <= set(found)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("begin select * from t; end", False),
        ("begin execute immediate 'select 1'; end", False),
        ("begin execute immediate x; end", True),
        ("begin execute immediate 'select ' || x; end", True),
        ("begin select * from identifier('t'); end", False),
        ("begin select * from identifier(x); end", True),
        ("begin select * from identifier('t' || x); end", True),
    ],
)
def test_dynamic(sql: str, expected: bool) -> None:
    assert is_dynamic(words_of(sql)) is expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("execute immediate 'select 1'", "'select 1'"),
        ("execute immediate 'select ' || x using 1 as y", "'select ' || x"),
        ("execute immediate concat(x, 'into') into y", "concat(x, 'into')"),
        ("execute immediate", ""),
    ],
)
def test_executed(sql: str, expected: str) -> None:
    assert executed(words_of(sql), sql) == expected
