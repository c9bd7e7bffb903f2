"""Texts with quotes in them keep their values wherever a query is taken apart and written again."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.warehouse import Warehouse, assert_same

TEXTS = ("'it''s'", '"a""b"', "'it\\'s'", "'a' 'b'", "''''", "\"it''s\"", "r'\\d'", "'\\\\'")
CASES = [(text, method) for text in TEXTS for method in ("fast", "complete")]
CASES.append((TEXTS[0], "partition"))


@pytest.mark.parametrize(("text", "method"), CASES)
def test_refreshed(lake: Warehouse, text: str, method: str) -> None:
    query = (
        f"select id, customer, concat(customer, {text}) as shown, customer = {text} as met "
        f"from @.written where customer <> concat({text}, 'x')"
    )
    lake.spark(
        "create or replace table @.written (id bigint, customer string) using iceberg "
        "partitioned by (id)"
    )
    lake.spark(f"insert into @.written values (1, 'ann'), (2, {text})")
    layout = "partitioned by (id) " if method == "partition" else ""
    options = f"options (refresh_method = '{method}')"
    lake.sql(f"create materialized view @.kept {layout}{options} as {query}")
    lake.spark(f"insert into @.written values (3, {text}), (4, concat({text}, 'x')), (5, 'its')")
    lake.operation("refresh", view="kept")
    assert lake.history("kept", "method")[-1] == (method,)
    assert_same(lake, "select * from @.kept", query)
    lake.sql("drop materialized view @.kept")
