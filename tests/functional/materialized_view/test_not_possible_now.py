"""What is said of a view whose method its base tables no longer allow; its rows are as before."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse

QUERY = "select k, sum(v) as s, count(*) as n from @.worn group by k"
HEAL = "Correct the query, or give the table a column of this name"


@pytest.fixture
def worn(lake: Warehouse) -> Warehouse:
    lake.sql("drop materialized view if exists @.strict")
    lake.spark("create or replace table @.worn (k string, v int) using iceberg")
    lake.spark("insert into @.worn values ('a', 1), ('b', 2)")
    return lake


@pytest.mark.parametrize("method", ["fast", "partition"])
def test_column_gone(worn: Warehouse, method: str) -> None:
    """The operation and a read name the column; the view is right when there is one again."""
    layout = "partitioned by (k)" if method == "partition" else ""
    options = f"options (refresh_method = '{method}')"
    worn.sql(f"create materialized view @.strict {layout} {options} as {QUERY}")
    stored = worn.spark("select * from @.strict")
    worn.spark("alter table @.worn rename column v to w")
    worn.spark("insert into @.worn values ('a', 3)")
    worn.restart()
    (failure,) = worn.operation("refresh", view=f"{worn.schema}.strict", method=method).failures
    assert "COLUMN_GONE: it names the column v, which no table has" in failure
    assert HEAL in failure and "method complete" not in failure
    with pytest.raises(MaterializedViewFailure, match=HEAL[1:]):
        worn.sql("select * from @.strict")
    assert Counter(worn.spark("select * from @.strict")) == Counter(stored)
    worn.spark("alter table @.worn rename column w to v")
    worn.spark("insert into @.worn values ('b', 4)")
    worn.restart()
    worn.operation("refresh", view=f"{worn.schema}.strict", method="complete")
    assert Counter(worn.sql("select * from @.strict")) == Counter(worn.spark(QUERY))


def test_table_made_again(worn: Warehouse) -> None:
    """A read of a view that is fast only says which refresh helps."""
    options = "options (refresh_method = 'fast')"
    worn.sql(f"create materialized view @.strict {options} as {QUERY}")
    worn.spark("drop table @.worn")
    worn.spark("create table @.worn (k string, v int) using iceberg")
    worn.spark("insert into @.worn values ('a', 9)")
    worn.restart()
    said = "Its old rows are unchanged; refresh the view with method complete once."
    with pytest.raises(MaterializedViewFailure, match=said):
        worn.sql("select * from @.strict")
    assert not worn.operation("refresh", view=f"{worn.schema}.strict", method="complete").failures
    assert Counter(worn.sql("select * from @.strict")) == Counter(worn.spark(QUERY))
