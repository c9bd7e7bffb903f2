"""A build by parts that loses rows is found before anybody can read it."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog.partitions import Field, decoded
from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

VIEWS = {
    "rows": ("months(day)", "select day, id from @.days"),
    "counts": ("day", "select day, count(*) as n from @.days group by day"),
}


@pytest.fixture
def pushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions asked for as they were once: by what Iceberg 1.11 answers wrongly, and for
    groups by nothing at all."""

    def holds(
        self: Field, column: str, text: str | None, catalog: str, pushed: bool = False
    ) -> str:
        if pushed or text is None:
            return _holds(self, column, text, catalog, pushed)
        if self.transform == "identity":
            return f"{column} = {decoded(text, self.type)} AND hash({column}) = 0"
        return f"{self.value(column, catalog)} = {decoded(text, self.type)}"

    _holds = Field.holds
    monkeypatch.setattr(Field, "holds", holds)


@pytest.mark.parametrize("name", VIEWS)
def test_lost_rows(lake: Warehouse, pushed: Any, name: str) -> None:
    partition_by, query = VIEWS[name]
    lake.spark(
        "create or replace table @.days (id bigint, day date) using iceberg partitioned by (day)"
    )
    lake.spark("insert into @.days values (1, date'2021-01-05'), (2, date'2021-02-05')")
    lake.sql(
        f"create or replace materialized view @.{name} partitioned by ({partition_by}) as {query}"
    )
    before = sorted(lake.spark(f"select * from @.{name}"))
    lake.spark("insert into @.days values (3, date'2021-01-06'), (4, date'2021-01-05')")
    with pytest.raises(MaterializedViewFailure, match=r"it would have stored . rows of the 4"):
        lake.sql(f"refresh materialized view @.{name} partition")
    assert sorted(lake.spark(f"select * from @.{name}")) == before
    lake.sql(f"refresh materialized view @.{name}")
    assert_same(lake, f"select * from @.{name}", query)
