"""Views in whose place another program has put a view of its own. Iceberg keeps the properties of a
view that is replaced, so that it still says of itself what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.views import recognition
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
CREATE = f"create or replace materialized view @.by_customer options (live = true) as {QUERY}"
# What somebody else may put there, with the same columns and with other ones.
OTHERS = {
    "rows": "select 'sam' as customer, 2L as total",
    "columns": "select 1 as x",
    "storage": "select `customer__mv` as `customer`, `total` from {storage} where total > 20",
    "function": "select upper(`customer__mv`) as customer, total from {storage}",
    "base": QUERY,
}


@pytest.fixture
def shop(lake: Warehouse, road: str) -> Warehouse:
    lake.spark("drop view if exists @.by_customer")
    lake.spark("drop view if exists @.over")
    lake.restart()
    lake.sql(CREATE)
    lake.sql(
        "create or replace materialized view @.over as select max(total) as m from @.by_customer"
    )
    return lake


def replace_view(lake: Warehouse, other: str) -> None:
    storage = lake.storage("by_customer")
    lake.spark(f"create or replace view @.by_customer as {OTHERS[other].format(storage=storage)}")
    lake.restart()


def is_read_as_it_is(lake: Warehouse) -> bool:
    mine, theirs = lake.sql("select * from @.over"), "select max(total) as m from @.by_customer"
    return mine == lake.spark(theirs)


@pytest.mark.behaviour("B19")
@pytest.mark.parametrize("other", [name for name in OTHERS if name != "columns"])
def test_reads(shop: Warehouse, other: str) -> None:
    """It is a logical view now: what reads it is refreshed, and follows its tables."""
    before = shop.spark("select count(*) from @.orders")
    replace_view(shop, other)
    assert_same(shop, "select * from @.by_customer", "select * from @.by_customer")
    assert is_read_as_it_is(shop)
    shop.change()
    assert shop.spark("select count(*) from @.orders") != before
    assert is_read_as_it_is(shop)
    answered = shop.sql(f"explain rewrite {QUERY}")
    assert not [row for row in answered if row[1] == f"{shop.schema}.by_customer"]


def test_operations(shop: Warehouse) -> None:
    """They say what has become of it, and write to nothing."""
    storage = shop.storage("by_customer")
    rows = shop.spark(f"select * from {storage}.snapshots")
    replace_view(shop, "columns")
    for operation in ("refresh", "verify"):
        (report,) = shop.operation(operation, view=f"{shop.schema}.by_customer").rows
        assert "is no materialized view any more: another program has replaced" in str(report)
    states = {row[0]: row[1] for row in shop.operation("status").rows}
    assert states[f"{shop.schema}.by_customer"] == "MISSING"
    assert states[f"{shop.schema}.over"] == "READY"
    with pytest.raises(MaterializedViewFailure, match="Drop it first"):
        shop.sql(CREATE)
    assert shop.spark(f"select * from {storage}.snapshots") == rows
    assert ("v", "by_customer__live") in shop.relations()
    shop.operation("sweep")
    assert ("v", "by_customer__live") not in shop.relations()


@pytest.mark.parametrize("other", OTHERS)
def test_next_run(lake: Warehouse, tmp_path: Path, other: str) -> None:
    """`dbt run` makes the materialized view again."""
    project = DbtProject(tmp_path, lake)
    model = QUERY.replace("@.orders", "{{ source('raw', 'orders') }}")
    config = "{{ config(materialized='bq_materialized_view') }}"
    project.write({"models/by_customer.sql": f"{config} {model}"})
    project.dbt("run")
    replace_view(lake, other)
    project.dbt("run")
    assert lake.freshness("by_customer") == "FRESH"
    assert_same(lake, "select * from @.by_customer", QUERY)
    lake.spark("drop view @.by_customer")


def test_properties_alone(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a view is what it says of itself."""
    monkeypatch.setattr(recognition, "_shows", lambda text, storage: True)
    replace_view(shop, "rows")
    assert not is_read_as_it_is(shop)
