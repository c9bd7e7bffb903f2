"""Subqueries that name columns of the query around them, and are answered by views themselves."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.rewrite import match
from dbt.adapters.spark_mv.rewrite.aggregates.groups import StoredGroups
from tests.functional.materialized_view.rewritten import assert_same, explained, views_of
from tests.functional.materialized_view.warehouse import Warehouse

OF = "from @.sales s where s.shop = t.shop"
ANSWERED = {
    f"select t.name, (select sum(s.amount) {OF}) as total from @.shops t": "by_shop",
    f"select t.name, (select count(*) {OF} and s.city = 'c1') as n from @.shops t": "by_shop",
    f"select t.name, (select count(*) {OF} and s.kind + 1 > 6) as n from @.shops t": "by_shop",
    f"select t.name, (select avg(s.amount) {OF} and s.kind < t.shop) as m from @.shops t "
    "where t.shop > 1": "by_shop",
    f"select t.name from @.shops t where (select max(s.kind) {OF} and s.day > '2024-01-01') > 1 "
    "and t.name <> 'n3'": "by_shop",
    "select t.name, (select count(distinct s.city) from @.sales s where s.kind = t.shop) as n "
    "from @.shops t": "cities",
    f"select t.name from @.shops t where exists (select 1 {OF} and s.city = 'c2')": "by_shop",
    f"select t.name from @.shops t where not exists (select * {OF} and s.city is null)": "by_shop",
    f"select t.name from @.shops t where exists (select s.id {OF} and s.kind + 1 = 9)": "by_shop",
    f"select t.name from @.shops t where exists (select s.id {OF} and s.kind = 1 order by s.id)": (
        "by_shop"
    ),
    f"select t.name from @.shops t where exists (select 1 {OF} having count(*) > 1300)": "by_shop",
    "select t.name from @.shops t where t.shop in (select s.kind from @.sales s where s.city > "
    "t.name or s.city = 'c1')": "cities",
    "select t.name from @.shops t where t.shop not in (select s.kind from @.sales s where "
    "s.city = 'c3' and s.kind > 0)": "cities",
    # Of a query in FROM, of one joined, and two at once.
    f"select * from (select t.name, (select sum(s.amount) {OF}) as total from @.shops t) q "
    "where total > 100": "by_shop",
    "select t.name, o.name as other from @.shops t join @.shops o on o.shop = t.shop + 1 where "
    "exists (select 1 from @.sales s where s.shop = o.shop and s.kind = t.shop)": "by_shop",
    f"select t.name, (select sum(s.amount) {OF}) as a, (select count(s.amount) {OF}) as b "
    "from @.shops t": "by_shop by_shop",
}
# Relations whose columns the subqueries below name, with a name of its own for the key or not.
FROM = (
    "@.shops",
    "@.shops t",
    "@.staged_shops",
    "(select shop as k, name from @.shops) q",
    "(select shop, name from @.shops) q (k, name)",
    "with_shops",
    "@.shops cross join (select max(shop) as most from @.shops) m",
    "(select distinct shop as k, name from @.shops) q",
)
# Subqueries that name that column, O, without its relation; K is the column outside of them.
BARE = (
    "select {K}, (select sum(amount) from @.sales where shop = {O}) as total from {F}",
    "select {K} from {F} where exists (select 1 from @.sales where city = 'c2' and shop = {O})",
    "select {K} from {F} where 1300 < (select count(*) from @.sales s where s.shop = {O})",
    "select {K}, count(*) from {F} where {K} not in (select s.kind from @.sales s where "
    "s.kind = {O} and name > s.city) group by {K}",
    "select {K} from {F} group by {K} having {K} < (select count(*) from @.sales s where "
    "s.shop = {O})",
)
# Names that are, or might be, those of columns of the view; columns that it lacks.
LEFT = (
    "select name, (select sum(amount) from @.sales where kind = name and the_kind = kind) as total "
    "from (select shop as the_kind, name from @.shops)",
    "select t.shop, (select sum(amount) from @.sales s where s.shop = total) as most from "
    "(select *, shop + 1 as total from @.shops) t",
    "select shop + 1 as k, (select count(*) from @.sales s where s.shop = k) as n from "
    "(select shop, 2 as k from @.shops) t",
    "select (select count(*) from @.sales s where s.shop = k) as n from (select shop as k from "
    "@.shops) t join (select 1 as k) o using (k)",
    "select name from @.shops lateral view explode(array(shop)) e as one where exists (select 1 "
    "from @.sales s where s.shop = one)",
    f"select t.name, (select sum(s.id) {OF}) as ids from @.shops t",
    f"select t.name from @.shops t where exists (select 1 {OF} and s.id > 8990)",
    "select n.name from (select named_struct('name', name, 'shop', shop) as x, name, shop from "
    "@.shops) n where exists (select 1 from @.sales s where s.shop = n.shop)",
)


@pytest.fixture(scope="module")
def correlated(shop: Warehouse) -> Warehouse:
    shop.spark("create view @.staged_shops (k, name) as select shop, name from @.shops")
    return shop


def bare_names(around: str, form: str) -> str:
    """A query whose subquery names a column of the query around without its relation; the key is
    called k if it is not `shop`, which would be the column of the sales."""
    is_other = any(word in around for word in (" k", "(k", "staged", "with_"))
    key = "k" if is_other else "shop"
    text = form.format(K=key, O=key, F=around)
    with_ = "with with_shops as (select shop as k, name from @.shops) "
    return with_ + text if "with_shops" in around else text


@pytest.mark.behaviour("C20")
@pytest.mark.parametrize("query", ANSWERED)
def test_answered(correlated: Warehouse, query: str) -> None:
    attempts = explained(correlated, query)
    assert views_of(correlated, query) == ANSWERED[query].split(), attempts
    assert_same(correlated, query)


@pytest.mark.behaviour("C20")
@pytest.mark.parametrize("around", FROM)
def test_names_without_relations(correlated: Warehouse, around: str) -> None:
    for form in BARE:
        query = bare_names(around, form)
        assert views_of(correlated, query), explained(correlated, query)
        assert_same(correlated, query)


@pytest.mark.parametrize("query", LEFT)
def test_left(correlated: Warehouse, query: str) -> None:
    assert views_of(correlated, query) == []
    assert_same(correlated, query)


def test_names_of_relations_are_no_stored_columns(
    correlated: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column of the query around would be a field of a column of the view."""
    correlated.spark(
        "create or replace table @.boxed using iceberg as select shop, amount, "
        "named_struct('shop', 3) as u from @.sales"
    )
    correlated.sql(
        "create or replace materialized view @.fields as select shop, u as t, "
        "max(amount) as most from @.boxed group by shop, u"
    )
    query = (
        "select t.name, (select max(s.amount) from @.boxed s where s.shop = t.shop) as total "
        "from @.shops t"
    )
    assert views_of(correlated, query.replace("t.shop)", "t.shop + 0)")) == []
    assert views_of(correlated, query.replace("t.", "x.").replace("shops t", "shops x")) == [
        "fields"
    ]
    assert_same(correlated, query)


BESIDE = (
    "select t.name, (select count(*) from @.sales s join @.beside b on b.k = s.kind where "
    "s.kind = {outer} and b.bid < 4) as n from @.shops {t}",
    "select t.name, (select count(*) from @.sales s join (select k, bid from @.beside) b on "
    "b.k = s.kind where s.kind = t.shop and b.bid < 4) as n from @.shops t",
    "select t.name from @.shops t where exists (select 1 from @.sales s left join @.beside b on "
    "b.k = s.kind and b.bid > 1 where s.kind = shop_no)",
)


@pytest.mark.parametrize("number", range(3))
def test_names_of_relations_are_no_columns_of_tables_beside(
    correlated: Warehouse, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of tables that the view lacks nobody has counted the columns."""
    correlated.spark(
        "create or replace table @.beside using iceberg as select cast(id as int) as bid, "
        "cast(id % 3 as int) as k, named_struct('shop', 0, 'shop_no', 0) as t from range(5)"
    )
    query = (
        BESIDE[number]
        .format(outer="t.shop", t="t")
        .replace("@.shops t where", "(select shop as shop_no, name from @.shops) t where")
    )
    assert_same(correlated, query)


UNNAMED = (
    "select name from (select name, shop as low from @.shops) where exists (select 1 from @.sales "
    "where kind = low)",
    "select name, kp from @.shops cross join lateral (select shop + 1 as kp) where exists "
    "(select 1 from @.sales where kind = kp)",
)
# A subquery that is a value, and not one that says which values there are.
VALUES = (
    "select name from @.shops where (select kind from @.sales where kind = 1) in (1)",
    "select name from @.shops where shop in ((select kind from @.sales where kind = 1), 7)",
    "select name from @.shops where (select kind from @.sales where kind = 1) in (select kind from "
    "@.sales)",
)


@pytest.mark.parametrize("query", UNNAMED)
def test_relations_without_a_name(correlated: Warehouse, query: str) -> None:
    assert "FAILED" not in {row[3] for row in explained(correlated, query)[1:]}
    assert_same(correlated, query)


@pytest.mark.parametrize("query", VALUES)
def test_subqueries_that_are_values(correlated: Warehouse, query: str) -> None:
    """With two rows they are an error, which a view of each value once would hide."""
    for run in (correlated.spark, correlated.apart):
        with pytest.raises(Exception, match="SCALAR_SUBQUERY_TOO_MANY_ROWS"):
            run(query)


def test_one_group_is_there_without_rows(
    correlated: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view of all rows has one row, whether there are any or not."""
    correlated.spark("create table @.nothing (shop int) using iceberg")
    correlated.sql("create materialized view @.none as select count(*) as n from @.nothing")
    query = "select t.name from @.shops t where exists (select 1 from @.nothing)"
    assert views_of(correlated, query) == []
    assert_same(correlated, query)


def test_count_of_no_rows(correlated: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    query = next(text for text in ANSWERED if "s.kind + 1 > 6" in text)
    monkeypatch.setattr(StoredGroups, "_none_is_zero", lambda self, tree, *_: tree)
    with pytest.raises(AssertionError):
        assert_same(correlated, query)


def test_columns_that_are_captured(correlated: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "_refuse_captured", lambda *_: None)
    with pytest.raises(AssertionError):
        test_names_of_relations_are_no_stored_columns(correlated, monkeypatch)
