"""The patterns of docs/query_rewriting.md: each view answers its query."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.spark.session import spark_session
from tests.functional.materialized_view.rewritten import of_small_tables
from tests.functional.materialized_view.warehouse import Warehouse

PAGE = Path(__file__).parents[3] / "docs" / "query_rewriting.md"
BLOCKS = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
PATTERNS = list(zip(BLOCKS[::2], BLOCKS[1::2], strict=True))


def test_there_are_five() -> None:
    assert len(PATTERNS) == 5


@pytest.mark.parametrize(("view", "query"), PATTERNS)
def test_pattern(lake: Warehouse, view: str, query: str) -> None:
    shop = of_small_tables(lake)
    shop.spark(
        "create or replace table @.orders using iceberg as select id, concat('c', id % 50) as "
        "customer, cast(id % 4 as int) as shop, date_add(date'2023-12-20', cast(id % 120 as int)) "
        "as day, cast(id % 100 as decimal(10, 2)) as amount from range(6000)"
    )
    shop.spark(
        "create or replace table @.customers using iceberg as select concat('c', id) as customer, "
        "concat('r', id % 3) as region from range(50)"
    )
    session = spark_session(shop.credentials)
    session.sql(f"use {shop.schema}")
    try:
        shop.sql(view)
        rows = shop.sql(f"/* {{}} /* of dbt */ */\n explain rewrite {query}")
        name = view.split()[3]
        assert [row[1] for row in rows[1:] if row[2]] == [f"{shop.schema}.{name}"], rows
        plain = Counter(tuple(row) for row in session.sql(query).collect())
        assert Counter(shop.apart(query)) == plain
        shop.sql(f"drop materialized view {name}")
    finally:
        session.sql("use default")
