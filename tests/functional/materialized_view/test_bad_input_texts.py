"""Texts that could break out of a literal or be replaced by Spark: each comes back as it was."""

from __future__ import annotations

import json

import pytest

from dbt.adapters.spark_mv.config.model import create_statement
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.refusals import (
    MARKER_VALUE,
    SUBSTITUTED,
    everything_stored,
    refused,
)
from tests.functional.materialized_view.warehouse import Warehouse

FILES: dict[str, str] = {}
TEXTS = {
    "11-ends-in-backslash": "x\\",
    "11-ends-in-two": "x\\\\",
    "11-backslash-quote": "\\' or '",
    "11-escapes": "\\n \\t \\u0041 \\% \\_",
    "12-statement": "'); DROP TABLE orders; --",
    "12-double": '"); DROP TABLE orders; --',
    "12-quotes": "it''s '' it's '",
    "13-comments": "*/ -- x /* no end",
    "14-variables": f"{SUBSTITUTED} ${{system:user.name}} ${{spark.app.name}} $${SUBSTITUTED}",
    "14-nested": "${env:DBT_${env:X}INPUT_MARKER} ${",
    "15-jinja": "{{ 1/0 }} {% raw %} {# no end",
    "16-newlines": "a = b\nc\r\n\td",
    "18-script": "</script><img src=x onerror=alert(1)>",
    "19-formula": "=cmd|'/c calc'!A1",
    "20-separators": "a\u2028b\u2029c\u202ed \U0001f600",
    "20-control": "\x07\x1b[31m\x01",
    "percent": "%s %(x)s %%",
    "17-megabyte": "it's" * 250_000,
}


def create(lake: Warehouse, text: str) -> None:
    """A view with the text wherever a text can be, as a model gives it."""
    short = text[:100]
    config = {
        "persist_docs": {"relation": True, "columns": True},
        "tags": [short],
        "tblproperties": {"of.value": text, f"of.key {short}": "v"},
    }
    model = {"config": config, "description": text, "columns": {"id": {"description": text}}}
    lake.sql(
        create_statement(
            f"local.{lake.schema}.fresh", f"select id from {lake.schema}.orders", model, ["id"]
        )
    )


@pytest.mark.parametrize("case", TEXTS)
def test_comes_back(lake: Warehouse, case: str) -> None:
    """Comment of view and column, property of the storage table, tag: byte for byte."""
    text, relations = TEXTS[case], lake.relations()
    create(lake, text)
    described = lake.spark("describe extended @.fresh")
    assert [row[1] for row in described if row[0] == "Comment"] == [text]
    assert [row[2] for row in described if row[0] == "id"] == [text]
    properties = dict(lake.spark(f"show tblproperties {lake.storage('fresh')}"))
    assert properties["of.value"] == text and f"of.key {text[:100]}" in properties
    payloads = lake.spark("select payload from @meta.mv_events where kind = 'CREATED'")
    assert [text[:100]] in [json.loads(payload)["options"]["tags"] for (payload,) in payloads]
    assert lake.sql("select count(*) from @.fresh") == [(3,)]
    lake.sql("drop materialized view @.fresh")
    assert lake.relations() == relations


@pytest.mark.parametrize("case", ["11-ends-in-backslash", "14-variables", "16-newlines"])
def test_the_same_again_changes_nothing(lake: Warehouse, case: str) -> None:
    """What is read back equals what was given, so a second run has nothing to do."""
    create(lake, TEXTS[case])
    before = lake.state()
    create(lake, TEXTS[case])
    assert lake.state() == before
    lake.sql("drop materialized view @.fresh")


def test_14_spark_would_have_replaced_it(lake: Warehouse) -> None:
    """What the cases above are worth: Spark does replace the variable in a user's own text."""
    assert lake.value(f"select '{SUBSTITUTED}'") == MARKER_VALUE
    create(lake, TEXTS["14-variables"])
    lake.sql(
        f"create or replace materialized view @.fresh as select id, '{SUBSTITUTED}' as t, "
        f"\"{SUBSTITUTED}\" as u from @.orders where customer <> '{SUBSTITUTED}'"
    )
    assert {row[1:] for row in lake.sql("select * from @.fresh")} == {(SUBSTITUTED, SUBSTITUTED)}
    lake.sql("insert into @.orders values (50, 'zoe', 1)")
    assert {row[1:] for row in lake.sql("select * from @.fresh")} == {(SUBSTITUTED, SUBSTITUTED)}
    assert MARKER_VALUE not in everything_stored(lake)
    lake.sql("drop materialized view @.fresh")
    lake.spark("delete from @.orders where id = 50")


WITHOUT_END = {
    "13-comment-without-end": f"select id, '{SUBSTITUTED}' as t from @.orders /* no end",
    "12-quote-without-end": f"select id, '{SUBSTITUTED} as t from @.orders",
    "14-column-name": f"select id as `{SUBSTITUTED}` from @.orders",
    "14-missing-column": f"select `{SUBSTITUTED}` as t from @.orders",
    "14-missing-table": f"select id from `{SUBSTITUTED}`",
}


@pytest.mark.parametrize("case", WITHOUT_END)
def test_no_value_in_errors(lake: Warehouse, case: str) -> None:
    """The value of a variable is not told by an error either."""
    refused(lake, f"create materialized view @.fresh as {WITHOUT_END[case]}", "no end|\\$\\{")


PROPERTIES = {
    "16-reserved": ('{"mv.id": "x"}', "do not start with 'mv.'"),
    "16-no-mapping": ("[1, 2]", "mapping of property names"),
    "16-text": ("a=b", "mapping of property names"),
    "16-broken-json": ('{"a": ', "valid JSON"),
    "20-nan": ('{"count": NaN, "period": "hour"}', "tblproperties|count"),
    "21-deep": ("[" * 100_000 + "]" * 100_000, "tblproperties"),
}


@pytest.mark.parametrize("case", PROPERTIES)
def test_properties_that_are_refused(lake: Warehouse, case: str) -> None:
    """JSON in an option is read as JSON, and only as a mapping of texts."""
    value, reason = PROPERTIES[case]
    option = "warn_after" if case == "20-nan" else "tblproperties"
    refused(
        lake,
        f"create materialized view @.fresh options ({option} = '{value}') "
        "as select id from @.orders",
        reason,
    )


def test_15_descriptions_of_a_model(project: DbtProject, lake: Warehouse) -> None:
    """Descriptions by way of a project, of a view and of a table model."""
    text = "x\\' {{ 1/0 }} ${env:DBT_BAD_INPUT_MARKER} '); DROP TABLE orders; -- \\"
    yml = {
        "models": [
            {
                "name": name,
                "description": f"{{% raw %}}{text}{{% endraw %}}",
                "config": {"persist_docs": {"relation": True, "columns": True}},
                "columns": [{"name": "id", "description": f"{{% raw %}}{text}{{% endraw %}}"}],
            }
            for name in ("described", "a_table")
        ]
    }
    sql = "{{ config(materialized='%s') }} select id from {{ source('raw', 'orders') }}"
    project.write(
        {
            "models/described.sql": sql % "bq_materialized_view",
            "models/a_table.sql": sql % "table",
            "models/descriptions.yml": json.dumps(yml),
        }
    )
    project.dbt("run")
    for name in ("described", "a_table"):
        rows = lake.spark(f"describe extended @.{name}")
        assert [row[2] for row in rows if row[0] == "id"] == [text], name
        assert [row[1] for row in rows if row[0] == "Comment"] == [text], name
    assert MARKER_VALUE not in everything_stored(lake)
