"""Columns with the names of functions that need no parentheses, and conditions that keep others
from failing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.reading import blocks, expressions
from dbt.adapters.spark_mv.rewrite.reading.scopes import Columns, column_in
from dbt.adapters.spark_mv.rewrite.terms import Term
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.functional.materialized_view.rewritten import assert_same, views_of
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE
from tests.unit.rewrite.harness import Tables, answered, stored_view, text_of

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
    made = Warehouse({**lake.target, "query_rewrite_min_rows": 0}, lake.schema)
    values = ", ".join(f"{value} as {name}" for name, value in NAMES.items())
    made.spark(
        f"create table @.named using iceberg as select cast(id % 5 as int) as k, id, {values} "
        "from range(2000)"
    )
    columns = ", ".join(f"`{name}`" for name in NAMES)
    made.sql("create materialized view @.by_k as select k, count(*) as n, sum(id) as s, "
             "min(id) as low, max(id) as high from @.named group by k")  # fmt: skip
    made.sql(f"create materialized view @.all_rows as select k, id, {columns} from @.named "
             "where id >= 0")  # fmt: skip
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
    made = Warehouse({**lake.target, "query_rewrite_min_rows": 0}, lake.schema)
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


ITEMS = (
    *("i as j", "j as i", "sum(m) as m", "sum(m) as i", "max(j) as j", "i", "j", "-i as i"),
    *("count(*) as m", "min(m) as j", "i + j as i", "i as m"),
)
HAVING = (
    *("i > 1", "j > 1", "m > 3", "sum(m) > 3 and i < 2", "i + j > 2", "abs(i) > 1", "t.i > 1"),
    *("max(j) > m", "i in (1, 3)", "not (m > 3)"),
)
GROUPS = ("group by i, j", "group by i", "group by i, j, i + j", "group by 1", "")
NAMED = [
    f"select {one}, {two} from t {group} having {having}"
    for one, two, group, having in product(ITEMS, ITEMS, GROUPS, HAVING)
    if one != two
]
KNOWN = Tables({"t": {"i": "int", "j": "int", "m": "bigint"}})


def wrong_having(lake: Warehouse, queries: Sequence[str]) -> tuple[list[str], int]:
    """Queries that have other rows when they are answered, and how many are answered."""
    lake.spark("create or replace temporary view t as select cast(id % 4 as int) as i, "
               "cast(id % 3 as int) as j, id % 7 as m from range(60)")  # fmt: skip
    view = "select i, j, sum(m) as s, count(*) as n, min(m) as low from t group by i, j"
    stored = stored_view(view, ["int", "int", "bigint", "bigint", "bigint"], KNOWN)
    lake.keep("mv_rows", view, [column.name for column in stored.columns])
    wrong, matches = [], 0
    for query in queries:
        try:
            text = text_of(answered(query, stored, KNOWN))
            expected = Counter(lake.spark(query))
        except (Unmatched, AnalysisException):
            continue
        matches += 1
        wrong += [query] if Counter(lake.spark(text)) != expected else []
    return wrong, matches


def test_names_in_having(lake: Warehouse) -> None:
    wrong, matches = wrong_having(lake, NAMED if WHOLE else NAMED[::37])
    assert wrong == [] and matches > 40


@pytest.mark.parametrize("first", ["columns", "outputs"])
def test_names_in_having_matter(
    lake: Warehouse, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Mutants: a name is always that of a column, or of an output."""

    def named(node: exp.Column, select: Any, made: Block, relations: list[Columns]) -> Term:
        column = column_in(relations, node)
        shown = [one.term for one in made.outputs if one.name.lower() == node.name.lower()]
        found = [column, *shown] if first == "columns" else [*shown, column]
        return next(term for term in found if term is not None)

    monkeypatch.setattr(blocks, "_of_having", named)
    assert len(wrong_having(lake, NAMED[::37])[0]) >= 2
