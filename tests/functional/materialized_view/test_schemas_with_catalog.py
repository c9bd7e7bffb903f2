"""Models whose schema is written with its catalog: dbt finds again what it made there."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse

FILES = {
    "macros/names.sql": """
        {% macro generate_schema_name(custom_schema_name, node) -%}
          {{ custom_schema_name or target.schema }}
        {%- endmacro %}
    """,
    "models/base.sql": "{{ config(materialized='table') }} select id, id % 3 as k from range(6)",
    "models/added.sql": (
        "{{ config(materialized='incremental') }} "
        "select id, {{ is_incremental() }} as later from {{ ref('base') }}"
    ),
    "models/mv.sql": (
        "{{ config(materialized='bq_materialized_view') }} "
        "select k, count(*) as n from {{ ref('base') }} group by k"
    ),
    "models/over.sql": "{{ config(materialized='view') }} select * from {{ ref('mv') }}",
    "snapshots/kept.yml": """
        snapshots:
          - name: kept
            relation: ref('over')
            config:
              strategy: check
              unique_key: k
              check_cols: [n]
              schema: {schema}
    """,
    "seeds/names.csv": "k,name\n0,a\n1,b\n",
}


@pytest.fixture
def named(lake: Warehouse, tmp_path: Path) -> DbtProject:
    schema = f"local.{lake.schema}_named"
    made = DbtProject(tmp_path, lake)
    made.write({name: text.replace("{schema}", schema) for name, text in FILES.items()})
    config = "".join(f"{kind}: {{test: {{+schema: {schema}}}}}\n" for kind in ("models", "seeds"))
    with (tmp_path / "dbt_project.yml").open("a") as file:
        file.write(config)
    return made


def _rows(lake: Warehouse, query: str) -> Counter[object]:
    return Counter(lake.spark(query.replace("@.", f"local.{lake.schema}_named.")))


def test_found_again(lake: Warehouse, named: DbtProject) -> None:
    named.dbt("build")
    named.write({"models/base.sql": FILES["models/base.sql"].replace("range(6)", "range(7)")})
    named.dbt("build")
    assert _rows(lake, "select later, count(*) from @.added group by later") == Counter(
        [(False, 6), (True, 7)]
    )
    query = "select k, n, dbt_valid_to is null from @.kept"
    assert _rows(lake, query) == Counter([(0, 2, False), (0, 3, True), (1, 2, True), (2, 2, True)])
    assert _rows(lake, "select * from @.mv") == Counter([(0, 3), (1, 2), (2, 2)])
    named.dbt("docs", "generate")
    found = json.loads((named.folder / "target" / "catalog.json").read_text())["nodes"]
    columns = {name.rsplit(".", 1)[-1]: [*node["columns"]] for name, node in found.items()}
    assert {name: columns[name] for name in ("base", "added", "mv", "over", "names")} == {
        "base": ["id", "k"],
        "added": ["id", "later"],
        "mv": ["k", "n"],
        "over": ["k", "n"],
        "names": ["k", "name"],
    }


def test_of_another_kind(lake: Warehouse, named: DbtProject) -> None:
    """What has the name of a model is replaced, of whatever kind it was."""
    kinds = ("table", "bq_materialized_view", "view", "bq_materialized_view", "incremental")
    for kind in kinds:
        named.write({"models/mv.sql": FILES["models/mv.sql"].replace("bq_materialized_view", kind)})
        named.dbt("run", "--select", "base", "mv")
        assert _rows(lake, "select * from @.mv") == Counter([(0, 2), (1, 2), (2, 2)])
