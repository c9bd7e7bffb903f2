"""Inputs that are too large, too deep or too many: an error in two lines, or they work."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.refusals import GOOD, refused
from tests.functional.materialized_view.warehouse import Warehouse

# Which of the two it is depends on how much of the parser the JVM has compiled by then.
TOO_COMPLEX = "too complex to parse|nested too deeply for Spark"


def chain(length: int) -> str:
    """CTEs that each read the one before."""
    more = "".join(f", c{n} as (select id from c{n - 1})" for n in range(1, length))
    return f"with c0 as (select id from @.orders){more} select id from c{length - 1}"


REFUSED = {
    "17-query-of-a-megabyte": (f"select '{'x' * 1_000_001}' as x from @.orders", "1,000,000 bytes"),
    "47-subqueries": (
        "select * from " + "(select * from " * 250 + "@.orders" + ")" * 250,
        TOO_COMPLEX,
    ),
    "47-unions": (" union all ".join(["select id from @.orders"] * 10_000), TOO_COMPLEX),
    "47-ctes": (chain(100), f"maxIterations|{TOO_COMPLEX}"),
    "47-terms": (f"select {' + '.join(['id'] * 10_000)} as x from @.orders", TOO_COMPLEX),
    "47-terms-of-views": ("select id from @.deep_40", "nested more than 40 levels deep"),
}


@pytest.fixture(scope="module", autouse=True)
def surroundings(lake: Warehouse) -> None:
    lake.spark("create view @.deep_0 as select id from @.orders")
    for level in range(1, 41):
        lake.spark(f"create view @.deep_{level} as select id from @.deep_{level - 1}")


@pytest.mark.parametrize("case", REFUSED)
def test_refused(lake: Warehouse, case: str) -> None:
    """Neither a crash nor a Java stack: the limit is named, and nothing is made."""
    query, reason = REFUSED[case]
    refused(lake, f"create materialized view @.fresh as {query}", reason)


WORKS = {
    "17-literal-of-half-a-megabyte": f"select id, '{'x' * 500_000}' as x from @.orders",
    "17-name-of-10000-characters": f"select id as `{'x' * 10_000}` from @.orders",
    "17-columns": f"select {', '.join(f'id as c{n}' for n in range(300))} from @.orders",
    "47-parentheses": f"select {'(' * 30}id{')' * 30} as x from @.orders",
    # Too deep for sqlglot, not for Spark.
    "47-more-parentheses": f"select {'(' * 300}id{')' * 300} as x from @.orders",
    "47-cases": "select "
    + "case when id = 1 then " * 100
    + "1"
    + " else 0 end" * 100
    + " as x from @.orders",
    "47-nots": f"select id from @.orders where {'not ' * 300}true",
    "47-subqueries": "select * from " + "(select * from " * 30 + "@.orders" + ")" * 30,
    "47-unions": " union all ".join(["select id from @.orders"] * 50),
    "47-ctes": chain(20),
    "47-in-list": f"select id from @.orders where id in ({', '.join(map(str, range(3000)))})",
    "47-conditions": "select id from @.orders where "
    + " or ".join(f"id = {n}" for n in range(400)),
    "48-doubling": "with c0 as (select id from @.orders)"
    + "".join(
        f", c{n} as (select id from c{n - 1} union select id from c{n - 1})" for n in range(1, 5)
    )
    + " select id from c4",
}


@pytest.mark.parametrize("case", WORKS)
def test_works(lake: Warehouse, case: str) -> None:
    """Half of what is refused is built, and followed by its base table."""
    query = WORKS[case]
    lake.sql(f"create or replace materialized view @.fresh as {query}")
    found = sorted(lake.sql("select * from @.fresh"))
    lake.sql("drop materialized view @.fresh")
    assert found == sorted(lake.spark(query))


def test_47_a_statement_beside_views(lake: Warehouse) -> None:
    """A long condition in any other statement of a project that has views is no matter either."""
    lake.sql(f"create materialized view @.fresh as {GOOD}")
    condition = " or ".join(f"id = {n}" for n in range(1500))
    lake.sql("insert into @.orders values (100, 'zoe', 1)")
    assert (100,) in lake.sql(f"select id from @.fresh where id = 100 or {condition}")
    lake.sql("drop materialized view @.fresh")


def test_17_long_names_in_errors(lake: Warehouse) -> None:
    """An error is never as long as the input."""
    with pytest.raises(Exception) as caught:
        lake.sql(f"create materialized view @.fresh as select `{'x' * 100_000}` from @.orders")
    assert len(str(caught.value)) < 3000
    options = f"options (when_stale = '{'x' * 100_000}')"
    with pytest.raises(Exception) as caught:
        lake.sql(f"create materialized view @.fresh {options} as {GOOD}")
    assert len(str(caught.value)) < 3000
