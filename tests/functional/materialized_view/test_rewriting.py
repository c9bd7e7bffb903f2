"""Statements that fresh views answer without being named: the same rows, names and types, at one
version of each base table; and everything that keeps a statement as it was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.statements.rewriting.assembly import Assembly
from dbt.adapters.spark_mv.statements.rewriting.rewriter import STRICT
from tests.functional.materialized_view.warehouse import Command, Warehouse

ROWS = (
    "select cast(id as int) as id, cast(id % 7 as int) as shop, cast(id % 3 as smallint) as kind, "
    "if(id % 11 = 0, null, date_add(date'2023-11-28', cast((id % 9) * 11 as int))) as day, "
    "if(id % 5 = 0, null, cast(id * 1.37 as decimal(10, 2))) as amount, "
    "if(id % 13 = 0, null, concat('c', id % 4)) as city from range(9000)"
)
VIEWS = {
    "by_shop": "select shop, kind, city, day, sum(amount) as total, count(*) as n, "
    "min(amount) as low from @.sales group by shop, kind, city, day",
    "by_month": "select date_trunc('MONTH', day) as month, avg(amount) as mean, sum(id) as ids "
    "from @.sales where shop < 5 group by date_trunc('MONTH', day)",
    "large": "select city, sum(id) as ids from @.sales group by city having sum(id) > 8000000",
    "joined": "select s.shop, t.name, s.day, count(s.amount) as n from @.sales s "
    "join @.shops t on t.shop = s.shop group by s.shop, t.name, s.day",
    "few": "select id, shop, day, amount from @.sales where shop in (1, 2) and amount > 10",
    "outer_joined": "select s.kind, t.name, count(*) as n from @.sales s "
    "left join @.shops t on t.shop = s.shop and t.name <> 'n3' group by s.kind, t.name",
    "cities": "select distinct city, kind from @.sales",
}
# Queries, and the view that answers each.
ANSWERED = {
    "select shop, sum(amount) as t, count(*) as n from @.sales group by shop": "by_shop",
    "select shop, avg(amount) as m, min(amount) as low, count(amount) as c from @.sales "
    "where kind = 1 group by shop": "by_shop",
    "select sum(amount), count(*) from @.sales where shop > 100": "by_shop",
    "select year(day) as y, quarter(day) as q, sum(amount) as t from @.sales "
    "where city in ('c1', 'c2') or city is null group by 1, 2": "by_shop",
    "select city, kind, count(*) from @.sales where day >= '2023-12-05' and day < '2024-01-10' "
    "group by all having count(*) > 3 order by 3 desc, city, kind limit 9": "by_shop",
    "select shop, count_if(kind = 1) as a, sum(amount) filter (where city = 'c1') as b "
    "from @.sales group by shop": "by_shop",
    "select max(day), count(distinct city) from @.sales where shop = 3": "by_shop",
    "select quarter(day) as q, sum(id) as ids from @.sales where shop < 5 and "
    "day between '2023-12-01' and '2024-01-31' group by quarter(day)": "by_month",
    "select city, sum(id) as ids from @.sales group by city": "large",
    "select city, sum(id) as i from @.sales group by city having sum(id) > 8500000": "large",
    "select t.name, count(s.amount) as n from @.shops t, @.sales s where s.shop = t.shop "
    "and s.day > date'2024-01-15' group by t.name": "joined",
    "select id, amount from @.sales where shop = 2 and amount >= 20 and id > 5": "few",
    "select s.kind, t.name, count(*) as n from @.sales s left join @.shops t "
    "on t.name <> 'n3' and s.shop = t.shop group by s.kind, t.name": "outer_joined",
    "select distinct kind from @.sales where city = 'c1'": "cities",
    "with raw as (select * from @.staged), per as (select shop, count(*) as n from raw group by "
    "shop) select per.*, t.name from per join @.shops t on t.shop = per.shop": "by_shop",
    "select * from (select shop, sum(total) as t from (select shop, amount as total from @.staged "
    "where kind <> 2) as x group by shop) as y limit 500": "by_shop",
    "select shop, sum(amount) from @.sales group by shop union all select 99, 0.5": "by_shop",
    "select shop, n from (select shop, count(*) as n from @.sales group by shop) as x "
    "where n > 1": "by_shop",
}
# Queries that no view answers, and the reason of one of them.
LEFT = {
    "select id, shop from @.sales where shop = 1": "ROWS_NOT_COVERED",
    "select city, max(id) from @.sales group by city": "AGGREGATE_NOT_DERIVABLE",
    "select city, count(*) from @.sales where city <=> rand() group by city": (
        "NOT_A_FUNCTION_OF_ROWS"
    ),
    "select shop, sum(amount) over (partition by shop) from @.sales": "QUERY_NOT_SUPPORTED",
    "select weekofyear(day), sum(id) from @.sales where shop < 5 group by 1": "COLUMN_NOT_COVERED",
    "select sum(id) from @.sales where shop < 5 and day <= '2023-12-30'": "COLUMN_NOT_COVERED",
    "select shop, count(*) from @.sales version as of 1 group by shop": "QUERY_NOT_SUPPORTED",
    "select name, count(*) from @.shops group by name": "DIFFERENT_TABLES",
}
ONE = next(iter(ANSWERED))


@pytest.fixture(scope="module")
def shop(lake: Warehouse) -> Iterator[Warehouse]:
    """A warehouse in which small tables are worth it, and what nobody thought of fails."""
    patch = pytest.MonkeyPatch()
    patch.setenv(STRICT, "1")
    made = Warehouse({**lake.target, "query_rewrite_min_rows": 0}, lake.schema)
    made.spark(f"create table @.sales using iceberg as {ROWS}")
    made.spark(
        "create table @.shops using iceberg as select cast(id as int) as shop, "
        "concat('n', id) as name from range(6)"
    )
    made.spark("create view @.staged as select shop, kind, day, amount, city from @.sales")
    for name, query in VIEWS.items():
        made.sql(f"create materialized view @.{name} as {query}")
    yield made
    patch.undo()


@pytest.fixture(scope="module", autouse=True)
def same_zone(lake: Warehouse) -> None:
    for run in (lake.sql, lake.spark):
        run("set time zone 'America/Sao_Paulo'")


def explained(shop: Warehouse, query: str, command: Command | None = None) -> list[Any]:
    return (command or shop.command()).sql(f"explain rewrite {query}")


def views_of(shop: Warehouse, query: str) -> list[str]:
    """The views that answer a query."""
    return [str(row[1]).split(".")[1] for row in explained(shop, query)[1:] if row[2]]


def reasons_of(shop: Warehouse, query: str) -> set[str]:
    return {str(row[3]) for row in explained(shop, query)[1:]}


def columns(shop: Warehouse, query: str) -> list[tuple[str, str]]:
    frame = spark_session(shop.credentials).sql(shop.text(query))
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]


def assert_same(shop: Warehouse, query: str) -> None:
    assert Counter(shop.apart(query)) == Counter(shop.spark(query))


@pytest.mark.behaviour("C20")
@pytest.mark.behaviour("C21")
@pytest.mark.behaviour("C22")
@pytest.mark.behaviour("C27")
@pytest.mark.behaviour("C28")
@pytest.mark.behaviour("C30")
@pytest.mark.parametrize("query", ANSWERED)
def test_answered(shop: Warehouse, query: str) -> None:
    text, *attempts = explained(shop, query)
    assert ANSWERED[query] in views_of(shop, query), attempts
    assert_same(shop, query)
    assert columns(shop, text[4]) == columns(shop, query)


@pytest.mark.behaviour("X18")
@pytest.mark.behaviour("C29")
@pytest.mark.parametrize("query", LEFT)
def test_left(shop: Warehouse, query: str) -> None:
    assert views_of(shop, query) == []
    assert LEFT[query] in reasons_of(shop, query)
    if " version as of " not in query:
        assert_same(shop, query)


STATEMENTS = {
    "create or replace table @.made using iceberg partitioned by (shop) comment 'as select' as "
    "/* select */ select shop, sum(amount) as t from @.sales group by shop": "@.made",
    "create table @.again using iceberg as with s as (select * from @.staged) "
    "select shop, count(*) as t from s group by shop": "@.again",
    "insert into @.made (shop, t) select shop, sum(amount) + 1 from @.sales group by shop": (
        "@.made"
    ),
    "insert overwrite @.again with s as (select * from @.staged) select shop, count(*) from s "
    "where city = 'c1' group by shop": "@.again",
    "create or replace temporary view passing as select shop, sum(amount) as t from @.sales "
    "group by shop": "passing",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(shop: Warehouse, statement: str) -> None:
    """What is stored by a rewritten statement is what plain Spark stores."""
    made = STATEMENTS[statement]
    assert views_of(shop, statement) == ["by_shop"]
    shop.apart(statement)
    rows = spark_session(shop.credentials).sql(shop.text(f"select * from {made}")).collect()
    query = statement[statement.rindex("select shop") :]
    if "from s" in query:
        query = "with s as (select * from @.staged) " + query
    expected = Counter(shop.spark(query))
    found = Counter(tuple(row) for row in rows)
    if statement.startswith("insert into"):
        assert expected <= found
    else:
        assert found == expected


@pytest.mark.behaviour("C25")
def test_only_fresh_views(shop: Warehouse) -> None:
    """A stale view answers nothing, and nothing refreshes it."""
    builds = shop.builds("by_shop")
    shop.spark("insert into @.sales values (5000, 3, 1, date'2024-01-01', 5.5, 'c1')")
    assert views_of(shop, ONE) == []
    assert "VIEW_NOT_FRESH" in reasons_of(shop, ONE)
    assert_same(shop, ONE)
    assert shop.builds("by_shop") == builds
    shop.operation("refresh")
    assert views_of(shop, ONE) == ["by_shop"]
    assert_same(shop, ONE)


def test_a_write_after_the_look(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks, and other reads of the same tables, are of one version."""
    query = (
        "select (select count(*) from @.sales where id > -1) as a, "
        "sum(n) as b from (select shop, count(*) as n from @.sales group by shop) as x"
    )
    assert views_of(shop, query) == ["by_shop"]
    real = Assembly._confirm_cost

    def written(self: Assembly, *arguments: Any) -> None:
        shop.spark("insert into @.sales values (6000, 3, 1, date'2024-01-01', 5.5, 'c1')")
        real(self, *arguments)

    monkeypatch.setattr(Assembly, "_confirm_cost", written)
    ((a, b),) = shop.apart(query)
    assert a == b
    monkeypatch.undo()
    shop.operation("refresh")


@pytest.mark.behaviour("C26")
def test_barred(shop: Warehouse) -> None:
    """Who writes a base table, or names the view, or only tests, gets the text as it is."""
    insert = "insert into @.sales select id, shop, 0, day, amount, 'x' from @.few where false"
    assert views_of(shop, insert) == []
    into_base = (
        "insert into @.sales (shop, amount) select shop, sum(amount) from @.sales group by shop"
    )
    assert reasons_of(shop, into_base) >= {"WRITES_BASE_TABLE"}
    named = f"{ONE} except select shop, sum(total), sum(n) from @.by_shop group by shop"
    assert "NAMED_IN_STATEMENT" in reasons_of(shop, named)
    assert shop.operation("verify", view="by_shop").rows[0][1] == "OK"
    command = shop.command("test")
    assert command.core.context().rewrites_reads  # no node says that it is a test


@pytest.mark.behaviour("C19")
def test_switches(shop: Warehouse) -> None:
    shop.sql("alter materialized view @.by_shop set options (use_in_query_rewrite = false)")
    assert "by_shop" not in views_of(shop, ONE)
    assert "REWRITE_DISABLED" in reasons_of(shop, ONE)
    shop.sql("alter materialized view @.by_shop set options (use_in_query_rewrite = true)")
    session = spark_session(shop.credentials)
    session.sql("set query_rewrite.enabled = false")
    assert views_of(shop, ONE) == []
    session.sql("reset query_rewrite.enabled")
    assert views_of(shop, ONE) == ["by_shop"]
    off = Warehouse({**shop.target, "query_rewrite": False}, shop.schema)
    assert not off.command().core.context().rewrites_reads
    assert not shop.command("run", SAMPLE=True).core.context().rewrites_reads


def test_other_settings(shop: Warehouse) -> None:
    session = spark_session(shop.credentials)
    session.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        assert views_of(shop, ONE) == []
        assert "SETTINGS_DIFFER" in reasons_of(shop, ONE)
    finally:
        session.conf.set("spark.sql.session.timeZone", "America/Sao_Paulo")


@pytest.mark.behaviour("C24")
def test_cost(shop: Warehouse) -> None:
    """A statement that reads little is left alone, and so is one that would read no less."""
    dear = Warehouse({**shop.target, "query_rewrite_min_rows": 1_000_000}, shop.schema)
    assert views_of(dear, ONE) == []
    assert "COST" in reasons_of(dear, ONE)
    shop.sql("create materialized view @.whole as select id, shop, kind, city from @.sales")
    assert "COST" in reasons_of(shop, "select id, kind from @.sales where kind = 0")
    shop.sql("drop materialized view @.whole")


def test_a_rewritten_text_that_fails(
    shop: Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The statement runs as it was written, also if it fails only as rows are fetched."""
    from dbt.adapters.spark_mv.statements.pipeline import StatementPipeline

    told: list[str] = []
    for instead in ("select no_such_column from @.sales", "select raise_error('x') from @.sales"):
        command = shop.command()
        text = shop.text(instead)
        monkeypatch.setattr(StatementPipeline, "_rewritten", lambda *_, text=text: text)
        monkeypatch.setattr(command.core, "rewriting_failed", told.append)
        assert Counter(command.sql(ONE)) == Counter(shop.spark(ONE))
        monkeypatch.undo()
    assert len(told) == 2


def test_required(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    command = shop.command()
    context = command.core.context()
    context.needs_rewriting = True
    monkeypatch.setattr(command.core, "context", lambda: context)
    with pytest.raises(MaterializedViewFailure, match="QUERY_NOT_SUPPORTED"):
        command.sql("create table @.x using iceberg as select max(id) over () as m from @.sales")


def test_operation(shop: Warehouse) -> None:
    command = shop.command("run-operation")
    command.sql("select 1")  # as dbt, which asks for a connection first
    report = command.core.operation("explain_rewrite")(sql=shop.text(ONE))
    assert (1, f"{shop.schema}.by_shop", True, "USED") in [row[:4] for row in report.rows]
    assert any("rows instead of" in line for line in report.lines())
    assert report.lines()[-1].startswith("GROUP BY")


def test_over_a_view(shop: Warehouse) -> None:
    """A view over another answers queries of that one, by name."""
    shop.sql(
        "create materialized view @.by_kind as select kind, sum(total) as t, sum(n) as n "
        "from @.by_shop group by kind"
    )
    query = "select kind, sum(n) as n from @.by_shop group by kind"
    assert views_of(shop, query) == ["by_kind"]
    assert_same(shop, query)
    shop.sql("drop materialized view @.by_kind")


def test_names_of_others(shop: Warehouse) -> None:
    """A temporary view hides a table, and a WITH both."""
    session = spark_session(shop.credentials)
    session.sql(f"use {shop.schema}")
    try:
        plain = ONE.replace("@.", "")
        assert views_of(shop, plain) == ["by_shop"]
        session.sql("create temporary view sales as select 1 as shop, 2.5 as amount")
        assert views_of(shop, plain) == []
        assert shop.apart(plain) == [(1, 2.5, 1)]
        session.sql("drop view sales")
        hidden = f"with sales as (select 7 as shop, 1.0 as amount) {plain}"
        assert views_of(shop, hidden) == []
    finally:
        session.sql("use default")
