from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import InvalidArgument
from dbt.adapters.spark_mv.operations.arguments import checked


@pytest.mark.parametrize(
    "given",
    [
        {"dry_run": "maybe"},
        {"dry_run": 1},
        {"wait": "true"},
        {"all": "yes"},
        {"repair": []},
        {"if_exists": 0},
        {"limit": 0},
        {"limit": -1},
        {"limit": True},
        {"limit": "5"},
        {"limit": 1.5},
        {"method": "quick"},
        {"method": 5},
        {"keep_hours": -1},
        {"keep_hours": "x"},
        {"keep_hours": float("nan")},
        {"keep_history_days": False},
        {"view": 5},
        {"view": {"a": 1}},
        {"view": []},
        {"view": ["a", None]},
        {"view": " "},
    ],
)
def test_wrong(given: dict[str, Any]) -> None:
    ((name, value),) = given.items()
    with pytest.raises(InvalidArgument) as caught:
        checked("refresh", given)
    assert caught.value.problem == f"refresh: {name} cannot be {value!r}."
    assert caught.value.way_out.startswith("Expected ")


def test_right() -> None:
    given = {
        "view": ["a", "tag:x"],
        "method": "FAST",
        "wait": True,
        "limit": 1,
        "keep_hours": 0,
        "catalog": "local",
    }
    assert checked("refresh", given) == given


def test_an_argument_without_a_value_is_not_given() -> None:
    given = {"view": None, "dry_run": None, "all": False}
    assert checked("refresh", given) == {"view": None, "all": False}


@pytest.mark.parametrize("view", [None, ["a"], "", 5])
def test_one_view_is_dropped_at_a_time(view: Any) -> None:
    with pytest.raises(InvalidArgument, match="drop: view cannot be"):
        checked("drop", {"view": view, "if_exists": True})
