"""Views with columns of the names that Iceberg has for its own, which no table can have."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.volatile import METADATA_COLUMNS
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERIES = {
    "first": "select customer as {}, id from @.orders",
    "second": "select id, customer as {} from @.orders",
    "aggregated": "select id, count(*) as n, max(customer) as {} from @.orders group by id",
    "key": "select count(*) as n, id as {} from @.orders group by id",
    "beside": "select id, customer as {}, customer as `{}__mv` from @.orders",
}
LAYOUTS = ("", "partitioned by ({})", "cluster by ({})", "partitioned by (id) cluster by ({})")


@pytest.mark.parametrize("column", sorted(METADATA_COLUMNS | {"_FILE"}))
def test_columns_of_iceberg(lake: Warehouse, column: str) -> None:
    for number, (query, layout) in enumerate(
        (query, layout) for query in QUERIES.values() for layout in LAYOUTS
    ):
        if "(id)" in layout and "id," not in query:
            continue
        text = query.replace("{}", column)
        lake.sql(
            f"create or replace materialized view @.v {layout.replace('{}', column)} as {text}"
        )
        assert_same(lake, "select * from @.v", text)
        for change in (
            f"insert into @.orders values ({100 + number}, 'eve', 2)",
            f"update @.orders set customer = 'ada' where id = {100 + number}",
        ):
            lake.spark(change)
            lake.sql("select * from @.v")
            assert lake.freshness("v") == "FRESH"
            assert_same(lake, "select * from @.v", text)


def test_names_matter(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_sql, "METADATA_COLUMNS", frozenset())
    lake.sql(
        "create or replace materialized view @.v as select id, customer as _file from @.orders"
    )
    with pytest.raises(Exception, match="reserved for Iceberg"):
        lake.spark("select * from @.v")
