"""`make docs`: writes docs/behaviours.md, the rows of tests/behaviours.md with their tests.

A row may have a third cell, where no test is needed. Marks are read without importing the tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
ROWS = TESTS / "behaviours.md"
PAGE = TESTS.parent / "docs" / "behaviours.md"
NOT_YET = "not yet"
HEAD = """<!-- Written by `make docs` from tests/behaviours.md and the marks of tests; change these
instead. -->
"""
_ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+?) \|(?: (.+) \|)?$", re.M)


def rows() -> dict[str, str]:
    """For each code what is written in place of a test: empty for most."""
    return {code: remark for code, _, remark in _ROW.findall(ROWS.read_text())}


def _codes(mark: ast.expr) -> list[str] | None:
    """The codes of `pytest.mark.behaviour(..)`; None for any other expression."""
    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.behaviour":
        return [ast.literal_eval(code) for code in mark.args]
    return None


def marked() -> Iterator[tuple[str, list[str]]]:
    """Each mark of a test function: `module::function` and its codes."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for codes in filter(None, map(_codes, node.decorator_list)):
                    yield f"{path.stem}::{node.name}", codes


def open_codes() -> set[str]:
    """The codes of rows that no test proves though one is needed."""
    proven = {code for _, codes in marked() for code in codes}
    return {code for code, remark in rows().items() if not remark} - proven


def page() -> str:
    """The page: the rows, each with the tests that carry its code."""
    tests: dict[str, list[str]] = {}
    for test, codes in marked():
        for code in codes:
            tests.setdefault(code, []).append(f"`{test}`")

    def row(found: re.Match[str]) -> str:
        code, behaviour, remark = found.groups()
        return f"| {code} | {behaviour} | {remark or ', '.join(tests.get(code, [NOT_YET]))} |"

    text = ROWS.read_text().replace("| code | behaviour |", "| code | behaviour | test |")
    return HEAD + _ROW.sub(row, text.replace("\n|---|---|\n", "\n|---|---|---|\n"))


if __name__ == "__main__":
    PAGE.write_text(page())
