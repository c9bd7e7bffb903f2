"""Rows that nobody but a damaged or a newer program would have written, and odd schedules."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.functional.materialized_view.refusals import GOOD, error_of, refused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

FOREIGN = "by somebody else"


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.one as {GOOD}")
    lake.sql("create materialized view @.two as select id from @.one")


def created(lake: Warehouse, **changes: Any) -> str:
    """The payload with which `one` was created, with changes."""
    payload = lake.value(
        "select payload from @meta.mv_events where kind = 'CREATED' "
        f"and view_name = 'local.{lake.schema}.one'"
    )
    return json.dumps({**json.loads(payload), **changes})


def append(lake: Warehouse, kind: str, payload: str | None, **columns: str) -> None:
    """Write an event about `one` by hand; `columns` are SQL expressions."""
    text = "null" if payload is None else f"decode(unhex('{payload.encode().hex()}'), 'UTF-8')"
    view = (
        f"select view_id from @meta.mv_events where view_name = 'local.{lake.schema}.one' limit 1"
    )
    values = {
        "event_id": "'foreign'",
        "at": "current_timestamp()",
        "view_id": f"({view})",
        "view_name": f"'local.{lake.schema}.one'",
        "kind": f"'{kind}'",
        "refresh_id": "'foreign'" if "REFRESH" in kind else "null",
        "payload": text,
        "invocation_id": "''",
        "writer": f"'{FOREIGN}'",
        **columns,
    }
    lake.spark(f"insert into @meta.mv_events select {', '.join(values.values())}")
    lake.restart()


def forget(lake: Warehouse) -> None:
    lake.spark(f"delete from @meta.mv_events where writer = '{FOREIGN}'")
    lake.restart()


HARMLESS = {
    "25-unknown-kind": ("OF_THE_FUTURE", "{}"),
    "25-unknown-refresh": ("REFRESH_OF_THE_FUTURE", '{"stale": true}'),
    "25-mark-without-payload": ("MARKED_STALE", None),
    "25-failure-without-payload": ("REFRESH_FAILED", None),
    "25-newer-fields": ("MARKED_STALE", '{"format_version": "2", "stale": {"a": [1]}}'),
    "20-not-a-number": ("REFRESH_SUCCEEDED", '{"seconds": NaN, "rows": 1e999, "stale": false}'),
    "20-separators": ("REFRESH_SUCCEEDED", '{"reason": "a\u2028b\u2029c", "stale": false}'),
    "20-half-a-pair": ("REFRESH_SUCCEEDED", '{"reason": "\\ud800", "stale": false}'),
    "21-deep": ("MARKED_STALE", '{"a":' * 20_000 + "1" + "}" * 20_000),
    "22-huge-version": ("REFRESH_SUCCEEDED", '{"snapshot_id": 9223372036854775807, "to": [1]}'),
    "22-no-version": ("REFRESH_SUCCEEDED", '{"snapshot_id": -1.5, "to": {"a": " 1 "}}'),
    "28-no-moments": (
        "REFRESH_SUCCEEDED",
        '{"watermark": 9223372036854775807, "evaluated_ms": "x", "started_us": -1e30, "rows": "a"}',
    ),
    "27-end-without-start": ("REFRESH_SUCCEEDED", "{}"),
    "27-start-without-end": ("REFRESH_STARTED", "{}"),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_harmless(lake: Warehouse, case: str) -> None:
    """Reads are right, a refresh works, the views over the events can be read."""
    kind, payload = HARMLESS[case]
    append(lake, kind, payload)
    try:
        lake.spark("insert into @.orders values (100, 'zoe', 1)")
        assert sorted(lake.sql("select * from @.one")) == sorted(lake.spark(GOOD))
        lake.sql("refresh materialized view @.two")
        assert lake.spark("select * from @meta.mv_refresh_history")
        read_all(lake)
    finally:
        forget(lake)


def read_all(lake: Warehouse) -> None:
    for name in ("materialized_views", "mv_status", "mv_dependencies_graph", "table_options"):
        lake.spark(f"select * from @meta.{name}")
    lake.operation("status")


@pytest.mark.parametrize("start", [2**63 - 1, -(2**63), "soon"], ids="28-{}".format)
def test_schedule_that_is_none(lake: Warehouse, start: Any) -> None:
    """A schedule written by hand that no clock knows is none."""
    schedule = {"start_us": start, "interval_us": 0}
    append(lake, "OPTIONS_CHANGED", created(lake, schedule=schedule))
    try:
        read_all(lake)
        assert not lake.operation("refresh_due").failures
    finally:
        forget(lake)


UNREADABLE: dict[str, dict[str, Any] | str | None] = {
    "25-no-payload": None,
    "25-empty-payload": "{}",
    "25-list": "[1]",
    "25-newer-format": {"sources": {"base_tables": []}},
    "25-sources-of-texts": {"sources": ["orders"]},
    "25-no-sources": {"sources": None},
    "25-options-as-list": {"options": [1]},
    "21-deep": "[" * 100_000 + "]" * 100_000,
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable(lake: Warehouse, case: str) -> None:
    """The row is named by whoever needs it, a read of stale rows too; other views work."""
    payload = UNREADABLE[case]
    append(lake, "REPLACED", created(lake, **payload) if isinstance(payload, dict) else payload)
    try:
        lake.spark("insert into @.orders values (101, 'zoe', 1)")
        for statement in ("refresh materialized view @.one", "select * from @.one"):
            text = error_of(lake, statement)
            assert "event_id = foreign" in text and "rebuild_metadata" in text
        lake.sql(f"create materialized view @.fresh as {GOOD}")
        lake.sql("drop materialized view @.fresh")
    finally:
        forget(lake)


def test_26_two_payloads_of_one_event(lake: Warehouse) -> None:
    """An event that is there twice counts once, in the views as in dbt."""
    append(lake, "MARKED_STALE", '{"stale": true, "source": "a"}')
    append(lake, "MARKED_STALE", '{"stale": true, "source": "b"}')
    found = lake.spark("select table_name from @meta.materialized_views order by all")
    assert found == [("one",), ("two",)]
    forget(lake)


def test_27_build_of_another_view(lake: Warehouse) -> None:
    """Freshness comes from versions: an event that claims a build makes nothing fresh."""
    lake.spark("insert into @.orders values (102, 'zoe', 1)")
    append(lake, "REFRESH_SUCCEEDED", '{"stale": false, "rows": 7}')
    assert lake.freshness("one") == "STALE"
    assert_same(lake, "select * from @.one", "select * from @.one")
    assert sorted(lake.sql("select * from @.one")) == sorted(lake.spark(GOOD))
    forget(lake)


@pytest.mark.parametrize("at", ["1970-01-01", "9999-12-31", "2028-02-29"], ids="28-{}".format)
def test_clock_of_an_event(lake: Warehouse, at: str) -> None:
    """A wrong clock spoils the order of the history, never the rows that are read."""
    for kind, payload in (("MARKED_STALE", '{"stale": true}'), ("REFRESH_SUCCEEDED", "{}")):
        append(lake, kind, payload, at=f"timestamp'{at} 00:00:00'", event_id=f"'{kind}'")
    lake.spark("insert into @.orders values (103, 'zoe', 1)")
    assert sorted(lake.sql("select * from @.one")) == sorted(lake.spark(GOOD))
    lake.operation("status")
    lake.operation("history")
    forget(lake)


OPTIONS = {
    "28-day-that-is-none": ("refresh_start = '2026-02-30 00:00:00'", "timestamp"),
    "28-year-0": ("refresh_start = '0000-01-01'", "timestamp"),
    "28-year-10000": ("refresh_start = '10000-01-01'", "timestamp"),
    "29-cron": ("refresh_interval_minutes = '61 * * * *'", "1 to 10080"),
    "29-cron-start": ("refresh_start = '61 * * * *'", "timestamp"),
    "29-huge": ("refresh_interval_minutes = 9223372036854775808", "1 to 10080"),
    "29-negative": ("refresh_interval_minutes = -1", "1 to 10080"),
    "30-nothing": ("max_staleness = ''", "interval"),
    "30-negative": ("max_staleness = 'INTERVAL -1 HOUR'", "interval"),
    "30-huge": (f"max_staleness = 'INTERVAL {'9' * 400} HOUR'", "interval"),
    "30-no-count": ('warn_after = \'{"count": true, "period": "hour"}\'', "count"),
    "30-real-count": ('warn_after = \'{"count": 1e999, "period": "hour"}\'', "count"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options(lake: Warehouse, case: str) -> None:
    """Values that no schedule and no threshold can have."""
    option, reason = OPTIONS[case]
    refused(lake, f"create materialized view @.fresh options ({option}) as {GOOD}", reason)
    refused(lake, f"alter materialized view @.one set options ({option})", reason)


WORKING_OPTIONS = {
    "28-leap-day": "refresh_start = '2028-02-29 00:00:00'",
    "28-first-day": "refresh_start = '0001-01-01'",
    "28-last-day": "refresh_start = '9999-12-31 23:59:59'",
    "28-lost-hour": "refresh_start = '2026-03-29 02:30:00'",
    "30-zero": "max_staleness = 'INTERVAL 0 SECOND'",
    "30-ten-years": "max_staleness = 'INTERVAL 10 YEAR'",
}


@pytest.mark.parametrize("case", WORKING_OPTIONS)
def test_options_that_work(lake: Warehouse, case: str) -> None:
    """Far away, but a point in time: the view works and its due time can be read."""
    lake.sql(
        f"create or replace materialized view @.fresh options ({WORKING_OPTIONS[case]}) as {GOOD}"
    )
    assert lake.sql("select count(*) from @.fresh")
    assert lake.operation("status").rows
    assert lake.spark(
        "select cast(next_refresh_time as string) from @meta.mv_status where table_name = 'fresh'"
    )
    lake.sql("drop materialized view @.fresh")


def test_59_view_of_the_metadata_dropped(lake: Warehouse) -> None:
    """dbt reads the events alone, so a view over them that is gone stops nothing."""
    lake.spark("drop view @meta.mv_status")
    lake.restart()
    lake.spark("insert into @.orders values (104, 'zoe', 1)")
    assert sorted(lake.sql("select * from @.one")) == sorted(lake.spark(GOOD))
    lake.operation("status")
    lake.operation("rebuild_metadata", catalog="local")
    assert lake.spark("select table_name from @meta.mv_status order by all")
