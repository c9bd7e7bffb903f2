"""Fast refreshes of every kind of query, after changes of every kind, against the query itself."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import incremental, plan
from dbt.adapters.spark_mv.planning.cost import Estimate
from tests.functional.materialized_view.fast_queries import QUERIES
from tests.functional.materialized_view.rounds import refresh_after
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

CHANGES = [
    "insert into @.orders values (11, 'ann', 7, 1.10), (12, null, 8, null), (13, 'new', null, 2)",
    "insert into @.customers values ('new', 'rome'), ('new', 'rome'), (null, null)",
    "update @.orders set amount = amount + 1 where customer = 'ann'",
    "delete from @.orders where id in (3, 12)",
    "merge into @.customers c using (select 'bob' as name) s on c.name = s.name "
    "when matched then update set city = 'oslo'",
    "insert overwrite @.customers values ('ann', 'bern'), ('eve', 'bonn')",
    "delete from @.orders",
    "insert into @.orders values (21, 'ann', 1, 0.5), (22, 'eve', 2, 0.25)",
]


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    """All views over tables of which one deletes by writing files of deletes."""
    lake.spark("drop table @.orders")
    lake.spark(
        "create table @.orders (id bigint, customer string, amount bigint, price decimal(10,2)) "
        "using iceberg"
    )
    lake.spark(
        "insert into @.orders values (1, 'ann', 10, 1.5), (2, 'bob', 20, 2.5), (3, 'ann', 30, 3), "
        "(4, 'ann', 10, 1.5), (5, null, 5, 9.99), (6, 'bob', null, null)"
    )
    lake.spark(
        "create table @.customers (name string, city string) using iceberg tblproperties "
        "('write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', "
        "'write.merge.mode'='merge-on-read')"
    )
    lake.spark("insert into @.customers values ('ann', 'bern'), ('bob', 'rome'), ('cyd', null)")
    lake.spark("create view @.places as select city from @.customers where name is not null")
    for name, query in QUERIES.items():
        lake.sql(f"create materialized view @.{name} options (refresh_method = 'fast') as {query}")


@pytest.mark.behaviour("A15", "X23", "E1", "E5", "E17", "E20", "E22", "E26", "E28")
@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_rows(lake: Warehouse, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """One change after the other; views that are refreshed fast have the query's rows. After
    every other change only those rows are written that differ."""
    monkeypatch.setattr(incremental, "is_better_in_part", lambda *_: number % 2 == 1)
    refresh_after(lake, QUERIES, CHANGES, number)


@pytest.mark.behaviour("A15", "D1")
def test_methods(lake: Warehouse) -> None:
    """They were fast indeed."""
    all_methods = lake.methods()
    for name in QUERIES:
        methods = all_methods[name]
        assert methods[0] == ("complete", "SUCCEEDED")
        assert {method for method, _ in methods[1:]} <= {"fast", "none"}
        assert ("fast", "SUCCEEDED") in methods


@pytest.mark.behaviour("D52")
def test_explain(lake: Warehouse) -> None:
    """The statement, how each change is read, and why it would be taken or not."""
    lake.sql("refresh materialized view @.totals")
    lake.spark("insert into @.orders values (31, 'ann', 1, 0.5)")
    lake.restart()
    text = "\n".join(row[0] for row in lake.sql("explain materialized view @.totals"))
    assert "plan               fast (BASE_TABLE_CHANGED" in text
    assert "appended files, at most 1 rows" in text and "mv_changes_0 AS" in text
    lines = [row[0] for row in lake.sql("explain materialized view @.large")]
    (line,) = [line for line in lines if line.startswith("not added          NOT_ADDITIVE: ")]
    assert "COUNT(DISTINCT" in line
    lake.sql("create materialized view @.first as select id from @.orders limit 1")
    lake.sql("insert into @.orders values (32, 'ann', 1, 0.5)")
    lines = [row[0] for row in lake.sql("explain materialized view @.first")]
    assert any(line.startswith("not fast           LIMIT: ") for line in lines)


def test_small_tables_at_once(lake: Warehouse) -> None:
    """By itself, nothing this small is refreshed fast."""
    lake.sql("create materialized view @.small as select id from @.orders")
    lake.sql("insert into @.orders values (33, 'ann', 1, 0.5)")
    lake.sql("refresh materialized view @.small")
    assert lake.history("small", "method") == [("complete",), ("complete",)]
    lake.sql("insert into @.orders values (34, 'ann', 1, 0.5)")
    lake.sql("refresh materialized view @.small fast")
    assert lake.history("small", "method")[-1] == ("fast",)
    assert_same(lake, "select * from @.small", "select id from @.orders")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("select id from @.orders limit 1", "LIMIT: .* add ORDER BY"),
        ("select count(distinct id) as n from @.orders", "NOT_ADDITIVE"),
        ("select (select max(amount) from @.orders) as n", "ONE_GROUP"),
        ("select count(distinct id) as n from @.orders group by cube (customer)", "GROUPING_SETS"),
        (
            "select id, (select max(name) from @.customers where city = amount) as n from @.orders",
            "CORRELATED: a subquery compares",
        ),
        # The clause names tables as the query does.
        (
            "select name, name in (select o.customer from @.orders o) as k from @.customers",
            "SUBQUERY: .* FROM orders AS o",
        ),
        (
            "select name, (select max(amount) from @.orders where id > length(c.name) group by id)"
            " as k from @.customers c",
            r"CORRELATED: .* FROM orders WHERE",
        ),
        ("select rand() as r, id from @.orders", "VOLATILE_FUNCTION"),
        ("select local.system.bucket(4, id) as b from @.orders", "USER_FUNCTION"),
        ("select id, row_number() over (order by id) as k from @.orders", "WINDOW"),
    ],
)
@pytest.mark.parametrize(
    "option", ["refresh_method = 'fast'", "allow_non_incremental_definition = false"]
)
def test_refused_at_creation(lake: Warehouse, query: str, code: str, option: str) -> None:
    """What must be fast and cannot be is not created; the error says why."""
    before = lake.relations()
    with pytest.raises(MaterializedViewFailure, match=code):
        lake.sql(f"create materialized view @.refused options ({option}) as {query}")
    assert lake.relations() == before


@pytest.mark.behaviour("D14")
def test_expired_version(lake: Warehouse) -> None:
    """What changed cannot be known once the old version is gone: an error, or a complete one."""
    lake.sql("create materialized view @.kept as select id, amount from @.orders")
    lake.spark("insert into @.orders values (41, 'ann', 1, 0.5)")
    lake.spark(
        f"call local.system.expire_snapshots(table => '{lake.schema}.orders', "
        "older_than => timestamp '2100-01-01', retain_last => 1)"
    )
    lake.restart()
    with pytest.raises(MaterializedViewFailure, match="VERSION_GONE"):
        lake.sql("refresh materialized view @.kept fast")
    lake.sql("refresh materialized view @.kept")
    assert_same(lake, "select * from @.kept", "select id, amount from @.orders")


def test_columns_that_came_back(lake: Warehouse) -> None:
    """A column that was dropped and added again has other values under its old name."""
    lake.spark("create table @.items (id bigint, size bigint) using iceberg")
    lake.spark("insert into @.items values (1, 10), (2, 20)")
    lake.sql("create materialized view @.sizes as select id, size from @.items")
    lake.spark("alter table @.items drop column size")
    lake.spark("alter table @.items add column size bigint")
    lake.spark("insert into @.items values (3, 30)")
    lake.restart()
    with pytest.raises(MaterializedViewFailure, match="SCHEMA_CHANGED"):
        lake.sql("refresh materialized view @.sizes fast")
    lake.sql("refresh materialized view @.sizes")
    lake.spark("insert into @.items values (4, 40)")
    lake.restart()
    lake.sql("refresh materialized view @.sizes fast")
    assert_same(lake, "select * from @.sizes", "select id, size from @.items")


def test_replaced_table(lake: Warehouse) -> None:
    """CREATE OR REPLACE TABLE, as every table model does: both versions are compared."""
    lake.sql("create materialized view @.copied as select id, size from @.items where id < 10")
    lake.spark(
        "create or replace table @.items using iceberg as "
        "select id, size + 1 as size from values (1L, 10L), (5L, 50L), (15L, 1L) as t(id, size)"
    )
    lake.restart()
    lake.sql("refresh materialized view @.copied fast")
    assert_same(lake, "select * from @.copied", "select id, size from @.items where id < 10")
    assert lake.history("copied", "method")[-1] == ("fast",)


def test_rollback_and_compaction(lake: Warehouse) -> None:
    """Versions that go back, and files that are rewritten."""
    lake.sql(
        "create materialized view @.rolled as select size, count(*) as n from @.items group by size"
    )
    before = lake.snapshot(f"{lake.schema}.items")
    lake.spark("insert into @.items values (6, 60)")
    lake.restart()
    lake.sql("refresh materialized view @.rolled fast")
    lake.spark(f"call local.system.rollback_to_snapshot('{lake.schema}.items', {before})")
    lake.restart()
    lake.sql("refresh materialized view @.rolled fast")
    query = "select size, count(*) as n from @.items group by size"
    assert_same(lake, "select * from @.rolled", query)
    lake.spark("insert into @.items values (7, 60)")
    lake.spark(
        f"call local.system.rewrite_data_files(table => '{lake.schema}.items', "
        "options => map('min-input-files', '1'))"
    )
    lake.restart()
    lake.sql("refresh materialized view @.rolled fast")
    assert_same(lake, "select * from @.rolled", query)
    assert {row[0] for row in lake.history("rolled", "method")[1:]} == {"fast"}


def test_maps(lake: Warehouse) -> None:
    """Spark 4.1 makes 0 of a NULL in a map that it groups by: rows with maps are not netted."""
    lake.spark("create table @.tagged (id bigint, tags map<string,int>) using iceberg")
    lake.spark("insert into @.tagged values (1, map('a', 1)), (2, map('a', 2)), (3, null)")
    query = "select tags['a'] as a, count(*) as n from @.tagged group by tags['a']"
    lake.sql(f"create materialized view @.tags as {query}")
    lake.spark("update @.tagged set tags = map('a', cast(null as int), 'b', 1) where id = 1")
    lake.spark("insert into @.tagged values (4, map('a', cast(null as int))), (5, map('a', 0))")
    lake.restart()
    lake.sql("refresh materialized view @.tags fast")
    assert Counter(lake.spark("select * from @.tags")) == Counter(lake.spark(query))


def test_failed_fast_refresh(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums too large to be added to: a complete refresh by itself, an error if fast was asked."""
    monkeypatch.setattr(Estimate, "is_worth_it", property(lambda self: True))
    monkeypatch.setattr(plan, "is_small", lambda rows: False)
    query = "select size, avg(id) as mean from @.items group by size"
    lake.sql(f"create materialized view @.means as {query}")
    lake.spark("insert into @.items values (9007199254740993, 60), (9007199254740995, 60)")
    lake.restart()
    with pytest.raises(MaterializedViewFailure, match="beyond 2 to the power of 53"):
        lake.sql("refresh materialized view @.means fast")
    lake.sql("refresh materialized view @.means")
    assert_same(lake, "select * from @.means", query)
    states = lake.history("means", "method, state")
    assert states[-1] == ("complete", "SUCCEEDED")
    assert not any(state == "RUNNING" for _, state in states)
    reasons = lake.history("means", "reason")
    assert any("FAST_FAILED" in str(row) for row in reasons), reasons
    # Such a group is no hindrance as long as it does not change.
    lake.spark("insert into @.items values (70, 7)")
    lake.restart()
    lake.sql("refresh materialized view @.means fast")
    assert_same(lake, "select * from @.means", query)


def test_first_rows(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """LIMIT: rows that come are sorted in, rows in reserve move up; without any, all anew."""
    monkeypatch.setattr(Estimate, "is_worth_it", property(lambda self: True))
    monkeypatch.setattr(plan, "is_small", lambda rows: False)
    lake.spark("create table @.scores (name string, points int) using iceberg")
    lake.spark("insert into @.scores values ('a', 1), ('b', 5), ('c', 5), ('d', 3), (null, null)")
    lake.spark("insert into @.scores select 'z' || id, -id from range(1, 13)")
    query = "select points as p, name from @.scores order by points desc, 2 nulls last limit 3"
    lake.sql(f"create materialized view @.best as {query}")
    for statement, method in (
        ("insert into @.scores values ('e', 4), ('f', 0)", "fast"),
        ("delete from @.scores where points = 1", "fast"),
        ("update @.scores set points = 2 where name = 'f'", "fast"),
        ("delete from @.scores where name = 'b'", "fast"),
        ("insert into @.scores values ('y', -11), ('x', -12)", "fast"),
        ("delete from @.scores where points > 0 and name <> 'c'", "fast"),
        ("delete from @.scores where points > -5", "fast"),
        ("delete from @.scores where points > -9", "complete"),
        ("insert into @.scores values ('g', 9), ('g', 9), (null, 9)", "fast"),
        ("delete from @.scores where points < 0", "fast"),
    ):
        lake.spark(statement)
        lake.restart()
        lake.sql("refresh materialized view @.best")
        assert_same(lake, "select * from @.best", query)
        assert lake.history("best", "method")[-1] == (method,), statement
        assert lake.operation("status", view="best").rows[0][6] == 3
    lake.spark("insert into @.scores select 'h', id from range(20, 50)")
    lake.sql("refresh materialized view @.best complete")
    lake.spark("delete from @.scores where points > 30")
    lake.restart()
    why = r"refreshed: more of the first rows were taken away than there .*\n.* method complete"
    with pytest.raises(MaterializedViewFailure, match=why):
        lake.sql("refresh materialized view @.best fast")


def test_strict_view_that_cannot(lake: Warehouse) -> None:
    """A read of a view that may only be refreshed fast fails by its policy, and is recorded."""
    lake.spark("create table @.parts using iceberg as select cast(1 as bigint) as id, 'x' as name")
    lake.sql(
        "create materialized view @.strict options (refresh_method = 'fast', "
        "on_refresh_error = 'serve') as select id from @.parts"
    )
    lake.spark("alter table @.parts drop column name")
    lake.spark("insert into @.parts values (2)")
    lake.restart()
    assert lake.sql("select id from @.strict") == [(1,)]
    assert lake.history("strict", "state")[-1] == ("FAILED",)
    lake.sql("alter materialized view @.strict set options (on_refresh_error = 'fail')")
    with pytest.raises(MaterializedViewFailure, match="SCHEMA_CHANGED"):
        lake.sql("select id from @.strict")
    lake.sql("refresh materialized view @.strict complete")
    assert sorted(lake.sql("select id from @.strict")) == [(1,), (2,)]
