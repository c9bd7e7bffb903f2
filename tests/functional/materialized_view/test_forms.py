"""Forms of queries that were once read wrongly, each by the methods that it can be refreshed by."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.sql.reads import parse
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import sample

CHANGES = (
    "insert into @.orders values (81, 'ann', 7), (82, 'zoe', 8)",
    "delete from @.orders where customer = 'bob'",
    "update @.orders set amount = amount + 1 where id = 81",
)
FAST = {
    "hinted": "select /*+ BROADCAST(o), MERGE(c) */ o.id, c.city from @.orders o "
    "join @.customers c on c.name = o.customer",
    "medians": "select customer, percentile(amount, 0.5) as m, count(*) as n from @.orders "
    "group by customer",
    "halves": "select customer, percentile_cont(0.5) within group (order by amount desc) as m, "
    "percentile_disc(0.9) within group (order by id) as d from @.orders "
    "group by customer",
    "numbered": "select customer, max(amount) as m from @.orders group by customer union all "
    "select name, row_number() over (partition by city order by name) from @.customers",
    "listed_values": "with c(name, n, is_none) as (select c.name, (select count(*) from @.orders o "
    "where o.customer = c.name), (select max(o.id) is null from @.orders o "
    "where o.customer = c.city) from @.customers c) select * from c",
    "left_using": "select id, name, city, amount from (select id, customer as name, amount "
    "from @.orders) o left join @.customers c using (name)",
    "several_using": "select name, city, d.amount as more from (select customer as name, id "
    "from @.orders) o left join @.customers c using (name) right join (select customer as "
    "name, amount from @.orders where amount > 8) d using (name)",
    "full_using": "select name, id, city from (select customer as name, id from @.orders) o "
    "full join @.customers c using (name)",
    "natural": "select name, city, id from @.customers natural join (select customer as name, id "
    "from @.orders) o",
    "star_using": "select o.*, city from (select amount, id, customer as name from @.orders) o "
    "left join @.customers c using (name)",
    "stars_using": "select d.*, c.*, o.amount from (select amount, id, customer as name from "
    "@.orders) o right join (select city as town, name from @.customers) c using (name) join "
    "(select count(*) as n, id from @.orders group by id) d using (id)",
    "key_using": "select max(o.amount) as m, o.name from (select id, amount, customer as name from "
    "@.orders) o join @.customers c using (name) where id > 0 group by o.name",
    "repeated": "select id as a, id as b from @.orders union select amount, amount from @.orders",
    "repeated_except": "select id as a, id as b from @.orders except "
    "select amount, amount from @.orders where amount > 7",
    "two_distinct": "select customer, count(distinct id) as ids, sum(amount) as total, "
    "count(distinct amount) as amounts from @.orders o group by customer",
    "named_as_table": "select customer, count(distinct id) as orders, count(distinct amount) as n "
    "from @.orders group by customer",
    "distinct_filter": "select customer, count(distinct id) filter (where amount > 7) as ids "
    "from @.orders group by customer",
    "scalars": "select day, max(n) as most from (select weekday(timestamp_seconds(id)) as day, "
    "pmod(amount, 7) as p, count(*) as n from @.orders group by 1, 2) d group by day",
    "names_with_underscores": "select o.id, o.x__city, o__x.city from (select id, customer, amount "
    "as x__city from @.orders) o left join @.customers o__x on o__x.name = o.customer",
    "groups_with_underscores": "select o__x.city, sum(o.x__city) as s, count(*) as n from (select "
    "id, customer, amount as x__city from @.orders) o left join @.customers o__x "
    "on o__x.name = o.customer group by o__x.city",
    "generated": "select customer, explode(array(count(*), sum(amount))) as v from @.orders "
    "group by customer",
    "generated_outer": "select customer, explode_outer(if(count(*) > 1, array(max(id)), null)) "
    "as v from @.orders group by customer",
    "filtered_generated": "select customer, v from (select customer, "
    "stack(2, count(*), sum(amount)) as v from @.orders group by customer) d where v > 2",
    "subquery_in_on": "select o.id, c.city from @.orders o join @.customers c "
    "on c.name = o.customer and o.amount >= (select avg(amount) from @.orders)",
    "subqueries_in_on": "select o.id, c.city, d.name from @.orders o join @.customers c on "
    "c.name = o.customer and c.city in (select city from @.customers where name > 'b') and exists "
    "(select 1 from @.orders i where i.amount = o.amount + 1) left join @.customers d "
    "on d.city = c.city and d.name <> c.name",
    "listed": "select customer, listagg(cast(amount as string), ',') "
    "within group (order by amount) as l from @.orders group by customer",
}


@pytest.mark.parametrize("name", FAST)
def test_fast(lake: Warehouse, name: str) -> None:
    """Created, refreshed fast, and right."""
    lake.spark("create table if not exists @.customers (name string, city string) using iceberg")
    lake.spark("insert into @.customers values ('ann', 'bern'), ('zoe', 'rome')")
    lake.sql(f"create materialized view @.{name} options (refresh_method = 'fast') as {FAST[name]}")
    for change in CHANGES:
        lake.spark(change)
        lake.restart()
        lake.sql(f"refresh materialized view @.{name}")
        rows = lake.spark(f"select * from @.{name}")
        assert rows and Counter(rows) == Counter(lake.spark(FAST[name]))


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("select * from (select customer, amount from @.orders) pivot (sum(amount) as s "
         "for customer in ('ann' as ann, 'bob' as bob))", "PIVOT: .* aggregates of CASE"),
        ("select customer, id, sum(amount) as s from @.orders group by customer, id "
         "grouping sets (customer)", "GROUPING_SETS: a key is in no set"),
        ("select max(t) as m from (select customer, sum(amount / 3.0D) as t from @.orders "
         "group by customer) d", "ORDER_DEPENDENT: its last digits"),
    ],
)  # fmt: skip
def test_not_fast(lake: Warehouse, query: str, code: str) -> None:
    """Refused with the reason, where only fast will do."""
    with pytest.raises(MaterializedViewFailure, match=code):
        lake.sql(f"create materialized view @.no options (refresh_method = 'fast') as {query}")


def test_aggregates_are_known(lake: Warehouse) -> None:
    """Every aggregate of Spark is one in the tree, or it would be computed row by row."""
    for (name,) in lake.spark("show functions"):
        described = [row[0] for row in lake.spark(f"describe function `{name}`")]
        if any(line.startswith("Class: ") and ".aggregate." in line for line in described):
            tree = parse(f"select {name}(a) from t") or parse(f"select {name}(a, b) from t")
            assert tree is not None and aggregates.is_call(tree.expressions[0].unalias()), name


def test_keys_of_other_types(lake: Warehouse) -> None:
    """Two texts are equal to one number, so there is no partition to which a sum belongs."""
    lake.spark("create table @.codes (code string, amount int) using iceberg")
    lake.spark("create table @.numbers (name string, code int) using iceberg")
    lake.spark("insert into @.numbers values ('x', 1), ('y', 2)")
    lake.spark("insert into @.codes values ('1', 5), ('01', 10)")
    query = (
        "select name, code, (select sum(c.amount) from @.codes c where c.code = n.code) as total "
        "from @.numbers n"
    )
    statement = "create materialized view @.{name} partitioned by (name) {options} as " + query
    with pytest.raises(MaterializedViewFailure, match="CORRELATED: a subquery compares"):
        lake.sql(statement.format(name="strict", options="options (refresh_method = 'partition')"))
    lake.sql(statement.format(name="free", options=""))
    lake.spark("insert into @.codes values ('1.0', 20)")
    lake.restart()
    assert sorted(lake.sql("select * from @.free")) == sorted(lake.spark(query))


KEY_VALUES = {
    "string": ("'1'", "'01'"),
    "int": ("1", "1"),
    "bigint": ("1", "1"),
    "decimal(4, 1)": ("1.0", "1.0"),
    "double": ("1", "1"),
    "date": ("date '2024-01-01'", "date '2024-01-01'"),
    "timestamp": ("timestamp '2024-01-01 00:00:00'", "timestamp '2024-01-01 00:00:00'"),
}
OF_ONE_KEY = {
    "first": "lateral (select r.v from @.r{one} r where r.k = l.k order by r.v limit 1) x",
    "after": "lateral (select r.v from @.r{one} r where r.k = l.k order by r.v limit 1 offset 1) x",
    "window": "lateral (select count(*) over () as v from @.r{one} r where r.k = l.k) x",
}


def test_subqueries_by_keys_of_all_types(lake: Warehouse) -> None:
    """Rows of one key, as LATERAL subqueries take them, by all pairs of types of keys: fast if the
    types are the same, or whole numbers without LIMIT, and refused as such if not."""
    for number, (kind, values) in enumerate(KEY_VALUES.items()):
        for side in "lr":
            lake.spark(f"create table @.{side}{number} (id int, k {kind}, v int) using iceberg")
            rows = f"(1, {values[0]}, 5), (2, {values[1]}, 3)"
            lake.spark(f"insert into @.{side}{number} values {rows}")
    made = {}
    always = [(0, 1, form) for form in OF_ONE_KEY] + [(1, 2, form) for form in OF_ONE_KEY]
    always += [(one, one, "first") for one in range(len(KEY_VALUES))]
    others = product(range(len(KEY_VALUES)), range(len(KEY_VALUES)), OF_ONE_KEY)
    for left, right, form in dict.fromkeys(sample(always, others)):
        query = f"select l.id, x.v from @.l{left} l, {OF_ONE_KEY[form].format(one=right)}"
        options = "options (refresh_method = 'fast')"
        statement = f"create materialized view @.{form}_{left}_{right} {options} as {query}"
        if left == right or ({left, right} == {1, 2} and form == "window"):
            lake.sql(statement)
            made[f"{form}_{left}_{right}"] = query
        else:
            with pytest.raises(MaterializedViewFailure, match="CORRELATED|DATATYPE_MISMATCH"):
                lake.sql(statement)
    for number, values in enumerate(KEY_VALUES.values()):
        lake.spark(f"insert into @.r{number} values (3, {values[1]}, 1), (4, {values[0]}, 2)")
    lake.restart()
    for name, query in made.items():
        lake.sql(f"select * from @.{name}")
        assert lake.history(name, "method")[-1] == ("fast",)
        assert_same(lake, f"select * from @.{name}", query)


@pytest.mark.parametrize(
    ("value", "is_fast"), [("c.code", True), ("c.code + 0", False), ("cast(c.name as int)", False)]
)
@pytest.mark.parametrize(
    "form",
    [
        "select c.name, x.id from @.by_number c, lateral (select o.id from @.coded o "
        "where o.code = {value} order by o.id limit 1) x",
        "select c.name, (select o.id from @.coded o where o.code = {value} order by o.id limit 1) "
        "as id from @.by_number c",
    ],
)
def test_limit_by_a_value_outside(lake: Warehouse, form: str, value: str, is_fast: bool) -> None:
    """Spark takes LIMIT from the rows of all keys if the condition names anything but a column
    outside: a fast refresh would have other rows than the query, so there is none."""
    lake.spark("create or replace table @.by_number (name string, code int) using iceberg")
    lake.spark("create or replace table @.coded (id int, code int) using iceberg")
    lake.spark("insert into @.by_number values ('1', 1), ('2', 2), ('3', 3)")
    lake.spark("insert into @.coded values (5, 1), (6, 1), (7, 2), (8, 2)")
    query = form.format(value=value)
    statement = "create materialized view @.by_value options (refresh_method = 'fast') as " + query
    if not is_fast:
        with pytest.raises(MaterializedViewFailure, match="CORRELATED: .* plain column outside"):
            lake.sql(statement)
        return
    lake.sql(statement)
    lake.spark("insert into @.coded values (1, 2), (2, 3), (3, 1)")
    lake.restart()
    lake.sql("select * from @.by_value")
    assert lake.history("by_value", "method")[-1] == ("fast",)
    assert_same(lake, "select * from @.by_value", query)
    lake.sql("drop materialized view @.by_value")


def test_left_out_by_having(lake: Warehouse) -> None:
    """Groups below the bound are stored, not shown, nor counted as rows of the view."""
    lake.spark("create table @.visits (name string, day int) using iceberg")
    lake.spark("insert into @.visits values ('a', 1), ('b', 1), ('b', 2), (null, 1)")
    query = "select name, max(day) as last from @.visits group by name having count(*) > 1"
    lake.sql(f"create materialized view @.regulars as {query}")
    assert lake.sql("select * from @.regulars") == [("b", 2)]
    for statement in (
        "insert into @.visits values ('a', 3), (null, 2), ('c', 9)",
        "delete from @.visits where name = 'b' and day = 2",
        "update @.visits set name = 'c' where name is null",
    ):
        lake.spark(statement)
        lake.restart()
        lake.sql("refresh materialized view @.regulars fast")
        assert_same(lake, "select * from @.regulars", query)
    assert {row[0] for row in lake.history("regulars", "method")[1:]} == {"fast"}
    assert lake.operation("status", view="regulars").rows[0][6] is None
    assert not lake.operation("verify", view="regulars").failures


def test_paths_into_variants(lake: Warehouse) -> None:
    """Of each form, as Spark understands them: what is in quotes between dots is not quoted."""
    rows = "select id, parse_json(text) from values {} as x(id, text)"
    lake.spark(
        "create table @.parsed (id int, v variant) using iceberg "
        "tblproperties ('format-version' = '3')"
    )
    texts = ("""(1, '{"a": 1, "b": {"c d": [1, 2]}}')""", "(2, '{\"a\": 2}')", "(3, null)")
    lake.spark("insert into @.parsed " + rows.format(", ".join(texts)))
    query = (
        "select v:a::int as a, count(*) as n, sum(v:b['c d'][1]::int) as s, "
        "max(p.v:`b`:`c d`[0]::string) as t from @.parsed p group by 1"
    )
    lake.sql(f"create materialized view @.paths as {query}")
    lake.spark("insert into @.parsed " + rows.format(texts[0].replace("1, 2", "0, 5")))
    lake.restart()
    lake.sql("refresh materialized view @.paths fast")
    assert_same(lake, "select * from @.paths", query)
    assert lake.history("paths", "method")[-1] == ("fast",)
