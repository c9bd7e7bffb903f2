"""Sums of doubles below joins: rows are replaced by key, as in the shops of dbt's tutorials."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.warehouse import Warehouse

LIFETIME = (
    "with visits as (select buyer, min(day) as first_day, max(day) as last_day, count(id) as n "
    "from @.visits group by buyer), paid as (select v.buyer, sum(p.cents / 100) as total "
    "from @.payments p left join @.visits v on v.id = p.visit group by v.buyer) "
    "select b.id, b.name, v.first_day, v.last_day, v.n, p.total from @.buyers b "
    "left join visits v on v.buyer = b.id left join paid p on p.buyer = b.id"
)
PAID = (
    "with paid as (select visit, sum(case when method = 'card' then cents / 100 else 0 end) as "
    "by_card, sum(cents / 100) as total from @.payments group by visit) "
    "select v.id, v.buyer, v.day, p.by_card, p.total from @.visits v left join paid p "
    "on p.visit = v.id"
)
NUMBERED = (
    "select *, row_number() over (partition by buyer order by day, id) as nth "
    f"from ({PAID}) as visits_with_totals"
)
BY_VIEW = (
    "select b.id, t.n, t.total, case when t.n > 1 then 'again' else 'new' end as kind "
    "from @.buyers b left join (select buyer, count(distinct id) as n, sum(total) as total "
    "from @.paid group by buyer) t on t.buyer = b.id"
)
VIEWS = {"lifetime": LIFETIME, "paid": PAID, "numbered_visits": NUMBERED, "by_view": BY_VIEW}
CHANGES = [
    "insert into @.payments select 9000 + id, id * 7 % 400, 'card', id * 13 % 997 from range(40)",
    "insert into @.visits values (900, 3, date'2024-05-05'), (901, null, date'2024-05-06')",
    "update @.payments set cents = cents + 1 where id % 50 = 0",
    "update @.visits set buyer = (buyer + 1) % 60 where id % 40 = 0",
    "delete from @.visits where id % 77 = 0",
    "insert into @.buyers values (60, 'late'), (61, 'later')",
    "delete from @.buyers where id in (5, 60)",
    "insert overwrite @.payments select * from @.payments order by cents, id",
    "merge into @.payments p using (select 3 as id) s on p.id = s.id when matched then delete",
]


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    lake.spark("create table @.buyers (id bigint, name string) using iceberg")
    lake.spark("create table @.visits (id bigint, buyer bigint, day date) using iceberg")
    lake.spark(
        "create table @.payments (id bigint, visit bigint, method string, cents bigint) "
        "using iceberg"
    )
    lake.spark("insert into @.buyers select id, concat('b', id) from range(58)")
    lake.spark(
        "insert into @.visits select id, if(id % 31 = 0, null, id * 7 % 60), "
        "date_add(date'2024-01-01', cast(id * 11 % 90 as int)) from range(400)"
    )
    lake.spark(
        "insert into @.payments select id, id * 3 % 410, if(id % 3 = 0, 'card', 'cash'), "
        "id * 37 % 9973 from range(1200)"
    )
    for name, query in VIEWS.items():
        lake.sql(f"create materialized view @.{name} options (refresh_method = 'fast') as {query}")


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_replaced(lake: Warehouse, number: int) -> None:
    """After each change the rows are those of the query, to ten digits, by fast refreshes."""
    lake.spark(CHANGES[number])
    lake.restart()
    for name in VIEWS:
        lake.sql(f"refresh materialized view @.{name}")
        assert not lake.operation("verify", view=name).failures
        assert {row[0] for row in lake.history(name, "method")[1:]} <= {"fast", "none"}


def test_others_are_kept(lake: Warehouse) -> None:
    """Rows of other keys stay as they were, to the last digit."""
    lake.sql("refresh materialized view @.lifetime")
    before = {row[0]: row for row in lake.spark("select * from @.lifetime")}
    lake.spark("insert into @.payments select 99000, min(id), 'card', 1 from @.visits")
    ((changed,),) = lake.spark("select buyer from @.visits where id = 1")
    lake.restart()
    lake.sql("refresh materialized view @.lifetime")
    after = {row[0]: row for row in lake.spark("select * from @.lifetime")}
    assert {key for key in before if before[key] != after[key]} <= {changed}
