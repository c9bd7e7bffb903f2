"""partition_by and cluster_by with columns that have any name, in backticks where Spark wants them:
every refresh has the rows of the query."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse

COLUMNS = (
    "id int, `A.b` string, `Dec X` int, `UP` string, `N T` date, `q``t` int, `1st` int, `p(x` int"
)
ROWS = (
    "(1, 'x', 1, 'u', date'2024-01-01', 1, 1, 1), (2, null, 2, null, null, null, null, null), "
    "(3, 'y.z', 1, 'w w', date'2024-02-01', 5, 5, 5)"
)
LATER = "(5, 'x', 2, 'u', date'2024-03-01', 7, 7, 7), (6, '', null, '', null, 1, null, 5)"
TERMS = (
    "up",
    "`UP`",
    "`Dec X`",
    "`A.b`",
    "`q``t`",
    "`1st`",
    "`p(x`",
    "months(`N T`)",
    "bucket(3, `Dec X`)",
    "bucket(3, `A.b`)",
    "truncate(1, `A.b`)",
    "`Dec X`, `A.b`",
)


@pytest.fixture
def table(lake: Warehouse) -> Warehouse:
    lake.sql("drop materialized view if exists @.m")
    lake.spark(f"create or replace table @.t ({COLUMNS}) using iceberg")
    lake.spark(f"insert into @.t values {ROWS}")
    return lake


def rows(lake: Warehouse, name: str) -> Counter[str]:
    return Counter(map(str, lake.spark(f"select * from @.{name}")))


def create(lake: Warehouse, clauses: str) -> None:
    lake.sql(f"create materialized view @.m {clauses} as select * from @.t")


@pytest.mark.parametrize("term", TERMS)
def test_refreshes(table: Warehouse, term: str) -> None:
    create(table, f"partitioned by ({term}) cluster by (`N T`, `q``t`)")
    assert rows(table, "m") == rows(table, "t")
    changes = (f"insert into @.t values {LATER}", "update @.t set id = id + 10 where id < 3")
    for method, change in zip(
        ("partition", "fast", "complete"), (*changes, changes[0]), strict=True
    ):
        table.spark(change)
        report = table.operation("refresh", view=f"{table.schema}.m", method=method)
        assert not report.failures
        assert rows(table, "m") == rows(table, "t"), method


def test_invalidated(table: Warehouse) -> None:
    create(table, "partitioned by (`Dec X`, `A.b`)")
    table.spark(f"update {table.storage('m')} set up = 'by hand' where `Dec X` = 1")
    partitions = [{"Dec X": 1, "A.b": "x"}, [1, "y.z"]]
    table.operation("invalidate", view=f"{table.schema}.m", partitions=partitions)
    table.sql("select * from @.m")
    assert rows(table, "m") == rows(table, "t")


REFUSED = {
    "partitioned by (`dec`)": "partition_by names 'dec'",
    "partitioned by (bucket(3, `A`))": "partition_by names 'A'",
    "partitioned by (bucket(3))": "partition_by names 'bucket(3)'",
    "cluster by (`Dec`)": "cluster_by names 'Dec'",
    "cluster by (`Dec X`, `A . b`)": "cluster_by names 'A . b'",
}


@pytest.mark.parametrize("clauses", REFUSED)
def test_no_column(table: Warehouse, clauses: str) -> None:
    with pytest.raises(MaterializedViewFailure) as raised:
        create(table, clauses)
    assert REFUSED[clauses] in str(raised.value)
    assert "The query returns: id, A.b, Dec X" in str(raised.value)
