"""The queries of TPC-H, which name base tables only, are answered by views that fit them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.statements.rewriting import assembly
from dbt.adapters.spark_mv.statements.rewriting.rewriter import STRICT
from tests.functional.materialized_view.rewritten import (
    assert_same,
    explained,
    of_small_tables,
    views_of,
)
from tests.functional.materialized_view.tpch_queries import OTHERS, QUERIES
from tests.functional.materialized_view.tpch_reports import VIEWS
from tests.functional.materialized_view.warehouse import Warehouse

# At this scale their views have nearly as many rows as their tables.
NOT_CHEAPER = ("Q2", "Q11", "Q16", "Q19", "Q21")


@pytest.fixture(scope="module")
def tpch(lake: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("tpch")
    generator = str(Path(sys.executable).with_name("tpchgen-cli"))
    arguments = ("parquet", "--scale-factor=0.01", f"--output-dir={folder}")
    subprocess.run([generator, *arguments], check=True, stdout=subprocess.DEVNULL)
    made = of_small_tables(lake)
    for file in folder.glob("*.parquet"):
        made.spark(
            f"create or replace table @.{file.stem} using iceberg as select * from parquet.`{file}`"
        )
    for name, query in VIEWS.items():
        made.sql(f"create materialized view @.{name} as {query}")
    return made


def texts_of(name: str) -> list[str]:
    """A query, and the same with other parameters."""
    text = other = QUERIES[name][0]
    for word, replacement in OTHERS.get(name, {}).items():
        assert word in other, f"{word} is no parameter of {name}"
        other = other.replace(word, replacement)
    return list(dict.fromkeys((text, other)))


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("name", QUERIES)
def test_answered(tpch: Warehouse, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STRICT, "1")
    for text in texts_of(name):
        if name in NOT_CHEAPER:
            assert "COST" in {row[3] for row in explained(tpch, text)[1:]}
            monkeypatch.setattr(assembly, "CLEARLY_LESS", 2)
        assert views_of(tpch, text) == QUERIES[name][1].split(), explained(tpch, text)
        assert_same(tpch, text)
        monkeypatch.setattr(assembly, "CLEARLY_LESS", 0.8)
