"""What the tests of live views share: who reads them, and what happens to base tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.functional.materialized_view.warehouse import QUICK, Warehouse
from tests.sampling import sample_of

ADAPTIVE = "spark.sql.adaptive.enabled"
ANSI = "spark.sql.ansi.enabled"
CACHED = "spark.sql.catalog.local.cache-enabled"
# How other programs set their sessions: as Spark starts, and in ways that change how it plans.
READERS: dict[str, dict[str, str]] = {
    "plain": {ANSI: "true"},
    "not adaptive": {ADAPTIVE: "false"},
}


def reader(lake: Warehouse, settings: dict[str, str]) -> Callable[[str], Counter[Any]]:
    """A session of another program, which knows nothing of earlier reads."""
    session = lake._outside.newSession()
    for key, value in {**QUICK, **settings}.items():
        session.conf.set(key, value)

    def rows(sql: str) -> Counter[Any]:
        found = session.sql(lake.text(sql)).collect()
        return Counter(str(tuple(row)) for row in found)

    return rows


def rollback(lake: Warehouse) -> None:
    history = lake.spark("select snapshot_id from @.sales.snapshots order by committed_at")
    lake.spark(f"call local.system.rollback_to_snapshot('{lake.schema}.sales', {history[0][0]})")


def columns_again(lake: Warehouse) -> None:
    lake.spark("alter table @.sales drop column amount")
    lake.spark("alter table @.sales add column amount bigint")


def two_commits(lake: Warehouse) -> None:
    lake.spark("insert into @.sales values (9, 1, 9, date'2026-01-03')")
    lake.spark("update @.sales set day = date'2026-01-04' where day = date'2026-01-02'")


def appended_and_rolled_back(lake: Warehouse) -> None:
    before = lake.snapshot("@.sales")
    lake.spark("insert into @.sales values (9, 9, 9, date'2026-01-09')")
    lake.spark(f"call local.system.set_current_snapshot('{lake.schema}.sales', {before})")


def expired(lake: Warehouse) -> None:
    lake.spark("insert into @.sales values (9, 1, 9, date'2026-01-09')")
    lake.spark(
        f"call local.system.expire_snapshots(table => '{lake.schema}.sales', "
        "older_than => timestamp '2099-01-01', retain_last => 1)"
    )


def made_again(lake: Warehouse) -> None:
    lake.spark("drop table @.sales")
    make_sales(lake)
    lake.spark("insert into @.sales values (7, 1, 70, date'2026-01-07')")


def renamed_away_and_back(lake: Warehouse) -> None:
    lake.spark("alter table @.sales rename to @.moved")
    make_sales(lake)
    lake.spark("drop table @.sales")
    lake.spark("alter table @.moved rename to @.sales")


def other_partitions(lake: Warehouse) -> None:
    lake.spark("alter table @.sales replace partition field day with months(day)")
    lake.spark("insert into @.sales values (9, 1, 9, date'2026-01-02'), (9, 1, 9, null)")


def more_partitions(lake: Warehouse) -> None:
    lake.spark("alter table @.sales add partition field shop")
    lake.spark("insert into @.sales values (9, 1, 9, date'2026-01-02')")


def moved_and_added_again(lake: Warehouse) -> None:
    columns_again(lake)
    lake.spark("insert into @.sales (id, shop, amount, day) values (9, 1, 9, date'2026-01-03')")


def make_sales(lake: Warehouse) -> None:
    lake.spark(
        "create table @.sales (id bigint, shop int, amount bigint, day date) using iceberg "
        "partitioned by (day) tblproperties ('format-version'='2', "
        "'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read')"
    )
    lake.spark(
        "insert into @.sales values (1, 1, 10, date'2026-01-01'), (2, 1, 20, date'2026-01-02'), "
        "(3, 2, 30, date'2026-01-02'), (3, 2, 30, date'2026-01-02'), (4, null, null, null), "
        "(5, 2, 40, date'2026-01-03'), (6, 3, 50, date'2026-01-04')"
    )


# What somebody does to a base table; each is tried with nothing else since the refresh.
EVENTS: dict[str, str | Callable[[Warehouse], None]] = {
    "nothing": "select 1",
    "append": "insert into @.sales values (5, 2, 50, date'2026-01-05')",
    "duplicate": "insert into @.sales values (1, 1, 10, date'2026-01-01')",
    "delete merge-on-read": "delete from @.sales where id = 2",
    "delete a partition": "delete from @.sales where day = date'2026-01-02'",
    "delete NULL partition": "delete from @.sales where day is null",
    "update": "update @.sales set amount = 11 where id = 1",
    "update of the key": "update @.sales set shop = 2 where id = 1",
    "merge": "merge into @.sales t using (select 1 as id) s on t.id = s.id "
    "when matched then update set t.amount = 12",
    "moved to another day": "update @.sales set day = date'2026-01-02' where id = 1",
    "truncate": "truncate table @.sales",
    "overwrite": "insert overwrite @.sales values (8, 1, 80, date'2026-01-08')",
    "replace": "create or replace table @.sales using iceberg partitioned by (day) as "
    "select 8L as id, 1 as shop, "
    "80L as amount, date'2026-01-08' as day",
    "compaction": "call local.system.rewrite_data_files('@.sales')",
    "property": "alter table @.sales set tblproperties ('a' = 'b')",
    "branch": "alter table @.sales create branch other",
    "column dropped and added": columns_again,
    "dropped, added and appended": moved_and_added_again,
    "partitioned in another way": other_partitions,
    "partitioned by more": more_partitions,
    "two commits": two_commits,
    "rolled back": rollback,
    "appended and rolled back": appended_and_rolled_back,
    "snapshots expired": expired,
    "made again": made_again,
    "renamed away and back": renamed_away_and_back,
    "other table": "insert into @.shops values (2, 'pisa'), (2, 'rome')",
    "other table emptied": "delete from @.shops",
}


def happens(lake: Warehouse, event: str) -> None:
    what = EVENTS[event]
    if callable(what):
        what(lake)
    else:
        lake.spark(what)


# Views, and their queries as another program would run them.
EVERY_FORM = {
    "by_day": "select day, count(*) as n, sum(amount) as total from @.sales group by day",
    "by_shop": "select shop, count(*) as n, sum(amount) as total from @.sales group by shop",
    "of_all": "select count(*) as n, max(amount) as most from @.sales",
    "rows": "select id, amount * 2 as twice, day from @.sales where amount > 5",
    "joined": "select s.day, h.city, s.amount from @.sales s left join @.shops h on h.id = s.shop",
    "ranked": "select day, id, row_number() over (partition by day order by id, amount) as place "
    "from @.sales",
    "cte": "with big as (select * from @.sales where amount >= 20) "
    "select day, (select count(*) from @.shops) as shops, count(distinct id) as ids from big "
    "where exists (select 1 from @.shops h where h.id = big.shop) group by day",
    "both": "select id from @.sales union all select id from @.shops",
    "sides": "select day, count(*) as n from @.sales group by day union all "
    "select date'2026-01-03', 0 union all select date'2026-01-02', id from @.shops",
    "qualified": "select sales.day, sum(@.sales.amount) as total from @.sales group by 1",
    "having": "select day, sum(amount) as total from @.sales group by day having count(*) > 1",
    "through": "select day, n from @.named where n > 0",
    "above": "select sum(total) as total, count(*) as days from {mv}",
}
FORMS = sample_of(EVERY_FORM, ("rows", "joined", "ranked", "both", "through"))


def make_views(lake: Warehouse) -> None:
    """A base table, another one, and a live view of each form."""
    make_sales(lake)
    lake.spark("create table @.shops (id int, city string) using iceberg")
    lake.spark("insert into @.shops values (1, 'rome'), (2, 'oslo')")
    lake.spark("create view @.named as select day, count(*) as n from @.sales group by day")
    for view, query in FORMS.items():
        text = query.format(mv="@.by_day")
        lake.sql(f"create materialized view @.{view} options (live = true) as {text}")


def query_of(view: str) -> str:
    return FORMS[view].format(mv=f"({FORMS['by_day']})").replace("@.sales.amount", "sales.amount")
