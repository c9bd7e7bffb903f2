"""Imports go downwards only; dbt and pyspark stay at the edge."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dbt" / "adapters" / "spark_mv"
NAME = "dbt.adapters.spark_mv."

LAYERS = (
    {"__version__", "errors", "reasons", "executor", "failpoints"},
    {"sql"},
    {"relations"},
    {"views", "base_tables"},
    {"freshness", "metadata", "ivm", "rewrite"},
    {"refresh"},
    {"answers", "information_schema", "table_functions"},
    {"pipeline"},
)
EDGE = len(LAYERS)


def _part(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def _layer(part: str) -> int:
    return next((n for n, parts in enumerate(LAYERS) if part in parts), EDGE)


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


INNER = [path for path in sorted(PACKAGE.rglob("*.py")) if _layer(_part(path)) < EDGE]


@pytest.mark.parametrize("path", INNER, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    mine = _part(path)
    for name in _imports(path):
        if name.startswith(NAME):
            other = name.removeprefix(NAME).split(".")[0]
            is_down = other == mine or _layer(other) < _layer(mine)
            # Modules of the bottom layer are single files that know each other.
            assert is_down or _layer(other) == _layer(mine) == 0, f"{mine} imports {name}"


@pytest.mark.parametrize("path", INNER, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_core_knows_neither_dbt_nor_spark(path: Path) -> None:
    foreign = {"dbt", "dbt_common", "agate", "pyspark", "py4j"}
    for name in _imports(path):
        assert name.startswith(NAME) or name.split(".")[0] not in foreign, name
