"""The catalog of a folder that another Spark has made."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.spark.local import warehouse

KNOWN = "select catalog_name, namespace from iceberg_namespace_properties order by 1, 2"


@pytest.mark.parametrize("rows", [[], [("local", "sales", "exists", "true")]])
def test_it_gets_the_namespace_of_a_new_session(tmp_path: Path, rows: list[tuple[str]]) -> None:
    database = tmp_path / "catalog.db"
    with sqlite3.connect(database) as made:
        made.executescript(warehouse._CATALOG_TABLES)
        made.executemany("insert into iceberg_namespace_properties values (?, ?, ?, ?)", rows)
    made.close()
    for _ in range(2):
        warehouse.prepare_folder(str(tmp_path))
    with sqlite3.connect(database) as opened:
        found = opened.execute(KNOWN).fetchall()
    opened.close()
    assert found == [("local", "default"), *((row[0], row[1]) for row in rows)]


def test_the_docs_have_its_settings() -> None:
    said = Path(__file__).parents[3].joinpath("docs/configuration.md").read_text()
    block = said.split("at the same time:\n\n```text\n")[1].split("```")[0]
    listed = dict(line.split() for line in block.splitlines())
    assert listed.pop("spark.sql.defaultCatalog") == warehouse.CATALOG
    assert listed == warehouse.catalog_conf("<path>")
