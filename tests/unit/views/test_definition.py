from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dbt.adapters.spark_mv.config.options import Options
from dbt.adapters.spark_mv.core.errors import CorruptMetadata
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, Namespace, TableName
from dbt.adapters.spark_mv.views.definition import (
    Column,
    Definition,
    Layout,
    MaterializedView,
    decode,
    encode,
    from_properties,
    new_storage,
)

NAME = TableName("local", ("db",), "v")
QUERY = "select customer, sum(amount) as total from db.orders where x = 'A' group by customer"
DEFINITION = Definition(
    query=QUERY,
    home=Namespace("local", ("db",)),
    columns=(Column("customer", "string"), Column("total", "bigint", "in cents")),
    tables=("db.orders",),
    views={"db.w": "select 1"},
    settings={"spark.sql.session.timeZone": "UTC"},
)


@pytest.mark.parametrize(
    "query",
    [
        QUERY.replace(" from", "\n\tFROM").replace("select", "SELECT"),
        QUERY + " -- note",
        "/* note */ " + QUERY,
        QUERY.replace("group by", "GROUP  BY"),
        QUERY.replace("sum(", "SUM ("),
        QUERY.replace(" as ", " "),
        QUERY.replace(" as ", " /* so */ AS "),
        QUERY + ";",
    ],
)
def test_reformatting_is_no_change(query: str) -> None:
    assert replace(DEFINITION, query=query).hash == DEFINITION.hash


@pytest.mark.parametrize("query", ["", "-- nothing", "/* nothing */"])
def test_no_query_is_a_change(query: str) -> None:
    assert replace(DEFINITION, query=query).hash != DEFINITION.hash


@pytest.mark.parametrize(
    "change",
    [
        {"query": QUERY.replace("'A'", "'a'")},
        {"query": QUERY.replace("'A'", "' A'")},
        {"query": QUERY.replace("sum", "max")},
        {"query": QUERY.replace("total", "Total")},
        {"query": QUERY.replace("customer", "`customer`")},
        {"home": Namespace("local", ("other",))},
        {"columns": (Column("customer", "string"), Column("total", "double"))},
        {"columns": (Column("customer", "string"), Column("other", "bigint"))},
        {"tables": ("db.orders", "db.more")},
        {"views": {"db.w": "select 2"}},
        {"views": {}},
        {"settings": {"spark.sql.session.timeZone": "CET"}},
    ],
)
def test_what_changes_the_rows_changes_the_hash(change: dict[str, object]) -> None:
    assert replace(DEFINITION, **change).hash != DEFINITION.hash  # type: ignore[arg-type]


def test_comments_of_columns_and_order_of_tables_do_not_count() -> None:
    columns = (Column("customer", "string", "other"), Column("total", "bigint"))
    assert replace(DEFINITION, columns=columns).hash == DEFINITION.hash
    two = replace(DEFINITION, tables=("a", "b"))
    assert two.hash == replace(DEFINITION, tables=("b", "a")).hash


def view(**changes: object) -> MaterializedView:
    made = MaterializedView(
        id="1",
        name=NAME,
        definition=DEFINITION,
        definition_hash=DEFINITION.hash,
        storage=new_storage(NAME),
        options=Options(tags=("a",), unique_key=("customer",), tblproperties={"p": "q"}),
        layout=Layout(("customer",), ("total",)),
        comment="it's ${env:HOME}",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes", [{}, {"comment": None}, {"reduced": True}, {"layout": Layout()}]
)
def test_properties_hold_everything(changes: dict[str, object]) -> None:
    made = view(**changes)
    assert from_properties(NAME, made.properties()) == made


def test_an_option_of_earlier_versions_is_left_out() -> None:
    made = view()
    stored = json.loads(decode(made.properties()["mv.options"]))
    options = encode(json.dumps({**stored, "allow_unsafe_sql": True}))
    assert from_properties(NAME, {**made.properties(), "mv.options": options}) == made


def test_options_of_earlier_versions_are_read() -> None:
    made = view()
    stored = json.loads(decode(made.properties()["mv.options"]))
    earlier = {key: stored[key] for key in stored if key not in ("schedule", "static_partition_by")}
    options = encode(json.dumps(earlier))
    assert from_properties(NAME, {**made.properties(), "mv.options": options}) == made


def test_nothing_in_the_properties_can_be_substituted() -> None:
    assert not any("$" in text or "'" in text for text in view().properties().values())


@pytest.mark.parametrize("text", ["", "select '${env:HOME}'", "é√😀", "a\nb\\'"])
def test_encoding(text: str) -> None:
    assert decode(encode(text)) == text


@pytest.mark.parametrize(
    "damage",
    [
        {"mv.details": "rubbish"},
        {"mv.details": encode("[]")},
        {"mv.details": encode("{}")},
        {"mv.details": encode("null")},
        {"mv.options": "rubbish"},
        {"mv.options": encode("[]")},
        {"mv.options": encode("{}")},
        {"mv.definition": "***"},
        {"mv.format_version": "99"},
        {"mv.definition": None},
        {"mv.definition_hash": None},
        {"mv.options": encode("null")},
    ],
)
def test_damaged_properties(damage: dict[str, str | None]) -> None:
    properties: dict[str, str | None] = {**view().properties(), **damage}
    kept = {key: text for key, text in properties.items() if text is not None}
    with pytest.raises(CorruptMetadata, match=r"db\.v"):
        from_properties(NAME, kept)


def test_storage_names() -> None:
    first, second = new_storage(NAME), new_storage(NAME)
    assert first != second
    for storage in (first, second):
        found = STORAGE_NAME.match(storage.name)
        assert found and found["view"] == NAME.name
