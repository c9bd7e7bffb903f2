"""Definitions that are refused: each names the fault, and nothing is changed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.warehouse import Warehouse

GOOD = "select id, amount from @.orders"
NOT_ONE = "is not one query that can be parsed"
FIXED = "at a fixed version, branch or metadata table"
BAD_LUCK = "case when id > 0 then raise_error('no luck') else id end"


@pytest.fixture(scope="module", autouse=True)
def surroundings(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.standing as {GOOD}")
    lake.sql("create materialized view @.over_standing as select id from @.standing")
    lake.sql("create view @.a_view as select id from @.standing")
    lake.sql("create table @.a_table using iceberg as select 1 as id")


def refused(lake: Warehouse, statement: str, pattern: str) -> None:
    before = lake.state()
    try:
        with pytest.raises(Exception, match=pattern) as caught:
            lake.sql(statement)
        assert "\tat " not in str(caught.value) and "Py4J" not in str(caught.value)
        assert lake.state() == before
    finally:
        lake.sql("drop materialized view if exists @.fresh")


DEFINITIONS = {
    "no table": ("select 1 as x", "reads no base table"),
    "range only": ("select id from range(3)", "reads no base table"),
    "values only": ("select * from values (1), (2) as t(x)", "reads no base table"),
    "missing table": ("select id from @.absent", r"reads \w+\.absent, which does not exist"),
    "missing behind a join": (
        "select o.id from @.orders o join @.absent a on 1 = 1",
        r"reads \w+\.absent, which",
    ),
    "missing schema": (
        "select id from nowhere.orders",
        r"reads nowhere\.orders, which does not exist",
    ),
    "missing column": (
        "select absent_column from @.orders",
        "UNRESOLVED_COLUMN.*absent_column",
    ),
    "not parsable": ("select from where", "refuses the query.*UNRESOLVED_COLUMN.*one query"),
    "half a query": ("select id from @.orders where (", "refuses the query.*PARSE_SYNTAX_ERROR"),
    "empty": ("", "has no query"),
    "two statements": (f"{GOOD}; {GOOD}", NOT_ONE),
    "two statements, one a write": (f"{GOOD}; drop table @.a_table", NOT_ONE),
    "misspelt": ("selec id from @.orders", "it begins with 'selec id from"),
    "insert": ("insert into @.a_table select id from @.orders", NOT_ONE),
    "delete": ("delete from @.a_table", NOT_ONE),
    "create": ("create table @.x as select 1", NOT_ONE),
    "show": ("show tables", NOT_ONE),
    "parquet path": (
        "select o.id from @.orders o join parquet.`/data/x` p on 1 = 1",
        "reads files by path",
    ),
    "csv path": ("select * from csv.`file:///etc/passwd`", "reads files by path"),
    "reflect": (
        "select reflect('java.lang.System', 'exit', 1) as x from @.orders",
        r"calls reflect\(\)",
    ),
    "java_method": (
        "select java_method('java.lang.Math', 'abs', -1) as x from @.orders",
        r"calls java_method\(\)",
    ),
    "try_reflect": (
        "select try_reflect('java.lang.Math', 'abs', 1) as x from @.orders",
        r"try_reflect\(\)",
    ),
    "transform script": (
        "select transform(id) using 'cat' as (x string) from @.orders",
        "runs a script",
    ),
    "two columns of a name": (
        "select id, amount as id from @.orders",
        "column 'id' more than once",
    ),
    "two columns of a name, other case": (
        "select id, amount as ID from @.orders",
        "column 'id' more than once",
    ),
    "fixed version": ("select id from @.orders version as of 1", FIXED),
    "branch": ("select id from @.orders.branch_main", FIXED),
    "metadata table": ("select snapshot_id from @.orders.snapshots", FIXED),
    "identifier()": ("select id from identifier('@.orders')", "known only at run time"),
    "type error": ("select id + array(1) as x from @.orders", "DATATYPE_MISMATCH"),
}


@pytest.mark.behaviour("A4", "B14", "B15", "D31", "D36")
@pytest.mark.parametrize("case", DEFINITIONS)
def test_definition(lake: Warehouse, case: str) -> None:
    """Refused at creation, nothing made and nothing registered."""
    query, pattern = DEFINITIONS[case]
    refused(lake, f"create materialized view @.fresh as {query}", f"(?is){pattern}")


@pytest.mark.behaviour("A4", "B14", "B15", "D23", "D36")
@pytest.mark.parametrize("case", DEFINITIONS)
def test_definition_of_a_replacement(lake: Warehouse, case: str) -> None:
    """A refused replacement leaves the old view as it was."""
    query, pattern = DEFINITIONS[case]
    refused(lake, f"create or replace materialized view @.standing as {query}", f"(?is){pattern}")


def test_failing_replacement(lake: Warehouse) -> None:
    """A replacement that fails while it computes leaves rows, view and storage."""
    before, build = lake.relations(), lake.build_of("standing")
    with pytest.raises(Exception, match="no luck"):
        lake.sql(
            "create or replace materialized view @.standing as "
            f"select id, {BAD_LUCK} as amount from @.orders"
        )
    assert (lake.relations(), lake.build_of("standing")) == (before, build)
    lake.sql(f"create or replace materialized view @.standing as {GOOD}")


@pytest.mark.behaviour("X8")
@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("standing", "select id, id as amount from @.standing"),
        ("standing", "select id, id as amount from @.a_view"),
        ("standing", "select id, id as amount from @.over_standing"),
        (
            "standing",
            "select o.id, o.amount from @.orders o where o.id in (select id from @.a_view)",
        ),
    ],
    ids=["direct", "through a view", "through another view of ours", "in a subquery"],
)
def test_cycle(lake: Warehouse, name: str, query: str) -> None:
    """A definition that would read itself is refused and the path is shown."""
    refused(
        lake, f"create or replace materialized view @.{name} as {query}", "would read itself.*->"
    )


@pytest.mark.behaviour("B12")
@pytest.mark.parametrize(
    ("name", "verb"),
    [
        *[(name, "create materialized view") for name in ("a_table", "a_view", "standing")],
        *[(name, "create or replace materialized view") for name in ("a_table", "a_view")],
    ],
)
def test_name_is_taken(lake: Warehouse, name: str, verb: str) -> None:
    """An existing relation is an error, with OR REPLACE too unless it is one of ours."""
    refused(lake, f"{verb} @.{name} as {GOOD}", rf"{name} exists")


@pytest.mark.behaviour("B13")
def test_schema_that_does_not_exist(lake: Warehouse) -> None:
    """Statements make no schemas."""
    with pytest.raises(Exception, match="nowhere"):
        lake.sql(f"create materialized view nowhere.fresh as {GOOD}")
    assert not [row for row in lake.spark("show schemas in local") if row[0] == "nowhere"]


@pytest.mark.behaviour("B12")
@pytest.mark.parametrize("name", ["a_table", "a_view"])
def test_if_not_exists_on_another_relation(lake: Warehouse, name: str) -> None:
    """IF NOT EXISTS does not hide that the name belongs to something else."""
    refused(lake, f"create materialized view if not exists @.{name} as {GOOD}", rf"{name} exists")


def test_if_not_exists(lake: Warehouse) -> None:
    """An existing view of ours is kept, whatever the new definition says."""
    before = lake.state()
    lake.sql("create materialized view if not exists @.standing as select 2 as x from @.orders")
    assert lake.state() == before


OPTIONS = {
    "enable_refreshh = true": "enable_refresh",
    "refresh_interval_minute = 5": "refresh_interval_minutes",
    "no_such_thing = 5": "no_such_thing",
    "enable_refresh = 'yes'": "enable_refresh",
    "enable_refresh = 1": "enable_refresh",
    "refresh_interval_minutes = 0": "1 to 10080",
    "refresh_interval_minutes = 10081": "1 to 10080",
    "refresh_interval_minutes = '30'": "whole number",
    "refresh_interval_minutes = 1.5": "whole number",
    "max_staleness = 5": "interval",
    "max_staleness = 'soon'": "interval",
    "when_stale = 'ignore'": "refresh, inline, live, serve, fail",
    "when_stale = true": "refresh, inline, live, serve, fail",
    "on_refresh_error = 'ignore'": "fail, serve",
    "refresh_method = 'quick'": "auto",
    "refresh_start = 'tomorrow'": "timestamp",
    "suspend_after_failures = 0": "suspend_after_failures",
    "warn_after = '{\"count\": 1}'": "count",
    'warn_after = \'{"count": 0, "period": "hour"}\'': "count",
    'error_after = \'{"count": 1, "period": "year"}\'': "period",
    "allow_non_incremental_definition = true": "max_staleness",
    'tblproperties = \'{"mv.id": "x"}\'': "mv.|tblproperties",
    "unique_key = 5": "unique_key",
    "unique_key = 'nowhere'": "unique_key names 'nowhere', which the query does not return",
    'warn_after = \'{"count": 2, "period": "day"}\', '
    'error_after = \'{"count": 1, "period": "day"}\'': "warn_after is longer",
    "enable_refresh = true, enable_refresh = false": "twice",
    "enable_refresh": "expected =",
}


@pytest.mark.parametrize("options", OPTIONS)
def test_option(lake: Warehouse, options: str) -> None:
    """Mistyped keys, wrong types and values out of range, when creating and when altering."""
    refused(
        lake, f"create materialized view @.fresh options ({options}) as {GOOD}", OPTIONS[options]
    )
    refused(lake, f"alter materialized view @.standing set options ({options})", OPTIONS[options])


@pytest.mark.parametrize(
    "name",
    ["`a/b`", "`a\\\\b`", "`.hidden`", "`" + "x" * 101 + "`", "` x`", "`x__mv_01234567`", "``"],
)
def test_name(lake: Warehouse, name: str) -> None:
    """Names that no view may have."""
    refused(lake, f"create materialized view @.{name} as {GOOD}", "name|expected")


CALLS: dict[str, Any] = {
    "call bq.refresh_materialized_view()": "one argument",
    "call bq.refresh_materialized_view(5)": "one argument",
    "call bq.refresh_materialized_view('@.standing', 'x')": "one argument",
    "call bq.refresh_materialized_view(standing)": "one argument",
    "call bq.refresh_materialized_view('a.b.c.d')": "a.b.c.d|b.c.d",
    "call bq.refresh_materialized_view('')": "one argument|name",
    "refresh materialized view @.standing with async mode": "(?i)async",
    "refresh materialized view @.standing quickly": "quickly",
    "refresh materialized view": "name",
    "alter materialized view @.standing rename to x": "SET",
    "create materialized view @.fresh": "AS",
    f"create or replace materialized view if not exists @.fresh as {GOOD}": "contradicts itself",
    "create materialized view @.fresh stored as x": "(?i)clause",
}


@pytest.mark.behaviour("B2", "X20", "D15")
@pytest.mark.parametrize("statement", CALLS)
def test_statement(lake: Warehouse, statement: str) -> None:
    """Statements that do not follow the grammar."""
    refused(lake, statement, CALLS[statement])


@pytest.mark.parametrize(
    ("clauses", "pattern"),
    [
        ("(id)", "column list"),
        ("(id, ID)", "twice"),
        ("(id, amount, more)", "column list"),
        ("partitioned by (absent)", "absent"),
        ("partitioned by (bucket(4, absent))", "absent"),
        ("cluster by (absent)", "absent"),
    ],
)
def test_clauses(lake: Warehouse, clauses: str, pattern: str) -> None:
    """Clauses that do not fit the query."""
    refused(lake, f"create materialized view @.fresh {clauses} as {GOOD}", pattern)


def test_query_that_spark_cannot_plan(lake: Warehouse) -> None:
    """IN over a column by whose values, NULL among them, an Iceberg table is partitioned."""
    lake.spark(
        "create table @.in_parts using iceberg partitioned by (c) as "
        "select 1 as id, cast(null as string) as c union all select 2, 'a'"
    )
    statement = "create materialized view @.unplanned as select id from @.in_parts where c in "
    refused(lake, statement + "('a', 'b')", "Spark cannot plan the query of")
