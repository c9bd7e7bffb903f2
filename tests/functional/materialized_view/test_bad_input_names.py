"""Names that no view may have, and strange ones that work like any other."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.refusals import GOOD, SUBSTITUTED, refused
from tests.functional.materialized_view.warehouse import Warehouse

REFUSED = {
    "1-backtick": ("@.`a``b`", "backtick"),
    "3-empty": ("@.``", "expected a name"),
    "3-128-characters": ("@.`" + "x" * 128 + "`", "has 128 characters, more than 100"),
    "3-300-characters": ("@.`" + "x" * 300 + "`", "has 300 characters, more than 100"),
    "4-parent-folder": ("@.`../../x`", "starts with a dot"),
    "4-slash": ("@.`a/b`", "path separator"),
    "5-newline": ("@.`a\nb`", "control"),
    "5-tab": ("@.`a\tb`", "control"),
    "5-nul": ("@.`a\0b`", "control"),
    "5-right-to-left": ("@.`a\u202eb`", "direction"),
    "5-decomposed": ("@.`cafe\u0301`", "composed form"),
    "8-hidden-dot": ("@.`.x`", "starts with a dot"),
    "8-storage-table": ("@.`x__mv_01234567`", "belong to storage tables"),
    "9-schema-space": ("local.`bad `.fresh", "starts or ends with a space"),
    "9-schema-newline": ("local.`a\nb`.fresh", "control"),
    "9-schema-missing": ("local.`a'b;c`.fresh", 'schema "a\'b;c" does not exist'),
    "10-five-parts": ("a.b.c.d.e", "schema 'a.b.c.d' does not exist"),
    "10-no-catalog": ("nocatalog.bad.fresh", "schema 'nocatalog.bad' does not exist"),
    "10-no-schema": ("local.nowhere.fresh", "schema 'nowhere' does not exist"),
    "10-session-catalog": ("spark_catalog.default.fresh", "cannot hold Iceberg tables"),
    "10-empty-part": ("bad..fresh", "cannot be read"),
    "10-end-dot": ("bad.fresh.", "cannot be read"),
    "10-string": ("'fresh'", "expected a name"),
    "10-identifier": ("identifier('fresh')", "expected a name"),
    "14-name": (f"@.`{SUBSTITUTED}`", "Spark would put the value of a variable"),
    "14-name-unquoted": (SUBSTITUTED, "cannot be read"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(lake: Warehouse, case: str) -> None:
    """Refused with the reason, before anything is made."""
    name, reason = REFUSED[case]
    refused(lake, f"create materialized view {name} as {GOOD}", reason)
    refused(lake, f"create or replace materialized view {name} as {GOOD}", reason)


STRANGE = {
    "2-dot-inside": "a.b",
    "3-100-characters": "x" * 100,
    "5-emoji": "m\U0001f600",
    "5-composed": "caf\u00e9",
    "7-select": "select",
    "7-table": "table",
    "7-order": "order",
    "7-branch_main": "branch_main",
    "7-refs": "refs",
    "7-snapshots": "snapshots",
    "8-temporary": "x_temporary",
    "8-underscore": "_x",
    "8-dbt-tmp": "x__dbt_tmp",
    "9-quotes": "x'y\"z",
    "9-semicolon": "x; drop table orders",
    "9-percent": "%s %(x)s {} *",
    "9-parenthesis": "a(b",
    "9-comment": "a--b",
    "15-jinja": "{{ 1 + }}",
}


@pytest.mark.parametrize("case", STRANGE)
def test_works(lake: Warehouse, case: str) -> None:
    """Created, registered, refreshed by a read after a write, and dropped without a trace."""
    name, relations = STRANGE[case], lake.relations()
    view = f"@.`{name}`"
    lake.sql(f"create materialized view {view} as {GOOD}")
    lake.sql("insert into @.orders values (100, 'zoe', 1)")
    assert sorted(lake.sql(f"select * from {view}")) == sorted(lake.spark(GOOD))
    lake.sql(f"drop materialized view {view}")
    assert lake.relations() == relations
    table_name = "get_json_object(payload, '$.table_name')"
    created = lake.spark(f"select {table_name} from @meta.mv_events where kind = 'CREATED'")
    assert (name,) in created


@pytest.mark.parametrize("schema", ["a'b", "a;b", 'a"b', "a.b", "a b"], ids="9-{!r}".format)
def test_works_in_a_strange_schema(lake: Warehouse, schema: str) -> None:
    """A schema may have any name that the catalog takes."""
    where = f"local.`{schema}`"
    lake.spark(f"create schema {where}")
    lake.sql(f"create materialized view {where}.fresh as {GOOD}")
    lake.sql("insert into @.orders values (101, 'zoe', 1)")
    assert sorted(lake.sql(f"select * from {where}.fresh")) == sorted(lake.spark(GOOD))
    lake.sql(f"drop materialized view {where}.fresh")
    assert lake.spark(f"show tables in {where}") == []


def test_2_dots_inside_and_between(lake: Warehouse) -> None:
    """`a.b` in a schema and `b` in its schema `a` are two views, also in the metadata."""
    lake.spark(f"create schema local.{lake.schema}.a")
    inside, between = "@.`a.b`", f"local.{lake.schema}.a.b"
    lake.sql(f"create materialized view {inside} as select id from @.orders")
    lake.sql(f"create materialized view {between} as select amount from @.orders")
    known = "select table_schema, table_name from @meta.materialized_views order by all"
    assert lake.spark(known) == [(lake.schema, "a.b"), (f"{lake.schema}.a", "b")]
    lake.sql(f"drop materialized view {between}")
    assert lake.spark(known) == [(lake.schema, "a.b")]
    lake.restart()
    lake.sql("insert into @.orders values (102, 'zoe', 1)")
    assert sorted(lake.sql(f"select * from {inside}")) == sorted(
        lake.spark("select id from @.orders")
    )
    lake.sql(f"drop materialized view {inside}")


def test_6_names_that_differ_in_letter_case(lake: Warehouse) -> None:
    """The embedded catalog tells them apart, so they are two views with two storage tables."""
    lake.sql("create materialized view @.sales as select id from @.orders")
    lake.sql("create materialized view @.Sales as select amount from @.orders")
    assert sorted(lake.sql("select * from @.Sales")) == sorted(
        lake.spark("select amount from @.orders")
    )
    lake.sql("drop materialized view @.Sales")
    assert sorted(lake.sql("select * from @.sales")) == sorted(
        lake.spark("select id from @.orders")
    )
    lake.sql("drop materialized view @.sales")
