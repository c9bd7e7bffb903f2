"""Names with letters beyond ASCII: schemas, models, seeds, snapshots and columns."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.core.errors import InvalidName
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse

KEY = "`größe`"
FILES = {
    "dbt_project.yml": """
        name: test
        version: "1.0"
        profile: test
        config-version: 2
        flags: {send_anonymous_usage_stats: false, use_colors: false}
        models: {+schema: ünder, +persist_docs: {relation: true, columns: true}}
        seeds: {+schema: ünder, +persist_docs: {relation: true, columns: true}}
        snapshots: {+schema: ünder}
    """,
    "seeds/maße.csv": "größe,n\nklein,1\ngroß,2\ngroß,3\n",
    "models/umsätze.sql": """
        {{ config(materialized='bq_materialized_view', unique_key='größe', cluster_by='größe',
           partition_by='größe') }}
        select `größe`, count(*) as n, sum(n) as `näher` from {{ ref('maße') }} group by `größe`
    """,
    "models/flüchtig.sql": """
        {{ config(materialized='ephemeral') }}
        select `größe` from {{ ref('umsätze') }} where n > 1
    """,
    "models/darüber.sql": """
        {{ config(materialized='materialized_view') }}
        select `größe` as `wie groß` from {{ ref('flüchtig') }}
    """,
    "models/tafel_ä.sql": "{{ config(materialized='table') }} select * from {{ ref('umsätze') }}",
    "models/sicht_ä.sql": "{{ config(materialized='view') }} select * from {{ ref('umsätze') }}",
    "models/2026_ä.sql": """
        {{ config(materialized='incremental', incremental_strategy='merge',
           unique_key='`größe`', file_format='iceberg') }}
        select * from {{ ref('umsätze') }}
    """,
    "models/schema.yml": """
        models:
          - name: umsätze
            description: nach Größe
            columns:
              - name: größe
                quote: true
                description: klein oder groß
                data_tests:
                  - not_null
                  - unique
                  - accepted_values: {arguments: {values: [klein, groß]}}
                  - relationships: {arguments: {to: ref('maße'), field: "`größe`"}}
            data_tests: [is_fresh, matches_its_query]
          - name: darüber
            config: {contract: {enforced: true}}
            columns: [{name: wie groß, quote: true, data_type: string}]
          - name: tafel_ä
            columns: [{name: größe, quote: true, description: wie groß, data_tests: [unique]}]
    """,
    "models/unit.yml": """
        unit_tests:
          - name: größen_zählen
            model: umsätze
            given: [{input: ref('maße'), rows: [{größe: klein, n: 2}, {größe: klein, n: 3}]}]
            expect: {rows: [{größe: klein, n: 2, näher: 5}]}
    """,
    "snapshots/früher.yml": """
        snapshots:
          - name: früher
            relation: ref('umsätze')
            config: {unique_key: "`größe`", strategy: check, check_cols: [n], file_format: iceberg}
    """,
}


@pytest.fixture(scope="module")
def schema(lake: Warehouse) -> str:
    return f"`{lake.schema}_ünder`"


def test_a_project(project: DbtProject, lake: Warehouse, schema: str) -> None:
    """Every kind of node is built twice and tested; the views are kept fresh by reads."""
    assert "PASS=" in project.dbt("build").text
    lake.spark(f"insert into {schema}.`maße` values ('riesig', 5)")
    project.dbt("run", "--select", "tafel_ä", "sicht_ä", "2026_ä", "darüber")
    project.dbt("snapshot")
    rows = [("groß", 2, 5), ("klein", 1, 1), ("riesig", 1, 5)]
    for name in ("umsätze", "tafel_ä", "sicht_ä", "2026_ä"):
        assert sorted(lake.spark(f"select * from {schema}.`{name}`")) == rows, name
    assert lake.spark(f"select * from {schema}.`darüber`") == [("groß",)]
    assert len(lake.spark(f"select * from {schema}.`früher`")) == 3
    described = lake.spark(f"describe {schema}.`umsätze`")
    assert ("größe", "string", "klein oder groß") in described
    assert "skipped" in str(project.dbt("run").result("umsätze").message)
    project.dbt("build", "--full-refresh", "--exclude", "test_type:generic")


def test_operations_and_docs(project: DbtProject, lake: Warehouse) -> None:
    """Operations take the name as it is; the docs list every relation."""
    for name in ("status", "explain", "verify", "history"):
        assert "umsätze" in project.operation(name, view="umsätze").text, name
    project.operation("refresh", view="+darüber", method="complete")
    (row,) = project.show("select count(*) as n from {{ ref('umsätze') }} where n = 2")
    assert row["n"] == 1
    project.dbt("docs", "generate")
    catalog = (project.folder / "target" / "catalog.json").read_text()
    assert '"model.test.ums\\u00e4tze"' in catalog or '"model.test.umsätze"' in catalog
    for name in ("darüber", "umsätze"):
        project.operation("drop_mv", view=name)
    assert lake.spark("select * from @meta.materialized_views") == []


def test_names_as_they_are_printed(lake: Warehouse) -> None:
    """Operations take a name that needs backticks without them, too."""
    lake.sql("create materialized view @.`Größe 1-x` as select customer from @.orders")
    for name in (f"{lake.schema}.Größe 1-x", "Größe 1-x", "`Größe 1-x`"):
        assert not lake.operation("refresh", view=name).failures, name
        assert not lake.operation("verify", view=name).failures, name
    with pytest.raises(InvalidName, match="is not the name"):
        lake.operation("refresh", view="Größe 1")
    lake.operation("drop", view=f"{lake.schema}.Größe 1-x")
