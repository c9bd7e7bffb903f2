"""Stars inside of expressions, which stand for all columns of what is below them."""

from __future__ import annotations

from itertools import product

import pytest

from dbt.adapters.spark_mv.ivm.algebra import misread
from tests.functional.materialized_view.warehouse import Warehouse, is_right
from tests.sampling import WHOLE

STARS = (
    *("hash({0})", "xxhash64({0})", "size(array({0}))", "crc32(concat({0}))", "greatest({0})"),
    *("coalesce({0})", "length(to_json(struct({0})))", "hash({0} except (id))"),
)
QUERIES = (
    "select day, sum({0}) as x from @.starred group by day",
    "select day, id, {0} as x from @.starred",
    "select distinct day, {0} as x from @.starred",
    "select sum({0}) as x from @.starred",
    "select day, count(*) filter (where {0} > 2) as x from @.starred group by day",
    "select day, count(distinct {0}) as x from @.starred group by day",
    "select day, max(h) as x from (select day, {0} as h from @.starred) group by day",
    "select day, id, sum({0}) over (partition by day) as x from @.starred",
    "select day, count(*) as x from @.starred where {0} > 2 group by day having max({0}) > 2",
    "select starred.id, {0} as x from @.starred join @.others on starred.id = others.other",
    "select day, count({1}) as x from @.starred group by day",
)
STARRED = [
    query.format(expression.format(star), star)
    for query, expression, star in product(QUERIES, STARS, ("*", "starred.*"))
]
SOME = STARRED[:: 1 if WHOLE else 9]


@pytest.fixture
def starred(lake: Warehouse) -> Warehouse:
    """A warehouse with rows for the star."""
    for text in (
        "drop table if exists @.starred",
        "drop table if exists @.others",
        "create table @.starred (id bigint, a int, day int) using iceberg",
        "insert into @.starred values (1, 1, 1), (2, 2, 2), (3, 3, 3), (3, 3, 3), (4, null, 3)",
        "create table @.others (other bigint, z int) using iceberg",
        "insert into @.others values (1, 1), (3, 7)",
    ):
        lake.spark(text)
    return lake


def wrong(lake: Warehouse, queries: list[str]) -> list[str]:
    """Views of these that have other rows than the query, when they are made or after changes."""
    made = {f"star_{n}": query for n, query in enumerate(queries) if is_query(lake, query)}
    found = []
    for name, query in made.items():
        lake.sql(f"create or replace materialized view @.{name} as {query}")
        found += [] if is_right(lake, name, query) else [query]
    lake.spark("insert into @.starred values (9, 9, 3), (1, 1, 1)")
    for name, query in made.items():
        lake.sql(f"refresh materialized view @.{name}")
        found += [] if is_right(lake, name, query) else [query]
    return found


def is_query(lake: Warehouse, query: str) -> bool:
    try:
        lake.spark(query)
    except Exception:
        return False
    return True


@pytest.mark.behaviour("A15", "X23")
def test_rows(starred: Warehouse) -> None:
    assert wrong(starred, SOME) == []


def test_mutant_is_wrong(starred: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not refused."""
    monkeypatch.setattr(misread, "_refuse_stars", lambda query: None)
    # Of a query that was analysed before it is known what it has.
    other = STARRED[0].replace(" as x", " as y")
    assert wrong(starred, [other]) == [other] * 2
