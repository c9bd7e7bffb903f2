"""Which views are those of materialized views: by what they say of themselves, and their texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.spark_mv.core.executor import TableFacts, ViewFacts
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.views.definition import Column, Definition, MaterializedView
from dbt.adapters.spark_mv.views.recognition import is_materialized_view, storage_of
from dbt.adapters.spark_mv.views.storage_sql import stored_rows

NAME = TableName("local", ("a.b", "c d"), "v")
STORAGE = NAME.sibling("v__mv_0123abcd")
NAMES = ("k", "a b", "x`y", "From", "where", "n(1)", "\u00fc, z")
VIEW = MaterializedView(
    id="1",
    name=NAME,
    definition=Definition(
        query="select 1",
        home=Namespace("local", ("d",)),
        columns=tuple(Column(name, "int") for name in NAMES),
    ),
    definition_hash="h",
    storage=STORAGE,
)
OURS = stored_rows(VIEW)
OTHERS = [
    "",
    "select 1 as k",
    f"{OURS} WHERE `k` > 1",
    f"{OURS} LIMIT 1",
    f"{OURS} AS t JOIN `local`.`d`.`u`",
    f"{OURS} UNION ALL {OURS}",
    OURS.replace("SELECT", "SELECT DISTINCT"),
    OURS.replace("`k`", "upper(`k`) AS `k`"),
    OURS.replace("`k`", "1 AS `k`"),
    OURS.replace("`v__mv_0123abcd`", "`v__mv_99999999`"),
    OURS.replace("`v__mv_0123abcd`", "`v__mv_0123abcd`.`branch_x`"),
    f"SELECT `k` FROM ({OURS})",
    "SELECT 'x",
]


def facts(text: str, view: MaterializedView = VIEW) -> ViewFacts:
    return ViewFacts(text, "local", ("d",), NAMES, view.properties())


def test_texts_of_ours() -> None:
    spare = replace(VIEW, hidden=("mv_spare_10",))
    for view in (VIEW, spare):
        assert is_materialized_view(facts(stored_rows(view), view))
        assert storage_of(NAME, facts(stored_rows(view), view)) == STORAGE


@pytest.mark.parametrize("text", OTHERS)
def test_texts_of_others(text: str) -> None:
    assert not is_materialized_view(facts(text))
    assert storage_of(NAME, facts(text)) is None


def test_what_says_nothing_of_itself() -> None:
    assert not is_materialized_view(ViewFacts(OURS, "local", ("d",), NAMES, {}))
    assert not is_materialized_view(ViewFacts(OURS, "local", ("d",), NAMES, {"mv.id": "1"}))
    assert storage_of(NAME, None) is None and storage_of(NAME, TableFacts("iceberg")) is None
