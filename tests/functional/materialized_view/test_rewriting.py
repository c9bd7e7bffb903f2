"""What keeps a statement as it was written, and that all its reads are of one version."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.statements.pipeline import StatementPipeline
from dbt.adapters.spark_mv.statements.rewriting.assembly import Assembly
from tests.functional.materialized_view.rewritten import (
    ONE,
    ZONE,
    assert_same,
    columns,
    explained,
    reasons_of,
    views_of,
)
from tests.functional.materialized_view.warehouse import Command, Warehouse


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


@pytest.mark.behaviour("C25")
def test_stale_views_are_refreshed_first(shop: Warehouse) -> None:
    """If the profile says so, by what has changed; not by EXPLAIN, nor if the view forbids it."""
    eager = Warehouse({**shop.target, "query_rewrite_stale": "refresh"}, shop.schema)
    shop.operation("refresh")
    shop.spark("insert into @.sales values (5001, 3, 1, date'2024-01-01', 5.5, 'c1')")
    shop.sql("alter materialized view @.by_shop set options (refresh_method = 'fast')")
    builds = shop.builds("by_shop")
    assert views_of(eager, ONE) == []
    shop.sql("alter materialized view @.by_shop set options (when_stale = 'serve')")
    assert_same(eager, ONE)
    assert shop.builds("by_shop") == builds
    shop.sql("alter materialized view @.by_shop set options (when_stale = 'refresh')")
    assert_same(shop, ONE)
    assert shop.builds("by_shop") == builds
    assert_same(eager, ONE)
    assert shop.builds("by_shop") == builds + 1
    assert shop.methods()["by_shop"][-1] == ("fast", "SUCCEEDED")
    assert (
        eager.value(
            "select count(*) from @meta.mv_rewrites where view_name like '%by_shop' and reader = ''"
        )
        >= 1
    )
    shop.operation("refresh")


def test_a_write_after_the_look(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks, and other reads of the same tables, are of one version."""
    query = (
        "select (select count(*) from @.sales where id > -1) as a, "
        "sum(n) as b from (select shop, count(*) as n from @.sales group by shop) as x"
    )
    assert views_of(shop, query) == ["by_shop"]
    real = Assembly._rows

    def written(self: Assembly, *arguments: Any) -> int:
        shop.spark("insert into @.sales values (6000, 3, 1, date'2024-01-01', 5.5, 'c1')")
        return real(self, *arguments)

    monkeypatch.setattr(Assembly, "_rows", written)
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
        session.conf.set("spark.sql.session.timeZone", ZONE)


@pytest.mark.behaviour("C24")
def test_cost(shop: Warehouse) -> None:
    """A statement that reads little is left alone, and so is one that would read no less."""
    dear = Warehouse({**shop.target, "query_rewrite_min_rows": 1_000_000}, shop.schema)
    assert views_of(dear, ONE) == []
    assert "COST" in reasons_of(dear, ONE)
    shop.sql("create materialized view @.whole as select id, shop, kind, city from @.sales")
    assert "COST" in reasons_of(shop, "select id, kind from @.sales where kind = 0")
    shop.sql("drop materialized view @.whole")


ONE_OF_NONE = "select no_such_column from @.sales"
FAILING = "select raise_error('x') as shop, 1 as t, 2 as n from @.sales"


def rewritten_as(
    shop: Warehouse, monkeypatch: pytest.MonkeyPatch, text: str
) -> tuple[Command, list[str]]:
    """A command in which statements are rewritten to a text, and what it tells of failures."""
    told: list[str] = []
    command = shop.command()
    text = shop.text(text)
    monkeypatch.setattr(StatementPipeline, "_rewritten", lambda *_: text)
    monkeypatch.setattr(command.core, "rewriting_failed", told.append)
    return command, told


@pytest.mark.parametrize("instead", [ONE_OF_NONE, FAILING])
def test_a_rewritten_text_that_fails(
    shop: Warehouse, monkeypatch: pytest.MonkeyPatch, instead: str
) -> None:
    """The query runs as it was written, also if it fails only as rows are fetched."""
    command, told = rewritten_as(shop, monkeypatch, instead)
    assert Counter(command.sql(ONE)) == Counter(shop.spark(ONE))
    assert len(told) == 1


def test_a_query_that_fails_in_both_texts(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is that of its own text, and nobody is told of the other."""
    command, told = rewritten_as(shop, monkeypatch, FAILING)
    with pytest.raises(DbtDatabaseError, match="its own"):
        command.sql("select raise_error('its own') from @.sales")
    assert told == []


def test_rows_of_two_texts_are_never_mixed(
    shop: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first row is fetched a failure is one."""
    late = "select if(id < 100, id, raise_error('late')) from range(0, 200, 1, 20)"
    command, told = rewritten_as(shop, monkeypatch, late)
    command.connections.set_connection_name("late")
    _, cursor = command.connections.add_query(shop.text(ONE), auto_begin=False)
    assert len(cursor.fetchmany(3)) == 3
    with pytest.raises(DbtDatabaseError, match="late"):
        cursor.fetchall()
    assert told == []


def test_a_write_never_runs_twice(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have happened, whatever the error says."""
    shop.spark("create or replace table @.once (a int) using iceberg")
    real = SparkConnectionManager.add_query

    def unknown(self: Any, sql: str, *arguments: Any, **more: Any) -> Any:
        real(self, sql, *arguments, **more)
        raise DbtDatabaseError("CommitStateUnknownException: the reply was lost")

    insert = "insert into @.once select max(shop) as a from @.sales where city = 'c1'"
    assert views_of(shop, insert) == ["by_shop"]
    monkeypatch.setattr(SparkConnectionManager, "add_query", unknown)
    with pytest.raises(DbtDatabaseError, match="reply was lost"):
        shop.apart(insert)
    monkeypatch.undo()
    assert shop.value("select count(*) from @.once") == 1


def test_temporary_views_keep_their_text(shop: Warehouse) -> None:
    """They see what is written after they were made; dbt's own are read at once."""
    query = "select shop, count(*) as n from @.sales group by shop"
    assert views_of(shop, f"create temporary view kept as {query}") == []
    assert views_of(shop, f"create temporary view x__dbt_tmp as {query}") == ["by_shop"]


def test_columns_altered_in_the_command(shop: Warehouse) -> None:
    """Names are those of now, not of an earlier statement of the command."""
    query = (
        "select s.shop, t.*, count(*) as n from @.sales s join @.tags t on t.shop_id = s.shop "
        "group by all"
    )
    shop.spark("create table @.tags using iceberg as select id as shop_id, id as tag from range(3)")
    command = shop.command()
    names = []
    for alter in (None, "rename column tag to label", "add column more int"):
        if alter:
            command.sql(f"alter table @.tags {alter}")
        names.append([name for name, _ in columns(shop, explained(shop, query, command)[0][4])])
        assert names[-1] == [name for name, _ in columns(shop, query)]
    assert len({tuple(one) for one in names}) == 3


def test_required(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    command = shop.command()
    context = command.core.context()
    context.needs_rewriting = True
    monkeypatch.setattr(command.core, "context", lambda: context)
    with pytest.raises(MaterializedViewFailure, match="AGGREGATE_NOT_DERIVABLE"):
        command.sql("create table @.x using iceberg as select max(id) over () as m from @.sales")


def test_operation(shop: Warehouse) -> None:
    command = shop.command("run-operation")
    command.sql("select 1")  # as dbt, which asks for a connection first
    report = command.core.operation("explain_rewrite")(sql=shop.text(ONE))
    assert (1, f"{shop.schema}.by_shop", True, "USED") in [row[:4] for row in report.rows]
    assert any("rows instead of" in line for line in report.lines())
    assert report.lines()[-1].startswith("GROUP BY")


def test_uses_are_counted(shop: Warehouse) -> None:
    """For every statement that a view answered there is a row, and none for others."""
    before = shop.value("select count(*) from @meta.mv_rewrites")
    shop.apart(ONE)
    shop.apart("select max(id) from @.sales")
    (*_, newest) = shop.spark("select * from @meta.mv_rewrites order by at")
    assert shop.value("select count(*) from @meta.mv_rewrites") == before + 1
    assert newest[1:3] == (f"local.{shop.schema}.by_shop", "")
    assert newest[3] < newest[4]
    lines = shop.operation("explain", view="by_shop").lines()
    assert any("statements in 30 days" in line for line in lines), lines
    report = shop.operation("status", view="by_shop")
    (uses,) = (row[report.columns.index("uses")] for row in report.rows)
    assert f"answers            {uses:,} statements" in "\n".join(lines)


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
