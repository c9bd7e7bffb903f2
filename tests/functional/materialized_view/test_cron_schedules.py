"""Views with cron texts: when they are due, and what moves that."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from dbt.adapters.spark_mv.config.schedule import CronTimes
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.refusals import refused
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
FILES: dict[str, str] = {}
YEARLY = "schedule refresh cron '0 0 6 1 1 ?' at time zone 'Europe/Berlin'"
BERLIN = CronTimes("0 6 1 1 *", "Europe/Berlin")


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> Iterator[None]:
    lake.sql(f"create materialized view @.totals {YEARLY} as {QUERY}")
    lake.restart()
    yield
    lake.sql("drop materialized view if exists @.totals")


def shown(lake: Warehouse) -> int | None:
    """When the view is due, by the SQL view over the events; held against the program's answer."""
    ((due,),) = lake.spark(
        "select unix_micros(next_refresh_time) from @meta.mv_status where table_name = 'totals'"
    )
    views = lake.command().core.services.log.state().views
    assert due == next(view.next_due for name, view in views.items() if name.name == "totals")
    return due


def missed(lake: Warehouse) -> None:
    """As if many times of the schedule had passed since."""
    lake.spark(
        "update @meta.mv_events set payload = "
        """regexp_replace(payload, '"due_us": [0-9]+', '"due_us": 1000000') """
        f"where view_name = 'local.{lake.schema}.totals'"
    )
    lake.restart()


def now() -> int:
    return time.time_ns() // 1000


@pytest.mark.behaviour("D20", "D21")
def test_missed_times_are_one_refresh(lake: Warehouse) -> None:
    """However many times have passed, there is one refresh, and the next one is ahead."""
    due = shown(lake)
    assert due == BERLIN.next_due(now())
    assert lake.operation("refresh_due", view="totals").rows == ()
    lake.operation("refresh", view="totals", method="complete")
    assert shown(lake) == due
    missed(lake)
    assert shown(lake) == 1_000_000
    lake.change()
    first, second = (lake.operation("refresh_due", view="totals") for _ in range(2))
    assert first.rows[0][1] == "SUCCEEDED" and second.rows == ()
    assert "next: " in second.notes[-1]
    assert shown(lake) == due
    assert_same(lake, "select * from @.totals", QUERY)
    missed(lake)
    assert lake.operation("refresh_due", view="totals").rows[0][1] == "SKIPPED"
    assert shown(lake) == due


def test_a_refresh_that_fails_is_one_too(lake: Warehouse) -> None:
    due = shown(lake)
    missed(lake)
    lake.change()
    with armed(lake, "write.before=raise", "run-operation") as command:
        command.core.choice.target_schema = lake.schema
        assert command.core.operation("refresh_due")(view="totals").failures
        command.flush()
    assert shown(lake) == due


def test_what_changes_the_schedule(lake: Warehouse) -> None:
    """Another schedule counts from now, also if times of the old one were missed."""
    missed(lake)
    lake.sql("create or replace materialized view @.totals schedule cron '0 6 1 1 *' "
             f"at time zone 'Europe/Berlin' as {QUERY}")  # fmt: skip
    assert shown(lake) == 1_000_000
    lake.sql(f"create or replace materialized view @.totals {YEARLY} as {QUERY} having total > 0")
    assert shown(lake) == 1_000_000
    lake.sql("alter materialized view @.totals alter schedule cron '30 6 1 1 *' at time zone 'UTC'")
    assert shown(lake) == CronTimes("30 6 1 1 *", "UTC").next_due(now())
    lake.sql("alter materialized view @.totals set options (schedule = '0 7 1 1 *')")
    zone = lake.value("select current_timezone()")
    assert shown(lake) == CronTimes("0 7 1 1 *", zone).next_due(now())
    lake.sql("alter materialized view @.totals alter schedule every 2 hours")
    due = shown(lake)
    assert due is not None and due < now() + 2 * 3600 * 1_000_000
    lake.sql(
        "alter materialized view @.totals add schedule cron '0 6 1 1 *' "
        "at time zone 'Europe/Berlin'"
    )
    assert shown(lake) == BERLIN.next_due(now())
    lake.sql("alter materialized view @.totals set options (enable_refresh = false)")
    assert shown(lake) is None
    lake.sql("alter materialized view @.totals set options (enable_refresh = true)")
    assert shown(lake) == BERLIN.next_due(now())


def test_interval_of_a_view_with_times(lake: Warehouse) -> None:
    """A view with times has no interval that anybody could rely on."""
    query = (
        "select refresh_interval_minutes from @meta.materialized_views where table_name = 'totals'"
    )
    assert lake.value(query) is None
    lake.sql("alter materialized view @.totals set options (schedule = null)")
    assert lake.value(query) == 30


@pytest.mark.parametrize(
    ("clause", "problem"),
    [
        ("cron '0 0 6 ? * 2'", "Quartz counts"),
        ("cron '0 0 6 * * MON'", "with a '[?]'"),
        ("cron '0 6 * * *' at time zone 'Mars/Olympus'", "no time zone"),
        ("every 2 weeks", "20160"),
    ],
)
def test_refused(lake: Warehouse, clause: str, problem: str) -> None:
    refused(lake, f"alter materialized view @.totals alter schedule {clause}", problem)
    refused(lake, f"create materialized view @.fresh schedule {clause} as {QUERY}", problem)


def test_time_zone_that_only_spark_knows(lake: Warehouse) -> None:
    """Times without a time zone would be due at another hour."""
    ((_, zone),) = lake.sql("set spark.sql.session.timeZone")
    daily, problem = "schedule cron '0 6 * * *'", "'SystemV/PST8', which is not known"
    lake.sql("set spark.sql.session.timeZone = SystemV/PST8")
    try:
        refused(lake, f"create materialized view @.fresh {daily} as {QUERY}", problem)
        lake.sql(f"create materialized view @.fresh {daily} at time zone 'UTC' as {QUERY}")
        refused(lake, f"alter materialized view @.fresh alter {daily}", problem)
    finally:
        lake.sql(f"set spark.sql.session.timeZone = {zone}")
        lake.sql("drop materialized view if exists @.fresh")


def test_a_schedule_is_not_dropped(lake: Warehouse) -> None:
    refused(lake, "alter materialized view @.totals drop schedule", "cannot be dropped")


def cron(text: str, due: Any) -> dict[str, Any]:
    return {"cron": text, "time_zone": "UTC", "due_us": due}


A, B = "0 6 * * *", "0 7 * * *"
DEFINED = [
    cron(A, 7 * 10**15),
    cron(A, None),
    cron(A, "soon"),
    {"start_us": None, "interval_us": 3_600_000_000},
    {"start_us": -86_400_000_001, "interval_us": 3_600_000_000},
    None,
]
ENDED = [
    None,
    cron(A, 6 * 10**15),
    cron(A, 8 * 10**15),
    cron(B, 8 * 10**15),
    {**cron(A, 8 * 10**15), "time_zone": "Asia/Tokyo"},
    cron(A, None),
    {"start_us": None, "interval_us": 1},
]
SWITCHES = [None, "SUSPENDED", "RESUMED"]


def rows_of(lake: Warehouse, number: int, case: tuple[Any, ...]) -> list[str]:
    """Events about a view that is nowhere else, as rows of SQL."""
    defined, ended, trigger, switch, enabled = case
    parts = ["local", lake.schema, f"case_{number}"]
    view = {"parts": parts, "table_catalog": parts[0], "table_schema": parts[1]}
    view |= {"table_name": parts[2], "sources": [], "options": {"enable_refresh": enabled}}
    events: list[tuple[str, dict[str, Any]]] = [("CREATED", {**view, "schedule": defined})]
    events.append(("REFRESH_SUCCEEDED", {"trigger": trigger, "schedule": ended, "stale": False}))
    if switch is not None:
        events.append((switch, {"by": "ann"}))
    at, name = 1_700_000_000_000_000, ".".join(parts)
    ids = ("null", f"'r{number}'", "null")
    return [
        f"('case{number}_{n}', timestamp_micros({at + n}), 'case{number}', '{name}', '{kind}', "
        f"{ids[n]}, '{json.dumps(payload)}', '', 'cases')"
        for n, (kind, payload) in enumerate(events)
    ]


def test_view_and_program_agree(lake: Warehouse) -> None:
    """Whatever the events say of a schedule, those of earlier versions too."""
    cases = list(itertools.product(DEFINED, ENDED, ("SCHEDULE", "MANUAL"), SWITCHES, (True, False)))
    rows = [row for number, case in enumerate(cases) for row in rows_of(lake, number, case)]
    lake.spark(f"insert into @meta.mv_events values {', '.join(rows)}")
    lake.restart()
    try:
        views = lake.command().core.services.log.state().views
        known = {name.name: view.next_due for name, view in views.items()}
        found = lake.spark(
            "select table_name, unix_micros(next_refresh_time) from @meta.mv_status "
            "where table_name like 'case%'"
        )
        assert len(found) == len(cases)
        assert dict(found) == {name: known[name] for name, _ in found}
        assert {7 * 10**15, 8 * 10**15, None} <= {due for _, due in found}
    finally:
        lake.spark("delete from @meta.mv_events where writer = 'cases'")
        lake.restart()


def test_schedule_of_a_model(lake: Warehouse, project: DbtProject) -> None:
    """Written as in dbt-databricks; the same times in other words are no change."""

    def put(schedule: Any) -> None:
        config = (
            f"materialized='materialized_view', schedule={schedule!r}, "
            "on_configuration_change='fail'"
        )
        query = QUERY.replace("@.orders", "{{ source('raw', 'orders') }}")
        project.write({"models/totals.sql": f"{{{{ config({config}) }}}}\n{query}\n"})

    put({"cron": "0 0 6 1 1 ?", "time_zone_value": "Europe/Berlin"})
    project.dbt("run", "-s", "totals")
    due = shown(lake)
    assert due == BERLIN.next_due(now())
    put('{"cron": "0  6 1 1 *", "time_zone_value": "Europe/Berlin"}')
    project.dbt("run", "-s", "totals")
    put({"cron": "0 7 1 1 *", "time_zone_value": "Europe/Berlin"})
    assert "schedule" in project.dbt("run", "-s", "totals", fails=True).text
    put({"cron": "0 0 6 ? * 2"})
    text = project.dbt("run", "-s", "totals", fails=True).text
    assert "Quartz counts" in text and "Write their names" in text
    assert shown(lake) == due
