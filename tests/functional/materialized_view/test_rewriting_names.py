"""Columns with the names of functions that need no parentheses, and conditions that keep others
from failing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.reading import blocks, expressions
from tests.functional.materialized_view.rewritten import assert_same, of_small_tables, views_of
from tests.functional.materialized_view.warehouse import Warehouse

# Bare, Spark takes them for a column if there is one.
NAMES = {
    "current_date": "date_add(date'2023-01-01', cast(id % 50 as int))",
    "current_timestamp": "timestamp'2023-01-01 00:00:00' + make_interval(0, 0, 0, id % 50)",
    "localtimestamp": "timestamp_ntz'2023-01-01 00:00:00'",
    "current_time": "cast(id % 4 as int)",
    "current_user": "concat('u', id % 3)",
    "session_user": "concat('s', id % 3)",
    "user": "concat('n', id % 3)",
    "current_catalog": "concat('c', id % 3)",
    "current_schema": "concat('c', id % 2)",
}
PLACES = (
    "select k, count(*) as n from @.named where {} < '2024' group by k",
    "select k, max({}) as n from @.named group by k",
    "select k, sum(id) as n, {} as d from @.named group by k, {}",
    "select k, count(*) filter (where {} > '2023-01-10') as n from @.named group by k",
    "select k, {} as d from @.named where id > 5",
    "select t.k, u.n from @.named t join (select k, count(*) as n from @.named group by k) u "
    "on t.k = u.k and {} > '2023'",
    "select k, max(k) as {} from @.named group by k having {} is not null",
    "select k, id from @.named where id in (select max(id) from @.named where {} > '2023' "
    "group by k)",
    "select n.{} from @.named n where year(n.{}) = 2023",
)


@pytest.fixture(scope="module")
def named(lake: Warehouse) -> Iterator[Warehouse]:
    made = of_small_tables(lake)
    values = ", ".join(f"{value} as {name}" for name, value in NAMES.items())
    made.spark(
        f"create table @.named using iceberg as select cast(id % 5 as int) as k, id, {values} "
        "from range(2000)"
    )
    columns = ", ".join(f"`{name}`" for name in NAMES)
    made.sql("create materialized view @.by_k as select k, count(*) as n, sum(id) as s, "
             "min(id) as low, max(id) as high from @.named group by k")  # fmt: skip
    made.sql(f"create materialized view @.all_rows as select k, id, {columns} from @.named "
             "where id >= 100")  # fmt: skip
    yield made


def wrong_of(named: Warehouse, name: str) -> list[str]:
    wrong = []
    for place in PLACES:
        query = place.replace("{}", name)
        try:
            expected = Counter(named.spark(query))
        except Exception:
            continue  # values of another type
        if Counter(named.apart(query)) != expected:
            wrong.append(query)
    return wrong


@pytest.mark.parametrize("name", NAMES)
def test_names_of_functions(named: Warehouse, name: str) -> None:
    assert wrong_of(named, name) == []


def test_names_matter(named: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: they are always functions."""
    monkeypatch.setattr(
        expressions,
        "_clock",
        lambda node, columns: expressions.generic(node, columns, expressions.read),
    )
    for kind in (expressions.exp.CurrentDate, expressions.exp.CurrentTimestamp):
        monkeypatch.setitem(expressions._READERS, kind, expressions._clock)
    assert len(wrong_of(named, "current_date")) > 2


def test_the_clock_itself(named: Warehouse) -> None:
    """Where no column has its name."""
    named.spark("create or replace table @.plain using iceberg as select id % 5 as k, id, "
                "date_add(current_date(), cast(id % 3 as int) - 1) as d "
                "from range(2000)")  # fmt: skip
    named.sql("create materialized view @.by_d as select k, d, count(*) as n from @.plain "
              "group by k, d")  # fmt: skip
    query = "select k, count(*) as n from @.plain where d >= current_date group by k"
    assert views_of(named, query) == ["by_d"]
    assert_same(named, query)


# Expressions without a name, of which some have that of a column.
UNNAMED = (
    *("cast({c} as string)", "{c}::string", "try_cast({c} as string)", "({c})", "(({c}))"),
    *(
        "cast(({c}) as string)",
        "string({c})",
        "double({c})",
        "decimal({c})",
        "{c} + 0",
        "-{c}",
        "+{c}",
    ),
    *("cast(-{c} as string)", "cast(cast({c} as string) as int)", "abs({c})", "date({c})"),
    *("cast(p.{c} as bigint)", "bigint({c})", "cast({c} as bigint)"),
)
USES = (
    "select {k}, low from @.parts p where id >= 100 order by k, low limit 60",
    "select {k}, low from @.parts p where id >= 100 order by k desc, low limit 60",
    "select {k}, count(*) as n from @.parts p group by k order by k limit 3",
    "select {k}, count(*) as n from @.parts p group by k having k > 10",
    "select count(*) as n from (select {k}, low from @.parts p where id >= 100) "
    "natural join @.whole",
    "select k from (select {k}, low from @.parts p where id >= 100) as x",
    "select count(*) as n from (select {k}, low from @.parts p where id >= 100) as x join @.whole "
    "using (k)",
    "select count(*) as n from @.whole w where exists (select 1 from (select {k} from @.parts p "
    "where id >= 100) as x where k > 10)",
    "with c as (select {k}, count(*) as n from @.parts p group by k) select count(*) as m from c "
    "natural join @.whole",
    "select t.low, v.n from (select {k}, low, id from @.parts p) t natural join (select k, "
    "id + 2, count(*) as n from @.parts group by 1, 2) v",
)


@pytest.fixture(scope="module")
def parts(lake: Warehouse) -> Iterator[Warehouse]:
    lake.spark("set spark.sql.ansi.enabled = false")
    made = of_small_tables(lake)
    made.spark("create table @.parts using iceberg as select cast(id as int) as id, "
               "cast(id % 12 as int) as k, cast(id % 5 as int) as low from range(300)")  # fmt: skip
    made.spark("create table @.whole using iceberg as select cast(id as int) as k, "
               "cast(id as int) as size from range(4, 16)")  # fmt: skip
    made.sql("create materialized view @.stored as select id, k, low from @.parts where id >= 100")
    made.sql(
        "create materialized view @.grouped as select k, count(*) as n from @.parts group by k"
    )
    yield made


@pytest.mark.parametrize("use", USES)
def test_expressions_without_names(parts: Warehouse, use: str) -> None:
    differ, compared = [], 0
    for expression in UNNAMED:
        query = use.replace("{k}", expression.format(c="k"))
        try:
            expected = Counter(parts.spark(query))
        except AnalysisException:
            continue
        compared += 1
        differ += [query] if Counter(parts.apart(query)) != expected else []
    assert differ == [] and compared


@pytest.mark.parametrize(
    ("query", "views"),
    [
        ("select string(k), count(*) from @.parts group by k", ["grouped"]),
        ("select 'x' as k, 1L as n union all select string(k), count(*) from @.parts group by k",
         ["grouped"]),
        ("select 'x' as k, 1L as n union all (select (k), count(*) from @.parts group by k)",
         ["grouped"]),
        ("select n from (select string(k), count(*) as n from @.parts group by k)", []),
        ("select n from (select cast(k as string), count(*) as n from @.parts group by k)",
         ["grouped"]),
    ],
)  # fmt: skip
def test_where_names_matter(parts: Warehouse, query: str, views: list[str]) -> None:
    """Nobody names the columns of a later branch of a union."""
    assert views_of(parts, query) == views
    assert_same(parts, query)


def test_names_of_casts_matter(parts: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: what is no column has no name."""

    def named(node: exp.Expr, relations: Any) -> tuple[str, str]:
        is_named = isinstance(node, (exp.Alias, exp.Column))
        return node.alias_or_name if is_named else "", ""

    monkeypatch.setattr(blocks, "name_of", named)
    query = USES[0].replace("{k}", "cast(k as string)")
    assert Counter(parts.apart(query)) != Counter(parts.spark(query))


GUARDED = (
    "select t.id, u.n from @.bought t left join @.priced u on t.k = u.k and {} where t.k = 1",
    "select t.id, u.n from @.bought t left join @.priced u on {} and t.k = u.k where t.k = 1",
    "select u.n, count(*) as c from @.bought t join @.priced u on t.k = u.k and {} "
    "where t.k = 1 group by u.n",
    "select t.id, u.n from @.priced u right join @.bought t on t.k = u.k and {} where t.k = 1",
    "select t.id, u.n from @.bought t join @.priced u on t.k = u.k where t.k = 1 and {}",
)
GUARDS = (
    "u.z <> 0 and 10 / u.z > 4",
    "u.z in (1, 2) and 4 < 10 / u.z",
    "u.z is not null and u.z != 0 and 12 % u.z = 0",
)


@pytest.fixture(scope="module")
def bought(lake: Warehouse) -> Iterator[Warehouse]:
    made = of_small_tables(lake)
    for run in (made.sql, made.spark):
        run("set spark.sql.ansi.enabled = true")
    made.spark("create table @.bought using iceberg as select id, cast(id % 4 as int) as k "
               "from range(400)")  # fmt: skip
    made.spark("create table @.priced using iceberg as select cast(id % 6 as int) as k, "
               "if(id % 2 = 0, 'x', cast(id % 5 as string)) as n, "
               "if(id % 7 = 0, null, cast(id % 4 as int)) as z from range(30)")  # fmt: skip
    made.sql("create materialized view @.ones as select id, k from @.bought where k = 1")
    yield made
    for run in (made.sql, made.spark):
        run("set spark.sql.ansi.enabled = false")


@pytest.mark.parametrize("guard", GUARDS)
def test_guards(bought: Warehouse, guard: str) -> None:
    """Conditions stay in their order, so that what Spark answers does not fail: the statement runs
    as it was rewritten, not as it was written."""
    for place in GUARDED:
        query = place.format(guard)
        assert views_of(bought, query) == ["ones"], query
        assert_same(bought, query)
        text = str(bought.command().sql(f"explain rewrite {query}")[0][4])
        assert Counter(bought.spark(text)) == Counter(bought.spark(query))
