from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.core.errors import NotAQuery, UnsafeQuery
from dbt.adapters.spark_mv.views.safety import check_query, refuse_unsafe


@pytest.mark.parametrize(
    "query",
    [
        "select 1",
        "(select 1)",
        "with a as (select 1) select * from a",
        "values (1)",
        "select 1 union select 2",
        "select reflect from t",
        "select 'reflect(' from t",
        "select `reflect`.x from t",
        "select 1;",
        "from t select x",
        "table t",
        "select a >>> 1 from t",
        "(" * 200 + "select a from t" + ")" * 200,
    ],
)
def test_allowed(query: str) -> None:
    check_query(query, "db.v", allow_unsafe=False)


@pytest.mark.parametrize(
    "query",
    [
        "",
        " -- nothing",
        "select 1; select 2",
        "select 1; drop table t",
        "insert into t values (1)",
        "delete from t",
        "create table t as select 1",
        "drop table t",
        "show tables",
        "set a = b",
        "describe t",
        "x" * 1_000_001,
    ],
)
def test_not_a_query(query: str) -> None:
    with pytest.raises(NotAQuery):
        check_query(query, "db.v", allow_unsafe=False)


@pytest.mark.parametrize(
    "query",
    [
        "select reflect('a', 'b')",
        "select REFLECT ('a', 'b') from t",
        "select java_method('a', 'b')",
        "select try_reflect('a', 'b')",
        "select /* x */ reflect /* y */ ('a', 'b')",
        "select * from read_files('/x')",
        "select `reflect`('a', 'b')",
        "select * from (select reflect('a', 'b'))",
        "select transform(id) using 'cat' as (x string) from o",
        'select transform(id) using "cat" as (x string) from o',
        "select transform(id) using r'cat' as (x string) from o",
        'select transform(id) using R"cat" as (x string) from o',
    ],
)
def test_unsafe(query: str) -> None:
    with pytest.raises(UnsafeQuery):
        check_query(query, "db.v", allow_unsafe=False)
    check_query(query, "db.v", allow_unsafe=True)


def test_unsafe_without_a_tree() -> None:
    with pytest.raises(UnsafeQuery):
        refuse_unsafe("from (map id using -- x\n r'cat' as x from o) select 1", "db.v")
