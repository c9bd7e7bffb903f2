"""A build in which a value of `unique_key` has two rows is not published."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.refresh.key_check import is_grouped_by
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

SHOWN = (
    "select s.id, r.seats from @.shows s "
    "join @.rooms r on r.theatre = s.theatre and r.room = s.room"
)


@pytest.fixture(scope="module")
def cinema(lake: Warehouse) -> Warehouse:
    lake.spark("create table @.shows (id bigint, theatre bigint, room string) using iceberg")
    lake.spark("insert into @.shows values (17, 1, 'a'), (21, 1, 'a'), (30, 2, null)")
    lake.spark("create table @.rooms (theatre bigint, room string, seats bigint) using iceberg")
    lake.spark("insert into @.rooms values (1, 'a', 100), (2, 'b', 50)")
    return lake


def create(lake: Warehouse, view: str, query: str, keys: str) -> None:
    options = f"options (unique_key = '{keys}')"
    lake.sql(f"create or replace materialized view @.{view} {options} as {query}")


@pytest.mark.behaviour("E4")
@pytest.mark.parametrize("method", ["complete", "fast"])
def test_a_refresh(cinema: Warehouse, method: str) -> None:
    """The old rows stay, the error names keys and their number; when they are unique again, the
    next refresh goes through."""
    view = f"shown_{method}"
    create(cinema, view, SHOWN, "id")
    before = cinema.spark(f"select * from @.{view}")
    cinema.spark("insert into @.rooms values (1, 'a', 120)")
    report = cinema.operation("refresh", view=view, method=method)
    (failure,) = report.failures
    assert "returns 2 rows for id = " in failure
    assert "(2 such keys: " in failure
    assert cinema.spark(f"select * from @.{view}") == before
    assert cinema.history(view)[-1] == ("FAILED",)
    cinema.spark("delete from @.rooms where seats = 120")
    assert not cinema.operation("refresh", view=view, method=method).failures
    assert_same(cinema, f"select * from @.{view}", SHOWN)


@pytest.mark.behaviour("E4")
def test_a_creation(cinema: Warehouse) -> None:
    """Nothing is made."""
    before = cinema.relations()
    with pytest.raises(
        MaterializedViewFailure, match="returns 2 rows for theatre = 1 and room = 'a'"
    ):
        create(cinema, "wrong", "select theatre, room from @.shows", '["theatre", "room"]')
    assert cinema.relations() == before
    # Two rows without a room are two rows of one key.
    query = "select room from @.shows union all select null from @.rooms where seats = 50"
    with pytest.raises(MaterializedViewFailure, match="room = NULL"):
        create(cinema, "wrong", f"select room from ({query}) where room is null", "room")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select a, b, count(*) as n from t group by a, b", True),
        ("select a as k, count(*) as n from t group by a", False),
        ("select a, count(*) as n from t group by a, c", False),
        ("select a, b, count(*) as n from t group by rollup (a, b)", False),
        ("select a, b from t", False),
        ("select a, b, explode(c) as x from t group by a, b, c", False),
        ("with t as (select 1 as a) select a, 1 as b from t group by a", True),
    ],
)
def test_what_needs_no_check(query: str, expected: bool) -> None:
    assert is_grouped_by(query, ("a", "B")) is expected
