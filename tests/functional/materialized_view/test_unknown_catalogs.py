"""Views in a catalog that another program has, and this one does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import UnknownCatalog
from dbt.adapters.spark_mv.spark.session import spark_session
from tests.functional.materialized_view.rewritten import of_small_tables, views_of
from tests.functional.materialized_view.warehouse import Warehouse

SAID = "far.one.away cannot be read: this session has no catalog far"


@pytest.fixture(scope="module")
def left(
    dbt_profile_target: dict[str, Any],
    lake: Warehouse,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Warehouse]:
    """The lake after another program has made a view in a catalog `far` and ended; one view here is
    stale, and the other would be."""
    home: Path = tmp_path_factory.mktemp("far")
    key = "spark.sql.catalog.far"
    catalog = {
        key: "org.apache.iceberg.spark.SparkCatalog",
        f"{key}.type": "jdbc",
        f"{key}.uri": f"jdbc:sqlite:{home}/far.db",
        f"{key}.jdbc.schema-version": "V1",
        f"{key}.warehouse": str(home),
    }
    other = Warehouse({**dbt_profile_target, "spark_conf": catalog}, lake.schema)
    other.sql("create schema if not exists far.one")
    for view in ("far.one.away", "@.here"):
        other.sql(
            f"create materialized view {view} as "
            "select customer, sum(amount) as total from @.orders group by customer"
        )
    conf = spark_session(other.credentials).conf
    for name in catalog:
        conf.unset(name)
    lake.change()
    yield of_small_tables(lake)
    lake.sql("drop materialized view @.here")


@pytest.fixture
def told(left: Warehouse, road: str) -> Warehouse:
    left.restart()
    return left


def test_operations_on_all(told: Warehouse) -> None:
    """One view that cannot be asked for stops no other."""
    rows = {row[0]: row for row in told.operation("status", all=True).rows}
    assert rows["one.away"][1:3] == ("BROKEN", "UNKNOWN")
    assert SAID in rows["one.away"][-1]
    told.spark("insert into @.orders values (201, 'sam', 1)")
    done = told.operation("refresh", all=True)
    assert {row[0]: row[1] for row in done.rows} == {
        "one.away": "FAILED",
        f"{told.schema}.here": "SUCCEEDED",
    }
    assert SAID in done.failures[0]
    assert "spark_conf" in done.failures[0]
    left_alone = ("view far.one.away", "left alone: this session has no catalog far")
    assert left_alone in told.operation("sweep", all=True).rows
    maintained = told.operation("maintain", all=True)
    assert any(SAID in note for note in maintained.notes)
    assert {row[0] for row in maintained.rows} >= {f"{told.schema}.here"}


def test_operations_on_it(told: Warehouse) -> None:
    for name in ("refresh", "verify", "explain"):
        (failure,) = told.operation(name, view="far.one.away").failures
        assert SAID in failure, name
    with pytest.raises(UnknownCatalog, match=SAID):
        told.operation("drop", view="far.one.away")
    assert "one.away" in {row[0] for row in told.operation("status", all=True).rows}


def test_rewriting(told: Warehouse) -> None:
    """The view that this program has answers."""
    told.operation("refresh", all=True)
    told.restart()
    query = "select customer, sum(amount) from @.orders group by customer"
    assert views_of(told, query) == ["here"]
    assert sorted(told.sql(query)) == sorted(told.spark(query))
