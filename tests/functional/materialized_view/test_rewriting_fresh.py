"""Which rows a statement that is rewritten may see: those of now, of one version, and of no view
that is made of itself."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.statements.rewriting.assembly import Assembly
from tests.functional.materialized_view.rewritten import (
    ONE,
    VIEWS,
    assert_same,
    explained,
    reasons_of,
    views_of,
)
from tests.functional.materialized_view.warehouse import Warehouse

ROW = "insert into @.sales values ({id}, 3, 1, date'2024-01-01', 5.5, 'c1')"


def uses(shop: Warehouse) -> int:
    """How many statements were rewritten so far."""
    return int(shop.value("select count(*) from @meta.mv_rewrites"))


@pytest.mark.behaviour("C25")
def test_staleness_that_readers_allow(shop: Warehouse) -> None:
    """Who names the view may get old rows; who does not gets those of now."""
    shop.sql("alter materialized view @.by_shop set options (max_staleness = 'INTERVAL 4 HOUR')")
    before = shop.apart("select sum(n) from @.by_shop")
    shop.spark(ROW.format(id=7000))
    assert shop.apart("select sum(n) from @.by_shop") == before
    assert views_of(shop, ONE) == []
    assert "VIEW_NOT_FRESH" in reasons_of(shop, ONE)
    assert_same(shop, ONE)
    shop.sql("alter materialized view @.by_shop set options (max_staleness = null)")
    shop.operation("refresh")


@pytest.mark.behaviour("C25")
def test_a_stale_view_below(shop: Warehouse) -> None:
    """A view over another is no answer while that one is stale, though its own rows fit it."""
    shop.sql(
        "create materialized view @.upper as select kind, sum(total) as t, sum(n) as n "
        "from @.by_shop group by kind"
    )
    query = "select kind, sum(n) as n from @.by_shop group by kind"
    assert views_of(shop, query) == ["upper"]
    shop.spark(ROW.format(id=7001))
    assert views_of(shop, query) == []
    shop.operation("refresh", view="by_shop")
    assert views_of(shop, query) == []
    shop.operation("refresh", view="upper")
    assert views_of(shop, query) == ["upper"]
    assert_same(shop, query)
    shop.sql("drop materialized view @.upper")
    shop.operation("refresh")


def test_with_and_the_query_below_it(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """WITH is answered by a view, and what else reads the table is of the view's version."""
    query = (
        "with c as (select shop, count(*) as n from @.sales group by shop) "
        "select count(s.id) as rows, max(c.n) as n, (select sum(n) from c) as all_rows "
        "from @.sales s join c on c.shop = s.shop where s.id > -1"
    )
    assert views_of(shop, query)[:1] == ["by_shop"]
    real = Assembly._rows

    def written(self: Assembly, *arguments: Any) -> int:
        shop.spark(ROW.format(id=7002))
        return real(self, *arguments)

    monkeypatch.setattr(Assembly, "_rows", written)
    ((rows, _, all_rows),) = shop.apart(query)
    assert rows == all_rows
    monkeypatch.undo()
    shop.operation("refresh")


@pytest.mark.behaviour("C26")
def test_views_are_not_made_of_views(shop: Warehouse) -> None:
    """CREATE, REFRESH and verify run as they are written, also with a twin that has the rows."""
    assert views_of(shop, VIEWS["by_shop"]) == ["by_shop"]
    before = uses(shop)
    shop.sql(f"create materialized view @.twin as {VIEWS['by_shop']}")
    shop.spark(ROW.format(id=7003))
    shop.operation("refresh", view="by_shop")
    shop.sql("refresh materialized view @.twin")
    assert shop.operation("verify", view="twin").rows[0][1] == "OK"
    assert uses(shop) == before
    shop.sql("drop materialized view @.twin")
    shop.operation("refresh")


@pytest.mark.parametrize("condition", ["day <= current_date()", "rand() < 2", "day < now()"])
def test_views_of_chance_or_the_clock(shop: Warehouse, condition: str) -> None:
    """They answer nothing, not even their own query."""
    query = f"select kind, city, day, count(*) as n from @.sales where {condition} group by all"
    shop.sql(f"create or replace materialized view @.passing as {query}")
    for asked in (query, query.replace(f"where {condition} ", "")):
        assert "passing" not in views_of(shop, asked)
    assert (f"{shop.schema}.passing", "VIEW_NOT_SUPPORTED") in [
        (row[1], row[3]) for row in explained(shop, asked)
    ]
    shop.sql("drop materialized view @.passing")
