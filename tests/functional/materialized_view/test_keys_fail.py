"""Refreshes of keys that fail, or are cancelled, at each step: old rows or new ones, and nothing is
left behind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.materialized_view.faults import Paused, armed
from tests.functional.materialized_view.warehouse import Command, Rows, Warehouse, is_right

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
CREATE = (
    "create or replace materialized view @.totals options (unique_key = 'customer', "
    f"refresh_method = 'complete') as {QUERY}"
)
# A commit takes the rows of the keys away, and another one has the new ones.
BEFORE = ("lock.after", "started.after", "write.before", "write.one", "write.after")
PUBLISHED = ("publish.before", "publish.after")


@pytest.fixture
def wrong(lake: Warehouse) -> list[str]:
    """A view of which some rows are wrong; their keys."""
    lake.sql(CREATE)
    lake.restart()
    keys = [str(row[0]) for row in lake.spark("select customer from @.totals order by 1 limit 2")]
    storage = lake.storage("totals")
    lake.spark(f"update {storage} set total = -1 where customer__mv = '{keys[0]}'")
    lake.restart()
    assert not is_right(lake, "totals", QUERY)
    return keys


def refresh(command: Command, schema: str, keys: list[str]) -> Any:
    command.core.choice.target_schema = schema
    report = command.core.operation("refresh")(view="totals", keys=keys)
    command.flush()
    return report


def left(lake: Warehouse) -> tuple[Rows, list[str]]:
    """Branches of the storage table, and what its history ends with."""
    lake.restart()
    states = [row[0] for row in lake.history("totals", "state")]
    return lake.spark(f"select name from {lake.storage('totals')}.refs"), states[-1:]


@pytest.mark.behaviour("D1", "E7")
@pytest.mark.parametrize("point", [*BEFORE, *PUBLISHED])
def test_fails(lake: Warehouse, wrong: list[str], point: str) -> None:
    before = sorted(lake.spark("select * from @.totals"), key=str)
    with armed(lake, f"{point}=raise", "run-operation") as command:
        report = refresh(command, lake.schema, wrong)
    found = sorted(lake.spark("select * from @.totals"), key=str)
    if report.failures:
        assert found == before and len(report.failures[0].splitlines()) == 2
        assert left(lake)[0] == [("main",)]
        assert point == "lock.after" or left(lake)[1] == ["FAILED"]
    assert not lake.operation("refresh", view="totals", keys=wrong).failures
    assert is_right(lake, "totals", QUERY)
    assert left(lake) == ([("main",)], ["SUCCEEDED"])


@pytest.mark.behaviour("X25", "D28")
@pytest.mark.parametrize("point", BEFORE[1:])
def test_is_cancelled(lake: Warehouse, wrong: list[str], point: str) -> None:
    before = sorted(lake.spark("select * from @.totals"), key=str)
    reports: list[Any] = []

    def run(command: Command) -> Rows:
        reports.append(refresh(command, lake.schema, wrong))
        return []

    with Paused(lake, point, run, "run-operation") as running:
        assert lake.operation("cancel", view="totals", wait=False).rows[0][1] == "REQUESTED"
        assert running.end() is None
    assert "was cancelled by" in reports[0].failures[0]
    assert sorted(lake.spark("select * from @.totals"), key=str) == before
    assert left(lake) == ([("main",)], ["CANCELLED"])
