from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_mv.glue.model_names import with_relations


def node(name: str, alias: str, version: int | None = None, kind: str = "model") -> Any:
    is_latest = version == 2
    return SimpleNamespace(
        name=name,
        schema="db",
        alias=alias,
        version=version,
        is_latest_version=is_latest,
        resource_type=kind,
    )


NODES = [
    node("sales", "daily"),
    node("plain", "plain"),
    node("kept", "versioned_v1", 1),
    node("kept", "versioned_v2", 2),
    node("daily", "weekly"),
    node("seeded", "seed", kind="seed"),
]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("sales", "`db`.`daily`"),
        ("+sales", "+`db`.`daily`"),
        ("sales+", "`db`.`daily`+"),
        ("kept", "`db`.`versioned_v2`"),
        ("versioned_v1", "versioned_v1"),
        ("plain", "plain"),
        ("daily", "daily"),
        ("seeded", "seeded"),
        ("db.sales", "db.sales"),
        ("tag:sales", "tag:sales"),
        (["sales", "+plain", 3], ["`db`.`daily`", "+plain", 3]),
        (None, None),
        ("", ""),
    ],
)
def test_with_relations(given: Any, found: Any) -> None:
    assert with_relations(given, NODES) == found
