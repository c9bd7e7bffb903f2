"""Columns and fields of tables in other places, or with other names, below live views: a read has
the rows of the query, or fails."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException

from dbt.adapters.spark_mv.refresh.live import live_views, text
from dbt.adapters.spark_mv.refresh.live.text import guarded
from dbt.adapters.spark_mv.views.definition import MaterializedView
from tests.functional.materialized_view.warehouse import Warehouse

MAKE = (
    "create or replace table @.placed using iceberg as select 1 as id, 10 as a, 20 as b, "
    "named_struct('x', 1, 'y', 2) as s, array(named_struct('x', 3, 'y', 4)) as list, "
    "map('k', named_struct('x', 5, 'y', 6)) as m"
)
VIEWS = {
    "placed_star": "select * from @.placed",
    "placed_over": "select * from @.placed_star",
    "placed_alias": "select p.*, a + b as total from @.placed p",
    "placed_struct": "select s, list, m, id from @.placed",
    "placed_through": "select * from @.placed_logical",
    "placed_sides": "select * from @.placed union all select * from @.placed where a = 0",
}
# Statements after which columns have other places, names or types.
CHANGES = {
    "column first": ("alter column b first",),
    "column after": ("alter column id after b",),
    "two columns swapped": (
        "rename column a to t",
        "rename column b to a",
        "rename column t to b",
    ),
    "column renamed": ("rename column a to c",),
    "column of another type": ("alter column a type bigint",),
    "column added": ("add column z int",),
    "dropped and added": ("drop column a", "add column a int"),
    "field first": ("alter column s.y first",),
    "field renamed": ("rename column s.y to z",),
    "field dropped, another added": ("drop column s.y", "add column s.z int"),
    "field added": ("add column s.z int",),
    "field in a list first": ("alter column list.element.y first",),
    "field in a map first": ("alter column m.value.y first",),
    "field of another type": ("alter column s.x type bigint",),
}


@pytest.fixture(scope="module")
def placed(lake: Warehouse) -> Iterator[Warehouse]:
    lake.spark(MAKE)
    lake.spark("create view @.placed_logical as select s, list, m, a, b from @.placed")
    for view, query in VIEWS.items():
        lake.sql(f"create materialized view @.{view} options (live = true) as {query}")
    yield lake
    for view in reversed(VIEWS):
        lake.sql(f"drop materialized view @.{view}")


def wrong_reads(lake: Warehouse, change: str) -> tuple[list[str], int]:
    """The views whose live views have other rows than their queries after a change, and how many
    reads were answered."""
    lake.spark(MAKE)
    for view in VIEWS:
        lake.operation("refresh", view=view, method="complete")
    for statement in CHANGES[change]:
        lake.spark(f"alter table @.placed {statement}")
    wrong, answered = [], 0
    for view, query in VIEWS.items():
        try:
            found = lake.spark(f"select to_json(struct(*)) from @.{view}__live")
        except AnalysisException:
            continue  # Spark says what is no longer there
        except Exception as error:
            assert "columns of its tables have other types now" in str(error), error
            continue
        # What is stored of a view below is as old as the view.
        query = query.replace("@.placed_star", "@.placed")
        expected = lake.spark(f"select to_json(struct(*)) from ({query})")
        answered += 1
        if Counter(map(_by_name, found)) != Counter(map(_by_name, expected)):
            wrong.append(f"{view}: {found} and not {expected}")
    return wrong, answered


def _by_name(row: tuple[str]) -> str:
    """A row in JSON with its columns in the order of their names: those of a view have places of
    their own."""
    return json.dumps(json.loads(row[0]), sort_keys=True)


@pytest.mark.parametrize("change", CHANGES)
def test_other_places(placed: Warehouse, change: str) -> None:
    wrong, _ = wrong_reads(placed, change)
    assert wrong == []


def test_other_places_are_no_error(placed: Warehouse) -> None:
    """Columns are taken by their names."""
    assert wrong_reads(placed, "column first") == ([], len(VIEWS))


@pytest.mark.parametrize("change", ["two columns swapped", "field first", "field renamed"])
def test_columns_by_place(placed: Warehouse, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: columns have their names by their places, and fields are not looked at."""

    def by_place(view: MaterializedView, query: str, switch: str, guard: str) -> str:
        names = ", ".join(f"`{column.name}`" for column in view.definition.columns)
        return f"SELECT {names} FROM (\n{query}\n) AS mv_live_query({names}){switch}"

    assert guarded is text.guarded and live_views.live_text is text.live_text
    monkeypatch.setattr(text, "guarded", by_place)
    wrong, _ = wrong_reads(placed, change)
    assert wrong
