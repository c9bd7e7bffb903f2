"""Live views: which views can have one, in which sessions it is read, and when it goes."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.live_reads import ANSI, make_sales, reader
from tests.functional.materialized_view.warehouse import Warehouse, assert_same


@pytest.fixture(scope="module")
def sales(lake: Warehouse) -> Warehouse:
    make_sales(lake)
    lake.spark("create table @.shops (id int, city string) using iceberg")
    lake.sql(
        "create materialized view @.by_day options (live = true) as "
        "select day, count(*) as n from @.sales group by day"
    )
    return lake


def test_time_zones_and_modes(lake: Warehouse) -> None:
    """What depends on a session fails in another one, as soon as its query would run."""
    lake.sql("set time zone 'Asia/Kolkata'")
    lake.spark("create table @.clicks (at timestamp, n int) using iceberg")
    lake.spark("insert into @.clicks values (timestamp'2026-01-01 22:00:00Z', 1)")
    lake.sql(
        "create materialized view @.by_date options (live = true) as "
        "select cast(at as date) as day, sum(n) as n from @.clicks group by 1"
    )
    lake.sql(
        "create materialized view @.sizes options (live = true) as "
        "select size(array(n)) as s, coalesce(n, '1') as t from @.clicks"
    )
    lake.sql(
        "create materialized view @.texts options (live = true) as "
        "select cast(n * 0.000000000001 as string) as t from @.clicks"
    )
    other, same = reader(lake, {}), reader(lake, {"spark.sql.session.timeZone": "Asia/Kolkata"})
    ansi = reader(lake, {ANSI: "true"})
    stored = {"(datetime.date(2026, 1, 2), 1)": 1}
    assert other("select * from @.by_date__live") == stored
    assert ansi("select * from @.sizes__live") == {"(1, '1')": 1}
    lake.spark("insert into @.clicks values (timestamp'2026-01-01 22:00:00Z', 1)")
    assert same("select n from @.by_date__live") == {"(2,)": 1}
    with pytest.raises(Exception, match=r"Set spark.sql.session.timeZone = Asia/Kolkata"):
        other("select * from @.by_date__live")
    with pytest.raises(Exception, match=r"Set spark.sql.ansi.enabled = false"):
        ansi("select * from @.sizes__live")
    with pytest.raises(Exception, match=r"Set spark.sql.ansi.enabled = false"):
        ansi("select * from @.texts__live")
    lake.sql("set time zone 'UTC'")


@pytest.mark.parametrize(
    "text",
    [
        "cast(amount as string)",
        "cast(amount as varchar(40))",
        "array_join(array(amount), ',')",
        "concat_ws('-', array(amount))",
        "cast(named_struct('a', amount) as struct<a: string>).a",
        "to_json(named_struct('a', amount))",
        "cast(map('k', amount) as map<string, string>)['k']",
        "cast(array(named_struct('x', amount)) as array<struct<x: string>>)[0].x",
        "to_char(amount, '9.999999999')",
        "printf('%s', amount)",
        "cast(to_variant_object(array(amount)) as array<string>)[0]",
    ],
)
def test_decimals_as_texts(lake: Warehouse, text: str) -> None:
    """ANSI mode writes small decimals in another way: the same rows, or an error."""
    lake.spark("create table if not exists @.small (amount decimal(38, 18)) using iceberg")
    lake.spark("delete from @.small")
    lake.spark("insert into @.small values (0.000000001)")
    query = f"select {text} as t from @.small"
    lake.sql(f"create or replace materialized view @.shown options (live = true) as {query}")
    lake.spark("insert into @.small values (0.000000002)")
    wanted = reader(lake, {})(query)
    assert reader(lake, {})("select * from @.shown__live") == wanted
    try:
        found = reader(lake, {ANSI: "true"})("select * from @.shown__live")
    except Exception as error:
        assert "Set spark.sql.ansi.enabled = false" in str(error)
    else:
        assert found == wanted


def test_names_and_drops(sales: Warehouse) -> None:
    """The live view goes with its view, and when it is not wanted any more."""
    create = "create or replace materialized view @.coming {} as select id from @.shops"
    sales.sql(create.format("options (live = true)"))
    assert ("v", "coming__live") in sales.relations()
    sales.sql("alter materialized view @.coming set options (live = false)")
    assert ("v", "coming__live") not in sales.relations()
    sales.sql(create.format("options (live = true)"))
    sales.sql(create.format(""))
    assert ("v", "coming__live") not in sales.relations()
    sales.sql("alter materialized view @.coming set options (live = true)")
    with pytest.raises(MaterializedViewFailure, match="which is a live view"):
        sales.sql("create materialized view @.over as select * from @.coming__live")
    sales.sql("drop materialized view @.coming")
    assert [name for _, name in sales.relations() if name.startswith("coming")] == []


def test_another_definition(sales: Warehouse) -> None:
    """Nobody reads the rows of a definition that is gone."""
    create = (
        "create or replace materialized view @.changing {} as select {}(amount) as a from @.sales"
    )
    sales.sql(create.format("options (live = true)", "min"))
    sales.sql(create.format("", "max"))
    assert ("v", "changing__live") not in sales.relations()
    sales.sql(create.format("options (live = true)", "min"))
    with armed(sales, "live.before=raise") as command:
        command.sql(create.format("options (live = true)", "max"))
        command.flush()
    # It is there, and runs the query.
    assert_same(sales, "select * from @.changing__live", "select max(amount) from @.sales")
    sales.apart("select * from @.changing")
    assert_same(sales, "select * from @.changing__live", "select max(amount) from @.sales")
    sales.sql("drop materialized view @.changing")


def test_another_view_below(sales: Warehouse) -> None:
    """A logical view, or a materialized one, that dbt replaces."""
    sales.sql("create view @.large as select day, amount from @.sales where amount > 10")
    sales.sql(
        "create materialized view @.by_large options (live = true) as select day, max(amount) as m "
        "from @.large group by day"
    )
    sales.sql(
        "create materialized view @.over_large options (live = true) as "
        "select sum(m) as m from @.by_large"
    )
    sales.sql("create or replace view @.large as select day, amount from @.sales where amount > 30")
    query = "select day, max(amount) as m from @.sales where amount > 30 group by day"
    assert_same(sales, "select * from @.by_large__live", query)
    assert_same(sales, "select * from @.over_large__live", f"select sum(m) from ({query})")
    said: list[str] = []
    command = sales.command()
    command.core.services.warn = said.append
    command.sql("drop view @.large")
    command.flush()
    # A view of nothing is no longer there, instead of having the rows of what it was.
    gone = [f"{view}__live" for view in ("by_large", "over_large")]
    assert not {name for _, name in sales.relations()} & set(gone)
    assert all(any(f"{name} was dropped" in text for text in said) for name in gone)
    for view in ("over_large", "by_large"):
        sales.sql(f"drop materialized view @.{view}")


def test_a_table_that_is_made_again(sales: Warehouse) -> None:
    """As `dbt seed` does it: the live view stays, and is right once there is a table again."""
    sales.sql("create table @.seeded using iceberg as select 1 as id, 10 as n")
    options = "options (live = true)"
    sales.sql(f"create materialized view @.by_seed {options} as select id, n from @.seeded")
    sales.sql(
        f"create materialized view @.over_seed {options} as select sum(n) as n from @.by_seed"
    )
    said: list[str] = []
    command = sales.command()
    command.core.services.warn = said.append
    command.sql("drop table @.seeded")
    command.sql("create table @.seeded using iceberg as select 2 as id, 20 as n")
    command.flush()
    assert_same(sales, "select * from @.by_seed__live", "select id, n from @.seeded")
    assert_same(sales, "select * from @.over_seed__live", "select sum(n) from @.seeded")
    assert said == []
    for view in ("over_seed", "by_seed"):
        sales.sql(f"drop materialized view @.{view}")


def test_a_live_view_that_was_left(sales: Warehouse) -> None:
    """A sweep drops those of views that are gone."""
    sales.sql("create materialized view @.gone options (live = true) as select id from @.shops")
    sales.spark("drop view @.gone")
    report = sales.operation("sweep")
    assert any(row[0].startswith("live view") and "gone__live" in row[0] for row in report.rows)
    assert ("v", "gone__live") not in sales.relations()
    assert ("v", "by_day__live") in sales.relations()


REFUSED = {
    "select id, rand() as r from @.shops": "calls rand",
    "select id, now() as loaded_at from @.shops": "shows when its rows were computed",
    "select id, _file as f from @.shops": "where rows are stored",
    "select id from spark_catalog.default.live_files": "has no versions",
}


@pytest.mark.parametrize("query", REFUSED)
def test_refused(sales: Warehouse, query: str) -> None:
    """What could not be right is refused at creation, and changes nothing."""
    files = "spark_catalog.default.live_files"
    sales.spark(f"create table if not exists {files} (id int) using parquet")
    before = sales.state()
    with pytest.raises(MaterializedViewFailure, match=REFUSED[query]):
        sales.sql(f"create materialized view @.never options (live = true) as {query}")
    assert sales.state() == before


def test_a_name_that_is_taken(sales: Warehouse) -> None:
    """Nothing of somebody else's is replaced."""
    sales.spark("create table @.taken__live (id int) using iceberg")
    with pytest.raises(MaterializedViewFailure, match="taken__live exists, and is no live view"):
        sales.sql(
            "create materialized view @.taken options (live = true) as select id from @.shops"
        )
