"""Refreshes of those partitions only that may have changed, against the query itself."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.failures import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

# name -> (partitioned by, query)
VIEWS = {
    "by_year": ("year", "select count(*) as count, year(day) as year from @.sales group by 2"),
    "by_month": (
        "month",
        "select date_trunc('MONTH', day) as month, sum(amount) as total from @.sales group by 1",
    ),
    "by_day": ("days(at)", "select at, id, amount from @.events where amount <> 2"),
    "by_hour": (
        "hour",
        "select date_trunc('HOUR', at) as hour, count(*) as n from @.events group by 1",
    ),
    "by_bucket": ("bucket(4, id)", "select id, max(amount) as top from @.sales group by id"),
    "by_prefix": (
        "letter",
        "select left(shop, 1) as letter, count(*) as n from @.sales group by 1",
    ),
    "by_prefixes": ("truncate(2, shop)", "select shop, amount from @.sales"),
    "by_shop": ("shop", "select shop, day, amount from @.sales where amount > 0"),
    "by_two": (
        "year, shop",
        "select year(day) as year, shop, count(*) as n from @.sales group by 1, 2",
    ),
    "joined": (
        "city",
        "select s.id, p.city, s.amount from @.sales s join @.shops p on s.shop = p.name",
    ),
    "joined_by_year": (
        "year",
        "select year(s.day) as year, p.city, count(*) as n from @.sales s "
        "join @.shops p on s.shop = p.name group by 1, 2",
    ),
    "lonely": (
        "city",
        "select s.id, coalesce(p.city, 'none') as city from @.sales s "
        "left join @.shops p on s.shop = p.name",
    ),
    "lonely_shops": (
        "shop",
        "select s.shop, p.name, p.city from @.sales s right join @.shops p on s.shop = p.name",
    ),
    "full": (
        "city",
        "select s.shop, p.name, p.city from @.sales s "
        "full join @.shops p on s.shop = p.name and s.amount > 2",
    ),
    "known": (
        "year",
        "select year(day) as year, id from @.sales where shop in (select name from @.shops)",
    ),
    "unknown": (
        "year",
        "select year(day) as year, id from @.sales s where not exists "
        "(select 1 from @.shops p where p.name = s.shop)",
    ),
    "names": ("name", "select shop as name from @.sales union select name from @.shops"),
    "all_names": (
        "name",
        "select shop as name, 1 as k from @.sales union all select name, 2 from @.shops",
    ),
    "no_sales": ("name", "select name from @.shops except select shop from @.sales"),
    "distinct_days": ("shop", "select distinct shop, day from @.sales"),
    "ranked": (
        "shop",
        "select shop, id, rank() over (partition by shop order by amount, id) as k from @.sales",
    ),
    "latest": (
        "year",
        "select year, count(*) as n, sum(amount) as total from (select *, year(day) as year, "
        "row_number() over (partition by year(day), shop order by amount desc nulls last, id) as k "
        "from @.sales) ranked where k = 1 group by year",
    ),
    "nested": (
        "shop",
        "select shop, max(n) as busiest from (select shop, day, count(*) as n from @.sales "
        "group by shop, day) days group by shop having max(n) > 0",
    ),
    "through_view": ("city", "select city, count(*) as n from @.places group by city"),
    "to_itself": (
        "shop",
        "select a.shop, count(*) as pairs from @.sales a join @.sales b on a.shop = b.shop "
        "and a.id < b.id group by a.shop",
    ),
}
CHANGES = [
    "insert into @.sales values (11, 'ann', date'2021-05-05', 7), (12, null, null, null), "
    "(13, 'new', date'2024-02-29', 3)",
    "insert into @.events values (7, timestamp'2021-01-02 23:59:59.999999', 1), (8, null, null)",
    "insert into @.shops values ('new', 'rome'), ('new', 'rome'), (null, null), ('a b', 'x%=/y z')",
    "update @.sales set day = date'2023-01-01', amount = amount + 1 where shop = 'ann'",
    "delete from @.sales where id in (3, 12)",
    "delete from @.events where id < 3",
    "merge into @.shops p using (select 'bob' as name) s on p.name = s.name "
    "when matched then update set city = 'oslo'",
    "update @.sales set shop = 'a b' where id = 4",
    "delete from @.shops where city is null or city = 'rome'",
    "insert overwrite @.shops values ('ann', 'bern'), ('eve', 'bonn')",
    "delete from @.sales where year(day) = 2023",
    "delete from @.sales",
    "insert into @.sales values (21, 'ann', date'1969-12-31', 1), (22, 'eve', date'2021-01-01', 2)",
]


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    """Base tables with partitions of every kind, one that deletes by files of deletes."""
    lake.spark(
        "create table @.sales (id bigint, shop string, day date, amount bigint) using iceberg "
        "partitioned by (day, truncate(2, shop)) "
        "tblproperties ('write.delete.mode'='merge-on-read')"
    )
    lake.spark(
        "insert into @.sales values (1, 'ann', date'2021-01-01', 1), "
        "(2, 'bob', date'2022-02-02', 2), (3, 'ann', date'2022-02-03', 3), "
        "(4, 'bo', date'2023-03-03', 2), (5, null, null, null), (6, 'bob', date'2022-02-02', 5)"
    )
    lake.spark(
        "create table @.events (id bigint, at timestamp, amount bigint) using iceberg "
        "partitioned by (days(at))"
    )
    lake.spark(
        "insert into @.events values (1, timestamp'2021-01-01 00:00:00', 1), "
        "(2, timestamp'2021-01-01 23:30:00', 2), (3, timestamp'2021-01-02 10:00:00', 3)"
    )
    lake.spark("create table @.shops (name string, city string) using iceberg")
    lake.spark("insert into @.shops values ('ann', 'bern'), ('bob', 'rome'), ('cyd', null)")
    lake.spark("create view @.places as select p.city from @.shops p where p.name is not null")
    for name, (keys, query) in VIEWS.items():
        lake.sql(
            f"create materialized view @.{name} partitioned by ({keys}) "
            f"options (refresh_method = 'partition') as {query}"
        )


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_rows(lake: Warehouse, number: int) -> None:
    """One change after the other; every view has the rows of its query."""
    lake.spark(CHANGES[number])
    lake.restart()
    for name, (_, query) in VIEWS.items():
        lake.sql(f"refresh materialized view @.{name}")
        assert_same(lake, f"select * from @.{name}", query)
        assert lake.freshness(name) == "FRESH"
    lake.restart()


def test_methods(lake: Warehouse) -> None:
    """They were refreshed by partition indeed."""
    for name in VIEWS:
        methods = lake.history(name, "method, state")
        assert methods[0] == ("complete", "SUCCEEDED")
        assert {method for method, _ in methods[1:]} <= {"partition", "none"}
        assert ("partition", "SUCCEEDED") in methods


def _files(lake: Warehouse, view: str) -> set[tuple[str, str]]:
    storage = lake.storage(view)
    rows = lake.spark(f"select cast(partition as string), file_path from {storage}.files")
    return {(row[0], row[1]) for row in rows}


def test_other_partitions_are_not_written(lake: Warehouse) -> None:
    """C1, C18. Only files of the changed year are others afterwards."""
    before = _files(lake, "by_year")
    lake.spark("insert into @.sales values (31, 'ann', date'2021-07-01', 1)")
    lake.restart()
    lake.sql("refresh materialized view @.by_year")
    changed = before ^ _files(lake, "by_year")
    assert {partition for partition, _ in changed} == {"{2021}"}


def test_walkthrough(lake: Warehouse) -> None:
    """C2, C4, C8. Four dates, a view by year: its dependencies, and what a new row makes stale."""
    lake.spark("create table @.t1 (column0 string, date date) using iceberg partitioned by (date)")
    lake.spark(
        "insert into @.t1 values ('a', date'2021-01-01'), ('b', date'2022-02-02'), "
        "('c', date'2022-02-03'), ('d', date'2023-03-03')"
    )
    lake.sql(
        "create materialized view @.m1 partitioned by (year) as "
        "select count(*) as count, date_part('YEAR', date) as year from @.t1 group by 2"
    )
    rows = lake.sql("select * from mv_dependencies('@.m1')")
    years = [row[0].rsplit("/", 2)[1] for row in rows]
    dates = [row[4].rsplit("/", 2)[1] for row in rows]
    assert years == ["year=2021", "year=2022", "year=2022", "year=2023"]
    assert dates == ["date=2021-01-01", "date=2022-02-02", "date=2022-02-03", "date=2023-03-03"]
    assert {row[1:4] for row in rows} == {("local", lake.schema, "t1")}
    assert all(row[5] is not None for row in rows)
    assert not any(row[3] for row in lake.sql("select * from stale_partitions('@.m1')"))
    lake.spark("insert into @.t1 values ('e', date'2022-05-05'), ('f', null)")
    lake.restart()
    stale = lake.sql("select target from stale_partitions('@.m1') s where s.is_stale")
    assert [row[0].rsplit("/", 2)[1] for row in stale] == [
        "year=2022",
        "year=__HIVE_DEFAULT_PARTITION__",
    ]
    lake.sql("refresh materialized view @.m1 partition")
    assert lake.sql("select count(*) from stale_partitions('@.m1') where is_stale") == [(0,)]
    assert sorted(lake.sql("select year, count from @.m1"), key=str) == [
        (2021, 1),
        (2022, 3),
        (2023, 1),
        (None, 1),
    ]


def test_vanished_partition(lake: Warehouse) -> None:
    """X17. A year without rows is stale, and goes."""
    lake.spark("delete from @.t1 where date = date'2023-03-03'")
    lake.restart()
    stale = lake.sql("select target from stale_partitions('@.m1') where is_stale")
    assert [row[0].rsplit("/", 2)[1] for row in stale] == ["year=2023"]
    lake.sql("refresh materialized view @.m1 partition")
    assert lake.sql("select * from @.m1 where year = 2023") == []
    assert "year=2023" not in str(lake.sql("select target from stale_partitions('@.m1')"))


def test_dependencies_that_are_not_mapped(lake: Warehouse) -> None:
    """C7, X15. A source whose partitions say nothing feeds every partition, or the whole view."""
    rows = lake.sql(
        "select target, source_table_name, source_uri from mv_dependencies('@.joined_by_year')"
    )
    targets = {row[0] for row in rows}
    assert {row[0] for row in rows if row[1] == "shops"} == targets
    assert all("day=" in row[2] for row in rows if row[1] == "sales")
    lake.sql("create materialized view @.whole as select count(*) as n from @.t1")
    rows = lake.sql("select target, source_uri from mv_dependencies('@.whole')")
    assert len({row[0] for row in rows}) == 1 and len(rows) == 5
    lake.spark("insert into @.t1 values ('g', date'2020-01-01')")
    lake.restart()
    assert lake.sql("select is_stale from stale_partitions('@.whole')") == [(True,)]


def test_partition_values(lake: Warehouse) -> None:
    """C14. Values that paths cannot spell, and NULL."""
    lake.spark("create table @.odd (k string, v bigint) using iceberg partitioned by (k)")
    lake.spark("insert into @.odd values ('a b', 1), ('x%=/y', 2), (null, 3), ('null', 4), ('', 5)")
    lake.sql(
        "create materialized view @.odd_view partitioned by (k) as "
        "select k, count(*) as n from @.odd group by k"
    )
    rows = lake.sql("select target from mv_dependencies('@.odd_view')")
    assert [row[0].split("/k=")[1] for row in rows] == [
        "/",
        "__HIVE_DEFAULT_PARTITION__/",
        "a b/",
        "null/",
        "x%25%3D%2Fy/",
    ]
    for value in ("'a b'", "'x%=/y'", "null", "'null'", "''"):
        lake.spark(f"insert into @.odd values ({value}, 1)")
        lake.restart()
        stale = lake.sql("select target from stale_partitions('@.odd_view') where is_stale")
        assert len(stale) == 1, value
        lake.sql("refresh materialized view @.odd_view partition")
        assert_same(
            lake, "select * from @.odd_view", "select k, count(*) as n from @.odd group by k"
        )


@pytest.mark.parametrize("function", ["mv_dependencies", "stale_partitions"])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", "takes one argument"),
        ("1", "takes one argument"),
        ("'@.m1', 'x'", "takes one argument"),
        ("'@.t1'", "is no materialized view"),
        ("'@.nothing'", "does not exist"),
    ],
)
def test_errors(lake: Warehouse, function: str, arguments: str, text: str) -> None:
    """C3. One string, the name of a materialized view."""
    with pytest.raises(MaterializedViewFailure, match=text):
        lake.sql(f"select * from {function}({arguments})")


@pytest.mark.parametrize(
    ("partitions", "query", "code"),
    [
        ("", "select id, day from @.sales", "NOT_PARTITIONED"),
        (
            "partitioned by (n)",
            "select shop, count(*) as n from @.sales group by 1",
            "PARTITION_COLUMN",
        ),
        (
            "partitioned by (day)",
            "select id, day, row_number() over (partition by shop order by id) as k from @.sales",
            "PARTITION_COLUMN",
        ),
        ("partitioned by (day)", "select id, day from @.sales order by id limit 3", "LIMIT"),
        ("partitioned by (f)", "select amount > 2 as f, id from @.sales", "NOT_PARTITIONED"),
    ],
)
def test_refused_at_creation(lake: Warehouse, partitions: str, query: str, code: str) -> None:
    """C9. Partitions that are put together by the query, or none."""
    before = lake.relations()
    with pytest.raises(MaterializedViewFailure, match=code):
        lake.sql(
            f"create materialized view @.refused {partitions} "
            f"options (refresh_method = 'partition') as {query}"
        )
    assert lake.relations() == before


def test_explain(lake: Warehouse) -> None:
    """The partitions, and why; no partition of the base table is read that feeds none of them."""
    lake.spark("insert into @.sales values (41, 'ann', date'2021-08-01', 1)")
    lake.restart()
    text = "\n".join(row[0] for row in lake.sql("explain materialized view @.by_year"))
    assert "plan               partition (BASE_TABLE_CHANGED" in text
    assert "partition          /year=2021/" in text
    assert "CAST('2021-08-01' AS date)" in text and "1969" not in text
