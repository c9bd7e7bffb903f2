"""Logical views whose tables have other columns now than when the views were made: Spark converts
what their texts return, and so do materialized views that read them."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.views import view_columns
from tests.functional.materialized_view.rewritten import of_small_tables, views_of
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

FIRST = (
    "k bigint, v string, w double, d decimal(12, 2), t timestamp, s struct<a: bigint, b: string>"
)
ROWS = (
    "select cast(100000 + id % 2 as bigint) as k, cast(9 + id % 2 as string) as v, "
    "cast(id / 3 as double) as w, cast(id / 7 as decimal(12, 2)) as d, "
    "timestamp'2024-01-01 10:00:00' + make_dt_interval(id) as t, "
    "named_struct('a', 100000 + id, 'b', cast(id as string)) as s from range(4)"
)
# What becomes of the table, by columns of `ROWS`.
CHANGES = {
    "narrower": "select cast(k as int) as k, v, w, d, t, s",
    "text of numbers": "select k, cast(v as int) as v, w, d, t, s",
    "float": "select k, v, cast(w as float) as w, d, t, s",
    "decimal": "select k, v, w, cast(d as decimal(5, 1)) as d, t, s",
    "date": "select k, v, w, d, cast(t as date) as t, s",
    "structure": "select k, v, w, d, t, named_struct('a', cast(s.a as int), 'b', s.b) as s",
    "column first": "select 7 as z, k, v, w, d, t, s",
    "column last": "select k, v, w, d, t, s, 7 as z",
    "order": "select w, k, v, d, t, s",
    "wider": "select k, v, w, cast(d as decimal(20, 2)) as d, t, s",
    "number in a text": "select k, concat('n', v) as v, w, 1.5 as d, t, s",
    "column lost": "select k, v, w, d, t",
    "not a number": "select cast(k as string) as k, v, w, d, t, s",
}
VIEWS = {
    "named": "create view {schema}.l as select k, v, w, d, t, s from {schema}.t",
    "star": "create view {schema}.l as select * from {schema}.t",
    "renamed": "create view {schema}.l (k, v, w, d, t, s) as select * from {schema}.t",
    "nested": "create view {schema}.l as select * from {schema}.below",
    "session": "create view spark_catalog.default.l_{schema} as select * from local.{schema}.t",
    "session, renamed": "create view spark_catalog.default.l_{schema} (k, v, w, d, t, s) as "
    "select * from local.{schema}.t",
}
QUERY = (
    "select k, max(v) as v, sum(k * k) as p, sum(w) as w, sum(d * d) as d, max(t) as t, "
    "count(distinct s) as n from {view} group by k"
)
GROUPED = "select k, max(v) as v, count(*) as n from {view} group by k"
FROM = f"from ({ROWS})"


def _result(lake: Warehouse, run: str, query: str) -> Counter[str] | str:
    """The rows of a query; a word where Spark refuses it."""
    try:
        return Counter(map(str, getattr(lake, run)(query)))
    except Exception:
        return "refused"


@pytest.fixture
def told(lake: Warehouse, road: str) -> tuple[Warehouse, str]:
    made = of_small_tables(lake)
    for name in ("@.m", "@.direct"):
        made.sql(f"drop materialized view if exists {name}")
    for name in ("@.l", "@.below", f"spark_catalog.default.l_{lake.schema}"):
        made.spark(f"drop view if exists {name}")
    made.spark("drop table if exists @.t")
    made.spark(f"create table @.t ({FIRST}) using iceberg")
    made.spark(f"insert into @.t {ROWS}")
    return made, road


def _check(lake: Warehouse, query: str, step: str) -> None:
    """What the materialized view has is what its query gives, or both are refused."""
    lake.restart()
    wanted = _result(lake, "spark", query)
    found = _result(lake, "apart", "select * from @.m")
    if wanted == "refused":
        assert lake.operation("refresh", view=f"{lake.schema}.m").failures, step
        return
    assert found == wanted, step
    assert lake.freshness("m") == "FRESH", step
    assert _result(lake, "apart", query) == wanted, f"{step}: rewritten by {views_of(lake, query)}"


@pytest.mark.parametrize("made", VIEWS)
def test_columns_of_then(told: tuple[Warehouse, str], made: str) -> None:
    lake, way = told
    view = f"spark_catalog.default.l_{lake.schema}" if "session" in made else "@.l"
    if made == "nested":
        lake.spark("create view @.below as select * from @.t")
    lake.spark(VIEWS[made].format(schema=lake.schema))
    query = QUERY.format(view=view)
    lake.sql(f"create materialized view @.m as {query}")
    place = [*VIEWS].index(made) + (3 if way == "statements" else 0)
    for name in CHANGES if WHOLE else [*CHANGES][place % 4 :: 4]:
        change = f"{CHANGES[name]} {FROM}"
        lake.spark(f"create or replace table @.t using iceberg as {change}")
        _check(lake, query, f"{made}, {name}")
        lake.spark(f"insert into @.t {change}")
        _check(lake, query, f"{made}, {name}, inserted")


@pytest.fixture
def grouped(told: tuple[Warehouse, str]) -> Warehouse:
    """A view over a logical view, whose table has numbers in place of texts since."""
    lake, _ = told
    lake.spark("create view @.l as select k, v from @.t")
    lake.sql("create materialized view @.m as " + GROUPED.format(view="@.l"))
    lake.sql("create materialized view @.direct as " + GROUPED.format(view="@.t"))
    lake.spark(f"create or replace table @.t using iceberg as {CHANGES['text of numbers']} {FROM}")
    lake.restart()
    return lake


def test_refreshed_fast(grouped: Warehouse) -> None:
    """What is added is converted, too."""
    query = GROUPED.format(view="@.l")
    _check(grouped, query, "complete")
    grouped.spark("insert into @.t (k, v) values (100000, 8), (100001, 100), (7, 10), (7, 9)")
    (row,) = grouped.operation("refresh", view=f"{grouped.schema}.m", method="fast").rows
    assert row[1:3] == ("SUCCEEDED", "fast")
    _check(grouped, query, "fast")
    assert not grouped.operation("verify", view=f"{grouped.schema}.m").failures


def test_the_view_is_made_again(grouped: Warehouse) -> None:
    """Its text is the same, and its columns have the types of the table now."""
    query = GROUPED.format(view="@.l")
    _check(grouped, query, "converted")
    before = grouped.sql("select * from @.m")
    grouped.spark("create or replace view @.l as select k, v from @.t")
    grouped.restart()
    assert grouped.freshness("m") == "STALE"
    _check(grouped, query, "as they are")
    assert Counter(map(str, grouped.sql("select * from @.m"))) != Counter(map(str, before))


def test_queries_over_the_table(grouped: Warehouse) -> None:
    """They want other values than the view has that was right for them before."""
    for query in (GROUPED.format(view="@.t"), "select max(v) from @.t", "select max(v) from @.l"):
        grouped.operation("refresh", view=f"{grouped.schema}.m")
        assert _result(grouped, "apart", query) == _result(grouped, "spark", query), query


def test_what_cannot_be_converted(grouped: Warehouse) -> None:
    """Spark does not read the view, and the rows of before stay."""
    before = grouped.spark("select * from @.m")
    grouped.spark("create or replace table @.t using iceberg as select '1' as k, '2' as v")
    grouped.restart()
    (failure,) = grouped.operation("refresh", view=f"{grouped.schema}.m").failures
    assert "CANNOT_UP_CAST_DATATYPE" in failure
    assert grouped.spark("select * from @.m") == before


@pytest.mark.parametrize("made", ["decimal", "float", "narrower", "date"])
def test_live_views_of_columns_of_now(told: tuple[Warehouse, str], made: str) -> None:
    """What has to be converted when a live view is made is converted by it."""
    lake, _ = told
    lake.spark("create view @.l as select k, v, w, d, t from @.t")
    lake.spark(f"create or replace table @.t using iceberg as {CHANGES[made]} {FROM}")
    query = "select k, max(v) as v, max(w) as w, max(d) as d, max(t) as t from @.l group by k"
    lake.sql(f"create or replace materialized view @.m options (live = true) as {query}")
    lake.spark(f"insert into @.t {CHANGES[made]} {FROM}")
    assert _result(lake, "spark", "select * from @.m__live") == _result(lake, "spark", query)


# Types of a column, and those that a view may have been declared with.
TYPES = (
    "boolean tinyint smallint int bigint float double decimal(5,2) decimal(20,0) date timestamp "
    "timestamp_ntz string binary array<int> struct<a:int>"
).split()
DECLARED = [kind for kind in TYPES if view_columns.is_plain(kind)]


@pytest.mark.parametrize("declared", DECLARED)
def test_conversions_that_spark_makes(lake: Warehouse, declared: str) -> None:
    """Of all pairs of types: a live view converts nothing that Spark would not convert by itself,
    and but for decimals all that it would."""
    type_of = lake.jvm.org.apache.spark.sql.types.DataType.fromDDL
    facts = ViewFacts("", "", (), ("c",), {}, (declared,))
    taken = view_columns.taken_later(0, declared, declared)
    columns = view_columns.Shown((taken,), 1, "refused")
    for kind in TYPES:
        body = f"select cast(null as {kind}) as c"
        is_made = _result(lake, "spark", view_columns.in_place(facts, body, columns)) != "refused"
        upcast = lake.jvm.org.apache.spark.sql.catalyst.expressions.Cast.canUpCast
        may = upcast(type_of(kind), type_of(declared))
        assert is_made <= may, kind
        assert is_made == may or "decimal" in kind + declared, kind


def test_live_views(told: tuple[Warehouse, str]) -> None:
    """They convert what other programs change later, too."""
    lake, _ = told
    lake.spark("create view @.l as select k, v, w, t from @.t")
    query = "select k, max(v) as v, max(k * k) as p, max(w) as w, max(t) as t from @.l group by k"
    lake.sql(f"create or replace materialized view @.m options (live = true) as {query}")
    for name in ("narrower", "text of numbers", "float", "date", "column last"):
        lake.spark(f"create or replace table @.t using iceberg as {CHANGES[name]} {FROM}")
        for _ in range(2):
            found = _result(lake, "spark", "select * from @.m__live")
            assert found == _result(lake, "spark", query), name
            lake.spark(f"insert into @.t {CHANGES[name]} {FROM}")


PADDED = (
    "select count(*) as n from {view} where c = 'a'",
    "select count(*) as n from {view} where c in ('a    ', 'b')",
    "select c, length(c) as n, concat(c, '|') as x from {view}",
    "select c || v as k, count(*) as n from {view} where v <> 'b' group by c || v",
    "select sum(b * b) as x, max(s * s) as y, max(b + b) as z from {view}",
    "select count(*) as n from {view} as l join (select 'a' as c, 'ab' as v) as r on l.c = r.c",
)


@pytest.mark.parametrize("view", ["@.padded", "spark_catalog.default.padded"])
def test_padded_texts(told: tuple[Warehouse, str], view: str) -> None:
    """Spark pads what it compares with CHAR, but not behind a view of Iceberg."""
    lake, _ = told
    table = "spark_catalog.default.chars"
    lake.spark(f"drop table if exists {table}")
    lake.spark(
        f"create table {table} (c char(5), v varchar(5), b tinyint, s smallint) using parquet"
    )
    lake.spark(f"insert into {table} values ('a', 'a', 100, 30000), ('ab', 'b', 120, 32000)")
    lake.spark(f"create or replace view {view} as select c, v, b, s from {table}")
    for query in PADDED:
        text = query.format(view=view)
        lake.sql(f"create or replace materialized view @.m as {text}")
        assert Counter(lake.spark("select * from @.m")) == Counter(lake.spark(text)), query
    lake.spark(f"drop view {view}")


def test_a_view_of_structures_is_made_again(told: tuple[Warehouse, str]) -> None:
    """In one command that has asked for its types before."""
    lake, _ = told
    lake.spark("create view @.l as select k, s from @.t")
    query = "select k, max(typeof(s)) as kind, max(s.a * s.a) as p from @.l group by k"
    lake.sql(f"create materialized view @.m as {query}")
    for change in ("structure", "wider"):
        lake.spark(f"create or replace table @.t using iceberg as {CHANGES[change]} {FROM}")
        lake.restart()
        for _ in range(2):
            found = _result(lake, "sql", "select * from @.m")
            assert found == _result(lake, "spark", query), change
            lake.sql("create or replace view @.l as select k, s from @.t")
            lake.spark(f"insert into @.t {CHANGES[change]} {FROM}")
