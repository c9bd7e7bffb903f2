"""Refreshes to an earlier time: what they leave behind, and what they refuse."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest

from dbt.adapters.spark_mv.state import as_of
from tests.functional.materialized_view.earlier_times import (
    WRITES,
    Mark,
    make,
    mark,
    now,
    refresh,
    rows,
    stored,
)
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.warehouse import Warehouse


@pytest.fixture
def three(lake: Warehouse) -> Iterator[tuple[Warehouse, list[Mark]]]:
    """The views with two commits after they were built."""
    make(lake)
    marks = [mark(lake)]
    for write in (WRITES[0], WRITES[6]):
        lake.spark(write)
        marks.append(mark(lake))
    yield lake, marks


@pytest.mark.behaviour("D26")
def test_does_not_go_back(three: Any) -> None:
    lake, ((before, _), (moment, expected), _) = three
    assert refresh(lake, "sums", moment, method="fast")[0] == "SUCCEEDED"
    assert stored(lake, "sums") == expected["sums"]
    state = lake.state()
    found, why = refresh(lake, "sums", before)
    assert found == "FAILED" and "its rows are newer, by" in why and "bills" in why
    assert refresh(lake, "sums", moment) == ("SKIPPED", "its rows are those of that time already")
    assert lake.state() == state and stored(lake, "sums") == expected["sums"]


def test_going_back_matters(three: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lake, ((before, expected), (moment, _), _) = three
    refresh(lake, "sums", moment)
    monkeypatch.setattr(as_of, "_is_newer", lambda *arguments: False)
    assert refresh(lake, "sums", before)[0] == "SUCCEEDED"
    assert stored(lake, "sums") == expected["sums"]


def test_it_is_stale_afterwards(three: Any) -> None:
    """A read brings it to what its tables are now, and verify compares it with what they were."""
    lake, (_, (moment, _), (_, last)) = three
    refresh(lake, "over", moment)
    assert lake.freshness("sums") == "STALE" and lake.flag("sums")
    for view in ("sums", "over"):
        assert lake.operation("verify", view=view).rows[0][1] == "OK"
    assert lake.apart("select * from @.over") == last["over"]
    assert not lake.flag("sums") and not lake.flag("over")


def test_a_dry_run_changes_nothing(three: Any) -> None:
    lake, (_, (moment, _), _) = three
    first, state = lake.snapshot("@.bills"), lake.state()
    report = lake.operation("refresh", view="sums", as_of=moment, dry_run=True, method="fast")
    text = "\n".join(report.notes)
    assert "plan               fast" in text and str(first) not in text
    assert lake.state() == state


STOPPED = {
    "rows of later": "refresh materialized view @.sums",
    "rows of another time": "alter materialized view @.sums set options (enable_refresh = false)",
    "columns of then": "alter table @.bills add column more int",
}


@pytest.mark.parametrize("what", STOPPED)
def test_a_dry_run_says_what_stops_a_view_below(three: Any, what: str) -> None:
    """As the refresh itself does, which begins with that view."""
    lake, ((before, _), *_) = three
    lake.spark(WRITES[0])
    moment = now()
    lake.sql(STOPPED[what])
    lake.spark("delete from @.bills")
    asked = {"view": "over", "as_of": before if what == "rows of later" else moment}
    state = lake.state()
    dry = lake.operation("refresh", dry_run=True, **asked).failures
    assert lake.state() == state
    assert len(dry) == 1 and dry == lake.operation("refresh", **asked).failures
    assert "cannot be re" in dry[0]


@pytest.mark.parametrize("form", ["as of '{}'", "complete as of timestamp '{}' nowait"])
def test_statement(three: Any, form: str) -> None:
    lake, (_, (moment, expected), _) = three
    lake.sql(f"refresh materialized view @.sums {form.format(moment)}")
    assert stored(lake, "sums") == expected["sums"]


def test_times_of_the_view(three: Any) -> None:
    """Without an offset they are in its time zone; YAML makes values of some of them."""
    lake, (_, (moment, expected), _) = three
    lake.sql("set time zone 'Asia/Tokyo'")
    lake.sql("create or replace materialized view @.tokyo as select count(*) as n from @.bills")
    lake.spark(WRITES[1])
    local = datetime.now(timezone(timedelta(hours=9))).replace(tzinfo=None)
    time.sleep(0.05)
    count = lake.spark("select count(*) from @.bills")
    lake.spark(WRITES[0])
    assert refresh(lake, "tokyo", local)[0] == "SUCCEEDED"
    assert stored(lake, "tokyo") == count
    lake.sql("set time zone 'UTC'")


WRONG: list[tuple[Any, str]] = [
    ("tomorrow", "as_of cannot be 'tomorrow'"),
    (20260301, "as_of cannot be 20260301"),
    ("2999-01-01", "it is in the future"),
    (date(2001, 2, 3), "its oldest state that is kept is of"),
    ("0001-01-01", "no table is so old"),
    ("0001-01-01T00:00:00+14:00", "no table is so old"),
    ("9999-12-31T23:59:59-14:00", "it is in the future"),
    ("1969-12-31", "no table is so old"),
]


@pytest.mark.parametrize(("moment", "why"), WRONG)
def test_no_such_time(three: Any, moment: Any, why: str) -> None:
    lake, _ = three
    state = lake.state()
    try:
        found, text = refresh(lake, "sums", moment)
    except Exception as error:
        found, text = "FAILED", str(error)
    assert found == "FAILED" and why in text
    assert lake.state() == state


CANNOT = {
    "its snapshot|its oldest state": "call local.system.expire_snapshots(table => '{schema}.bills',"
    " older_than => timestamp'2100-01-01', retain_last => 1)",
    "its columns have changed since": "alter table @.bills add column more int",
    "its oldest state": "drop table @.bills; create table @.bills (id int, kind string, "
    "amount bigint, day date) using iceberg; insert into @.bills values (1, 'a', 1, null)",
    "do not exist any more": "drop table @.bills",
    "its columns have changed": "alter table @.bills rename column kind to other; "
    "alter table @.bills rename column amount to kind; alter table @.bills rename column other "
    "to amount",
    "it is empty now": "create or replace table @.bills (id int, kind string, amount bigint, "
    "day date) using iceberg",
    "it is empty now, and": "drop table @.bills; create table @.bills (id int, kind string, "
    "amount bigint, day date) using iceberg",
}


def test_files_have_no_history(lake: Warehouse) -> None:
    lake.spark("drop table if exists spark_catalog.default.of_files")
    lake.spark("create table spark_catalog.default.of_files using parquet as select 1 as id")
    lake.sql(
        "create or replace materialized view @.files as "
        "select count(*) as n from spark_catalog.default.of_files"
    )
    found, why = refresh(lake, "files", now())
    assert found == "FAILED" and "it is no Iceberg table, and has no history" in why


@pytest.mark.behaviour("D26")
@pytest.mark.parametrize("why", CANNOT)
def test_what_cannot_be_read(three: Any, why: str) -> None:
    lake, (_, (moment, _), _) = three
    before = stored(lake, "sums")
    for statement in CANNOT[why].format(schema=lake.schema).split("; "):
        lake.spark(statement)
    lake.restart()
    found, text = refresh(lake, "sums", moment)
    assert found == "FAILED" and any(part in text for part in why.split("|")), text
    assert stored(lake, "sums") == before


def test_an_empty_table(lake: Warehouse) -> None:
    """One that had no rows then has a version all the same; one that was emptied by a replacement
    does not say since when."""
    empty = "create or replace table @.never (id int) using iceberg"
    lake.spark(empty)
    lake.sql("create or replace materialized view @.none as select count(*) as n from @.never")
    assert refresh(lake, "none", now())[0] == "SKIPPED"
    lake.spark("insert into @.never values (1)")
    full = now()
    lake.spark(empty)
    emptied = now()
    lake.spark("insert into @.never values (2), (3)")
    two = now()
    lake.spark("insert into @.never values (4)")
    for moment in (full, emptied):
        found, why = refresh(lake, "none", moment)
        assert found == "FAILED" and "it was replaced, and does not say since when" in why
    assert refresh(lake, "none", two)[0] == "SUCCEEDED" and stored(lake, "none") == [(2,)]


def test_a_view_below_that_is_not_refreshed(three: Any) -> None:
    lake, (_, (moment, expected), (last, newest)) = three
    lake.sql("alter materialized view @.sums set options (enable_refresh = false)")
    found, why = refresh(lake, "over", moment)
    assert found == "FAILED" and "has rows of another time" in why
    assert refresh(lake, "sums", moment)[0] == "SUCCEEDED"
    assert refresh(lake, "over", moment)[0] == "SUCCEEDED"
    assert stored(lake, "over") == expected["over"]
    lake.sql("alter materialized view @.sums set options (enable_refresh = true)")
    assert refresh(lake, "over", last)[0] == "SUCCEEDED"
    assert stored(lake, "over") == newest["over"]


def test_keys(three: Any) -> None:
    lake, ((moment, _), *_) = three
    with pytest.raises(Exception, match="keys and as_of cannot be combined"):
        lake.operation("refresh", view="sums", keys=["a"], as_of=moment)


def test_the_clock(lake: Warehouse) -> None:
    """The query is evaluated at that time, and does not go back before it."""
    lake.spark(
        "create or replace table @.times using iceberg as select id, "
        "current_timestamp() + make_dt_interval(0, 0, 0, id) as ts from range(-50, 200)"
    )
    earlier = now()
    lake.sql(
        "create or replace materialized view @.late as select id, ts, current_date() as today "
        "from @.times where ts > current_timestamp()"
    )
    moment, built = now(), lake.spark("select count(*) from @.late")
    time.sleep(3)
    lake.spark("insert into @.times values (900, timestamp'2999-01-01')")
    assert refresh(lake, "late", moment)[0] in ("SUCCEEDED", "SKIPPED")
    expected = rows(
        lake,
        f"select id, ts, date(timestamp'{moment}') as today from @.times "
        f"where ts > timestamp'{moment}' and id < 900",
    )
    assert stored(lake, "late") == expected and built != [(0,)]
    found, why = refresh(lake, "late", earlier)
    assert found == "FAILED" and "its rows are newer, by the clock at" in why


def test_a_refresh_that_was_faster(three: Any) -> None:
    """Rows of now, which somebody else has published meanwhile, stay."""
    lake, (_, (moment, _), (_, newest)) = three
    statement = f"refresh materialized view @.sums as of '{moment}'"
    with Paused(lake, "lock.before", statement) as slow:
        lake.apart("refresh materialized view @.sums")
        error = slow.end()
    assert error is not None and "its rows are newer, by" in str(error)
    assert stored(lake, "sums") == newest["sums"]
