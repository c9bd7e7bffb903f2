"""Reports in the words of tools that know tables only: views answer them, row by row the same."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.rewritten import columns, of_small_tables, views_of
from tests.functional.materialized_view.tool_queries import TABLES, TOOLS, VIEWS
from tests.functional.materialized_view.warehouse import Warehouse

QUERIES = [(tool, name) for tool, queries in TOOLS.items() for name in queries]


@pytest.fixture(scope="module")
def shop(lake: Warehouse) -> Warehouse:
    made = of_small_tables(lake)
    for name, query in TABLES.items():
        made.spark(f"create or replace table @.{name} using iceberg as {query}")
    for name, query in VIEWS.items():
        made.sql(f"create materialized view @.{name} as {query}")
    return made


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize(("tool", "name"), QUERIES)
def test_reports(shop: Warehouse, tool: str, name: str) -> None:
    query = TOOLS[tool][name]
    assert views_of(shop, query)
    assert Counter(shop.apart(query)) == Counter(shop.spark(query))
    assert columns(shop, query) == columns(shop, _written(shop, query))


def _written(shop: Warehouse, query: str) -> str:
    """The text that runs in place of a query."""
    return str(shop.sql(f"explain rewrite {query}")[0][4])
