"""Every form of a statement that reads a materialized view reads fresh rows.

A base table is changed by plain Spark just before, and nobody tells the command.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.forms.statements import FORMS, REFUSED, WARNED
from tests.functional.materialized_view.warehouse import Command, Warehouse, assert_same

QUERY = "select id as k, count(*) as n from @.orders group by id"
_ids = count(1000)


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.mv as {QUERY}")
    lake.sql("create view @.pv as select k, n from @.mv where n > 0")


@pytest.fixture
def command(lake: Warehouse) -> Iterator[Command]:
    """An open run-operation, in which no node refs anything."""
    made = lake.command("run-operation")
    yield made
    made.flush()


def change(lake: Warehouse) -> int:
    """Another program adds an order; its id."""
    added = next(_ids)
    lake.spark(f"insert into @.orders values ({added}, 'eve', 1)")
    return added


@pytest.mark.behaviour("B22")
@pytest.mark.parametrize("name", FORMS)
def test_read_is_fresh(lake: Warehouse, command: Command, name: str) -> None:
    form = FORMS[name]
    alerts: list[str] = []
    command.core.services.alert = alerts.append
    for statement in form.before:
        command.sql(statement)
    command.sql("select * from @.mv")
    change(lake)
    assert lake.freshness("mv") == "STALE"
    command.sql(form.sql)
    assert lake.freshness("mv") == "FRESH"
    assert_same(lake, "select * from @.mv", QUERY)
    assert len(alerts) == (1 if form.how == WARNED else 0)
    if form.how == WARNED:
        assert f"{lake.schema}.mv" in alerts[0]


@pytest.mark.parametrize("sql", REFUSED)
def test_write_is_refused(lake: Warehouse, command: Command, sql: str) -> None:
    before = lake.build_of("mv")
    with pytest.raises(MaterializedViewFailure, match=r"mv is a materialized view"):
        command.sql(sql.replace("{storage}", lake.storage("mv")))
    assert lake.build_of("mv") == before


@pytest.mark.parametrize(
    "sql",
    [
        "execute immediate 'insert into @.orders values ({id}, ''eve'', 1)'",
        "begin insert into @.orders values ({id}, 'eve', 1); end",
        "with c as (select {id} as i) insert into @.orders select i, 'eve', 1 from c",
        "with c as (select max(id) as i from @.orders) "
        "delete from @.orders where id in (select i from c)",
    ],
)
def test_write_marks(lake: Warehouse, command: Command, sql: str) -> None:
    """Dependents of what is written are marked stale, whatever the form of the write."""
    command.sql("select * from @.mv")
    command.flush()
    assert not lake.flag("mv")
    command.sql(sql.replace("{id}", str(next(_ids))))
    command.flush()
    assert lake.flag("mv")


def test_execute_runs_once(lake: Warehouse, command: Command) -> None:
    """Spark runs a command that it is asked to explain behind EXECUTE IMMEDIATE; we do not ask."""
    before = lake.value("select count(*) from @.orders")
    command.sql(f"execute immediate 'insert into @.orders values ({next(_ids)}, ''eve'', 1)'")
    assert lake.value("select count(*) from @.orders") == before + 1


@pytest.mark.parametrize("cache", ["cache table kept as select * from @.mv", "cache table @.mv"])
def test_cached_rows_do_not_outlive_a_refresh(
    lake: Warehouse, command: Command, cache: str
) -> None:
    name = "kept" if "kept" in cache else "@.mv"
    command.sql("drop view if exists kept")
    command.sql(cache)
    added = change(lake)
    # Another command publishes, and this one has to notice.
    lake.apart("refresh materialized view @.mv")
    assert (added, 1) in command.sql(f"select * from {name}")
    assert (added, 1) in command.sql("select * from @.mv")
    command.sql(f"uncache table if exists {name}")


def test_view_is_dropped_after_it_was_cached(lake: Warehouse, command: Command) -> None:
    """CACHE TABLE of a view makes no temporary view: DROP VIEW drops the one of the catalog."""
    command.sql(f"use local.{lake.schema}")
    command.sql("create or replace view cached as select k, n from mv")
    command.sql("cache table cached")
    command.sql("drop view cached")
    command.sql("create view cached as select k, n + 1 as n from mv")
    added = change(lake)
    assert (added, 2) in command.sql("select * from cached")
    command.sql("drop view cached")
    command.sql("use local.default")


def test_temporary_view_of_the_name_of_a_model(lake: Warehouse, command: Command) -> None:
    """A temporary view hides a materialized view of its name, also from its policy."""
    lake.sql(f"create materialized view @.hidden options (when_stale = 'inline') as {QUERY}")
    command.sql(f"use local.{lake.schema}")
    command.sql("create or replace temporary view hidden as select 7 as k")
    added = change(lake)
    assert command.sql("select * from hidden") == [(7,)]
    assert lake.freshness("hidden") == "STALE"
    command.sql("drop view hidden")
    assert (added, 1) in command.sql("select * from hidden")
    command.sql("use local.default")


def test_replaced_view_below_a_temporary_one(lake: Warehouse, command: Command) -> None:
    """What a temporary view reads is asked again once a view was replaced."""
    command.sql("create or replace view @.moving as select 1 as k")
    command.sql("create or replace temporary view over as select * from @.moving")
    command.sql("select * from over")
    command.sql("create or replace view @.moving as select k from @.mv")
    command.sql("create or replace temporary view over as select * from @.moving")
    added = change(lake)
    assert (added,) in command.sql("select * from over")


@pytest.mark.parametrize(
    "sql",
    [
        "select @.inlined.k, @.inlined.n from @.inlined",
        "select local.@.inlined.k from @.inlined where @.inlined.n > 0",
        "select inlined.k from @.inlined order by inlined.n",
        "select i.k from @.inlined i",
        "select k from @.inlined tablesample (100 percent)",
        "select inlined.k from @.inlined tablesample (100 percent) repeatable (1)",
        "select s.k from @.inlined tablesample (100 percent) as s",
    ],
)
def test_inlined_in_any_place(lake: Warehouse, command: Command, sql: str) -> None:
    """The query of a stale view stands where its name stood, whatever else names it."""
    command.sql("drop materialized view if exists @.inlined")
    command.sql(f"create materialized view @.inlined options (when_stale = 'inline') as {QUERY}")
    added = change(lake)
    assert added in {row[0] for row in command.sql(sql)}
    assert lake.freshness("inlined") == "STALE"


@pytest.mark.parametrize(
    "sql",
    [
        "select * from @.mv join @.missing using (k)",
        "select * from missing.mv",
        "select k from @.mv fro @.mv",
        "selec k from missing.mv",
        "create table @.never as select * from missing.mv",
        "create temporary view never as select * from missing.mv",
        "insert into @.orders select * from missing.mv",
        "cache table never as select * from missing.mv",
    ],
)
def test_nothing_is_read_by_what_fails(lake: Warehouse, command: Command, sql: str) -> None:
    """A statement that Spark refuses is not waited for, nor is anything said beside the refusal."""
    alerts: list[str] = []
    command.core.services.alert = alerts.append
    change(lake)
    with pytest.raises(Exception, match=r"missing|PARSE_SYNTAX_ERROR|Syntax error"):
        command.sql(sql)
    assert lake.freshness("mv") == "STALE" and not alerts


@pytest.mark.parametrize(
    "sql", ["select * from @.${name}", "insert into @.copied select k from @.${name}"]
)
def test_names_that_spark_puts_in(lake: Warehouse, command: Command, sql: str) -> None:
    """A variable of Spark's configuration may be part of a name."""
    lake.spark("create table if not exists @.copied (k int) using iceberg")
    command.sql("set name=mv")
    change(lake)
    command.sql(sql)
    assert lake.freshness("mv") == "FRESH"


@pytest.mark.parametrize("sql", ["table @.gone", "select * from @.gone |> where true"])
def test_rows_that_are_gone(lake: Warehouse, command: Command, sql: str) -> None:
    """Spark refuses a statement because a view has lost its rows: they are computed again."""
    lake.sql(f"create or replace materialized view @.gone as {QUERY}")
    lake.spark(f"drop table {lake.storage('gone')} purge")
    command.sql(sql)
    assert lake.freshness("gone") == "FRESH"


@pytest.mark.parametrize("clause", ["version as of 1", "timestamp as of '2026-01-01'"])
def test_old_versions(lake: Warehouse, command: Command, clause: str) -> None:
    """A view has none; those of its storage table can be read."""
    with pytest.raises(MaterializedViewFailure, match=r"no versions of its own[^`]*mv__mv_"):
        command.sql(f"select * from @.mv {clause}")
    storage, version = lake.storage("mv"), lake.build_of("mv")
    assert command.sql(f"select * from {storage} version as of {version}")


@pytest.mark.parametrize("sql", ["select count(*) from {} |> where true", "table {}"])
def test_storage_tables_by_name(lake: Warehouse, command: Command, sql: str) -> None:
    """Only Spark knows what these read, which is no view."""
    command.sql("select * from @.mv")
    change(lake)
    command.sql(sql.format(lake.storage("mv")))
    assert lake.freshness("mv") == "STALE"
