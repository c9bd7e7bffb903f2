"""Refreshes of those partitions only that may have changed, against the query itself."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.catalog import partition_lists
from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import by_partition, partition_mapping
from tests.functional.materialized_view.rounds import refresh_after
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


@pytest.mark.behaviour(
    "C1", "C6", "C9", "C10", "C11", "C13", "C16", "E5", "E20", "E21", "E23", "E24"
)
@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_rows(lake: Warehouse, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """One change after the other; views that are refreshed have the rows of their query. After
    every other change the changed partitions are known by files, where they can be."""
    monkeypatch.setattr(by_partition, "_MANY", 0 if number % 2 else 1_000)
    if number % 4 < 2:
        monkeypatch.setattr(partition_lists, "changed_at_once", lambda *_: None)
    queries = {name: query for name, (_, query) in VIEWS.items()}
    refresh_after(lake, queries, CHANGES, number)


@pytest.mark.behaviour("D1")
def test_methods(lake: Warehouse) -> None:
    """They were refreshed by partition indeed."""
    all_methods = lake.methods()
    for name in VIEWS:
        methods = all_methods[name]
        assert methods[0] == ("complete", "SUCCEEDED")
        assert {method for method, _ in methods[1:]} <= {"partition", "none"}
        assert ("partition", "SUCCEEDED") in methods


def test_known_by_files(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that came and rows that went, of partitions that feed the same or another one; rows that
    were changed are not read."""
    known = []

    def spied(*arguments: object) -> object:
        known.append(partition_mapping.fed_by_change(*arguments))  # type: ignore[arg-type]
        return known[-1]

    monkeypatch.setattr(by_partition, "_MANY", 0)
    monkeypatch.setattr(by_partition, "fed_by_change", spied)
    lake.spark("insert into @.sales values (51, 'ann', date'2020-02-02', 1)")
    lake.restart()
    lake.sql("refresh materialized view @.by_year")
    lake.spark("update @.sales set day = date'2022-02-02' where id = 51")
    lake.restart()
    text = "\n".join(row[0] for row in lake.sql("explain materialized view @.by_year"))
    assert known == [{("2020",)}, {("2020",), ("2022",)}]
    assert "/year=2020/" in text and "/year=2022/" in text
    lake.sql("refresh materialized view @.by_year")
    assert_same(lake, "select * from @.by_year", VIEWS["by_year"][1])


@pytest.mark.behaviour("C9")
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
    """Partitions that are put together by the query, or none."""
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
