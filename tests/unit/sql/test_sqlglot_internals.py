"""sqlglot's unpublished parts are where they are expected, and imported in one place."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.sql import sqlglot_internals
from dbt.adapters.spark_mv.sql.parser import statements

PACKAGE = Path(sqlglot_internals.__file__).parents[1]
# Modules of sqlglot that its documentation names, and whose parts are used under those names.
PUBLISHED = ("sqlglot", "sqlglot.errors", "sqlglot.optimizer")
MOVED = (
    "sqlglot has moved {name} out of {module}: correct the import in "
    "dbt/adapters/spark_mv/sql/sqlglot_internals.py, then run `make test ARGS='tests/unit'`"
)


def _imports(path: Path) -> list[tuple[str, str]]:
    return [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sqlglot")
        for alias in node.names
    ]


@pytest.mark.parametrize(("module", "name"), _imports(Path(sqlglot_internals.__file__)))
def test_part_is_where_it_is_expected(module: str, name: str) -> None:
    try:
        found = hasattr(importlib.import_module(module), name)
    except ImportError:
        found = False
    assert found, MOVED.format(name=name, module=module)


def test_nobody_else_imports_unpublished_parts() -> None:
    others = [path for path in PACKAGE.rglob("*.py") if path.stem != "sqlglot_internals"]
    private = [
        f"{path.name}: {module}"
        for path in others
        for module, _ in _imports(path)
        if not (module in PUBLISHED or module.startswith("sqlglot.optimizer."))
    ]
    assert private == []


def test_hooks_of_the_parser_are_called() -> None:
    """What is overridden exists under its name: each changes how a text is read."""
    (tree,) = statements("select percentile_cont(0.5) within group (order by a), v:b.c from t")
    assert tree is not None
    assert "PERCENTILE_CONT" in tree.sql("spark")
    (call,) = statements("select window(at, '1 hour') from t")
    assert call is not None and "window(at" in call.sql("spark").lower()
