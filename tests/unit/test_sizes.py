"""No file and no function grows past what one can read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = sorted((ROOT / "dbt").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MACROS = sorted((ROOT / "macros").rglob("*.sql"))

MOST_LINES_OF_A_FILE = 300
MOST_LINES_OF_A_FUNCTION = 40
MOST_LINES_OF_A_MACRO_FILE = 80


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", PACKAGE + TESTS, ids=_name)
def test_file_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES_OF_A_FILE


@pytest.mark.parametrize("path", PACKAGE + TESTS, ids=_name)
def test_functions_are_short(path: Path) -> None:
    sizes = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in _functions(path)}
    assert {name: n for name, n in sizes.items() if n > MOST_LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("path", MACROS, ids=_name)
def test_macro_file_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES_OF_A_MACRO_FILE


@pytest.mark.parametrize("path", PACKAGE, ids=_name)
def test_package_never_prints(path: Path) -> None:
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    assert not [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"]


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [path for path in PACKAGE if path.stem in ("utils", "helpers", "common", "manager")]
