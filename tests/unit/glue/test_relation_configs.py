"""dbt's change sets: what differs, and what follows from that."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.adapters.relation_configs import RelationConfigChange

from dbt.adapters.spark_mv.config.options import Options
from dbt.adapters.spark_mv.glue.relation_configs import (
    MaterializedViewConfigChangeCollection as Collection,
)
from dbt.adapters.spark_mv.sql.dialect import CreateView
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.views.changes import changes_of
from dbt.adapters.spark_mv.views.definition import Column, Definition, Layout, MaterializedView

HOME = Namespace("local", ("db",))
NAME = TableName("local", ("db",), "v")
DEFINITION = Definition("select a from t", HOME, (Column("a", "int", "of a"),), settings={"z": "1"})
VIEW = MaterializedView(
    "id",
    NAME,
    DEFINITION,
    DEFINITION.hash,
    NAME.sibling("v__mv_00000000"),
    Options(tags=("x",), schedule={"cron": "0 6 * * *"}),
    Layout(("a",), ()),
    "about",
)
SAME: dict[str, Any] = {
    "query": "SELECT a /* the same */ FROM t",
    "columns": (("a", "of a"),),
    "partition_by": ("a",),
    "comment": "about",
    "options": {"tags": ["x"], "schedule": "0 0 6 * * ?"},
}


def change_set(view: MaterializedView = VIEW, zone: str = "1", **changes: Any) -> Collection:
    wanted = CreateView(("v",), **{**SAME, **changes})
    return Collection.of(changes_of(view, wanted, HOME, {"z": zone}))


def options(**changes: Any) -> dict[str, Any]:
    return {"options": {**SAME["options"], **changes}}


def test_nothing() -> None:
    found = change_set()
    assert found == Collection()
    assert not found.has_changes and not found.requires_full_refresh
    assert not found.has_other_definition and found.names == []


@pytest.mark.parametrize(
    ("changes", "names", "rebuilds"),
    [
        (options(refresh_interval_minutes=60), ["refresh_interval_minutes"], False),
        (options(schedule="0 7 * * *"), ["schedule"], False),
        (options(tags=[*"yx"], when_stale="serve"), ["when_stale", "tags"], False),
        (options(tblproperties={"a": 1}), ["tblproperties"], True),
        (options(float_additive=True), ["float_additive"], True),
        ({"partition_by": ()}, ["partition_by"], True),
        ({"cluster_by": ("a",), "comment": None}, ["cluster_by", "description"], True),
        ({"columns": (("a", None),)}, ["column descriptions"], False),
        ({"query": "select b as a from t"}, ["definition"], True),
        ({"zone": "2"}, ["definition"], True),
    ],
)
def test_changes(changes: dict[str, Any], names: list[str], rebuilds: bool) -> None:
    found = change_set(**changes)
    assert found.has_changes and found.names == names
    assert found.requires_full_refresh == rebuilds
    assert found.has_other_definition == ("definition" in names)
    for change in found.changes:
        assert isinstance(change, RelationConfigChange)
        assert change.action == ("create" if change.requires_full_refresh else "alter")


def test_a_reduced_build_is_no_definition() -> None:
    reduced = MaterializedView(**{**vars(VIEW), "reduced": True})
    assert change_set(reduced).has_other_definition
