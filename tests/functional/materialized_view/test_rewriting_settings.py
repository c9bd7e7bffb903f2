"""Settings and variables of a session that change what Spark reads in a text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.rewrite.reading import settings as reading
from dbt.adapters.spark_mv.rewrite.reading.settings import misread
from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.statements import pipeline
from dbt.adapters.spark_mv.statements.rewriting import (
    candidates,
    relations,
    rewriter,
    search,
    stored_views,
)
from dbt.adapters.spark_mv.views.settings import is_kept, kept
from tests.functional.materialized_view.rewritten import of_small_tables, views_of
from tests.functional.materialized_view.test_settings_of_spark import everything_set
from tests.functional.materialized_view.warehouse import Warehouse

ROWS = "select id, city, day, ts, n from @.visits where id < 700"
SHOPS = "select shop, kind, count(*) as n from @.visits group by 1, 2"
# A setting, a view, and queries that mean something else with it.
SETTINGS = {
    "spark.sql.timestampType=TIMESTAMP_NTZ": (
        ROWS,
        "select id from @.visits where id < 600 and ts >= timestamp'2024-01-02 00:00:00+05:00'",
        "select id from @.visits where id < 600 and n >= timestamp'2024-01-02 00:00:00+05:00'",
    ),
    "spark.sql.legacy.ctePrecedencePolicy=LEGACY": (
        SHOPS,
        "with q as (select shop, kind from @.visits where kind = 0), z as (with q as (select shop, "
        "kind from @.visits where kind = 1) select kind, count(*) c from q group by kind) "
        "select * from z",
    ),
    "spark.sql.preserveCharVarcharTypeInfo=true": (
        ROWS,
        "select id from @.visits where id < 600 and cast(city as char(5)) = 'c1   '",
        "select id, length(cast(city as char(5))) as x from @.visits where id < 600",
    ),
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled=true": (
        "select id, shop, day, ts from @.visits where ts >= '2024-01-02' and day >= '2024-01-03'",
        "select id from @.visits where ts > '2024-01-02' and ts < '2024-01-03 00:00:00' "
        "and day >= '2024-01-03'",
    ),
}
VARIABLES = (
    "select city, shop, count(*) as n from @.visits where city < 'c2' group by 1, 2",
    "select shop, count(*) as c from @.visits where city < '${my.city}' group by shop",
    "select shop, count(*) as c from @.visits where city = 'c${my.digit}' group by shop",
    "select shop, count(*) as c from @.named where city < 'c2' group by shop",
)


@pytest.fixture(scope="module")
def visits(lake: Warehouse) -> Warehouse:
    """A warehouse in which small tables are worth it."""
    made = of_small_tables(lake)
    made.spark(
        "create table @.visits using iceberg as select cast(id as int) id, cast(id % 7 as int) "
        "shop, cast(id % 3 as int) kind, concat('c', id % 4) city, date_add(date'2024-01-01', "
        "cast(id % 50 as int)) day, timestamp'2024-01-01 00:00:00' + make_dt_interval(0, "
        "cast(id % 100 as int)) ts, cast(timestamp'2024-01-01 00:00:00' + make_dt_interval(0, "
        "cast(id % 100 as int), id % 60, 0.5) as timestamp_ntz) n from range(3000)"
    )
    for run in (made.sql, made.spark):
        run("set spark.sql.ansi.enabled = false")
        run("set my.city = c9")
        run("set my.digit = 3")
    return made


@pytest.fixture(params=SETTINGS)
def setting(visits: Warehouse, request: pytest.FixtureRequest) -> Iterator[str]:
    """One setting, in the session of the adapter and in another one."""
    key, value = request.param.split("=")
    for run in (visits.sql, visits.spark):
        run(f"set {key} = {value}")
    yield request.param
    for run in (visits.sql, visits.spark):
        run(f"reset {key}")


def other_rows(visits: Warehouse, view: str, *queries: str) -> list[str]:
    """Queries that return other rows through the adapter than Spark's own."""
    visits.sql(f"create or replace materialized view @.visited as {view}")
    return [
        query
        for query in queries
        if sorted(map(tuple, visits.sql(query))) != sorted(visits.spark(query))
    ]


def test_settings(visits: Warehouse, setting: str) -> None:
    assert other_rows(visits, *SETTINGS[setting]) == []


def test_settings_matter(visits: Warehouse, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "misread", lambda settings: None)
    assert other_rows(visits, *SETTINGS[setting])


def test_settings_are_looked_at(visits: Warehouse) -> None:
    """Those that Spark has anyway say nothing, and each of the others does."""
    session = spark_session(visits.credentials)
    entries = getattr(getattr(session._jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    for found in entries.getClass().getMethods():  # some are not there before somebody asks
        if "ConfigEntry" in found.getReturnType().getName() and not found.getParameterCount():
            getattr(entries, found.getName())()
    with everything_set(session):
        known = kept(session.conf.getAll.items())
    public = {key: value for key, value in known.items() if entries.getConfigEntry(key).isPublic()}
    assert len(public) > 100
    assert misread(public) is None
    for text in SETTINGS:
        key, value = text.split("=")
        assert misread({**public, key: value}) == key
    assert misread({"spark.sql.nobody.knows": "x"}) == "spark.sql.nobody.knows"


def test_variables(visits: Warehouse) -> None:
    visits.spark("create view @.named as select shop, city from @.visits where city <> '${my.c}'")
    assert other_rows(visits, *VARIABLES) == []
    told = (
        "explain rewrite select shop, count(*) from @.visits where city < 'c${my.one}' group by 1"
    )
    visits.sql("set my.one = 1")
    assert any("visited" in str(row) for row in visits.sql(told))
    visits.sql("set my.one = 3")
    assert not any("mv_stored" in str(row) for row in visits.sql(told))


def test_variables_matter(visits: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (rewriter, relations, stored_views):
        monkeypatch.setattr(module, "VARIABLE", "nothing like it")
    monkeypatch.setattr(pipeline, "may_be_computed", lambda sql: False)
    assert other_rows(visits, *VARIABLES) == [*VARIABLES[1:3]]


@pytest.fixture
def audited(visits: Warehouse) -> Iterator[str]:
    """A query of groups that a view has, in sessions that read a branch with other rows."""
    visits.spark(
        "create or replace table @.audited using iceberg tblproperties "
        "('write.wap.enabled' = 'true') as select id % 2 as k, id as v from range(5000)"
    )
    query = "select k, sum(v) as s from @.audited group by k"
    visits.sql(f"create or replace materialized view @.audits as {query}")
    visits.spark("alter table @.audited create or replace branch audit")
    for run in (visits.sql, visits.spark):
        run("set spark.wap.branch = audit")
    visits.sql("insert into @.audited values (3, 3)")
    yield query
    for run in (visits.sql, visits.spark):
        run("reset spark.wap.branch")


def test_branch(visits: Warehouse, audited: str) -> None:
    """Views are made of the tables themselves, and not of what waits in a branch."""
    assert sorted(map(tuple, visits.sql(audited))) == sorted(visits.spark(audited))
    assert len(visits.sql(audited)) == 3
    why = visits.sql(f"-- a comment\nexplain /* and one */ rewrite {audited}")
    assert "the session reads the branch audit of tables (spark.wap.branch)" in str(why)
    assert len(visits.sql("select * from @.audits")) == 2


def test_branch_matters(visits: Warehouse, audited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BRANCH_SETTING", "nobody.reads.it")
    assert len(visits.sql(audited)) == 2


def test_settings_that_change_no_rows(visits: Warehouse) -> None:
    """A session that waits longer for others, or writes TRUE, is answered; another zone is not."""
    session = spark_session(visits.credentials)
    query = "select shop, count(*) as c from @.visits group by shop"
    visits.sql(f"create materialized view @.shops as {SHOPS}")
    ansi = session.conf.get("spark.sql.ansi.enabled")
    answered = {"spark.sql.broadcastTimeout": "600", "spark.sql.ansi.enabled": ansi.upper()}
    for key, value in {**answered, "spark.sql.session.timeZone": "Asia/Tokyo"}.items():
        before = session.conf.get(key)
        session.conf.set(key, value)
        try:
            assert (views_of(visits, query) == ["shops"]) is (key in answered), key
        finally:
            session.conf.set(key, before)
    visits.sql("drop materialized view @.shops")


def test_settings_of_the_run(visits: Warehouse) -> None:
    """A session that has set any of those that Spark keeps with views, and that only say how a
    statement runs, is answered by views of one that has not."""
    session = spark_session(visits.credentials)
    there = set(session.conf.getAll)
    with everything_set(session) as names:
        values = {
            key: session.conf.get(key)
            for key in names - there
            if key.startswith(reading._OF_THE_RUN) and is_kept(key)
        }
    assert len(values) > 30
    visits.sql(f"create materialized view @.shops as {SHOPS}")
    for key, value in values.items():
        session.conf.set(key, value)
    try:
        query = "select shop, count(*) as c from @.visits group by shop"
        assert views_of(visits, query) == ["shops"]
    finally:
        for key in values:
            session.conf.unset(key)
    visits.sql("drop materialized view @.shops")
