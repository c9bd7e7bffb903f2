"""What is known of a definition before it is refreshed: its methods, and what Spark said of it."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import analyzer
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

TOTALS = "select amount % 2 as odd, sum(amount) as total from @.orders group by 1"


def test_methods_are_in_the_status(lake: Warehouse) -> None:
    """`yes`, or what stands against it."""
    lake.sql(f"create materialized view @.totals as {TOTALS}")
    lake.sql(
        "create materialized view @.first_rows partitioned by (amount) as "
        "select id, amount from @.orders order by id limit 2"
    )
    lake.sql(
        "create materialized view @.ranked partitioned by (amount) as "
        "select id, amount, rank() over (partition by amount order by id) as k from @.orders"
    )
    rows = lake.spark(
        "select table_name, can_be_fast, can_be_by_partition from @meta.mv_status order by 1"
    )
    assert {row[0]: tuple(text[:15] for text in row[1:]) for row in rows} == {
        "totals": ("yes", "NOT_PARTITIONED"),
        "first_rows": ("yes", "LIMIT: rows of "),
        "ranked": ("yes", "yes"),
    }


def test_spark_is_asked_once(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are kept with the view, until a table has other columns."""
    asked: list[str] = []
    real = analyzer.confirm
    monkeypatch.setattr(
        analyzer, "confirm", lambda *arguments: (asked.append("confirm"), real(*arguments))
    )
    lake.spark("insert into @.orders values (51, 'ann', 7)")
    lake.restart()
    lake.sql("refresh materialized view @.totals fast")
    assert asked == []
    lake.spark("alter table @.orders add column note string")
    lake.spark("insert into @.orders values (52, 'ann', 8, 'x')")
    lake.restart()
    lake.sql("refresh materialized view @.totals")
    assert asked == ["confirm"]
    assert_same(lake, "select * from @.totals", TOTALS)
    lake.restart()
    lake.sql(f"create or replace materialized view @.totals as {TOTALS}")
    assert asked == ["confirm"]
    lake.sql(f"create or replace materialized view @.totals as {TOTALS} having count(*) > 1")
    assert asked == ["confirm", "confirm"]


def test_estimates_are_in_the_history(lake: Warehouse) -> None:
    """What a method was held to cost, or why no other was taken."""
    lake.sql("create materialized view @.counted as select count(*) as n from @.orders")
    lake.sql("insert into @.orders values (61, 'ann', 7, null)")
    lake.sql("refresh materialized view @.counted fast")
    lake.sql("insert into @.orders values (62, 'ann', 7, null)")
    lake.sql("refresh materialized view @.counted")
    (_, first), (method, second) = lake.history("counted", "method, estimate")[1:]
    assert "1 changed rows" in first and method == "complete"
    assert second.startswith("not fast: NOT_CHEAPER: ") and "NOT_CHEAPER" in second[30:]


def test_configured_method_is_no_wish_to_recompute(lake: Warehouse) -> None:
    """3.6: `refresh_method: complete` says how, and not that a fresh view is computed again."""
    lake.sql(
        "create materialized view @.configured options (refresh_method = 'complete') "
        "as select count(*) as n from @.orders"
    )
    build = lake.build_of("configured")
    lake.sql("refresh materialized view @.configured")
    assert lake.build_of("configured") == build
    lake.sql("refresh materialized view @.configured complete")
    assert lake.build_of("configured") != build


def test_average_of_wide_numbers(lake: Warehouse) -> None:
    """F-avg: Spark adds doubles; a sum that is exact in the end may not have been on the way."""
    lake.spark("create or replace table @.wide (k int, v bigint) using iceberg")
    lake.spark("insert into @.wide values (1, 1), (2, 3)")
    query = "select k, avg(v) as a from @.wide group by k"
    lake.sql(f"create materialized view @.means as {query}")
    lake.spark("insert into @.wide values (2, 1152921504606846976), (2, -1152921504606846975)")
    with pytest.raises(MaterializedViewFailure, match="beyond 2 to the power of 53"):
        lake.sql("refresh materialized view @.means fast")
    lake.sql("refresh materialized view @.means")
    # What doubles make of the other group depends on the order in which they are added.
    lake.spark("insert into @.wide values (1, 5)")
    lake.sql("refresh materialized view @.means fast")
    assert lake.value("select a from @.means where k = 1") == 3.0
