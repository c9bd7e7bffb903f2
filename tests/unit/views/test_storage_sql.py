"""The statements that build storage tables, as text."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.views.definition import Column, Definition, Layout, MaterializedView
from dbt.adapters.spark_mv.views.storage_sql import (
    create_storage,
    create_view,
    order_storage,
    stored_columns,
)

HOME = Namespace("local", ("s",))


def view(names: str, partition_by: tuple[str, ...] = (), cluster_by: tuple[str, ...] = ()):
    columns = tuple(Column(name, "int") for name in names.split())
    return MaterializedView(
        id="1",
        name=TableName("local", ("s",), "v"),
        definition=Definition("select 1", HOME, columns),
        definition_hash="0" * 64,
        storage=TableName("local", ("s",), "v__mv_00000000"),
        layout=Layout(partition_by, cluster_by),
    )


@pytest.mark.parametrize(
    ("names", "partition_by", "cluster_by", "renamed"),
    [
        ("a b", (), (), {"a": "a__mv"}),
        ("a b c", ("`a`",), ("b",), {"c": "c__mv"}),
        ("day b", ("days(`DAY`)",), (), {"b": "b__mv"}),
        ("bucket k v", ("bucket(3, k)",), (), {"v": "v__mv"}),
        ("a a__mv", (), (), {"a": "a__mv_"}),
        ("a A__MV a__mv_", ("a__mv_",), (), {"a": "a__mv__"}),
        ("a", ("a",), (), {"a": "a__mv"}),
    ],
)
def test_one_column_is_renamed(names, partition_by, cluster_by, renamed) -> None:
    stored = stored_columns(view(names, partition_by, cluster_by))
    assert list(stored) == names.split()
    assert {name: column for name, column in stored.items() if name != column} == renamed


def test_layout_by_the_renamed_column() -> None:
    """If the layout uses every column, its keys follow the renamed one."""
    found = view("days b", ("days(`days`)", "truncate(2, DAYS)", "b"), ("days",))
    sql = create_storage(found, "q")
    assert "PARTITIONED BY (days(`days__mv`), truncate(2, `days__mv`), `b`)" in sql
    assert sql.endswith("SORT BY `b`, `days__mv`")
    assert order_storage(found).endswith("ORDERED BY `days__mv`")


def test_view_gives_the_name_back() -> None:
    sql = create_view(view("a b"))
    assert sql.endswith("AS SELECT `a__mv` AS `a`, `b` FROM `local`.`s`.`v__mv_00000000`")
