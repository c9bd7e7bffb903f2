"""Views of Spark's own catalog have the time zone and the mode of the session that made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.rewritten import of_small_tables, views_of
from tests.functional.materialized_view.warehouse import Warehouse

OWN = "spark_catalog.default.of_tokyo"
QUERY = "select day, hour, n, count(*) as found from {view} group by day, hour, n"
SETTINGS = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.ansi.enabled": "false"}


@pytest.fixture
def tokyo(lake: Warehouse, road: str) -> Iterator[Warehouse]:
    """A materialized view over a view of Spark's own, and one over its table."""
    made = of_small_tables(lake)
    made.spark("create or replace table @.events (at timestamp, s string) using iceberg")
    made.spark("insert into @.events select timestamp'2024-01-01 20:00:00Z', '1' from range(100)")
    for key, value in SETTINGS.items():
        made.spark(f"set {key}={value}")
    text = "select to_date(at) as day, hour(at) as hour, cast(s as int) as n from local.@.events"
    made.spark(f"create or replace view {OWN} as {text}")
    for key in SETTINGS:
        made.spark(f"reset {key}")
    made.sql("create materialized view @.m as " + QUERY.format(view=OWN))
    made.sql(
        "create materialized view @.direct as select to_date(at) as day, hour(at) as hour, "
        "count(*) as found from @.events group by 1, 2"
    )
    yield made
    for name in ("m", "direct"):
        made.sql(f"drop materialized view if exists @.{name}")
    made.spark(f"drop view {OWN}")


def _assert_same(lake: Warehouse) -> None:
    query = QUERY.format(view=OWN)
    lake.restart()
    wanted = Counter(lake.spark(query))
    assert Counter(lake.sql("select * from @.m")) == wanted
    assert lake.freshness("m") == "FRESH"
    assert Counter(lake.sql(query)) == wanted


def test_rows(tokyo: Warehouse) -> None:
    _assert_same(tokyo)
    tokyo.spark("insert into @.events values (timestamp'2024-05-05 05:00:00Z', 'not a number')")
    assert tokyo.freshness("m") == "STALE"
    _assert_same(tokyo)
    assert not tokyo.operation("verify", view=f"{tokyo.schema}.m").failures


def test_what_is_said(tokyo: Warehouse) -> None:
    tokyo.spark("insert into @.events values (timestamp'2024-05-05 05:00:00Z', '2')")
    (failure,) = tokyo.operation("refresh", view=f"{tokyo.schema}.m", method="fast").failures
    assert "SPARK_VIEW" in failure
    create = "create or replace materialized view @.m options (live = true) as "
    with pytest.raises(MaterializedViewFailure, match="only Spark can read its query"):
        tokyo.sql(create + QUERY.format(view=OWN))


def test_rewriting(tokyo: Warehouse) -> None:
    """Neither its rows nor those of its table answer for each other."""
    tokyo.operation("refresh", all=True)
    tokyo.restart()
    over = f"select day, hour, count(*) as found from {OWN} group by day, hour"
    assert views_of(tokyo, over) == []
    below = "select to_date(at) as day, hour(at) as hour, count(*) as n from @.events group by 1, 2"
    assert views_of(tokyo, below) == ["direct"]
    for query in (over, below):
        assert Counter(tokyo.apart(query)) == Counter(tokyo.spark(query))
    beside = f"select count(*) from ({below}) as b join {OWN} as o on o.day = b.day"
    assert Counter(tokyo.apart(beside)) == Counter(tokyo.spark(beside))


def test_no_query_in_its_place(tokyo: Warehouse) -> None:
    """The text of a view of Spark's own is not written into a statement, without its settings: what
    would be answered by the query of a stale view is refreshed instead."""
    over = f"{OWN}_over"
    hour = "date_format(timestamp'2024-06-01 00:00:00Z', 'HH') as zone, cast('x' as int) as x"
    for key, value in SETTINGS.items():
        tokyo.spark(f"set {key}={value}")
    tokyo.spark(f"create or replace view {over} as select *, {hour} from local.@.direct")
    for key in SETTINGS:
        tokyo.spark(f"reset {key}")
    try:
        for view, read, plain in (
            ("m", "select * from @.m", QUERY.format(view=OWN)),
            ("direct", f"select * from {over}", f"select * from {over}"),
        ):
            tokyo.sql(f"alter materialized view @.{view} set options (when_stale = 'inline')")
            tokyo.spark("insert into @.events values (timestamp'2024-07-01 20:00:00Z', 'no')")
            rows = Counter(tokyo.sql(read))
            assert tokyo.freshness(view) == "FRESH"
            assert rows == Counter(tokyo.spark(plain))
    finally:
        tokyo.spark(f"drop view {over}")
