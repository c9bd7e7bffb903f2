from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.metadata.events import INVALIDATED, Event, new_event
from dbt.adapters.spark_mv.metadata.invalidations import (
    NamedRows,
    Untrusted,
    covering,
    replacing,
    untrusted,
)


def event(**payload: Any) -> Event:
    return new_event(INVALIDATED, "v", "c.db.v", invocation_id="i", payload=payload)


ALL = NamedRows("all rows")


def keys(*values: Any, columns: tuple[str, ...] = ("k",)) -> NamedRows:
    given = [list(value) for value in values]
    return NamedRows(f"{len(given)} keys", {"keys": given}, columns, given)


def test_one_after_the_other() -> None:
    """The last one stands for all, as widely as the widest."""
    first = event(**replacing([], keys((1,), (2,))))
    second = event(**replacing([first], keys((2,), (3,))))
    assert second.payload["covers"] == [first.event_id]
    found = untrusted([second])
    assert found == Untrusted((second.event_id,), second.at, ("k",), ((1,), (2,), (3,)))
    months = NamedRows("1 partition", {"partitions": [{"months(day)": 1}]})
    for wide in (ALL, months, keys((1, 2), columns=("k", "l"))):
        third = event(**replacing([second], wide))
        fourth = event(**replacing([third], keys((4,))))
        found = untrusted([fourth])
        assert found is not None and found.values == ()
        assert covering([fourth]) == {"covers": [fourth.event_id], "covers_us": fourth.at}


def test_side_by_side() -> None:
    """Those of two writers that did not know each other are both kept."""
    one, two = (event(**replacing([], keys((number,)))) for number in (1, 2))
    found = untrusted([one, two])
    assert found is not None and set(found.values) == {(1,), (2,)}
    found = untrusted([one, event(**replacing([], ALL))])
    assert found is not None and found.values == ()


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"keys": [[1]]},
        {"keys": [[1]], "columns": ["k"]},
        {"untrusted": [[1]], "columns": []},
        {"untrusted": [], "columns": ["k"]},
        {"untrusted": [[1, 2]], "columns": ["k"]},
        {"untrusted": [{"k": 1}], "columns": ["k"]},
        {"untrusted": [[[1]]], "columns": ["k"]},
        {"untrusted": 1, "columns": "k"},
    ],
)
def test_what_cannot_be_read(payload: dict[str, Any]) -> None:
    """Is all rows, as what earlier versions have written."""
    found = untrusted([event(**payload)])
    assert found is not None and (found.columns, found.values) == ((), ())


def test_none() -> None:
    assert untrusted([]) is None and covering([]) == {}
