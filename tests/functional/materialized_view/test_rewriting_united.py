"""Views that have a part of the values that a query wants, on Spark: united with the rows of base
tables that they leave out, where these can be read alone."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.rewritten import (
    ZONE,
    assert_same,
    columns,
    explained,
    reasons_of,
    views_of,
)
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample_of

# Of each type values that are in order, the third of which is the first that the view has.
EVERY_TYPE = {
    "int": ("-3", "0", "7", "8"),
    "bigint": ("-9000000000", "0", "7", "9000000000"),
    "date": ("date'2023-12-31'", "date'2024-01-01'", "date'2024-02-29'", "date'2024-03-01'"),
    "string": ("''", "'B'", "'a'", "'é'"),
    "decimal(10,2)": ("-1.50", "0.00", "0.01", "99999999.99"),
    "timestamp": (
        "timestamp'2018-11-03 23:30:00'",
        "timestamp'2018-11-04 01:00:00'",
        "timestamp'2018-11-04 01:30:00.123456'",
        "timestamp'2019-02-16 23:30:00'",
    ),
    "timestamp_ntz": (
        "timestamp_ntz'2018-11-03 23:30:00'",
        "timestamp_ntz'2018-11-04 00:30:00'",
        "timestamp_ntz'2018-11-04 00:30:00.123456'",
        "timestamp_ntz'2019-02-16 23:30:00'",
    ),
}
TYPES = sample_of(EVERY_TYPE, ["bigint", "decimal(10,2)", "timestamp_ntz"])
QUERIES = {
    "whole": "select g, sum(v) as s, count(*) as n from @.{t} group by g",
    "wider": "select g, sum(v) as s, min(v) as l from @.{t} where c >= {1} group by g",
    "of both": "select g, c, sum(v) as s from @.{t} where c > {0} and c < {3} group by g, c",
    "rows": "select g, v, c from @.{t} where v > 400",
    "not null": "select count(*) as n, avg(v) as m from @.{t} where c is not null",
}
AS_STORED = {
    "groups": "select g, sum(v) as s, count(*) as n, min(v) as l from @.{t} where c >= {2} "
    "group by g",
    "keys": "select g, c, sum(v) as s, count(v) as n from @.{t} where c >= {2} group by g, c",
    "listed": "select g, v, c from @.{t} where v > 400 and (c = {2} or c = {3})",
}
BY = {
    "whole": ["groups", "keys"],
    "wider": ["groups", "keys"],
    "of both": ["keys"],
    "rows": ["listed"],
    "not null": ["keys"],
}


def table(kind: str) -> str:
    return "of_" + kind.partition("(")[0]


def written(text: str, kind: str) -> str:
    return text.format(*TYPES[kind], t=table(kind))


def views(kind: str) -> dict[str, str]:
    return {f"{name}_{table(kind)}": written(text, kind) for name, text in AS_STORED.items()}


@pytest.fixture(scope="module")
def parts(shop: Warehouse) -> Warehouse:
    """A table for each type, with a partition for each value and for NULL."""
    shop.spark(f"set time zone '{ZONE}'")
    for kind, values in TYPES.items():
        listed = ", ".join(f"cast({one} as {kind})" for one in (*values, "null"))
        shop.spark(
            f"create table @.{table(kind)} using iceberg partitioned by (c) as "
            "select cast(id % 3 as int) as g, if(id % 7 = 0, null, cast(id as decimal(8, 2))) "
            f"as v, element_at(array({listed}), cast(id % 5 as int) + 1) as c from range(500)"
        )
        for name, query in views(kind).items():
            shop.sql(f"create materialized view @.{name} as {query}")
    return shop


@pytest.mark.behaviour("C20")
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("kind", TYPES)
def test_types(parts: Warehouse, kind: str, name: str) -> None:
    query = written(QUERIES[name], kind)
    text, *attempts = explained(parts, query)
    expected = {f"{view}_{table(kind)}" for view in BY[name]}
    assert set(views_of(parts, query)) <= expected, attempts
    assert views_of(parts, query), attempts
    assert "UNION ALL" in text[4]
    assert_same(parts, query)
    assert columns(parts, text[4]) == columns(parts, query)


def test_subquery_in_both_parts(parts: Warehouse) -> None:
    """A condition of the view with a subquery, whose table is read at its version, too."""
    some = "g in (select shop from @.shops where name <> 'n0')"
    parts.sql(
        "create materialized view @.of_some as select g, sum(v) as s, count(*) as n "
        f"from @.of_date where c >= date'2024-02-29' and {some} group by g"
    )
    query = f"select g, sum(v) as s from @.of_date where {some} group by g"
    for name in views("date"):
        parts.sql(f"alter materialized view @.{name} set options (use_in_query_rewrite = false)")
    try:
        text, *attempts = explained(parts, query)
        assert views_of(parts, query) == ["of_some"], attempts
        assert text[4].count("VERSION AS OF") == 3
        assert_same(parts, query)
    finally:
        for name in views("date"):
            parts.sql(f"alter materialized view @.{name} set options (use_in_query_rewrite = true)")


def test_tables_in_another_order(parts: Warehouse) -> None:
    parts.spark(
        "create table @.facts using iceberg partitioned by (a) as select cast(id % 5 as int) as a, "
        "cast(id % 3 as string) as g, cast(id as int) as b from range(3000)"
    )
    parts.spark(
        "create table @.dims using iceberg as select cast(id % 4 as int) as a, "
        "cast(id % 3 as string) as g from range(6)"
    )
    parts.sql(
        "create materialized view @.pairs as select d.g, count(*) as n, sum(f.b) as s "
        "from @.dims d join @.facts f on d.g = f.g where f.a >= 2 group by d.g"
    )
    query = (
        "select d.g, count(*) as n, sum(f.b) as s from @.facts f join @.dims d on d.g = f.g "
        "group by d.g"
    )
    assert views_of(parts, query) == ["pairs"], explained(parts, query)
    assert_same(parts, query)


def test_names_of_fields_that_no_text_can_have(parts: Warehouse) -> None:
    parts.spark(
        "create table @.quoted using iceberg partitioned by (a) as select cast(id as int) as id, "
        'cast(id % 5 as int) as a, named_struct("x\'y", id) as s from range(200)'
    )
    parts.sql(
        "create materialized view @.of_quoted as select id, a, s from @.quoted "
        "where a >= 1 and id % 7 = 0"
    )
    query = "select id, a, s from @.quoted where id % 7 = 0"
    assert views_of(parts, query) == ["of_quoted"], explained(parts, query)
    assert_same(parts, query.replace(", s", ""))


def test_more_rows_than_it_spares(parts: Warehouse) -> None:
    """Of five partitions the view has the last one."""
    parts.sql("create materialized view @.last as select g, v from @.of_int where c > 7")
    try:
        query = "select g, v from @.of_int"
        parts.sql("drop materialized view @.listed_of_int")
        assert views_of(parts, query) == []
        found = [row for row in explained(parts, query)[1:] if str(row[1]).endswith("last")]
        assert [row[3] for row in found] == ["ROWS_NOT_COVERED"]
    finally:
        parts.sql("drop materialized view @.last")
        parts.sql(f"create materialized view @.listed_of_int as {views('int')['listed_of_int']}")


def test_at_the_versions_of_the_stored_rows(parts: Warehouse) -> None:
    """What the view leaves out, and what else is read, is read at the same versions."""
    query = written(QUERIES["wider"], "date") + " order by 1"
    found = explained(parts, f"select q.*, (select count(*) from @.of_date) as a from ({query}) q")
    assert found[0][4].count("VERSION AS OF") == 3


def test_stale(parts: Warehouse) -> None:
    """A view that is not fresh is not united with anything."""
    query = written(QUERIES["whole"], "string")
    assert views_of(parts, query)
    parts.spark("insert into @.of_string values (1, 5, 'B')")
    assert views_of(parts, query) == []
    assert "VIEW_NOT_FRESH" in reasons_of(parts, query)
    assert_same(parts, query)
    for name in views("string"):
        parts.sql(f"refresh materialized view @.{name}")
    assert views_of(parts, query)
    assert_same(parts, query)


def test_whole_view_comes_first(parts: Warehouse) -> None:
    """One that needs no base table is taken even if it has more rows."""
    parts.sql(
        "create materialized view @.every as select g, c, cast(v as int) % 360 as k, "
        "sum(v) as s, count(*) as n from @.of_int group by g, c, cast(v as int) % 360"
    )
    query = written(QUERIES["whole"], "int")
    assert views_of(parts, query) == ["every"]
    assert_same(parts, query)
    parts.sql("drop materialized view @.every")
    assert views_of(parts, query) in (["groups_of_int"], ["keys_of_int"])
