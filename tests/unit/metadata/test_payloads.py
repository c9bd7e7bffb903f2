"""What events say of constraints can be read again, and what cannot be read is nothing."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog.constraints import NOT_NULL, REFERENCES, UNIQUE, Constraint
from dbt.adapters.spark_mv.metadata.events import held
from dbt.adapters.spark_mv.metadata.payloads import constraint_of, payload_of
from dbt.adapters.spark_mv.metadata.projection import fold
from dbt.adapters.spark_mv.sql.names import TableName

ORDERS = TableName("c", ("a", "b"), "orders")
CUSTOMERS = TableName("c", ("a.b",), "customers")
CONSTRAINTS = (
    Constraint(UNIQUE, (ORDERS, "id")),
    Constraint(NOT_NULL, (CUSTOMERS, "the id")),
    Constraint(REFERENCES, (ORDERS, "customer"), (CUSTOMERS, "id")),
)


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_read_again(constraint: Constraint) -> None:
    payload = payload_of(constraint, [{"kind": "iceberg", "snapshot_id": "1"}])
    assert constraint_of(payload) == constraint


def test_the_newest_counts() -> None:
    first, second = (
        held("c.a.orders", payload_of(CONSTRAINTS[0], [version]), "i") for version in (1, 2)
    )
    assert fold([first, second]).held == {CONSTRAINTS[0]: [2]}
    again = held("c.a.orders", first.payload, "another")
    assert again.event_id == first.event_id != second.event_id


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"constraint": "UNIQUE", "columns": [], "versions": []},
        {"constraint": "UNIQUE", "columns": "c", "versions": []},
        {"constraint": "UNIQUE", "columns": ["c"], "versions": []},
        {"constraint": "UNIQUE", "columns": [["c"]], "versions": []},
        {"constraint": "UNIQUE", "columns": [["c", "t", "k"]]},
        {"constraint": "UNIQUE", "columns": [["c", 1, "k"]], "versions": []},
        {"constraint": "UNIQUE", "columns": [["c", "s", "t", "k"]] * 3, "versions": []},
        {"constraint": "UNIQUE", "columns": [["c", "s", "t", "k"], 1], "versions": []},
    ],
)
def test_what_cannot_be_read(payload: dict[str, Any]) -> None:
    assert constraint_of(payload) is None
    assert fold([held("c.a.orders", payload, "i")]).held == {}
