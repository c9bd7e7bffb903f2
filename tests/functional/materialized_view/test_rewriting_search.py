"""What the search for views asks, and what it may keep from one statement to the next."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.catalog.resolver import Facts, Resolver
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.rewritten import ONE, VIEWS, assert_same, views_of
from tests.functional.materialized_view.warehouse import Warehouse

OTHER = "select max(id + kind) as m from @.sales where id > 5 group by id % 3"
BY_ID = "select id % 3 as part, max(id + kind) as m from @.sales where id > 5 group by id % 3"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The relations that the catalog is asked for."""
    seen: list[str] = []
    lookup = Resolver.lookup

    def recorded(self: Resolver, name: TableName) -> Facts | None:
        seen.append(name.name)
        return lookup(self, name)

    monkeypatch.setattr(Resolver, "lookup", recorded)
    return seen


def test_views_that_do_not_answer(shop: Warehouse, asked: list[str]) -> None:
    """They are looked up for the first statement of a command; one that answers each time."""
    command = shop.command()
    command.sql(OTHER)
    assert set(VIEWS) - {"joined", "outer_joined"} <= set(asked)
    asked.clear()
    command.sql(OTHER)
    assert not set(VIEWS).intersection(asked)
    command.sql(ONE)
    assert set(VIEWS).intersection(asked) == {"by_shop"}


@pytest.mark.parametrize("change", ["create or replace", "drop and create", "made by a refresh"])
def test_a_view_that_was_made_again(shop: Warehouse, change: str) -> None:
    """With another query: the next statement knows."""
    shop.sql(
        "create materialized view @.again as select kind, max(id) as m from @.sales group by 1"
    )
    command = shop.command()
    assert views_of(shop, BY_ID, command) == []
    if change == "drop and create":
        command.sql("drop materialized view @.again")
    command.sql(f"create or replace materialized view @.again as {BY_ID}")
    if change == "made by a refresh":
        shop.spark("insert into @.sales select * from @.sales where id = 7")
        command.sql("refresh materialized view @.again")
    assert views_of(shop, BY_ID, command) == ["again"]
    command.sql("drop materialized view @.again")
    assert views_of(shop, BY_ID, command) == []
    assert_same(shop, BY_ID)


def test_a_view_that_another_command_made_again(shop: Warehouse) -> None:
    """No statement is answered by what it was; commands that begin later know what it is."""
    shop.sql(f"create materialized view @.again as {BY_ID}")
    command = shop.command()
    assert views_of(shop, BY_ID, command) == ["again"]
    shop.sql("create or replace materialized view @.again as select kind, id from @.sales")
    assert views_of(shop, BY_ID, command) == []
    shop.sql(f"create or replace materialized view @.again as {BY_ID}")
    assert_same(shop, BY_ID)
    assert views_of(shop, BY_ID) == ["again"]
    shop.sql("drop materialized view @.again")


def test_a_view_that_another_program_took_away(shop: Warehouse) -> None:
    """Nothing in the metadata says so."""
    shop.sql(f"create materialized view @.again as {BY_ID}")
    command = shop.command()
    assert views_of(shop, BY_ID, command) == ["again"]
    shop.spark("drop view @.again")
    assert views_of(shop, BY_ID, command) == []
    assert_same(shop, BY_ID)
    shop.sql("drop materialized view if exists @.again")
