"""Windows of time are refreshed fast: as they are Spark's own, in time zones that change, too."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse

VIEWS = {
    "hours": "select window.start as s, window.end as e, kind, count(*) as n, sum(v) as total "
    "from @.ticks group by window(at, '1 hour'), kind having count(*) > 1",
    "several": "select window(at, '90 minutes') as w, count(distinct kind) as n from @.ticks "
    "where v > 1 group by window(at, '90 minutes')",
    "days": "select v, window(at, '1 day').start as day from @.ticks",
    "weeks": "select window, max(v) as most from @.ticks group by window(at, '2 weeks')",
    "most": "select w.start as s, max(n) as m from (select window(at, '1 hour') as w, kind, "
    "count(*) as n from @.ticks group by window(at, '1 hour'), kind) d group by w.start",
    "named": "select window.start as s, k.name, count(*) as n from @.ticks t join @.kinds k "
    "on k.kind = t.kind group by window(t.at, '10 minutes'), k.name",
    "single": "select count(*) as n, min(window(at, '1 second').end) as first from @.ticks",
    "later": "select t.v, d.n from @.ticks t join (select window(at, '1 hour').end as e, "
    "count(*) as n from @.ticks group by window(at, '1 hour')) d on t.at >= d.e and t.v = d.n",
}
CHANGES = [
    "insert into @.ticks values (timestamp '2024-11-03 01:59:59.999999', 'a', 7), (null, 'a', 8), "
    "(timestamp '1969-12-31 18:59:59.999999', 'b', 9), (timestamp '1500-01-01', 'c', 1)",
    "delete from @.ticks where v % 5 = 0",
    "update @.ticks set at = null where v = 7",
    "update @.ticks set at = at + interval 1 hour, kind = 'b' where v % 3 = 1",
]


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    for run in (lake.spark, lake.sql):
        run("set spark.sql.session.timeZone = America/New_York")
    lake.spark("create table @.ticks (at timestamp, kind string, v int) using iceberg")
    lake.spark("create table @.kinds (kind string, name string) using iceberg")
    lake.spark("insert into @.kinds values ('a', 'first'), ('b', 'second')")
    # Half an hour each, over the nights in which clocks are changed.
    for start in ("2024-03-10", "2024-11-03", "1969-12-31"):
        lake.spark(
            f"insert into @.ticks select timestamp '{start}' + make_interval(0, 0, 0, 0, 0, "
            "30 * id), substring('abc', 1 + cast(id % 3 as int), 1), cast(id % 11 as int) "
            "from range(60)"
        )
    lake.spark("insert into @.ticks values (null, 'a', 1), (null, null, null)")
    for name, query in VIEWS.items():
        lake.sql(f"create materialized view @.{name} options (refresh_method = 'fast') as {query}")


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_fast(lake: Warehouse, number: int) -> None:
    """Refreshed fast, and with the rows of the query as it is written."""
    lake.spark(CHANGES[number])
    lake.restart()
    for name, query in VIEWS.items():
        lake.sql(f"refresh materialized view @.{name}")
        assert lake.history(name, "method")[-1][0] in ("fast", "none")
        kept = Counter(map(repr, lake.spark(f"select * from @.{name}")))
        assert kept and kept == Counter(map(repr, lake.spark(query))), name


@pytest.mark.parametrize(
    ("window", "reason"),
    [
        ("session_window(at, '5 minutes')", "a session, or a window that overlaps others"),
        ("window(at, '2 hours', '1 hour')", "a session, or a window that overlaps others"),
        ("window(at, '1 hour', '1 hour', '5 minutes')", "a session, or a window that"),
        ("window(cast(at as timestamp_ntz), '1 hour')", "a timestamp_ntz; cast that"),
        ("window(at, '1 hour 30 minutes')", "not written as a number and a unit"),
    ],
)
def test_not_fast(lake: Warehouse, window: str, reason: str) -> None:
    """Refused where only fast will do; otherwise refreshed completely, and right."""
    query = f"select kind, {window} as w, count(*) as n from @.ticks group by kind, {window}"
    with pytest.raises(MaterializedViewFailure, match=f"TIME_WINDOW: .*{reason}"):
        lake.sql(f"create materialized view @.no options (refresh_method = 'fast') as {query}")
    lake.sql(f"create or replace materialized view @.sessions as {query}")
    lake.spark("insert into @.ticks values (timestamp '2024-03-10 03:04:00', 'a', 3)")
    lake.restart()
    kept = Counter(map(repr, lake.sql("select * from @.sessions")))
    assert kept and kept == Counter(map(repr, lake.spark(query)))


def test_a_column_called_window(lake: Warehouse) -> None:
    """It is the column, as Spark has it, or the view is not refreshed fast."""
    lake.spark("create table @.panes (window int, at timestamp) using iceberg")
    lake.spark("insert into @.panes values (1, timestamp '2024-01-01'), (2, null)")
    query = "select max(window) as w, count(*) as n from @.panes group by window(at, '1 hour')"
    lake.sql(f"create materialized view @.glass as {query}")
    lake.spark("insert into @.panes values (3, timestamp '2024-01-01')")
    lake.restart()
    assert sorted(lake.sql("select * from @.glass")) == sorted(lake.spark(query)) == [(3, 2)]
