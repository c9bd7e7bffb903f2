"""Which partitions of base tables feed which partitions of a view, and which of those are stale."""

from __future__ import annotations

import re

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse, assert_same


@pytest.fixture(scope="module", autouse=True)
def tables(lake: Warehouse) -> None:
    """One table with partitions, one without, and a view of each kind."""
    lake.spark(
        "create table @.sales (id bigint, shop string, day date) using iceberg partitioned by (day)"
    )
    lake.spark(
        "insert into @.sales values (1, 'ann', date'2021-01-01'), (2, 'bob', date'2022-02-02'), "
        "(3, 'ann', date'2022-02-03'), (4, 'bo', date'2023-03-03'), (5, null, null)"
    )
    lake.spark("create table @.shops (name string, city string) using iceberg")
    lake.spark("insert into @.shops values ('ann', 'bern'), ('bob', 'rome'), ('bo', null)")
    lake.sql(
        "create materialized view @.by_year partitioned by (year) "
        "options (refresh_method = 'partition') "
        "as select count(*) as count, year(day) as year from @.sales group by 2"
    )
    lake.sql(
        "create materialized view @.joined_by_year partitioned by (year) as "
        "select year(s.day) as year, p.city, count(*) as n from @.sales s "
        "join @.shops p on s.shop = p.name group by 1, 2"
    )


def _files(lake: Warehouse, view: str) -> set[tuple[str, str]]:
    storage = lake.storage(view)
    rows = lake.spark(f"select cast(partition as string), file_path from {storage}.files")
    return {(row[0], row[1]) for row in rows}


@pytest.mark.behaviour("C1", "C18")
def test_other_partitions_are_not_written(lake: Warehouse) -> None:
    """Only files of the changed year are others afterwards."""
    before = _files(lake, "by_year")
    lake.spark("insert into @.sales values (31, 'ann', date'2021-07-01')")
    lake.restart()
    lake.sql("refresh materialized view @.by_year")
    changed = before ^ _files(lake, "by_year")
    assert {partition for partition, _ in changed} == {"{2021}"}


@pytest.mark.behaviour("C2", "C4", "C8")
def test_walkthrough(lake: Warehouse) -> None:
    """Four dates, a view by year: its dependencies, and what a new row makes stale."""
    lake.spark("create table @.t1 (column0 string, date date) using iceberg partitioned by (date)")
    lake.spark(
        "insert into @.t1 values ('a', date'2021-01-01'), ('b', date'2022-02-02'), "
        "('c', date'2022-02-03'), ('d', date'2023-03-03')"
    )
    lake.sql(
        "create materialized view @.m1 partitioned by (year) as "
        "select count(*) as count, date_part('YEAR', date) as year from @.t1 group by 2"
    )
    rows = lake.sql("select * from mv_dependencies('@.m1')")
    years = [row[0].rsplit("/", 2)[1] for row in rows]
    dates = [row[4].rsplit("/", 2)[1] for row in rows]
    assert years == ["year=2021", "year=2022", "year=2022", "year=2023"]
    assert dates == ["date=2021-01-01", "date=2022-02-02", "date=2022-02-03", "date=2023-03-03"]
    assert {row[1:4] for row in rows} == {("local", lake.schema, "t1")}
    assert all(row[5] is not None for row in rows)
    assert not any(row[3] for row in lake.sql("select * from stale_partitions('@.m1')"))
    lake.spark("insert into @.t1 values ('e', date'2022-05-05'), ('f', null)")
    lake.restart()
    stale = lake.sql("select target from stale_partitions('@.m1') s where s.is_stale")
    assert [row[0].rsplit("/", 2)[1] for row in stale] == [
        "year=2022",
        "year=__HIVE_DEFAULT_PARTITION__",
    ]
    lake.sql("refresh materialized view @.m1 partition")
    assert lake.sql("select count(*) from stale_partitions('@.m1') where is_stale") == [(0,)]
    assert sorted(lake.sql("select year, count from @.m1"), key=str) == [
        (2021, 1),
        (2022, 3),
        (2023, 1),
        (None, 1),
    ]


def test_over_another_view(lake: Warehouse) -> None:
    """A view over a view depends on its partitions, under its name; a bare name is one of the
    target's schema."""
    lake.sql(
        "create materialized view @.m2 partitioned by (year) as "
        "select year, sum(count) as count from @.m1 group by year"
    )
    rows = lake.sql("select target, source_table_name, source_uri from mv_dependencies('m2')")
    assert {row[1] for row in rows} == {"m1"}
    assert all(row[0].rsplit("/", 2)[1] == row[2].rsplit("/", 2)[1] for row in rows)
    lake.sql("drop materialized view @.m2")


@pytest.mark.behaviour("C4", "E28")
def test_vanished_partition(lake: Warehouse) -> None:
    """A year without rows is stale, and goes."""
    lake.spark("delete from @.t1 where date = date'2023-03-03'")
    lake.restart()
    stale = lake.sql("select target from stale_partitions('@.m1') where is_stale")
    assert [row[0].rsplit("/", 2)[1] for row in stale] == ["year=2023"]
    lake.sql("refresh materialized view @.m1 partition")
    assert lake.sql("select * from @.m1 where year = 2023") == []
    assert "year=2023" not in str(lake.sql("select target from stale_partitions('@.m1')"))


@pytest.mark.behaviour("X15", "X16", "C7")
def test_dependencies_that_are_not_mapped(lake: Warehouse) -> None:
    """A source whose partitions say nothing feeds every partition, or the whole view."""
    rows = lake.sql(
        "select target, source_table_name, source_uri from mv_dependencies('@.joined_by_year')"
    )
    targets = {row[0] for row in rows}
    assert {row[0] for row in rows if row[1] == "shops"} == targets
    assert all("day=" in row[2] for row in rows if row[1] == "sales")
    lake.sql("create materialized view @.whole as select count(*) as n from @.t1")
    rows = lake.sql("select target, source_uri from mv_dependencies('@.whole')")
    assert len({row[0] for row in rows}) == 1 and len(rows) == 5
    lake.spark("insert into @.t1 values ('g', date'2020-01-01')")
    lake.restart()
    assert lake.sql("select is_stale from stale_partitions('@.whole')") == [(True,)]


@pytest.mark.behaviour("C14")
def test_partition_values(lake: Warehouse) -> None:
    """Values that paths cannot spell, and NULL."""
    lake.spark("create table @.odd (k string, v bigint) using iceberg partitioned by (k)")
    lake.spark("insert into @.odd values ('a b', 1), ('x%=/y', 2), (null, 3), ('null', 4), ('', 5)")
    lake.sql(
        "create materialized view @.odd_view partitioned by (k) as "
        "select k, count(*) as n from @.odd group by k"
    )
    rows = lake.sql("select target from mv_dependencies('@.odd_view')")
    assert [row[0].split("/k=")[1] for row in rows] == [
        "/",
        "__HIVE_DEFAULT_PARTITION__/",
        "a b/",
        "null/",
        "x%25%3D%2Fy/",
    ]
    for value in ("'a b'", "'x%=/y'", "null", "'null'", "''"):
        lake.spark(f"insert into @.odd values ({value}, 1)")
        lake.restart()
        stale = lake.sql("select target from stale_partitions('@.odd_view') where is_stale")
        assert len(stale) == 1, value
        lake.sql("refresh materialized view @.odd_view partition")
        assert_same(
            lake, "select * from @.odd_view", "select k, count(*) as n from @.odd group by k"
        )


@pytest.mark.behaviour("C3")
@pytest.mark.parametrize("function", ["mv_dependencies", "stale_partitions"])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", "takes one argument"),
        ("1", "takes one argument"),
        ("'@.m1', 'x'", "takes one argument"),
        ("'@.t1'", "is no materialized view"),
        ("'@.nothing'", "does not exist"),
    ],
)
def test_errors(lake: Warehouse, function: str, arguments: str, text: str) -> None:
    """One string, the name of a materialized view."""
    with pytest.raises(MaterializedViewFailure, match=text):
        lake.sql(f"select * from {function}({arguments})")


@pytest.mark.behaviour("C5")
def test_static_partitions(lake: Warehouse) -> None:
    """The first columns of partition_by say what is recomputed, the others do not."""
    query = "select year(day) as year, shop, count(*) as n from @.sales group by 1, 2"
    create = "create materialized view @.{name} partitioned by (year, shop) options ({options}) as "
    static = "static_partition_by = '[\"year\"]', refresh_method = 'partition'"
    for wrong in ('["shop"]', '["year", "shop", "n"]', "months(year)"):
        with pytest.raises(MaterializedViewFailure, match="partition_by: year, shop"):
            options = f"static_partition_by = '{wrong}'"
            lake.sql(create.format(name="wrong", options=options) + query)
    lake.sql(create.format(name="static", options=static) + query)
    targets = {row[0] for row in lake.sql("select target from stale_partitions('@.static')")}
    assert targets and all(
        target.rstrip("/").rsplit("/", 1)[1][:5] == "year=" for target in targets
    )
    before = _files(lake, "static")
    lake.spark("insert into @.sales values (71, 'zoe', date'2021-07-01')")
    lake.restart()
    lake.sql("refresh materialized view @.static")
    changed = before ^ _files(lake, "static")
    # Every shop of the year is written, not only that of the new row.
    assert {partition.split(",")[0] for partition, _ in changed} == {"{2021"}
    assert len({partition for partition, _ in changed}) > 1
    assert_same(lake, "select * from @.static", query)
    with pytest.raises(MaterializedViewFailure, match="partition_by: year, shop"):
        lake.sql("alter materialized view @.static set options (static_partition_by = 'shop')")


def test_partitions_that_a_condition_excludes(lake: Warehouse) -> None:
    """A row of a table that is joined by the partition column has to do with its own partition."""
    for name in ("facts", "plans"):
        lake.spark(
            f"create or replace table @.{name} (yr int, v int) using iceberg partitioned by (yr)"
        )
        lake.spark(f"insert into @.{name} values (2023, 1), (2024, 2)")
    lake.sql(
        "create materialized view @.compared partitioned by (yr) as "
        "select f.yr, f.v, p.v as planned from @.facts f join @.plans p on f.yr = p.yr"
    )
    found = lake.operation("mv_dependencies", view="compared").rows
    years = {tuple(re.findall(r"yr=(\d+)", " ".join(map(str, row)))) for row in found}
    assert years == {("2023", "2023"), ("2024", "2024")}


def test_partition_that_is_about_to_be_made(lake: Warehouse) -> None:
    """A row without a partner makes a partition that nothing was in before."""
    lake.spark("create or replace table @.left_side (k int) using iceberg")
    lake.spark("create or replace table @.right_side (k int, p string) using iceberg")
    lake.spark("insert into @.left_side values (1)")
    lake.spark("insert into @.right_side values (1, 'a')")
    lake.sql(
        "create materialized view @.padded partitioned by (p) as select l.k, "
        "coalesce(r.p, 'none') as p from @.left_side l left join @.right_side r on l.k = r.k"
    )
    lake.spark("insert into @.left_side values (2)")
    found = lake.operation("stale_partitions", view="padded").rows
    stale = {str(row) for row in found if any(value is True for value in row)}
    assert any("p=none" in row for row in stale), found
