from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import AmbiguousName, InvalidName, UnknownMaterializedView
from dbt.adapters.spark_mv.metadata.events import CREATED, Event
from dbt.adapters.spark_mv.metadata.projection import State, ViewState
from dbt.adapters.spark_mv.operations.selection import Selection
from dbt.adapters.spark_mv.sql.names import TableName


def name(text: str) -> TableName:
    schema, table = text.split(".")
    return TableName("local", (schema,), table)


def state(views: dict[str, list[str]], tags: dict[str, list[str]]) -> State:
    made = State()
    for text, sources in views.items():
        event = Event(text, 0, text, text, CREATED, None, {"options": {"tags": tags.get(text, [])}})
        made.views[name(text)] = ViewState(text, name(text), event, tuple(map(name, sources)))
    return made


SELECTION = Selection(
    state(
        {
            "db.outer": ["db.middle", "db.t"],
            "db.middle": ["db.inner"],
            "db.inner": ["db.t"],
            "db.twin": ["db.t"],
            "x.twin": ["db.t"],
            "x.only": ["db.t"],
            "y.pair": [],
            "z.pair": [],
            "more.single": [],
            "z.single": [],
        },
        {"db.outer": ["a", "b"], "x.only": ["b", "far"]},
    ),
    "db",
    ["db", "more"],
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("inner", "db.inner"),
        ("db.inner", "db.inner"),
        ("local.db.inner", "db.inner"),
        ("`db`.`inner`", "db.inner"),
        (" inner ", "db.inner"),
        ("twin", "db.twin"),
        ("x.twin", "x.twin"),
        ("only", "x.only"),
        ("+middle", "db.inner db.middle"),
        ("middle+", "db.middle db.outer"),
        ("+middle+", "db.inner db.middle db.outer"),
        ("+inner", "db.inner"),
        ("tag:b", "db.outer"),
        ("single", "more.single"),
        ("z.single", "z.single"),
        ("tag:a", "db.outer"),
        (["outer", "inner"], "db.inner db.outer"),
        ("DB.Inner", "db.inner"),
        ("Twin", "db.twin"),
        (("inner", "inner"), "db.inner"),
        (["tag:a", "+outer"], "db.inner db.middle db.outer"),
    ],
)
def test_select(given: Any, expected: str) -> None:
    assert [str(view.name) for view in SELECTION.select(given)] == expected.split()


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ("absent", UnknownMaterializedView, "absent"),
        ("db.t", UnknownMaterializedView, "db.t"),
        ("tag:c", UnknownMaterializedView, "'c'"),
        ("tag:far", UnknownMaterializedView, "'far'"),
        ("tag:", UnknownMaterializedView, "''"),
        ("pair", AmbiguousName, "y.pair, z.pair"),
        ("a.b.c.d", InvalidName, "parts"),
        ("", InvalidName, "''"),
        (5, InvalidName, "5"),
        (None, InvalidName, "None"),
        ([], InvalidName, "empty"),
        ({}, InvalidName, "{}"),
        (["inner", 5], InvalidName, "5"),
        ("a b", InvalidName, "a b"),
        ("+", InvalidName, "''"),
    ],
)
def test_what_cannot_be_selected(given: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        SELECTION.select(given)
    assert text in str(caught.value) and "\n" in str(caught.value)


def test_of_project() -> None:
    mine = [str(view.name) for view in SELECTION.of_project()]
    assert mine == ["db.inner", "db.middle", "db.outer", "db.twin", "more.single"]
    assert len(SELECTION.of_project(everything=True)) == 10


def test_order_is_upstream_first_and_stable() -> None:
    order = [str(view.name) for view in SELECTION.of_project(everything=True)]
    assert order.index("db.inner") < order.index("db.middle") < order.index("db.outer")
    assert order == [str(view.name) for view in SELECTION.of_project(everything=True)]
