"""The query of a view is read rightly over every connection, whatever its comments are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.sql.literals import spark_literal
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

COMMENTS = (
    "the customer's name",
    "customer's id) as given",
    "ends in a backslash \\",
    "\\'",
    "two\nlines (\nAS\nselect 1 as x",
    'a "name", and `another`',
    "') AS select 1 as customer, 2 as total --",
    "/* not closed",
    "-- none",
    "",
)
NAMES = ("customer", "a b", "the ``name", "as", "x (y")
TEXT = "select customer as x, sum(amount) as `total's` from @.orders /* it's */ group by customer"


@pytest.fixture(autouse=True)
def by_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    reach_by_statements(monkeypatch)


@pytest.fixture
def far(lake: Warehouse) -> Iterator[Warehouse]:
    yield Warehouse(lake.target, lake.schema)
    lake.sql("drop materialized view if exists @.above")
    lake.spark("drop view if exists @.below")


def create(lake: Warehouse, name: str, of_column: str, of_view: str | None) -> None:
    column = f"`{name}` comment {spark_literal(of_column)}"
    comment = "" if of_view is None else f"comment {spark_literal(of_view)}"
    lake.spark(f"create or replace view @.below ({column}, total) {comment} as {TEXT}")


def forms() -> Iterator[tuple[str, str, str | None]]:
    yield from itertools.product(("customer",), COMMENTS, (None, *COMMENTS))
    yield from itertools.product(NAMES[1:], COMMENTS, (None,))


def test_texts(lake: Warehouse, far: Warehouse) -> None:
    """What is found by statements is what the catalog has."""
    for name, of_column, of_view in forms():
        create(lake, name, of_column, of_view)
        found = far.command().core.services.resolver.lookup(
            TableName("local", (lake.schema,), "below")
        )
        assert isinstance(found, ViewFacts)
        assert found.text == lake.text(TEXT), (name, of_column, of_view)


@pytest.mark.parametrize("comment", COMMENTS[:5])
def test_views_above(lake: Warehouse, far: Warehouse, comment: str) -> None:
    create(lake, "customer", comment, comment)
    query = "select max(total) as most from @.below"
    far.sql(f"create materialized view @.above as {query}")
    lake.change()
    assert far.apart("select * from @.above") == lake.spark(query)
    assert_same(lake, "select * from @.above", query)
