"""Fast refreshes of joins, whose rows cross a moment before they have a partner."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

from dbt.adapters.spark_mv.planning import inputs
from tests.functional.materialized_view.clocks import NOON, Shift
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

# The type of the time, and the clock that it is compared with.
CLOCKS = {
    "timestamp": "now()",
    "timestamp_ntz": "localtimestamp()",
    "date": "current_date()",
}
# An instant at which what was soon is over, whatever the type.
LATER = "2026-03-03 14:00:00"
# No row of hall 9 is in a result before the clock moves. Either table is named first.
FORMS = {
    "filter": "select p.id, r.name from {p} join {r} on p.hall = r.id where {ahead}",
    "turned": "select p.id, r.name from {r} join {p} on p.hall = r.id where {ahead}",
    "flag": "select p.id, r.name, {ahead} as f from {p} join {r} on p.hall = r.id",
    "flag_turned": "select p.id, r.name, {ahead} as f from {r} join {p} on p.hall = r.id",
    "in_on": "select r.id, p.id as play from {r} left join {p} on p.hall = r.id and {ahead}",
    "sums": "select r.name, count(*) as n, sum(p.seats) as s from {p} join {r} on p.hall = r.id "
    "where {ahead} group by r.name",
    "distinct": "select distinct r.name, {ahead} as f from {p} join {r} on p.hall = r.id",
    "exists": "select p.id, {ahead} as f from {p} where exists (select 1 from {r} "
    "where r.id = p.hall)",
    "not_exists": "select r.id from {r} where not exists (select 1 from {p} "
    "where p.hall = r.id and {ahead})",
    "in": "select p.id, {ahead} as f from {p} where p.hall in (select id from {r})",
    "self": "select p.id, r.id as j from {p} join {p2} on p.hall = r.hall and r.seats = 99 "
    "where {ahead}",
    "union": "select p.id from {p} join {r} on p.hall = r.id where {ahead} "
    "union all select id from {r}",
}
PLAY = "insert into @.plays values (31, {past}, 9, 99), (32, {future}, 1, 5)"
ROOM = "insert into @.rooms values (9, 'gold')"
WRITES = {
    "plays": (PLAY,),
    "rooms": (ROOM,),
    "both": (PLAY, ROOM),
    "moved": ("update @.plays set hall = 9 where id = 1", ROOM),
    "gone": ("delete from @.plays where id = 2", PLAY, ROOM),
    "other rooms": (PLAY, ROOM, "delete from @.rooms where id = 1"),
}
CASES = list(product(CLOCKS, FORMS, WRITES))
# Both tables written, in each form: what was wrong once.
CHOSEN = [("timestamp", form, "both") for form in FORMS]


@pytest.fixture
def plays(lake: Warehouse) -> Iterator[Warehouse]:
    for run in (lake.sql, lake.spark):
        run("set time zone 'UTC'")
    yield lake
    lake.sql("drop materialized view if exists @.apart")
    for table in ("plays", "rooms"):
        lake.spark(f"drop table if exists @.{table} purge")


def refreshed(lake: Warehouse, clock: Shift, kind: str, form: str, write: str) -> Any:
    """What `verify` says of a view after the clock, then writes, then a fast refresh."""
    times = {
        name: f"cast(timestamp'2026-0{month}Z' as {kind})"
        for name, month in (("past", "2-01 00:00:00"), ("future", "5-01 00:00:00"))
    }
    soon = f"cast(timestamp'2026-03-02 12:30:00Z' as {kind})"
    clock(NOON)
    lake.spark(f"create table @.plays (id int, at {kind}, hall int, seats int) using iceberg")
    lake.spark("create table @.rooms (id int, name string) using iceberg")
    lake.spark(
        f"insert into @.plays values (1, {times['future']}, 1, 10), (2, {soon}, 9, 7), "
        f"(3, {times['past']}, 1, 3), (4, {soon}, 9, 99)"
    )
    lake.spark("insert into @.rooms values (1, 'red'), (2, 'blue')")
    query = FORMS[form].format(
        p="@.plays p", r="@.rooms r", p2="@.plays r", ahead=f"p.at > {CLOCKS[kind]}"
    )
    options = "options (refresh_method = 'fast')"
    lake.sql(f"create materialized view @.apart {options} as {query}")
    clock(LATER)
    for statement in WRITES[write]:
        lake.spark(statement.format(**times))
    lake.operation("refresh", view="apart", method="fast")
    assert lake.history("apart", "method, state")[-1] == ("fast", "SUCCEEDED")
    ((_, verdict, *_),) = lake.operation("verify", view="apart").rows
    return verdict


@pytest.mark.parametrize(
    "case",
    CASES if WHOLE else [*CHOSEN, *Random("partners").sample(CASES, 10)],
    ids=" ".join,
)
def test_rows_that_had_no_partner(plays: Warehouse, clock: Shift, case: tuple[str, ...]) -> None:
    """They are other rows than when the expiry was found, which did not wait for them."""
    assert refreshed(plays, clock, *case) == "OK"


@pytest.mark.parametrize("form", ["filter", "self"])
def test_expiry_is_not_asked_for_them(
    plays: Warehouse, clock: Shift, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: no row has crossed before the view expires."""
    monkeypatch.setattr(inputs, "crossed_rows", lambda *_: {})
    assert refreshed(plays, clock, "timestamp", form, "both") == "DIFFERENT"
