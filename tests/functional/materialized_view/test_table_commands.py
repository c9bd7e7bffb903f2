"""Commands of Spark about tables alone, given the name of a materialized view."""

from __future__ import annotations

import re

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse

COMMANDS = {
    "analyze table {} compute statistics": "Leave it out",
    "/* counted */ ANALYZE TABLE {} COMPUTE STATISTICS FOR COLUMNS n": "Leave it out",
    "comment on table {} is 'sums'": "persist_docs",
    "refresh table {}": "REFRESH MATERIALIZED VIEW",
    "show columns in {}": "DESCRIBE TABLE",
    "show columns from {}": "DESCRIBE TABLE",
    "show partitions {}": "SELECT .* FROM .*sums__mv_\\w+.partitions",
}


@pytest.fixture
def sums(lake: Warehouse) -> str:
    """A view, which has each command refused by Spark."""
    lake.spark("create or replace view @.plain as select 1 as n")
    lake.sql("drop materialized view if exists @.sums")
    lake.sql(
        "create materialized view @.sums partitioned by (customer) as "
        "select customer, count(*) as n from @.orders group by customer"
    )
    return "@.sums"


@pytest.mark.parametrize("command", COMMANDS)
def test_of_views(lake: Warehouse, sums: str, command: str) -> None:
    """The error names the view and the way out; a plain view's error is Spark's own."""
    with pytest.raises(MaterializedViewFailure) as error:
        lake.sql(command.format(sums))
    first, second = [line for line in str(error.value).splitlines() if line.strip()][1:]
    assert first.strip().startswith(f"{lake.schema}.sums is a materialized view, for which Spark ")
    assert re.search(COMMANDS[command], second)
    with pytest.raises(DbtDatabaseError):
        lake.sql(command.format("@.plain"))
    with pytest.raises(DbtDatabaseError):
        lake.sql(command.format("@.missing"))


def test_ways_out(lake: Warehouse, sums: str) -> None:
    """What the errors name instead can be run."""
    with pytest.raises(MaterializedViewFailure) as error:
        lake.sql(f"show partitions {sums}")
    (query,) = re.findall("Use (SELECT .*)\\.", str(error.value))
    customers = lake.spark("select count(distinct customer) from @.orders")
    assert [(len(lake.sql(query)),)] == customers
    assert [row[0] for row in lake.sql(f"describe table {sums}")][:2] == ["customer", "n"]
