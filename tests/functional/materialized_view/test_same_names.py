"""Tables of one name in two schemas, which a query reads without giving them names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same

BOTH = "@.clients join @meta.clients on ck = {key}"
FAST = {
    "joined": f"select name, total from {BOTH.format(key='id')} where total > 10",
    "grouped": f"select name, sum(total) as s, count(*) as n from {BOTH.format(key='k')} "
    "group by name",
    "exists": "select id from @.clients where exists (select 1 from @meta.clients where ck = id "
    "and name <> 'n3')",
    "united": "select id from @.clients union all select ck from @meta.clients",
}
# Their columns are written with the name, or with the schema, of one of both.
COMPLETE = {
    "named": f"select clients.total, name from {BOTH.format(key='id')}",
    "with_schema": f"select @.clients.total, @meta.clients.name from {BOTH.format(key='id')}",
    "all_of_one": "select clients.* from @.clients left semi join @meta.clients on ck = id",
}


@pytest.fixture(scope="module")
def clients(lake: Warehouse) -> Iterator[Warehouse]:
    lake.spark(
        "create table @.clients using iceberg as select id, id % 7 as k, id as total "
        "from range(500)"
    )
    lake.spark(
        "create table @meta.clients using iceberg as select id as ck, concat('n', id) as name "
        "from range(500)"
    )
    yield lake
    lake.spark("drop table @meta.clients")


@pytest.mark.parametrize("form", [*FAST, *COMPLETE])
def test_same_names(clients: Warehouse, form: str) -> None:
    query = {**FAST, **COMPLETE}[form]
    clients.sql(f"create materialized view @.{form} as {query}")
    clients.spark("insert into @.clients values (900, 3, 77), (3, 3, 78), (null, null, null)")
    clients.spark("delete from @.clients where id = 5")
    clients.spark("insert into @meta.clients values (900, 'zz'), (3, null)")
    report = clients.operation("refresh", view=form, method="fast" if form in FAST else "auto")
    assert report.rows[0][2] == ("fast" if form in FAST else "complete")
    assert_same(clients, f"select * from @.{form}", query)
