"""What keeps a statement as it was written, and that all its reads are of one version."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.statements.pipeline import StatementPipeline
from dbt.adapters.spark_mv.statements.rewriting.assembly import Assembly
from tests.functional.materialized_view.rewritten import (
    ONE,
    ZONE,
    assert_same,
    reasons_of,
    views_of,
)
from tests.functional.materialized_view.warehouse import Warehouse


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


def test_a_rewritten_text_that_fails(
    shop: Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The statement runs as it was written, also if it fails only as rows are fetched."""
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
