"""What an installed package can do: build a view, change its base table, read it again.

Knows nothing of this repository: run it by the Python that has the package, in an empty folder. It
fails if rows or methods of refresh are others than those below.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

from dbt.adapters import spark_mv

SHOWN = ("dbt-core", "dbt-adapters", "dbt-common", "dbt-spark", "sqlglot", "pyspark")
FILES = {
    "dbt_project.yml": {
        "name": "small",
        "version": "1.0",
        "profile": "small",
        "flags": {"send_anonymous_usage_stats": False},
    },
    "profiles.yml": {
        "small": {
            "target": "small",
            "outputs": {
                "small": {
                    "type": "spark_mv",
                    "method": "embedded",
                    "schema": "shop",
                    "threads": 2,
                    "class_data_archive": False,
                    "spark_conf": {"spark.master": "local[2]", "spark.driver.memory": "1g"},
                }
            },
        }
    },
    "seeds/sales.csv": "id,city,amount\n1,Rome,10\n2,Rome,20\n3,Oslo,30\n",
    "macros/run_sql.sql": "{% macro run_sql(statement) %}{% do run_query(statement) %}"
    "{% endmacro %}",
    "models/totals.sql": "{{ config(materialized='bq_materialized_view', refresh_method='fast') }} "
    "select city, count(*) as n, sum(amount) as total from {{ ref('sales') }} group by city",
    "models/by_city.sql": "{{ config(materialized='bq_materialized_view', partition_by='city', "
    "refresh_method='partition') }} select city, max(amount) as top from {{ ref('sales') }} "
    "group by city",
    "models/whole.sql": "{{ config(materialized='bq_materialized_view', "
    "refresh_method='complete') }} select count(*) as n from {{ ref('sales') }}",
    "models/tests.yml": {"models": [{"name": "totals", "data_tests": ["matches_its_query"]}]},
}
INSERT = "insert into shop.sales values (4, 'Rome', 40), (5, 'Bern', 50)"
DELETE = "delete from shop.sales where id = 2"
ROWS = {
    "select city, n, total from {{ ref('totals') }}": [
        ["Bern", 1, 50],
        ["Oslo", 1, 30],
        ["Rome", 2, 50],
    ],
    "select city, top from {{ ref('by_city') }}": [["Bern", 50], ["Oslo", 30], ["Rome", 40]],
    "select n from {{ ref('whole') }}": [[4]],
}
METHODS = "select table_name, method, state from mv_metadata.mv_refresh_history"
REFRESHES = [
    ["by_city", "complete", "SUCCEEDED"],
    ["by_city", "partition", "SUCCEEDED"],
    ["totals", "complete", "SUCCEEDED"],
    ["totals", "fast", "SUCCEEDED"],
    ["whole", "complete", "SUCCEEDED"],
    ["whole", "complete", "SUCCEEDED"],
]


def dbt(*words: str) -> Any:
    """Run a command that has to succeed; its result."""
    done = dbtRunner().invoke(["--no-use-colors", *words])
    if not done.success:
        raise SystemExit(f"dbt {' '.join(words)} failed: {done.exception or ''}")
    return done.result


def rows(query: str) -> list[list[Any]]:
    """Rows of `dbt show`, sorted."""
    shown = dbt("show", "--inline", query, "--limit", "-1").results[0].agate_table
    return sorted([int(v) if not isinstance(v, str) else v for v in row] for row in shown.rows)


def expect(what: str, found: object, wanted: object) -> None:
    """Stop if something is not as it should be."""
    if found != wanted:
        raise SystemExit(f"{what}: found {found}, expected {wanted}")


def main() -> None:
    """Write a project, build it, change it, read it; print which versions did so."""
    for name, content in FILES.items():
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        # JSON is YAML.
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    dbt("build")
    for statement in (INSERT, DELETE):
        dbt("run-operation", "run_sql", "--args", json.dumps({"statement": statement}))
    for query, wanted in ROWS.items():
        expect(query, rows(query), wanted)
    dbt("test")
    expect("refreshes", rows(METHODS), REFRESHES)
    versions = ", ".join(f"{name} {version(name)}" for name in SHOWN)
    sys.stdout.write(f"dbt-spark-mv works with {versions}, from {spark_mv.__path__[0]}\n")


if __name__ == "__main__":
    main()
