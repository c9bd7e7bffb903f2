"""Modules and files that documentation and docstrings name are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dbt" / "adapters" / "spark_mv"
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
# A path of modules, with dots or slashes, and what is in the last of them.
NAMED = re.compile(r"`([a-z_]+(?:[./][A-Za-z_]+)+)`")
ROOMS = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
# Words that begin as a room of ours does, and are Spark's or an example.
OTHERS = re.compile(r"spark\.[a-z]+\.|spark\.(?:remote|jars)$|catalog\.schema\.name$")
FILES = re.compile(r"\btests/[\w/]+\.py\b")


def resolves(name: str, start: Path = PACKAGE) -> bool:
    """Whether the name leads to a package, a module, or something that a module defines."""
    place = start
    parts = re.split(r"[./]", name.removesuffix(".py"))
    for number, part in enumerate(parts):
        module = place / f"{part}.py"
        if module.is_file():
            names = {
                getattr(node, "name", getattr(node, "attr", getattr(node, "id", None)))
                for node in ast.walk(ast.parse(module.read_text()))
            }
            return set(parts[number + 1 :]) <= names
        place = place / part
        if not place.is_dir():
            return False
    return True


def named(text: str) -> Iterator[str]:
    """The names in a text that speak of modules of the package."""
    for name in NAMED.findall(text):
        if re.split(r"[./]", name)[0] in ROOMS and not OTHERS.match(name):
            yield name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page: Path) -> None:
    text = page.read_text()
    assert [name for name in named(text) if not resolves(name)] == []
    files = {*FILES.findall(text), *re.findall(r"`([a-z_/]+\.py)`", text)}
    missing = [file for file in files if not (ROOT / file).is_file()]
    assert [file for file in missing if not any(ROOT.glob(f"[dti]*/**/{file}"))] == []


@pytest.mark.parametrize(
    "module", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_docstrings(module: Path) -> None:
    """Beside the module itself a docstring may speak of its own package from within."""
    wrong = [
        name
        for name in named(module.read_text())
        if not (resolves(name) or resolves(name, module.parent))
    ]
    assert wrong == []


def test_a_name_that_leads_nowhere_is_found() -> None:
    assert resolves("planning.plan.plan_refresh") and resolves("sql/names.py")
    assert not resolves("planning.plan.no_such_name") and not resolves("base_tables.iceberg")
