"""Branches of refreshes that another process drops while this one is about to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.spark import iceberg_branches
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.warehouse import Warehouse

MINE, OTHER = "refresh_1_1", "refresh_1_2"


@pytest.fixture
def boxes(lake: Warehouse) -> TableName:
    """A table of one row, with two branches; that of ours has one more."""
    lake.spark("drop table if exists @.boxes")
    lake.spark("create table @.boxes (id int) using iceberg")
    lake.spark("insert into @.boxes values (1)")
    for branch in (MINE, OTHER):
        lake.spark(f"alter table @.boxes create branch {branch}")
    lake.spark(f"insert into @.boxes.branch_{MINE} values (2)")
    return TableName("local", (lake.schema,), "boxes")


def dropped_after_a_look(lake: Warehouse, patch: pytest.MonkeyPatch, branch: str) -> None:
    """Let somebody else drop a branch as soon as this process has seen it."""
    look = iceberg_branches.branches

    def looked(*arguments: Any) -> Any:
        found = look(*arguments)
        lake.spark(f"alter table @.boxes drop branch if exists {branch}")
        return found

    patch.setattr(iceberg_branches, "branches", looked)


def left(lake: Warehouse) -> set[str]:
    return {name for (name,) in lake.spark("select name from @.boxes.refs")}


CHANGES: dict[str, Callable[[Any, TableName], None]] = {
    "drop": lambda executor, name: iceberg.drop_branches(executor, name, [OTHER]),
    "publish": lambda executor, name: iceberg.publish(executor, name, MINE, [MINE, OTHER]),
}


@pytest.mark.behaviour("X3")
@pytest.mark.parametrize("change", CHANGES)
def test_others_may_drop(
    lake: Warehouse, boxes: TableName, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """What is to be dropped is gone already: that is no failure, and the rows are published."""
    executor = lake.command().core.services.executor
    with monkeypatch.context() as patched:
        dropped_after_a_look(lake, patched, OTHER)
        CHANGES[change](executor, boxes)
    is_published = change == "publish"
    assert left(lake) == ({"main"} if is_published else {"main", MINE})
    assert lake.spark("select count(*) from @.boxes") == [(1 + is_published,)]


@pytest.mark.parametrize("change", CHANGES)
def test_mutant_fails(
    lake: Warehouse, boxes: TableName, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Without a second look both fail."""
    executor = lake.command().core.services.executor
    monkeypatch.setattr(iceberg_branches, "_some_are_gone", lambda *_: False)
    dropped_after_a_look(lake, monkeypatch, OTHER)
    with pytest.raises(StatementFailed, match="Branch does not exist"):
        CHANGES[change](executor, boxes)
    assert lake.spark("select count(*) from @.boxes") == [(1,)]


def test_own_branch_dropped(
    lake: Warehouse, boxes: TableName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refresh whose branch somebody drops publishes nothing, and hears of it."""
    executor = lake.command().core.services.executor
    dropped_after_a_look(lake, monkeypatch, MINE)
    with pytest.raises(StatementFailed, match="exist"):
        CHANGES["publish"](executor, boxes)
    assert lake.spark("select count(*) from @.boxes") == [(1,)]
