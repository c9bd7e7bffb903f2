"""Tables of one name in two schemas, which a query reads without giving them names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.planning.plan_check import OWN_NAME
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

BOTH = "@.clients join @meta.clients on ck = {key}"
FAST = {
    "joined": f"select name, total from {BOTH.format(key='id')} where total > 10",
    "grouped": f"select name, sum(total) as s, count(*) as n from {BOTH.format(key='k')} "
    "group by name",
    "exists": "select id from @.clients where exists (select 1 from @meta.clients where ck = id "
    "and name <> 'n3')",
    "with_schema": f"select @.clients.total, @meta.clients.name from {BOTH.format(key='id')}",
    "of_views": "select @.seen.total, @meta.seen.name from @.seen join @meta.seen on ck = id",
    "united": "select id from @.clients union all select ck from @meta.clients",
}
# Their columns are written with the name of both.
COMPLETE = {
    "named": f"select clients.total, name from {BOTH.format(key='id')}",
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
    for schema in ("@", "@meta"):
        lake.spark(f"create view {schema}.seen as select * from {schema}.clients")
    yield lake
    lake.spark("drop view @meta.seen")
    lake.spark("drop table @meta.clients")


@pytest.mark.parametrize("below", ["view", "materialized view", "table"])
def test_columns_with_schemas(clients: Warehouse, below: str) -> None:
    """As `{{ ref('staged') }}.id`; what stands for a view has the last part of its name."""
    name = f"staged_{below.split()[0]}"
    clients.sql(f"create {below} @.{name} as select id, k, total from @.clients")
    query = f"select @.{name}.id, sum(@.{name}.total) as s from @.{name} group by @.{name}.id"
    clients.sql(f"create materialized view @.over_{name} as {query}")
    for _ in range(2):
        assert_same(clients, f"select * from @.over_{name}", query)
        clients.spark("insert into @.clients values (901, 3, 7)")
        clients.apart(f"select * from @.over_{name}")


# What the second of two tables could be called is something else in these queries.
TAKEN = (
    "select id, {name}.x as z from @.boxes join @meta.boxes using (id)",
    "select id from @.boxes where exists (select 1 from @meta.boxes join @.boxed on id = k where "
    "{name}.y < 0)",
    "select k, {name}.y from @.boxed as {name} where exists (select 1 from "
    "(select id from @.boxes) b join @meta.boxes using (id) where x = {name}.k)",
)


@pytest.mark.parametrize("name", ["boxes__2", f"{OWN_NAME}2_boxes", f"{OWN_NAME}1_boxes"])
def test_names_that_are_taken(clients: Warehouse, name: str) -> None:
    clients.spark(
        "create or replace table @.boxes using iceberg as select id, named_struct('x', 9) as "
        f"{name} from range(5)"
    )
    clients.spark(
        "create or replace table @meta.boxes using iceberg as select id, id * 100 as x "
        "from range(5)"
    )
    clients.spark(
        f"create or replace table @.boxed using iceberg as select id as k, id - 2 as y, "
        f"named_struct('y', 1 - id) as {name} from range(5)"
    )
    for number, form in enumerate(TAKEN):
        query = form.format(name=name)
        clients.sql(f"create or replace materialized view @.taken_{number} as {query}")
    clients.spark("insert into @.boxes select id + 5, named_struct('x', 7) from range(300)")
    clients.spark("insert into @meta.boxes select id, -1 from range(300)")
    clients.spark("insert into @.boxed select id, id - 1, named_struct('y', -id) from range(300)")
    for number, form in enumerate(TAKEN):
        assert not clients.operation("refresh", view=f"taken_{number}", method="fast").failures
        assert_same(clients, f"select * from @.taken_{number}", form.format(name=name))


INLINE = (
    "select id, k from @.m where exists (select 1 from @meta.m where @meta.m.k = @.m.k + 10)",
    "select id, k from @.m where not exists (select 1 from @meta.m where @meta.m.k = @.m.k + 10)",
    "select @.m.id, @meta.m.k from @.m join @meta.m on @.m.id = @meta.m.id",
    "select id, (select max(@meta.m.k) from @meta.m where @meta.m.id = @.m.id) as mk from @.m",
    "select m.id from @.m where m.k > 3",
    "select @.m.id from @.m where m.k > 3",
)


def test_inlined_queries_of_one_name(clients: Warehouse) -> None:
    """Of stale views the queries stand in the statement."""
    options = "options (when_stale = 'inline')"
    queries = {
        "@.m": "select id, k from @.clients where id < 6",
        "@meta.m": "select id, k + 10 as k from @.clients where id < 6",
    }
    for view, query in queries.items():
        clients.sql(f"create materialized view {view} {options} as {query}")
        clients.spark(f"create view {view}_now as {query}")
    clients.spark("insert into @.clients values (3, 4, 5)")
    for query in INLINE:
        expected = query.replace("@.m", "@.m_now").replace("@meta.m", "@meta.m_now")
        expected = expected.replace(" m.", " m_now.")
        assert Counter(clients.apart(query)) == Counter(clients.spark(expected)), query
    for view in queries:
        clients.spark(f"drop view {view}_now")
        clients.sql(f"drop materialized view {view}")


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
