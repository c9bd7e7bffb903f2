"""A build in which a value of `unique_key` has two rows is not published."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import InvalidArgument
from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.refresh.written.keys import is_grouped_by
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


@pytest.fixture(scope="module")
def prices(cinema: Warehouse) -> Warehouse:
    cinema.spark("create table @.sales (day date, shop string, amount bigint) using iceberg")
    cinema.spark(
        "insert into @.sales values (date'2026-01-01', 'a', 1), (date'2026-01-01', null, 2), "
        "(date'2026-01-02', 'a', 4), (date'2026-01-02', 'a', 8)"
    )
    return cinema


QUERY = "select day, shop, sum(amount) as amount from @.sales group by day, shop"


def tampered(lake: Warehouse, view: str) -> None:
    """Change all rows of the storage table, as another program might."""
    lake.spark(f"update {lake.storage(view)} set amount = amount + 100")


def rows_of(lake: Warehouse, view: str) -> dict[tuple[str, str | None], int]:
    return {(str(d), s): a for d, s, a in lake.spark(f"select day, shop, amount from @.{view}")}


@pytest.mark.behaviour("E7")
@pytest.mark.parametrize(
    "keys",
    [
        [["2026-01-01", None]],
        [{"SHOP": None, "day": "2026-01-01"}],
        [[date(2026, 1, 1), None], ["2026-01-03", "no such"]],
    ],
)
def test_refresh_of_keys(prices: Warehouse, keys: list[Any]) -> None:
    """It repairs these rows and no others; what was not known to be right is not called so."""
    create(prices, "sums", QUERY, '["day", "shop"]')
    right = rows_of(prices, "sums")
    tampered(prices, "sums")
    report = prices.operation("refresh", view="sums", keys=keys)
    assert not report.failures
    repaired = ("2026-01-01", None)
    assert rows_of(prices, "sums") == {
        key: amount if key == repaired else amount + 100 for key, amount in right.items()
    }
    assert prices.freshness("sums") == "UNKNOWN"
    assert prices.history("sums", "method, state")[-1] == ("keys", "SUCCEEDED")
    prices.operation("refresh", view="sums")
    assert (rows_of(prices, "sums"), prices.freshness("sums")) == (right, "FRESH")


def test_keys_that_are_whole_files(cinema: Warehouse) -> None:
    """Iceberg would drop the files, without a word of whose commit it is."""
    cinema.sql(
        "create materialized view @.by_part partitioned by (id) options (unique_key = 'id') as "
        "select id, theatre from @.shows where id in (17, 21)"
    )
    cinema.spark(f"update {cinema.storage('by_part')} set theatre__mv = 9 where true")
    cinema.operation("refresh", view="by_part", keys=[17, 21])
    query = "select id, theatre from @.shows where id in (17, 21)"
    assert_same(cinema, "select * from @.by_part", query)


@pytest.mark.behaviour("E7")
def test_keys_of_a_stale_view(prices: Warehouse) -> None:
    """They are those of the versions that the other rows have, so the view stays as stale as it
    was, and what is fresh stays fresh."""
    create(prices, "older", QUERY, '["day", "shop"]')
    before = rows_of(prices, "older")
    assert not prices.operation("refresh", view="older", keys=[["2026-01-02", "a"]]).failures
    assert (rows_of(prices, "older"), prices.freshness("older")) == (before, "FRESH")
    prices.spark("insert into @.sales values (date'2026-01-02', 'a', 16)")
    assert not prices.operation("refresh", view="older", keys=[["2026-01-02", "a"]]).failures
    assert (rows_of(prices, "older"), prices.freshness("older")) == (before, "STALE")
    assert prices.operation("verify", view="older").rows[0][1] == "OK"
    prices.spark("delete from @.sales where amount = 16")


def test_keys_of_tables_without_versions(cinema: Warehouse) -> None:
    """Nobody can say what the rows beside them were made from, so nothing is computed."""
    cinema.spark("create table spark_catalog.default.loose using parquet as select 1 as id, 2 as n")
    query = "select id, n from spark_catalog.default.loose"
    create(cinema, "loose", query, "id")
    before = cinema.build_of("loose")
    (failure,) = cinema.operation("refresh", view="loose", keys=[1]).failures
    assert "the rows beside these were made from versions that cannot be read again: " in failure
    assert cinema.build_of("loose") == before
    cinema.sql("drop materialized view @.loose")
    cinema.spark("drop table spark_catalog.default.loose")


@pytest.mark.behaviour("E7")
@pytest.mark.parametrize("below", ["view", "materialized view"])
def test_keys_of_another_definition(cinema: Warehouse, below: str) -> None:
    """What a view reads is another view now: its rows of some keys would stand beside rows of the
    one before, and count as fresh once that one is back."""
    name = f"below_{len(below)}"
    make = f"create or replace {below} @.{name} as select id, theatre{{}} as t from @.shows"
    cinema.sql(make.format(""))
    create(cinema, "above", f"select id, t from @.{name}", "id")
    cinema.sql(make.format(" + 100"))
    before = sorted(cinema.spark("select * from @.above")), cinema.build_of("above")
    (failure,) = cinema.operation("refresh", view="above", keys=[17]).failures
    assert "views that it reads were replaced since its rows were computed" in failure
    assert (sorted(cinema.spark("select * from @.above")), cinema.build_of("above")) == before
    cinema.sql(make.format(""))
    assert_same(cinema, "select * from @.above", "select id, theatre as t from @.shows")
    cinema.sql("drop materialized view @.above")
    cinema.sql(f"drop {below} @.{name}")


def test_keys_and_other_arguments(cinema: Warehouse) -> None:
    create(cinema, "keyed", "select id, theatre from @.shows", "id")
    build = cinema.build_of("keyed")
    for argument in ("dry_run", "all", "expired"):
        with pytest.raises(InvalidArgument, match="keys cannot be combined"):
            cinema.operation("refresh", view="keyed", keys=[17], **{argument: True})
    assert cinema.build_of("keyed") == build
    with pytest.raises(MaterializedViewFailure, match="names a column twice: id, ID"):
        create(cinema, "twice", "select id from @.shows", '["id", "ID"]')


def test_half_a_character(cinema: Warehouse) -> None:
    """It is refused before anybody has to send it."""
    with pytest.raises(InvalidArgument, match="(?s)keys cannot be .*whole characters"):
        cinema.operation("refresh", view="keyed", keys=[{"id": "\ud800"}])


@pytest.mark.parametrize("key", ["17", 17.0, Decimal("17.00"), " 17 "])
def test_other_texts_of_a_key(cinema: Warehouse, key: object) -> None:
    create(cinema, "keyed", "select id, theatre from @.shows", "id")
    assert not cinema.operation("refresh", view="keyed", keys=[key]).failures


NO_NUMBERS = (
    "x",
    "1.5",
    1.5,
    2**70,
    -(2**63) - 1,
    float("inf"),
    float("nan"),
    True,
    date(2024, 1, 1),
)


@pytest.mark.parametrize(
    ("view", "keys", "problem"),
    [
        *(("keyed", [one], "is no value of unique_key") for one in NO_NUMBERS),
        ("keyed", [[1, 2]], "is no key: unique_key is id"),
        ("keyed", [{"id": 17, "ID": 21}], "is no key: unique_key is id"),
        ("keyed", [], "0 keys cannot be given"),
        ("keyed", list(range(1001)), "1,001 keys cannot be given"),
        ("unkeyed", [1], "has no unique_key"),
    ],
)
def test_wrong_keys(cinema: Warehouse, view: str, keys: list[Any], problem: str) -> None:
    """They change nothing."""
    create(cinema, "keyed", "select id, theatre from @.shows", "id")
    cinema.sql("create or replace materialized view @.unkeyed as select id from @.shows")
    build = cinema.build_of(view)
    (failure,) = cinema.operation("refresh", view=view, keys=keys).failures
    assert problem in failure
    assert cinema.build_of(view) == build


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select a, b, count(*) as n from t group by a, b", True),
        ("select a as k, count(*) as n from t group by a", False),
        ("select a, count(*) as n from t group by a, c", False),
        ("select a, b, count(*) as n from t group by rollup (a, b)", False),
        ("select a, b from t", False),
        ("select a, b, explode(c) as x from t group by a, b, c", False),
        ("select a, explode(array(1, 2)) as x from t group by a", False),
        ("select a, inline_outer(collect_list(c)) from t group by a", False),
        ("select a, json_tuple(max(c), 'x') from t group by a", False),
        ("with t as (select 1 as a) select a, 1 as b from t group by a", True),
    ],
)
def test_what_needs_no_check(query: str, expected: bool) -> None:
    assert is_grouped_by(query, ("a", "B")) is expected


@pytest.mark.behaviour("E4")
@pytest.mark.parametrize("how", ["create or replace", "alter"])
@pytest.mark.parametrize(
    "served", ["", "when_stale = 'serve'", "enable_refresh = false", "max_staleness = 'PT1H'"]
)
def test_a_key_of_a_view_that_is_there(cinema: Warehouse, how: str, served: str) -> None:
    """Of a view whose rows are read as they are, fresh or old: a key that it has twice is not
    taken."""
    query = "select theatre, room from @.shows"
    view = f"keyed_{how.partition(' ')[0]}_{served.partition(' ')[0]}"
    create = f"create or replace materialized view @.{view} options ({{}}) as {query}"
    statement = create if how != "alter" else f"alter materialized view @.{view} set options ({{}})"
    cinema.sql(create.format(served or "when_stale = 'refresh'"))
    if served:
        cinema.spark("insert into @.shows values (22, 7, 'z')")
        cinema.restart()
    before = cinema.build_of(view), cinema.spark(f"show tblproperties @.{view}")
    with pytest.raises(MaterializedViewFailure, match=r"returns 2 rows for theatre = 1"):
        cinema.sql(statement.format(", ".join(filter(None, (served, "unique_key = 'theatre'")))))
    assert (cinema.build_of(view), cinema.spark(f"show tblproperties @.{view}")) == before
    cinema.spark("delete from @.shows where id in (21, 22)")
    cinema.restart()
    cinema.operation("refresh", view=view)
    cinema.sql(statement.format("unique_key = 'theatre'"))
    cinema.spark("insert into @.shows values (21, 1, 'a')")
    cinema.restart()
    report = cinema.operation("refresh", view=view)
    assert "returns 2 rows for theatre = 1" in report.failures[0]


@pytest.mark.parametrize(("kind", "day"), [("date", "12024-05-01"), ("timestamp", "-0044-03-15")])
def test_days_that_python_lacks(cinema: Warehouse, kind: str, day: str) -> None:
    """They are named like others."""
    query = f"select theatre, cast('+{day}' as {kind}) as day from @.shows"
    if day.startswith("-"):
        query = query.replace("+", "")
    with pytest.raises(MaterializedViewFailure, match=rf"rows for day = .*{day[1:]}"):
        create(cinema, f"far_{kind}", query, "day")
