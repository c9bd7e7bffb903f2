"""What somebody else does while a view is defined or altered, and replies that are lost."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.spark.clients import SessionExecutor
from dbt.adapters.spark_mv.statements import lifecycle
from dbt.adapters.spark_mv.statements.definer import Definer
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"


@pytest.mark.behaviour("B12")
@pytest.mark.parametrize("create", ["create", "create or replace"])
def test_table_made_meanwhile(
    lake: Warehouse, monkeypatch: pytest.MonkeyPatch, create: str
) -> None:
    """A table that another program makes under the name is not taken for one to be replaced."""
    define = Definer.define

    def late(*arguments: Any) -> Any:
        found = define(*arguments)
        lake.spark("create table @.taken (id int) using iceberg")
        lake.spark("insert into @.taken values (1)")
        return found

    monkeypatch.setattr(Definer, "define", late)
    with pytest.raises(MaterializedViewFailure):
        lake.sql(f"{create} materialized view @.taken as {QUERY}")
    assert lake.spark("select * from @.taken") == [(1,)]
    assert [name for _, name in lake.relations() if name.startswith("taken")] == ["taken"]
    lake.spark("drop table @.taken")


@pytest.mark.parametrize("create", ["create", "create or replace"])
def test_lost_reply_of_the_swap(
    lake: Warehouse, monkeypatch: pytest.MonkeyPatch, create: str
) -> None:
    """The view was made, but not heard of: it is registered, and fresh."""
    if create != "create":
        lake.sql("create materialized view @.heard as select customer from @.orders")
    query = SessionExecutor.query

    def lost(executor: SessionExecutor, sql: str) -> Any:
        found = query(executor, sql)
        if sql.startswith("CREATE") and " VIEW " in sql and "heard" in sql.split("(")[0]:
            raise StatementFailed("Connection reset by peer")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(SessionExecutor, "query", lost)
        lake.sql(f"{create} materialized view @.heard as {QUERY}")
    lake.restart()
    assert lake.freshness("heard") == "FRESH"
    assert lake.history("heard", "state")[-1] == ("SUCCEEDED",)
    assert_same(lake, "select * from @.heard", QUERY)
    lake.sql("drop materialized view @.heard")


def test_two_alters(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sets another option at the same time: both are set."""
    lake.sql(f"create materialized view @.altered as {QUERY}")
    with_options, others = lifecycle._with_options, ["when_stale = 'serve'"]

    def slow(*arguments: Any) -> Any:
        found = with_options(*arguments)
        if others:
            option = others.pop()
            lake.command().sql(f"alter materialized view @.altered set options ({option})")
        return found

    monkeypatch.setattr(lifecycle, "_with_options", slow)
    lake.sql("alter materialized view @.altered set options (max_staleness = 'INTERVAL 1 HOUR')")
    lake.restart()
    view = lake.command().core.services.log.state().views
    (options,) = [
        state.payload["options"] for name, state in view.items() if name.name == "altered"
    ]
    assert (options["when_stale"], options["max_staleness"]) == ("serve", "INTERVAL 1 HOUR")


@pytest.mark.parametrize("option", ["refresh_method = 'fast'", "refresh_method = 'partition'"])
def test_altered_to_what_it_cannot(lake: Warehouse, option: str) -> None:
    """As at creation: a method that its query rules out is refused, and nothing changes."""
    lake.sql("create or replace materialized view @.never as select rand() as r from @.orders")
    before = lake.state()
    with pytest.raises(MaterializedViewFailure, match="cannot be refreshed"):
        lake.sql(f"alter materialized view @.never set options ({option})")
    assert lake.state() == before
    lake.sql("alter materialized view @.never set options (refresh_method = 'complete')")
