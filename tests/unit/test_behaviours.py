"""docs/behaviours.md and docs/reliability.md name tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(test_\w+)::(test_\w+)`")


def existing() -> set[tuple[str, str]]:
    return {
        (path.stem, node.name)
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.parametrize("page", ["behaviours", "reliability"])
def test_named_tests_exist(page: str) -> None:
    named = set(NAMED.findall((ROOT / "docs" / f"{page}.md").read_text()))
    assert named and named - existing() == set()
