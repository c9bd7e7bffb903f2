"""Schedules and thresholds."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.clock import OFFSET
from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"


@pytest.fixture(autouse=True)
def totals(lake: Warehouse) -> None:
    lake.sql(f"create or replace materialized view @.totals as {QUERY}")
    lake.restart()


def make_due(lake: Warehouse, view: str) -> None:
    """As if the view had been created two hours ago."""
    lake.spark(
        "update @meta.mv_events set at = at - interval 2 hours "
        f"where view_name = 'local.{lake.schema}.{view}'"
    )
    lake.restart()


def next_due(lake: Warehouse, view: str) -> Any:
    return lake.value(f"select next_refresh_time from @meta.mv_status where table_name = '{view}'")


@pytest.mark.behaviour("D20", "D21", "D45", "E2")
def test_schedule(lake: Warehouse) -> None:
    """What is due is refreshed once; a refresh by hand moves no due time."""
    lake.sql("drop materialized view @.totals")
    lake.sql(f"create materialized view @.totals as {QUERY}")
    created = next_due(lake, "totals")
    assert lake.operation("refresh_due", view="totals").rows == ()
    lake.operation("refresh", view="totals", method="complete")
    assert next_due(lake, "totals") == created
    make_due(lake, "totals")
    lake.change()
    state = lake.command().core.services.log.state()
    due = next(v.next_due for n, v in state.views.items() if n.name == "totals")
    assert int(next_due(lake, "totals").timestamp() * 1e6) == due
    first, second = (lake.operation("refresh_due", view="totals") for _ in range(2))
    assert first.rows[0][1] == "SUCCEEDED" and second.rows == ()
    assert "next: " in second.notes[-1]
    assert lake.history("totals", "trigger, state")[-1] == ("SCHEDULE", "SUCCEEDED")
    assert next_due(lake, "totals").timestamp() > time.time()
    assert_same(lake, "select * from @.totals", QUERY)


@pytest.mark.behaviour("D45")
def test_two_schedulers(lake: Warehouse, tmp_path: Path) -> None:
    """The second finds the first at work: nothing is done twice, nothing fails."""
    make_due(lake, "totals")
    lake.change()
    builds = lake.builds("totals")
    with ThreadPoolExecutor(1) as pool:
        with armed(lake, f"write.before=pause:{tmp_path}", "run-operation") as command:
            command.core.choice.target_schema = lake.schema
            first = pool.submit(command.core.operation("refresh_due"), view="totals")
            while not (tmp_path / "reached").exists():
                assert not first.done(), first.result()
                time.sleep(0.05)
        command.flush()
        report = lake.operation("refresh_due", view="totals")
        assert report.rows[0][1] == "RUNNING" and not report.failures
        (tmp_path / "go").touch()
        assert first.result().rows[0][1] == "SUCCEEDED"
        command.flush()
    assert lake.builds("totals") == builds + 1


@pytest.mark.behaviour("X21")
def test_no_schedule(lake: Warehouse) -> None:
    """Without refreshes by itself there is no due time."""
    lake.sql("alter materialized view @.totals set options (enable_refresh = false)")
    assert next_due(lake, "totals") is None
    assert lake.operation("refresh_due", view="totals").rows == ()
    lake.sql("alter materialized view @.totals set options (enable_refresh = true)")
    assert next_due(lake, "totals") is not None


@pytest.mark.behaviour("D20")
def test_start_of_a_schedule(lake: Warehouse) -> None:
    lake.sql(
        "create or replace materialized view @.later options (refresh_start = "
        f"'2030-01-31 06:00:00', refresh_interval_minutes = 60) as {QUERY}"
    )
    assert str(next_due(lake, "later")) == "2030-01-31 06:00:00"
    lake.sql("drop materialized view @.later")


@pytest.mark.behaviour("D37")
def test_check_staleness(lake: Warehouse) -> None:
    """Levels by how long the oldest change has been waiting; errors fail the command."""
    lake.sql(
        "create or replace materialized view @.watched options (enable_refresh = false, "
        'warn_after = \'{"count": 1, "period": "minute"}\', '
        f'error_after = \'{{"count": 1, "period": "day"}}\') as {QUERY}'
    )
    lake.sql("refresh materialized view @.watched")
    report = lake.operation("check_staleness")
    assert [row[:3] for row in report.rows] == [(str_name(lake), "pass", "FRESH")]
    lake.change()
    assert lake.operation("check_staleness").rows[0][1:3] == ("pass", "STALE")
    for level, limit in (("warn", 59), ("error", 90_000)):
        with old(limit):
            report = lake.operation("check_staleness")
        assert report.rows[0][1] == level
        assert bool(report.failures) == (level == "error")
    assert "more than its error_after 1 day" in report.failures[0]
    lake.sql("drop materialized view @.watched")


def str_name(lake: Warehouse) -> str:
    return f"{lake.schema}.watched"


class old:
    """A clock that is ahead by some seconds more than a minute, of this process."""

    def __init__(self, seconds: int) -> None:
        self._patch = pytest.MonkeyPatch()
        self._seconds = seconds + 2

    def __enter__(self) -> None:
        self._patch.setenv(OFFSET, str(self._seconds))

    def __exit__(self, *what: Any) -> None:
        self._patch.undo()


def test_failing_upstream_view(lake: Warehouse) -> None:
    """The view that could not be refreshed has had its turn: it is not tried at every call."""
    lake.sql(
        "create or replace materialized view @.over as select max(total) as most from @.totals"
    )
    lake.change()
    make_due(lake, "over")
    with armed(lake, "write.before=raise", "run-operation") as command:
        command.core.choice.target_schema = lake.schema
        assert command.core.operation("refresh_due")(view="over").failures
        command.flush()
    assert lake.history("over", "trigger, state")[-1] == ("SCHEDULE", "FAILED")
    assert next_due(lake, "over").timestamp() > time.time()
    assert lake.operation("refresh_due", view="over").rows == ()
    lake.sql("drop materialized view @.over")
