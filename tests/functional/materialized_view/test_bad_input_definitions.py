"""Queries that are no definition of a view, and strange ones that are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.refusals import MARKER, error_of, refused
from tests.functional.materialized_view.warehouse import Warehouse

NOT_ONE = "is not one query that can be parsed"
CODE = "a refresh would run code outside of SQL"
MISSING = "does not exist"
FIXED = "at a fixed version, branch or metadata table"
NOT_STORED = "which a materialized view cannot store"
NO_TABLE = "reads no base table"

REFUSED = {
    "31-second-statement": ("select id from @.orders; drop table @.orders", NOT_ONE),
    "31-without-a-space": ("select id from @.orders;drop table @.orders;", NOT_ONE),
    "32-empty": ("", "has no query"),
    "32-line-comment": ("-- nothing", "has no query"),
    "32-block-comment": ("/* nothing */", "has no query"),
    "32-semicolon": (";", "has no query"),
    "32-semicolons": (";;; ;", "has no query"),
    "32-byte-order-mark": ("\ufeffselect id from @.orders", "byte-order mark"),
    "32-nul": ("select id\0 from @.orders", "Spark refuses the query"),
    "32-zero-width-space": ("select id\u200b from @.orders", "Spark refuses the query"),
    "33-merge": ("merge into @.orders using @.orders s on false when matched then delete", NOT_ONE),
    "33-call": ("call local.system.expire_snapshots('@.orders')", NOT_ONE),
    "33-set": ("set spark.sql.ansi.enabled = true", NOT_ONE),
    "33-add-jar": ("add jar /nowhere/x.jar", NOT_ONE),
    "33-insert-behind-with": (
        "with c as (select 1) insert into @.orders select 1, 'a', 1",
        NOT_ONE,
    ),
    "33-insert-behind-from": ("from @.orders insert into @.orders select *", NOT_ONE),
    "33-explain": ("explain select id from @.orders", NOT_ONE),
    "33-cache": ("cache table c as select * from @.orders", NOT_ONE),
    "33-execute-immediate": ("execute immediate 'select 1'", NOT_ONE),
    "33-script": ("begin select id from @.orders; end", NOT_ONE),
    "34-quoted": (
        f"select `reflect`('java.lang.System', 'getenv', '{MARKER}') as x from @.orders",
        CODE,
    ),
    "34-spaced": (
        f"select reflect /**/ ('java.lang.System', 'getenv', '{MARKER}') as x from @.orders",
        CODE,
    ),
    "35-without-as": ("select transform(id) using 'id' from @.orders", CODE),
    "35-map": ("from @.orders map id using 'cat' as (x)", CODE),
    "35-reduce": ("from @.orders reduce id using 'cat' as (x)", CODE),
    "36-text": ("select * from text.`/etc/hostname`", "files by path"),
    "36-bucket": ("select * from json.`s3a://bucket/x`", "files by path"),
    "36-binary": ("select * from binaryFile.`/etc/hostname`", "files by path"),
    "36-iceberg": ("select * from iceberg.`/nowhere/x`", "files by path"),
    "36-no-slash": ("select * from parquet.`other_bucket`", MISSING),
    "36-class": ("select * from `com.example`.`/nowhere/x`", MISSING),
    "36-in-union": ("select id from @.orders union select * from orc.`x`", MISSING),
    "37-parameter": ("select * from identifier(:x)", "known only at run time"),
    "37-concatenated": ("select * from identifier('@' || '.orders')", "known only at run time"),
    "37-in-subquery": (
        "select id from @.orders where id in (select id from identifier('x'))",
        "known only at run time",
    ),
    "37-unbound-name": ("select id from @.orders where id = :x", "UNBOUND_SQL_PARAMETER"),
    "37-unbound-mark": ("select id from @.orders where id = ?", "UNBOUND_SQL_PARAMETER"),
    "38-table-of-three-columns": (
        "select id from @.orders where id in (table @.orders)",
        "IN_SUBQUERY_LENGTH_MISMATCH",
    ),
    "38-half-a-query": ("select id from @.orders where (", "PARSE_SYNTAX_ERROR"),
    "39-itself": ("select id from @.fresh", MISSING),
    "40-ambiguous": (
        "with orders as (select 7 as id) select id from orders, @.orders",
        "AMBIGUOUS_REFERENCE",
    ),
    "41-stateful": (
        "select id from @.orders where rand() > (select rand(id) from @.orders)",
        "Spark refuses the query",
    ),
    "42-timestamp": ("select id from @.orders timestamp as of '2020-01-01'", FIXED),
    "42-tag": ("select id from @.orders.tag_x", FIXED),
    "42-files": ("select * from local.@.orders.files", FIXED),
    "42-changes": ("select * from local.@.orders.changes", FIXED),
    "42-at": ("select id from @.orders@v3", "Spark refuses the query"),
    "42-at-quoted": ("select id from @.`orders@v3`", MISSING),
    "42-option": ("select * from @.orders with ('snapshot-id' = '1')", FIXED),
    "42-branch-by-option": ("select * from @.orders with ('branch' = 'x')", FIXED),
    "42-tag-of-table": ("table @.orders.tag_x", FIXED),
    "42-version-and-shift": ("select id >>> 1 from @.orders version as of 1", FIXED),
    "43-temporary": ("select id from a_temporary", "a temporary view cannot be a base table"),
    "43-temporary-like-a-table": ("select id from orders", MISSING),
    "43-global-temporary": ("select id from global_temp.a_global", MISSING),
    "43-cached": ("select id from a_cached", MISSING),
    "43-stream": ("select * from stream(@.orders)", NO_TABLE),
    "43-variable": ("select id from @.orders where id = session.a_variable", "UNRESOLVED_COLUMN"),
    "45-join": ("select * from @.orders a join @.orders b using (id)", "more than once"),
    "45-letter-case": ("select id as a, amount as A from @.orders", "'a' more than once"),
    "45-empty-name": ("select id as `` from @.orders", "a column of the name ''"),
    "46-void": ("select id, null as x from @.orders", NOT_STORED),
    "46-void-inside": ("select struct(id, null as n) as x from @.orders", NOT_STORED),
    "46-years": ("select interval '1' year as x from @.orders", NOT_STORED),
    "46-days": ("select interval '1 2:3:4' day to second as x from @.orders", NOT_STORED),
    "46-old-interval": ("select make_interval(1) as x from @.orders", NOT_STORED),
    "46-interval-in-map": ("select map(id, make_interval(1)) as x from @.orders", NOT_STORED),
    "46-variant": ("select parse_json('{}') as x from @.orders", NOT_STORED),
    "46-time": ("select time'10:00:00' as x from @.orders", NOT_STORED),
}


@pytest.fixture(scope="module", autouse=True)
def surroundings(lake: Warehouse) -> Iterator[None]:
    lake.sql("create temporary view a_temporary as select 1 as id")
    lake.sql("create temporary view orders as select 99 as id")
    lake.sql("create global temporary view a_global as select 1 as id")
    lake.sql("cache table a_cached as select 1 as id")
    lake.sql("declare variable a_variable bigint default 1")
    yield
    for view in ("a_temporary", "orders", "a_cached", "global_temp.a_global"):
        lake.sql(f"drop view {view}")
    lake.sql("drop temporary variable a_variable")


@pytest.mark.parametrize("case", REFUSED)
def test_refused(lake: Warehouse, case: str) -> None:
    """The fault is named in two lines, and nothing is made."""
    query, reason = REFUSED[case]
    refused(lake, f"create materialized view @.fresh as {query}", reason)


WORKS = {
    "32-end-semicolon": "select id from @.orders;",
    "32-end-semicolons": "select id from @.orders ; ;\n",
    "32-end-comment": "select id from @.orders -- the end",
    "32-end-comment-behind": "select id from @.orders; -- the end",
    "32-no-break-space": "select\u00a0id from\u00a0@.orders",
    "37-column": "select identifier('i' || 'd') as id from @.orders",
    "38-from-first": "from @.orders select id",
    "38-from-alone": "from @.orders",
    "38-pipe": "from @.orders |> where id > 1 |> join @.orders o using (id) |> select id",
    "38-parentheses": "((select id from @.orders))",
    "38-many-parentheses": "(" * 100 + "select id from @.orders" + ")" * 100,
    "38-table": "table @.orders",
    "38-table-in-cte": "with c as (table @.orders) select id from c",
    "38-table-in-union": "select * from @.orders union all table @.orders",
    "38-shift": "select id >>> 1 as x from @.orders",
    "38-corr-distinct": "select corr(distinct id, amount) as c from @.orders",
    "40-shadow": "with orders as (select id from @.orders) select id from orders",
    "43-like-a-temporary": "select orders.id from @.orders",
    "45-no-names": "select id + 1, count(*) over () from @.orders",
    "45-odd-names": "select id as `a.b`, id as `a``b`, id as `x y`, id as `'`, id as `\n`, "
    'id as `"`, id as `;`, id as `{{` from @.orders',
    "46-map": "select id, map_keys(map(customer, id)) as k from @.orders",
    "46-char": "select cast(customer as char(5)) as c, cast(customer as varchar(9)) as v "
    "from @.orders",
    "46-no-zone": "select id, timestamp_ntz'2020-02-29 00:00:00' as t from @.orders",
    "46-binary": "select id, X'00FF' as b from @.orders",
    "46-fields-like-types": "select id, named_struct('time', id, 'interval', id, 'void', id) as s "
    "from @.orders",
}


@pytest.mark.parametrize("case", WORKS)
def test_works(lake: Warehouse, case: str) -> None:
    """Built, followed by its base table, and its rows are those of the query."""
    query = WORKS[case]
    lake.sql(f"create or replace materialized view @.fresh as {query}")
    lake.sql("insert into @.orders values (100, 'zoe', 1)")
    found = lake.sql("select * from @.fresh")
    lake.sql("drop materialized view @.fresh")
    plain = query.partition(";")[0] if case.startswith("32-end") else query
    assert sorted(map(str, found)) == sorted(map(str, lake.spark(plain)))


def test_39_cycle_of_two(lake: Warehouse) -> None:
    """X reads Y, so Y cannot be replaced by a query of X, whatever lies between."""
    lake.sql("create materialized view @.y as select id from @.orders")
    lake.sql("create materialized view @.x as select id from @.y")
    lake.sql("create view @.a_view as select id from @.x")
    for source in ("@.x", "@.a_view", "(select * from @.a_view)"):
        before = lake.state()
        text = error_of(
            lake, f"create or replace materialized view @.y as select id from {source} as s"
        )
        assert "would read itself" in text and "->" in text
        assert lake.state() == before
    lake.spark("drop view @.a_view")
    for name in ("x", "y"):
        lake.sql(f"drop materialized view @.{name}")


def test_41_volatile_functions(lake: Warehouse) -> None:
    """What changes without a table is computed at each refresh that is asked for, not at a read."""
    lake.sql(
        "create materialized view @.fresh as select id, rand() as a, now() as b, uuid() as c, "
        "current_user() as d, input_file_name() as e, monotonically_increasing_id() as f "
        "from @.orders"
    )
    first = sorted(lake.sql("select * from @.fresh"))
    assert sorted(lake.sql("select * from @.fresh")) == first
    lake.sql("refresh materialized view @.fresh")
    second = sorted(lake.sql("select * from @.fresh"))
    assert [row[0] for row in second] == [row[0] for row in first]
    assert all(new[1:4] != old[1:4] for new, old in zip(second, first, strict=True))
    lake.sql("drop materialized view @.fresh")


def test_34_unsafe_below_a_view(lake: Warehouse) -> None:
    """A logical view that runs code is no way around the rule."""
    lake.spark(
        "create view @.unsafe as "
        f"select id, reflect('java.lang.System', 'getenv', '{MARKER}') as x from @.orders"
    )
    refused(lake, "create materialized view @.fresh as select x from @.unsafe", CODE)
    lake.spark("drop view @.unsafe")


def test_34_code_is_allowed_by_the_profile(lake: Warehouse) -> None:
    """Whoever has the profile allows code, at creation and at each refresh; a model cannot."""
    option = "options (allow_unsafe_sql = true) as select id from @.orders"
    refused(lake, f"create materialized view @.fresh {option}", "in the profile")
    script = "as select transform(id) using r'cat' as (x string) from @.orders"
    refused(lake, f"create materialized view @.fresh {script}", "runs a script")
    trusting = Warehouse({**lake.target, "allow_unsafe_sql": True}, lake.schema)
    trusting.sql(f"create materialized view @.fresh {script}")
    lake.restart()
    lake.sql("insert into @.orders values (103, 'zoe', 1)")
    assert "runs a script" in error_of(lake, "refresh materialized view @.fresh")
    trusting.sql("refresh materialized view @.fresh")
    assert ("103",) in lake.spark("select * from @.fresh")
    lake.restart()
    lake.sql("drop materialized view @.fresh")


def test_34_unsafe_below_a_view_later(lake: Warehouse) -> None:
    """Nor is a logical view that is replaced after the creation; the old rows stay."""
    lake.spark("create view @.harmless as select id from @.orders")
    lake.sql("create materialized view @.fresh as select id from @.harmless")
    rows = sorted(lake.spark("select id from @.fresh"))
    lake.spark(
        "create or replace view @.harmless as "
        "select id, reflect('java.lang.Math', 'abs', -1) as x from @.orders"
    )
    lake.restart()
    for statement in ("select * from @.fresh", "refresh materialized view @.fresh"):
        assert CODE in error_of(lake, statement)
    assert sorted(lake.spark("select id from @.fresh")) == rows
    lake.sql("drop materialized view @.fresh")
    lake.spark("drop view @.harmless")
