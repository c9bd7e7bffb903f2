"""Views with columns of the names that Iceberg has for its own, which no table can have."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.volatile import METADATA_COLUMNS
from tests.functional.materialized_view.rewritten import of_small_tables, reasons_of, views_of
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


@pytest.mark.parametrize("which", ["second", "aggregated", "key"])
@pytest.mark.parametrize("column", ["_file", "_pos", "_Row_ID"])
def test_fast_live_and_rewritten(lake: Warehouse, column: str, which: str) -> None:
    query = QUERIES[which].replace("{}", column)
    lake.sql(
        "create or replace materialized view @.f options (refresh_method = 'fast', live = true)"
        f" as {query}"
    )
    for change in (
        "insert into @.orders values (500, 'eve', 2), (1, 'zoe', 3)",
        "update @.orders set customer = 'joe' where id in (1, 500)",
        "delete from @.orders where id = 500",
    ):
        lake.spark(change)
        assert_same(lake, "select * from @.f__live", query)
        lake.sql("select * from @.f")
        assert lake.history("f", "method")[-1] == ("fast",)
        assert_same(lake, "select * from @.f", query)
        assert_same(lake, "select * from @.f__live", query)


@pytest.mark.parametrize("column", ["_file", "_pos", "_Row_ID"])
def test_rewritten(lake: Warehouse, column: str) -> None:
    shop = of_small_tables(lake)
    shop.spark("drop table if exists @.many")
    shop.spark("create table @.many using iceberg as select id, id % 7 as k from range(3000)")
    shop.sql(
        f"create or replace materialized view @.r as select k as {column} from @.many where k > 4"
    )
    shop.sql(
        f"create or replace materialized view @.g as select k as {column}, count(*) as n "
        "from @.many group by k"
    )
    for query, view in (
        (f"select k + 1 as {column} from @.many where k > 5", "r"),
        (f"select k as {column}, count(*) as n from @.many where k < 5 group by k", "g"),
        (f"select count(*) as {column}, max(k) from @.many where k <> 3", "g"),
    ):
        assert views_of(shop, query) == [view], (query, reasons_of(shop, query))
        assert Counter(shop.apart(query)) == Counter(shop.spark(query))


def test_names_matter(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_sql, "METADATA_COLUMNS", frozenset())
    lake.sql(
        "create or replace materialized view @.v as select id, customer as _file from @.orders"
    )
    with pytest.raises(Exception, match="reserved for Iceberg"):
        lake.spark("select * from @.v")
