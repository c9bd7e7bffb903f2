"""Views that compare texts by a collation, which Iceberg stores without it: complete refreshes."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse

# Each with a query over it that is one whichever row of a group stands for it.
VIEWS = {
    "groups": (
        "select s collate utf8_lcase as s, max(id) as m from @.texts group by all",
        "lower(s), m",
    ),
    "values": ("select distinct s collate utf8_lcase as s from @.texts", "lower(s)"),
    "ranks": (
        "select s collate utf8_lcase as s, id, row_number() over "
        "(partition by s collate utf8_lcase order by id) as place from @.texts",
        "s, id, place",
    ),
    "trimmed": (
        "select collate(s, 'utf8_binary_rtrim') as s, count(*) as n from @.texts group by 1",
        "rtrim(s), n",
    ),
    "joined": (
        "select a.s, a.id, b.id as other from @.texts a join @.texts b "
        "on a.s collate utf8_lcase = b.s",
        "s, id, other",
    ),
    "over_view": ("select s, count(*) as n from @.folded group by s", "lower(s), n"),
}


@pytest.fixture(scope="module")
def texts(lake: Warehouse) -> Warehouse:
    lake.spark("create table @.texts (id int, s string) using iceberg partitioned by (s)")
    lake.spark("insert into @.texts values (1, 'a'), (2, 'A'), (4, 'B '), (5, null)")
    lake.spark("create view @.folded as select id, s collate utf8_lcase as s from @.texts")
    return lake


@pytest.mark.parametrize("name", VIEWS)
def test_refreshes(texts: Warehouse, name: str) -> None:
    """None is refreshed by rows or by partition, as letters of both cases lie in several; what is
    refreshed by any method that is chosen has the rows of the query."""
    query, shown = VIEWS[name]
    plain = sorted(texts.spark(f"select {shown} from ({query})"), key=repr)
    for method in ("fast", "partition"):
        asked = "create materialized view @.no partitioned by (s) options (refresh_method = "
        with pytest.raises(MaterializedViewFailure, match="COLLATION"):
            texts.sql(f"{asked}'{method}') as {query}")
    texts.sql(f"create materialized view @.{name} partitioned by (s) as {query}")
    assert sorted(texts.spark(f"select {shown} from @.{name}"), key=repr) == plain
    for change in (
        "insert into @.texts values (6, 'A'), (7, 'B')",
        "delete from @.texts where id > 5",
    ):
        texts.spark(change)
        texts.restart()
        for method in ("fast", "partition"):
            assert texts.operation("refresh", view=name, method=method).failures
        texts.sql(f"select * from @.{name}")
        now = sorted(texts.spark(f"select {shown} from ({query})"), key=repr)
        assert sorted(texts.spark(f"select {shown} from @.{name}"), key=repr) == now
