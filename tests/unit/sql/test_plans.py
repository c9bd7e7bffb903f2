from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.sql.plans import relations_of_plan


@pytest.mark.parametrize(
    ("listed", "name"),
    [
        ("local.db.orders", "local.db.orders"),
        ("local.db.`größe 1`", "local.db.größe 1"),
        ("local.db.`a``b`", "local.db.a`b"),
    ],
)
def test_names_in_a_plan(listed: str, name: str) -> None:
    plan = f"== Analyzed Logical Plan ==\nid: bigint\nRelationV2[id#1L] {listed}\n\n"
    assert relations_of_plan(plan) == {name}
