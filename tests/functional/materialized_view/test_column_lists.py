"""Column lists of CREATE MATERIALIZED VIEW: they name the query's columns, as in CREATE VIEW."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.warehouse import Warehouse

GROUPED = "select customer, count(*) from @.orders group by customer"
FORMS = {
    "renamed": ("(k, n)", GROUPED),
    "comments": ("(k comment 'it''s', `n 1`)", GROUPED),
    "swapped": ("(amount, id)", "select id, amount from @.orders -- swapped"),
    "letter case": ("(ID, Amount)", "select id, amount from @.orders;"),
    "of one name": ("(a, b)", "select id, id from @.orders"),
    "with": ("(a)", "with c as (select id from @.orders) select * from c"),
    "union": ("(a)", "select id from @.orders union all select amount from @.orders"),
    "join": (
        "(a, b, c)",
        "select o.*, p.id from @.orders p join (select id, amount from @.orders) o on o.id = p.id",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_as_in_create_view(lake: Warehouse, form: str) -> None:
    """Names, types and comments are those of a view; a refresh by changes follows the table."""
    columns, query = FORMS[form]
    lake.spark(f"create or replace view @.plain {columns} as {query.removesuffix(';')}")
    create = f"create or replace materialized view @.listed {columns} options (%s) as {query}"
    lake.sql(create % "refresh_method = 'fast'")
    assert lake.spark("describe @.listed") == lake.spark("describe @.plain")
    for change in (
        "insert into @.orders values (9, 'eve', 5)",
        "delete from @.orders where id = 9",
    ):
        lake.sql(change)
        assert sorted(lake.sql("select * from @.listed")) == sorted(
            lake.spark("select * from @.plain")
        )
    assert lake.history("listed", "method")[-1:] == [("fast",)]
    storage = lake.storage("listed")
    ((_, state, *_),) = lake.sql(create % "refresh_method = 'fast'")
    assert state == "SKIPPED" and lake.storage("listed") == storage
    lake.sql("drop materialized view @.listed")


def test_a_list_that_repeats_the_names_leaves_the_query(lake: Warehouse) -> None:
    """Only comments are taken from it: a model with described columns is defined as without."""
    query = f"select id, amount from {lake.schema}.orders"
    lake.sql(f"create materialized view @.described (id comment 'x', amount) as {query}")
    kept = lake.value("select definition from @meta.mv_status where table_name = 'described'")
    assert kept == query
    assert ("id", "bigint", "x") in lake.spark("describe @.described")
    lake.sql("drop materialized view @.described")


def test_layout_and_keys_by_the_names_of_the_list(lake: Warehouse) -> None:
    """Partitions, unique_key and refreshes by partition know the columns by their new names."""
    lake.sql(
        "create materialized view @.listed (who, n) partitioned by (who) cluster by (n) "
        f"options (unique_key = 'who', refresh_method = 'partition') as {GROUPED}"
    )
    lake.sql("insert into @.orders values (10, 'ann', 5)")
    assert sorted(lake.sql("select * from @.listed")) == sorted(lake.spark(GROUPED))
    assert lake.history("listed", "method")[-1:] == [("partition",)]
    assert lake.operation("verify", view="listed").failures == ()
    lake.sql("drop materialized view @.listed")
